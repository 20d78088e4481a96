// A case in the layout of ONNX's backend tests: a folder with model.onnx, test_data_set_*/{input,output}_*.pb and
// data.json.
#ifndef FREESTONE_TOOLS_FREESTONE_TESTCASE_H
#define FREESTONE_TOOLS_FREESTONE_TESTCASE_H

#include "tools/freestone/Compiler.h"
#include <optional>
#include <string>
#include <vector>

namespace freestone::tools {

struct TestCase {
  std::string name; ///< path relative to the given folder: "node/test_add"
  std::string folder;
};

/// Every case in or below `path`, sorted by name. Throws Failure when there is none.
std::vector<TestCase> findTestCases(const std::string &path);

enum class Verdict { Pass, Unsupported, WrongNumbers, Failed, Crashed };

struct Outcome {
  Verdict verdict = Verdict::Failed;
  std::string reason; ///< one line; empty for Pass
  double seconds = 0;
  double largestError = 0; ///< over all outputs, relative to an output's largest magnitude
};

struct TestOptions {
  CompileArguments compile;
  std::optional<double> rtol, atol; ///< override the case's own
  std::optional<int64_t> ulp;
  int threads = 1;
};

/// Checks, compiles and runs one case in this process.
Outcome runTestCase(const TestCase &test, const TestOptions &options);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_TESTCASE_H
