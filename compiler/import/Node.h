#ifndef FREESTONE_COMPILER_IMPORT_NODE_H
#define FREESTONE_COMPILER_IMPORT_NODE_H

#include "compiler/import/ModelBuilder.h"
#include "onnx/onnx_pb.h"
#include <memory>
#include <string>

namespace freestone::importer {

/// The value of a name: a tensor, or a sequence or optional of tensors, which exist only during import.
struct ModelValue {
  enum class Kind { Absent, Tensor, Sequence, Optional };

  ModelValue() = default;
  ModelValue(Tensor tensor) : kind(Kind::Tensor), tensor(tensor) {}
  static ModelValue sequence(std::vector<ModelValue> elements);
  /// A sequence of tensors of one shape, in a tensor along its first dimension: its length may depend on the run.
  static ModelValue stacked(Tensor stack);
  static ModelValue optional(std::vector<ModelValue> content);

  bool isStacked() const { return kind == Kind::Sequence && tensor; }
  /// Whether all of it was built.
  bool isBuilt() const;

  Kind kind = Kind::Absent;
  /// Of a sequence: the stack of its elements, instead of these.
  Tensor tensor;
  /// Of a sequence: its elements. Of an optional: at most one.
  std::vector<ModelValue> elements;
};

class GraphImporter;

/// A node of the model for an operator's definition: inputs, attributes and outputs.
class Node {
public:
  Node(const onnx::NodeProto &proto, int opset, std::vector<ModelValue> inputs, ModelBuilder &builder,
       GraphImporter &importer);

  int opset() const { return version; }
  llvm::StringRef op() const { return proto.op_type(); }
  ModelBuilder &builder() const { return graph; }
  GraphImporter &importer() const { return graphs; }

  int64_t inputCount() const { return inputs.size(); }
  bool has(int64_t index) const;
  /// Input `index`; null and a refusal where it is absent or no tensor.
  Tensor input(int64_t index);
  /// Input `index`; null where it is absent.
  Tensor optionalInput(int64_t index) { return has(index) ? input(index) : Tensor(); }
  const ModelValue &value(int64_t index) const;
  /// All inputs, which must be tensors of `variadic` operators.
  llvm::SmallVector<Tensor> allInputs();

  /// Elements of an integer input that must be known during import, possibly symbolic; refuses otherwise.
  std::optional<Shape> sizesInput(int64_t index);
  /// As sizesInput, but constant.
  std::optional<llvm::SmallVector<int64_t>> constantsInput(int64_t index);
  /// A number that must be known during import.
  std::optional<double> realInput(int64_t index);

  bool hasAttribute(llvm::StringRef name) const { return attribute(name); }
  int64_t integer(llvm::StringRef name, int64_t otherwise = 0) const;
  double real(llvm::StringRef name, double otherwise) const;
  std::string text(llvm::StringRef name, llvm::StringRef otherwise) const;
  llvm::SmallVector<int64_t> integers(llvm::StringRef name) const;
  llvm::SmallVector<double> reals(llvm::StringRef name) const;
  const onnx::AttributeProto *attribute(llvm::StringRef name) const;

  /// `axis` as a number from 0 on; refuses where it is not within [-rank, rank).
  std::optional<int64_t> normalize(int64_t axis, int64_t rank);
  bool normalize(llvm::SmallVectorImpl<int64_t> &axes, int64_t rank);

  Tensor refuse(const llvm::Twine &reason) { return graph.refuse(reason); }
  Tensor reject(const llvm::Twine &reason) { return graph.reject(reason); }

  int64_t outputCount() const { return proto.output_size(); }
  /// Whether anything may read output `index`.
  bool wants(int64_t index) const { return index < proto.output_size() && !proto.output(index).empty(); }
  void setOutput(int64_t index, ModelValue value);
  const std::vector<ModelValue> &outputs() const { return results; }

  const onnx::NodeProto &proto;

private:
  int version;
  std::vector<ModelValue> inputs;
  std::vector<ModelValue> results;
  ModelBuilder &graph;
  GraphImporter &graphs;
};

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_NODE_H
