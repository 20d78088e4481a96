// The compiler, opened on demand: whoever runs an artifact never gets here, and loads no LLVM.
#ifndef FREESTONE_TOOLS_FREESTONE_COMPILER_H
#define FREESTONE_TOOLS_FREESTONE_COMPILER_H

#include "cache/Store.h"
#include "compiler/driver/Interface.h"
#include "tools/freestone/Failure.h"
#include "tools/tensor/Tensor.h"
#include "train/compilation/Acceptance.h"
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace freestone::tools {

/// A model that is valid, but that Freestone can't compile.
struct Unsupported : Failure {
  explicit Unsupported(const std::string &reason) : Failure(Exit::Failed, reason) {}
};

/// The options that every verb which compiles takes.
struct CompileArguments {
  std::string target = "host";
  int level = 2;
  std::vector<std::string> dims;     ///< "seq=2:1024"
  std::vector<std::string> binds;    ///< "batch=8"
  std::vector<std::string> disabled; ///< names of optimisations
  std::string printIrTreeDir;
  bool stripWeights = false;
  int jobs = 0; ///< programs compiled at the same time; 0: chosen
  bool noCache = false, explainMiss = false;

  void addTo(CLI::App &verb);
  /// True when any of them was given: they mean nothing for a model that is already compiled.
  bool given(const CLI::App &verb) const;
};

/// Owns what a freestone_compile_options points to. Throws Failure (usage) when --dim or --bind is malformed.
class CompileOptions {
public:
  /// `training` describes a training step, or is empty.
  CompileOptions(const CompileArguments &arguments, std::string modelPath, std::string outputPath = "",
                 std::string training = "");
  CompileOptions(const CompileOptions &) = delete;
  CompileOptions &operator=(const CompileOptions &) = delete;

  /// Code is kept in the folder of `store`, which must outlive this, for other models; what there is to say about that
  /// goes where `store` says it.
  void keepCode(const cache::Store &store);

  const freestone_compile_options *get() const { return &options; }

private:
  std::string cacheFolder, target, modelPath, outputPath, training, printIrTreeDir, disabled;
  std::vector<std::string> symbols;
  std::vector<freestone_dim_bound> bounds;
  freestone_compile_options options = {};
};

/// Every call throws Failure with the compiler's message, or Unsupported.
class Compiler {
public:
  /// Opens libfreestone_compiler.so (see train/compilation/CompilerLibrary.h).
  static const Compiler &open();

  void warmUp() const { interface->warm_up(); }
  std::string build() const { return interface->build; }

  struct Check {
    bool supported;
    std::string report; ///< JSON
    std::string reason; ///< when not supported
  };
  Check check(const CompileOptions &options) const;
  /// Returns the statistics as JSON. What `accept` throws of the model that was read ends the compilation.
  std::string compile(const CompileOptions &options, const train::Acceptance &accept = {}) const;
  std::string inspect(const CompileOptions &options, const std::string &level) const;
  /// `wide`: floats come back as f64.
  std::vector<NamedTensor> interpret(const CompileOptions &options, const std::vector<NamedTensor> &inputs,
                                     bool wide) const;
  std::string operators() const;

private:
  explicit Compiler(const freestone_compiler_interface *interface) : interface(interface) {}
  /// Frees the result.
  std::string take(freestone_compiler_result result) const;

  const freestone_compiler_interface *interface;
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_COMPILER_H
