#ifndef FREESTONE_RUNTIME_INSTANCE_SEQUENCE_H
#define FREESTONE_RUNTIME_INSTANCE_SEQUENCE_H

#include "runtime/instance/Tensor.h"
#include <optional>

namespace freestone::runtime {

/// What the caller has given for an input that is a sequence or an optional.
struct Sequence {
  std::vector<TensorView> elements; ///< of the stack's dimensions; those that one lacks are 1
  std::vector<int64_t> lacks;       ///< how many of the first dimensions each element lacks
  bool isAbsent = false; ///< an optional sequence that is not there
};

/// Views of the caller's memory for the elements of an input; the errors are those of `viewTensor`.
Status viewSequence(std::span<const DLTensor> elements, const TensorInfo &info, Sequence &sequence);

/// Lays out the inputs that are stacks: the shapes of the stacks, with room for the greatest element of all inputs that
/// share a size, and of their parts. `inputs` and `sequences` are those of the entry, in its order; stacks and parts
/// get no data. Errors: Mismatch (elements that differ where they must not).
Status layOutStacks(const Entry &entry, std::span<const std::optional<Sequence>> sequences,
                    std::span<std::optional<TensorView>> inputs);

/// The memory of a stack's elements, if they lie there as in the stack; else null.
void *inPlace(const Sequence &sequence, const TensorView &stack);
/// Copies the elements into a stack; what is behind their ends becomes 0.
void pack(const Sequence &sequence, const TensorInfo &info, const TensorView &stack, char *memory);
/// Writes the sizes of the elements along the open dimensions, -1 along those that one lacks.
void packSizes(const Sequence &sequence, const TensorInfo &info, int64_t *sizes);

/// Moves the elements of a stack so that each one lies contiguously, where its place in the stack begins. `sizes` are
/// those along the open dimensions.
void compact(const TensorInfo &info, const TensorView &stack, const int64_t *sizes);
/// Element `index` of a compacted stack.
TensorView elementOf(const TensorInfo &info, const TensorView &stack, const int64_t *sizes, int64_t index);

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_INSTANCE_SEQUENCE_H
