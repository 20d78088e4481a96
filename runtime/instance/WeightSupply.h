#ifndef FREESTONE_RUNTIME_INSTANCE_WEIGHTSUPPLY_H
#define FREESTONE_RUNTIME_INSTANCE_WEIGHTSUPPLY_H

#include "runtime/artifact/Artifact.h"
#include "runtime/instance/Tensor.h"
#include <map>

namespace freestone::runtime {

/// Completes an artifact without weights in its file from the plain weights of the model: packed weights are made by
/// its entry `init`, the others are copied. Not thread-safe; the artifact must not be in use meanwhile.
class WeightSupply {
public:
  explicit WeightSupply(std::shared_ptr<Artifact> artifact);

  /// The plain weights to supply; empty if the artifact is complete.
  const std::vector<TensorInfo> &needed() const { return plain; }

  /// Sets one of them: C-contiguous, unchanged until `finish` returns. Errors: InvalidArgument (no such name),
  /// Mismatch.
  Status supply(const std::string &name, const DLTensor &tensor);

  /// Makes all missing weights, with `threads` workers (0: as many as the machine offers). Errors: InvalidArgument
  /// names the first weight that was not supplied; and those of a run.
  Status finish(int threads);

private:
  Status copyWeight(size_t index);
  Status runInit(int threads);

  std::shared_ptr<Artifact> artifact;
  const Entry *init = nullptr; ///< null if it makes none of the missing weights
  std::vector<TensorInfo> plain;
  std::map<std::string, TensorView> supplied;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_INSTANCE_WEIGHTSUPPLY_H
