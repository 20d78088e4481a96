#ifndef FREESTONE_RUNTIME_WEIGHTSUPPLY_H
#define FREESTONE_RUNTIME_WEIGHTSUPPLY_H

#include "runtime/artifact/Artifact.h"
#include "runtime/instance/Tensor.h"
#include <map>

namespace freestone::runtime {

/// Completes an artifact whose weights are not in its file, from the plain weights of the model. What the artifact
/// stores in another form is made by its entry `init`; what it stores as it is is copied. Not thread-safe; nobody else
/// may use the artifact meanwhile.
class WeightSupply {
public:
  explicit WeightSupply(std::shared_ptr<Artifact> artifact);

  /// The plain weights that must be supplied; empty if the artifact is complete.
  const std::vector<TensorInfo> &needed() const { return plain; }

  /// Takes one of them: C-contiguous, unchanged until `finish` returns. Errors: InvalidArgument (no such name),
  /// Mismatch.
  Status supply(const std::string &name, const DLTensor &tensor);

  /// Makes all missing weights, with `threads` workers (0: as many as the machine offers). Errors: InvalidArgument
  /// names the first weight that was not supplied; those of a run.
  Status finish(int threads);

private:
  Status copyWeight(size_t index);
  Status runInit(int threads);

  std::shared_ptr<Artifact> artifact;
  const Entry *init = nullptr; ///< null if nothing that is missing comes out of it
  std::vector<TensorInfo> plain;
  std::map<std::string, TensorView> supplied;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_WEIGHTSUPPLY_H
