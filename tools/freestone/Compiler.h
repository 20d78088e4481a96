#ifndef FREESTONE_TOOLS_FREESTONE_COMPILER_H
#define FREESTONE_TOOLS_FREESTONE_COMPILER_H

#include "cache/Settings.h"
#include "compilation/Compilation.h"
#include "tools/freestone/CompileArguments.h"
#include "tools/freestone/CompileProgress.h"
#include "tools/freestone/Failure.h"
#include "tools/tensor/Tensor.h"
#include "train/compilation/Acceptance.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace freestone::tools {

/// A valid model that uses features without support.
struct Unsupported : Failure {
  explicit Unsupported(const std::string &reason) : Failure(Exit::Failed, reason) {}
};

/// The cache's settings from the environment. Throws Failure (usage) where a variable is malformed.
cache::Settings cacheSettings();

/// Compiles for a verb, through the user's cache; a hit loads no LLVM. Shows what takes long on stderr, and at most one
/// warning about the cache. Members throw Failure with the compiler's message, or Unsupported.
class Compiler {
public:
  /// `arguments` must outlive this. `accept` receives the description of a model before its compilation, not on a hit;
  /// its exceptions end the compilation.
  explicit Compiler(const CompileArguments &arguments, train::Acceptance accept = {});
  Compiler(const Compiler &) = delete;
  Compiler &operator=(const Compiler &) = delete;

  /// The artifact of a model, or of the training step that `training` describes, with the other .onnx files that it
  /// names; its `about` is the compiler's statistics.
  cache::Entry compile(const std::string &model, const std::string &training = "",
                       const std::vector<std::string> &graphs = {});
  /// As `compile`, copied to a file of the user's. Returns the statistics; `wasKept` tells a hit.
  std::string compileTo(const std::string &output, const std::string &model, const std::string &training, bool &wasKept,
                        const std::vector<std::string> &graphs = {});
  /// Compiles to a file that is not cached itself, since it is not asked for again; only its code is.
  std::string compileUnkept(const std::string &output, const std::string &model);
  /// The program at a level, as of `inspect` of the compiler's interface.
  std::string inspect(const std::string &model, const std::string &level, const std::string &training = "",
                      const std::vector<std::string> &graphs = {});
  /// What a model is, and why it can't be compiled, if so.
  compilation::Description check(const std::string &model);
  /// By the reference interpreter. `wide`: floats are returned as f64.
  std::vector<NamedValue> interpret(const std::string &model, const std::vector<NamedValue> &inputs, bool wide);
  /// The device that the arguments name, as JSON, with these rates.
  std::string describeDevice(const std::string &rates = "");

  /// The machine's rates, if they matter to compilations; else empty. Measures the machine where that has never been
  /// done, as compilations do.
  const std::string &rates();
  /// Compiles for the rates of another machine.
  void useRates(const std::string &text) { machine = text; }
  /// The seconds in which this object measured the machine, which are in no other time; 0 if it did not.
  double calibrationSeconds() const { return calibration; }
  /// A line about that, with a line break; else empty.
  std::string describeCalibration() const;

  /// Registers what all compilations need, before a fork.
  static void warmUp();
  static std::string measureMachine();
  static std::string listOperators();

private:
  compilation::Order order(const std::string &model, const std::string &training = "",
                           const std::vector<std::string> &graphs = {});
  template <typename Body> auto run(compilation::Order order, Body body);

  const CompileArguments &arguments;
  const train::Acceptance accept;
  std::optional<std::string> machine; ///< its rates, once they are known
  double calibration = 0;
  bool hasWarned = false;
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_COMPILER_H
