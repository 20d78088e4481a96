#ifndef FREESTONE_CACHE_MODELREQUEST_H
#define FREESTONE_CACHE_MODELREQUEST_H

#include "cache/Store.h"

namespace freestone::cache {

/// The model and all user options that affect the result of a compilation.
struct ModelOptions {
  std::string path;            ///< of the model's file
  std::string target = "host"; ///< as the compiler takes it
  int level = 2;
  std::vector<std::string> disabled, dims, binds;
  bool stripWeights = false;
  std::string training;            ///< the training step's JSON, as the compiler takes it
  std::vector<std::string> graphs; ///< other .onnx files that `training` names
  std::string device;              ///< JSON of a device instead of `target`, as the compiler takes it
  std::string rates;               ///< of this machine (see MachineRates), if `target` is it
};

/// The request to `store`, which must outlive it; `compiler` is that of CompilerIdentity. Nothing if there is no cache,
/// or if the model or the compiler can't be read.
std::optional<Request> requestModel(const Store &store, Kind kind, const ModelOptions &options,
                                    const std::string &compiler);

/// The request for a program that a front end builds: `key` stands for all that it is built of. Of `options`, what is
/// about files has no meaning.
std::optional<Request> requestGraph(const Store &store, const std::string &key, const ModelOptions &options,
                                    const std::string &compiler);

} // namespace freestone::cache

#endif // FREESTONE_CACHE_MODELREQUEST_H
