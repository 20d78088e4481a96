// Compiled models from the user's cache, made where they are not there yet. A model that is there is found without
// opening the compiler.
#ifndef FREESTONE_TOOLS_FREESTONE_MODELCACHE_H
#define FREESTONE_TOOLS_FREESTONE_MODELCACHE_H

#include "cache/ModelRequest.h"
#include "tools/freestone/CompileProgress.h"
#include "tools/freestone/Compiler.h"
#include <memory>
#include <string>

namespace freestone::tools {

/// The cache as the environment says, whose sentences go to stderr. Throws Failure (usage) where a variable is
/// malformed.
cache::Settings cacheSettings();

/// Throws what Compiler throws.
class ModelCache {
public:
  /// `arguments` must outlive this. `accept` is asked before something is compiled, and not of what is there already.
  explicit ModelCache(const CompileArguments &arguments, train::Acceptance accept = {});
  ModelCache(const ModelCache &) = delete;
  ModelCache &operator=(const ModelCache &) = delete;

  /// The artifact of a model, or of the training step that `training` describes, with the other .onnx files that it
  /// names; about it the compiler's statistics.
  cache::Entry compile(const std::string &model, const std::string &training = "",
                       const std::vector<std::string> &graphs = {});
  /// The same as a file of the user's. Returns the statistics; `wasKept` tells whether it was compiled before.
  std::string compileTo(const std::string &output, const std::string &model, const std::string &training, bool &wasKept,
                        const std::vector<std::string> &graphs = {});
  /// A file of the user's that no cache is to keep, since nobody asks for it again: only code is found there, and kept.
  std::string compileUnkept(const std::string &output, const std::string &model);
  /// The program at a level, as Compiler::inspect.
  std::string inspect(const std::string &model, const std::string &level);

private:
  std::optional<cache::Request> request(cache::Kind kind, const std::string &model, const std::string &training,
                                        const std::vector<std::string> &graphs) const;
  std::string make(const std::string &path, const std::string &model, const std::string &training);

  const CompileArguments &arguments;
  const train::Acceptance accept;
  std::unique_ptr<CompileProgress> waiting; ///< while another process is waited for
  std::unique_ptr<cache::Store> files;
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_MODELCACHE_H
