#ifndef FREESTONE_COMPILER_IMPORT_GRAPHIMPORTER_H
#define FREESTONE_COMPILER_IMPORT_GRAPHIMPORTER_H

#include "compiler/import/Node.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace freestone {
struct ModelReport;
} // namespace freestone

namespace freestone::importer {

/// The visible names, with their values.
struct Scope {
  /// The enclosing scope of a region, or of an operator's definition; null for functions of the model, which capture
  /// nothing.
  const Scope *outer = nullptr;
  llvm::StringMap<ModelValue> values;
  /// Version of the operator set of each domain.
  std::map<std::string, int> opsets;
  /// Sizes of the elements of sequences, by their names and the tensors that tell the places.
  std::map<std::pair<std::string, const Tensor::State *>, Expr> sizesAt;

  const ModelValue *find(llvm::StringRef name) const;
  int opset(const std::string &domain) const;
};

/// Walks the nodes of a model: builds those that have an entry, and inlines the others by their definition.
class GraphImporter {
public:
  /// Maximum nesting of definitions; deeper ones are recursive.
  static constexpr int maxDepth = 32;
  /// Maximum number of nodes: nested bodies can grow exponentially in a small file.
  static constexpr int64_t maxNodes = 1 << 20;

  GraphImporter(ModelBuilder &builder, const onnx::ModelProto &model, ModelReport &report);

  /// Builds the nodes in order. An unsupported node is added to the report, and its dependents are skipped; if the
  /// model is invalid, the walk ends with the builder stopped.
  void importMain(Scope &scope, const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes);

  /// Builds the nodes of a body and returns its outputs; nothing if the builder is stopped.
  std::optional<std::vector<ModelValue>> importBody(const onnx::GraphProto &graph, std::vector<ModelValue> inputs);

  /// The tensor of a visible name; null if there is none.
  Tensor tensorNamed(llvm::StringRef name) const;
  /// See Node::sizeAt.
  Expr &sizeAt(llvm::StringRef name, Tensor place) { return current->sizesAt[{name.str(), place.impl()}]; }
  /// Reports a node with random numbers, which have an effect only if none of its inputs `switches` is 0.
  void noteRandom(const Node &node, llvm::ArrayRef<int64_t> switches);

private:
  bool importNode(const onnx::NodeProto &proto, Scope &scope);
  bool importNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, Scope &scope);
  void inlineBody(Node &node, const onnx::FunctionProto &function, const Scope &scope);
  std::optional<onnx::FunctionProto> definitionOf(const Node &node);
  /// Refuses tensors of types that ONNX does not let the operator have.
  bool checkTypes(const Node &node);
  const onnx::FunctionProto *modelFunction(const onnx::NodeProto &proto) const;
  bool isKnown(const onnx::NodeProto &proto, int opset) const;

  ModelBuilder &builder;
  const onnx::ModelProto &model;
  ModelReport &report;
  Scope *current = nullptr;
  int depth = 0;
  int64_t imported = 0;
};

/// How messages name a node: `'conv1' (Conv, opset 20)`.
std::string describe(const onnx::NodeProto &node, int opset);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_GRAPHIMPORTER_H
