#ifndef FREESTONE_RUNTIME_INSTANCE_STATE_H
#define FREESTONE_RUNTIME_INSTANCE_STATE_H

#include "runtime/artifact/Artifact.h"
#include "runtime/instance/Tensor.h"
#include "runtime/queue/RunOrder.h"

namespace freestone::runtime {

/// The values of an artifact that persist from run to run. Shared by instances; only the instance whose turn it is
/// accesses it.
class State {
public:
  /// All states at their first values; the artifact must be complete. Errors: OutOfMemory.
  static Result<std::shared_ptr<State>> create(std::shared_ptr<const Artifact> artifact);

  const Artifact &artifact() const { return *owner; }
  /// The bytes of `descriptor().states[index]`, aligned to 64.
  void *data(size_t index) const { return places[index]; }
  /// Places a value in memory of the caller's, or with null in its own. Errors: InvalidArgument.
  Status place(size_t index, void *data, uint64_t bytes);
  /// The shape in memory: that of the panels if it is packed.
  const std::vector<int64_t> &storedShape(size_t index) const { return storedShapes[index]; }
  /// Copies a value to or from a row-major tensor of `descriptor().states[index].bytes`.
  void read(size_t index, void *rows) const;
  void write(size_t index, const void *rows) const;
  /// Checks that a row-major tensor of the value has this size. Errors: InvalidArgument.
  Status checkSize(size_t index, uint64_t bytes) const;
  int64_t bytes() const { return block.size(); }
  /// Whether the view overlaps any state.
  bool overlaps(const TensorView &view) const;

  /// The order of the runs of all its instances.
  RunOrder &order() { return runs; }

private:
  explicit State(std::shared_ptr<const Artifact> artifact) : owner(std::move(artifact)) {}

  std::shared_ptr<const Artifact> owner;
  Block block;
  std::vector<int64_t> offsets; ///< of the values' own memory in the block
  std::vector<void *> places;
  std::vector<std::vector<int64_t>> storedShapes;
  RunOrder runs;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_INSTANCE_STATE_H
