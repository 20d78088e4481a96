#ifndef FREESTONE_COMPILER_IMPORT_OPERATORS_REGIONS_H
#define FREESTONE_COMPILER_IMPORT_OPERATORS_REGIONS_H

#include "compiler/import/GraphImporter.h"
#include "compiler/import/Node.h"

namespace freestone::importer {

using Values = std::vector<ModelValue>;

/// The body of a node under this attribute; null and a refusal if there is none.
const onnx::GraphProto *bodyOf(Node &node, llvm::StringRef name);

/// The known value of a bool or integer scalar.
std::optional<int64_t> knownScalar(Tensor tensor);

/// The type of a tensor in the program.
inline graph::TensorType tensorType(mlir::Value value) { return cast<graph::TensorType>(value.getType()); }

/// The tensors that a body makes; none if it makes anything else, or was refused.
std::vector<Tensor> importTensors(Node &node, const onnx::GraphProto &body, const Values &arguments);

/// Builds a body into a region of an operation that exists, with arguments of these types: `build` makes its outputs.
/// Returns what the region yields; nothing if an output was refused, or is no tensor.
std::optional<llvm::SmallVector<mlir::Value>> buildRegion(Node &node, mlir::Region &region,
                                                          llvm::ArrayRef<mlir::Type> arguments,
                                                          llvm::function_ref<std::optional<Values>(Values)> build);

/// Sets the node's outputs to the results of an operation.
void setResults(Node &node, mlir::Operation *op);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORS_REGIONS_H
