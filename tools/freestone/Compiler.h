// The compiler, loaded on demand: running an artifact never gets here and loads no LLVM.
#ifndef FREESTONE_TOOLS_FREESTONE_COMPILER_H
#define FREESTONE_TOOLS_FREESTONE_COMPILER_H

#include "cache/Store.h"
#include "compiler/driver/Interface.h"
#include "tools/freestone/Failure.h"
#include "tools/tensor/Tensor.h"
#include "train/compilation/Acceptance.h"
#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace freestone::tools {

/// A valid model that uses features without support.
struct Unsupported : Failure {
  explicit Unsupported(const std::string &reason) : Failure(Exit::Failed, reason) {}
};

/// The options of every verb that compiles.
struct CompileArguments {
  std::string target = "host";
  std::optional<std::string> device; ///< JSON of a device instead of the target
  std::string deviceName;            ///< "--device FILE"
  int level = 2;
  std::vector<std::string> dims;     ///< "seq=2:1024"
  std::vector<std::string> binds;    ///< "batch=8"
  std::vector<std::string> disabled; ///< names of optimizations
  std::string printIrTreeDir;
  std::string tilings; ///< a file of tilings that replace the chosen ones
  bool tune = false;   ///< times tilings on this machine
  bool stripWeights = false;
  int jobs = 0; ///< programs compiled in parallel; 0: automatic
  bool noCache = false, explainMiss = false;

  /// The options that name the device alone.
  void addDeviceTo(CLI::App &verb);
  void addTo(CLI::App &verb);
  /// Whether any of them was given: they have no meaning for a compiled model.
  bool given(const CLI::App &verb) const;
};

/// Owns the memory of a freestone_compile_options. Throws Failure (usage) when --dim or --bind is malformed.
class CompileOptions {
public:
  /// `training` describes a training step, or is empty.
  CompileOptions(const CompileArguments &arguments, std::string modelPath, std::string outputPath = "",
                 std::string training = "");
  CompileOptions(const CompileOptions &) = delete;
  CompileOptions &operator=(const CompileOptions &) = delete;

  /// How fast this machine is (see cache::MachineRates); empty: unknown.
  void setRates(const std::string &text);

  /// Caches code in the folder of `store`, which must outlive this; messages go to the settings of `store`.
  void keepCode(const cache::Store &store);

  const freestone_compile_options *get() const { return &options; }

private:
  std::string cacheFolder, target, device, deviceName, rates, modelPath, outputPath, training, printIrTreeDir, tilings,
      disabled;
  std::vector<std::string> symbols;
  std::vector<freestone_dim_bound> bounds;
  freestone_compile_options options = {};
};

/// Every call throws Failure with the compiler's message, or Unsupported.
class Compiler {
public:
  /// Opens libfreestone_compiler.so (see compilation/CompilerLibrary.h).
  static const Compiler &open();

  void warmUp() const { interface->warm_up(); }
  std::string build() const { return interface->build; }

  struct Check {
    bool supported;
    std::string report; ///< JSON
    std::string reason; ///< if unsupported
  };
  Check check(const CompileOptions &options) const;
  /// Returns the statistics as JSON. Exceptions of `accept`, which receives the description of the model, end the
  /// compilation.
  std::string compile(const CompileOptions &options, const train::Acceptance &accept = {}) const;
  std::string inspect(const CompileOptions &options, const std::string &level) const;
  /// `wide`: floats are returned as f64.
  std::vector<NamedValue> interpret(const CompileOptions &options, const std::vector<NamedValue> &inputs,
                                    bool wide) const;
  std::string operators() const;
  /// The device that options name, as JSON.
  std::string describeDevice(const CompileOptions &options) const;
  /// Measures in less than a second how fast this machine is; one line.
  std::string measureMachine() const;

private:
  explicit Compiler(const freestone_compiler_interface *interface) : interface(interface) {}
  /// Frees the result.
  std::string take(freestone_compiler_result result) const;

  const freestone_compiler_interface *interface;
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_COMPILER_H
