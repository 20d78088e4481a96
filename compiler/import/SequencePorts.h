#ifndef FREESTONE_COMPILER_IMPORT_SEQUENCEPORTS_H
#define FREESTONE_COMPILER_IMPORT_SEQUENCEPORTS_H

#include "compiler/import/ImportOnnx.h"
#include "compiler/import/Node.h"
#include "llvm/ADT/StringSet.h"

namespace freestone::importer {

/// ONNX's text for a type: `seq(tensor(float))`.
std::string typeText(const onnx::TypeProto &type);

/// "sequence", "optional" or "optional-sequence".
std::string kindName(SequencePort::Kind kind);

/// The type of the elements of a sequence or an optional, which are tensors; null if they are not.
const onnx::TypeProto::Tensor *elementTypeOf(const onnx::TypeProto &type);

/// The most dimensions that elements have whose rank only the run knows.
constexpr int64_t mostDimensions = 5;

/// The rank of the elements of an input, where its type does not tell: that of an input which a node inserts into it.
std::optional<int64_t> rankOfInserted(const onnx::GraphProto &graph, llvm::StringRef input);

/// What an input that is a sequence or an optional takes.
struct SequenceInput {
  SequencePort port;
  graph::TensorType stack;
  llvm::SmallVector<OpenSize> open;

  /// The value of these tensors of the program; null ones where the port has none.
  ModelValue value(Tensor stack, Tensor sizes, Tensor presence) const;
};

/// Describes an input whose elements have a known type, and this rank, or any. Sizes that are named like those of
/// tensors, which `tensorSizes` has, are the same for all elements; others that are not constant are open.
SequenceInput describeInput(ModelBuilder &builder, const onnx::ValueInfoProto &info, std::optional<int64_t> rank,
                            const llvm::StringSet<> &tensorSizes);

/// The tensors of the program that an output consists of, with their names: first the stack. None, and a refusal, if it
/// can't be one.
llvm::SmallVector<std::pair<std::string, Tensor>>
describeOutput(ModelBuilder &builder, const onnx::ValueInfoProto &info, const ModelValue &value, SequencePort &port);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_SEQUENCEPORTS_H
