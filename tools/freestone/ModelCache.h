// Compiled models from the user's cache, compiled on a miss. A hit does not load the compiler.
#ifndef FREESTONE_TOOLS_FREESTONE_MODELCACHE_H
#define FREESTONE_TOOLS_FREESTONE_MODELCACHE_H

#include "cache/MachineRates.h"
#include "cache/ModelRequest.h"
#include "tools/freestone/CompileProgress.h"
#include "tools/freestone/Compiler.h"
#include <memory>
#include <string>

namespace freestone::tools {

/// The cache's settings from the environment, with messages to stderr. Throws Failure (usage) where a variable is
/// malformed.
cache::Settings cacheSettings();

/// Members throw as Compiler's do.
class ModelCache {
public:
  /// `arguments` must outlive this. `accept` is called before a compilation, not on a hit.
  explicit ModelCache(const CompileArguments &arguments, train::Acceptance accept = {});
  ModelCache(const ModelCache &) = delete;
  ModelCache &operator=(const ModelCache &) = delete;

  /// The artifact of a model, or of the training step that `training` describes, with the other .onnx files that it
  /// names; its `about` is the compiler's statistics.
  cache::Entry compile(const std::string &model, const std::string &training = "",
                       const std::vector<std::string> &graphs = {});
  /// As `compile`, copied to a file of the user's. Returns the statistics; `wasKept` tells a hit.
  std::string compileTo(const std::string &output, const std::string &model, const std::string &training, bool &wasKept,
                        const std::vector<std::string> &graphs = {});
  /// Compiles to a file that is not cached itself, since it is not asked for again; only its code is.
  std::string compileUnkept(const std::string &output, const std::string &model);
  /// Measures the machine if that matters to compilations and has never been done; they do it themselves otherwise.
  void measureMachine() { rates(); }
  /// The machine's rates, if they matter to compilations; else empty.
  const std::string &rates();
  /// Compiles for the rates of another machine.
  void useRates(const std::string &text) { machine = cache::MachineRates{text, "", 0}; }
  /// A line about the measurement of this machine, with a line break, if this object made one; its time is in no
  /// other. Else empty.
  std::string describeCalibration() const;
  /// Its seconds; 0 if there was none.
  double calibrationSeconds() const { return machine ? machine->seconds : 0; }
  /// The program at a level, as of Compiler::inspect.
  std::string inspect(const std::string &model, const std::string &level, const std::string &training = "",
                      const std::vector<std::string> &graphs = {});

private:
  std::optional<cache::Request> request(cache::Kind kind, const std::string &model, const std::string &training,
                                        const std::vector<std::string> &graphs);
  std::string make(const std::string &path, const std::string &model, const std::string &training);

  const CompileArguments &arguments;
  const train::Acceptance accept;
  std::unique_ptr<CompileProgress> waiting; ///< during a wait for another process
  std::unique_ptr<cache::Store> files;
  cache::Settings environment;                ///< without what `arguments` change
  std::optional<cache::MachineRates> machine; ///< once they were looked up
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_MODELCACHE_H
