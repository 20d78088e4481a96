#ifndef FREESTONE_TEST_GUARDED_GUARDEDMODEL_H
#define FREESTONE_TEST_GUARDED_GUARDEDMODEL_H

#include "freestone/runtime.h"
#include "test/guarded/GuardedMemory.h"
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace freestone::test {

/// Values of symbolic sizes.
using Sizes = std::map<std::string, int64_t>;

std::string describe(const Sizes &sizes);

struct HostArray {
  std::string name;
  freestone_dtype dtype;
  std::vector<int64_t> dims;
  std::vector<char> bytes;
};

/// Elements of the inputs.
enum class Values {
  zeros,   ///< 0; false
  small,   ///< integers from -2 to 2, so that indices are in bounds or just outside; also for floats
  hostile, ///< the extremes of integers; infinities and NaN
};

/// The outcome of a run.
struct Outcome {
  std::string fault; ///< the signal that ended it
  freestone_status status = FREESTONE_OK;
  std::string message;
  std::vector<HostArray> outputs;
};

/// The interpreter's results for the same inputs.
struct Interpretation {
  std::string error; ///< the reason of a failure
  std::vector<HostArray> outputs;
};

/// An ONNX model from text, compiled through the compiler's C interface, and run with every operand between guards.
class GuardedModel {
public:
  /// `text` is a graph in ONNX's text syntax. `frozen` inputs become constants of the model, of fixed size.
  explicit GuardedModel(const std::string &text, const std::vector<HostArray> &frozen = {});
  ~GuardedModel();
  GuardedModel(const GuardedModel &) = delete;

  /// The symbolic sizes of the inputs.
  const std::vector<std::string> &getSymbols() const { return symbols; }

  /// Compiles for this machine; the compiler knows the sizes in `bound`. Returns the reason of a refusal, or "".
  std::string compile(const Sizes &bound = {});

  std::vector<HostArray> draw(const Sizes &sizes, Values values, std::mt19937 &random) const;
  /// Runs the compiled model once, on one worker.
  Outcome run(const std::vector<HostArray> &inputs, Flush flush) const;
  Interpretation interpret(const std::vector<HostArray> &inputs) const;

private:
  struct Input {
    std::string name;
    freestone_dtype dtype;
    /// Numbers and symbols.
    std::vector<std::string> dims;
  };

  std::string text, folder;
  std::vector<Input> inputs;
  std::vector<std::string> symbols;
  freestone_artifact *artifact = nullptr;
};

} // namespace freestone::test

#endif // FREESTONE_TEST_GUARDED_GUARDEDMODEL_H
