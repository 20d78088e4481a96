#ifndef FREESTONE_CACHE_MODELREQUEST_H
#define FREESTONE_CACHE_MODELREQUEST_H

#include "cache/Store.h"

namespace freestone::cache {

/// What is compiled, and how: all that a user can say that changes what comes out.
struct ModelOptions {
  std::string path;            ///< of the model's file
  std::string target = "host"; ///< as the compiler takes it
  int level = 2;
  std::vector<std::string> disabled, dims, binds;
  bool stripWeights = false;
  std::string training;            ///< what the compiler takes for a training step
  std::vector<std::string> graphs; ///< other .onnx files that it names
};

/// What to ask of `store`, which must outlive the request; `compiler` is as CompilerIdentity finds it. Nothing where
/// there is no cache, or the model or the compiler can't be read.
std::optional<Request> requestModel(const Store &store, Kind kind, const ModelOptions &options,
                                    const std::string &compiler);

} // namespace freestone::cache

#endif // FREESTONE_CACHE_MODELREQUEST_H
