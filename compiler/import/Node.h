#ifndef FREESTONE_COMPILER_IMPORT_NODE_H
#define FREESTONE_COMPILER_IMPORT_NODE_H

#include "compiler/import/ModelBuilder.h"
#include "onnx/onnx_pb.h"
#include <memory>
#include <string>

namespace freestone::importer {

/// A dimension in which the elements of a stacked sequence differ.
struct OpenSize {
  /// Of an element.
  int64_t axis = 0;
  /// Sequences have equal sizes of one name at the same place; empty: it has none.
  std::string name = {};
};

/// The value of a name: a tensor, or a sequence or optional of tensors, which exist only during import. What is known
/// of a sequence are its elements, or else they lie in a stack.
struct ModelValue {
  enum class Kind { Absent, Tensor, Sequence, Optional };

  ModelValue() = default;
  ModelValue(Tensor tensor) : kind(Kind::Tensor), tensor(tensor) {}
  static ModelValue sequence(std::vector<ModelValue> elements);
  /// A sequence of tensors in a tensor, along its first dimension: its length may depend on the run. Along the open
  /// dimensions of its elements the stack has room for the greatest, and `sizes`, [length, open dimensions] x i64,
  /// tells how much of it each one takes. Elements may lack the first `lacking` dimensions, which are open: their sizes
  /// there are -1, and they take one place.
  static ModelValue stacked(Tensor stack, Tensor sizes = {}, llvm::SmallVector<OpenSize> open = {},
                            int64_t lacking = 0);
  static ModelValue optional(std::vector<ModelValue> content);
  /// An optional tensor that only the run knows: the only element of a stacked sequence, or none.
  static ModelValue stackedOptional(ModelValue sequence);
  /// An optional sequence, where a bool tells whether there is one.
  static ModelValue optionalSequence(ModelValue sequence, Tensor presence);

  bool isStacked() const { return kind == Kind::Sequence && tensor; }
  /// A stacked optional as the sequence of its content.
  ModelValue content() const { return stacked(tensor, sizes, open, lacking); }
  /// Whether all of it was built.
  bool isBuilt() const;

  Kind kind = Kind::Absent;
  /// Of a sequence or an optional: the stack of its elements, instead of these.
  Tensor tensor, sizes;
  llvm::SmallVector<OpenSize> open;
  int64_t lacking = 0;
  /// Of a sequence: its elements. Of an optional: at most one.
  std::vector<ModelValue> elements;
  /// Of an optional: whether it has the element that is there; null: it has.
  Tensor presence;
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
  const std::vector<ModelValue> &values() const { return inputs; }
  /// All inputs, which must be tensors of `variadic` operators.
  llvm::SmallVector<Tensor> allInputs();

  /// Elements of an integer input that must be known during import, possibly symbolic; refuses otherwise.
  std::optional<Shape> sizesInput(int64_t index);
  /// As sizesInput, of elements that are sizes of results: those that data decide are symbols.
  std::optional<Shape> extentsInput(int64_t index);
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

  /// The size of this name that the element at a place of some sequences has, `place` being the input that tells it;
  /// null until somebody sets it.
  Expr &sizeAt(llvm::StringRef name, int64_t place);

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
