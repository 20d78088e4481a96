#ifndef FREESTONE_COMPILER_IMPORT_GRAPHIMPORTER_H
#define FREESTONE_COMPILER_IMPORT_GRAPHIMPORTER_H

#include "compiler/import/Node.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace freestone {
struct ModelReport;
} // namespace freestone

namespace freestone::importer {

/// The names that nodes may use, and what they mean.
struct Scope {
  /// Of a region; functions see nothing outside.
  const Scope *outer = nullptr;
  llvm::StringMap<ModelValue> values;
  /// Version of the operator set of each domain.
  std::map<std::string, int> opsets;

  const ModelValue *find(llvm::StringRef name) const;
  int opset(const std::string &domain) const;
};

/// Walks the nodes of a model: builds those that have an entry, and inlines the others by their definition.
class GraphImporter {
public:
  /// Definitions may use each other to this depth; deeper ones call themselves.
  static constexpr int maxDepth = 32;
  /// Bodies of bodies can grow without end in a small file.
  static constexpr int64_t maxNodes = 1 << 20;

  GraphImporter(ModelBuilder &builder, const onnx::ModelProto &model, ModelReport &report);

  /// Builds the nodes in order. A node that can't be compiled goes into the report, and what depends on it is left out;
  /// the walk ends with the builder stopped where the model is wrong.
  void importMain(Scope &scope, const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes);

  /// Builds the nodes of a body and answers its outputs; nothing where the builder is stopped.
  std::optional<std::vector<ModelValue>> importBody(const onnx::GraphProto &graph, std::vector<ModelValue> inputs);

  /// The tensor of a name that nodes may use where the walk is; null where there is none.
  Tensor tensorNamed(llvm::StringRef name) const;
  /// Tells the report that a node draws random numbers, which matter only where none of its inputs `switches` is 0.
  void noteRandom(const Node &node, llvm::ArrayRef<int64_t> switches);

private:
  bool importNode(const onnx::NodeProto &proto, Scope &scope);
  bool importNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, Scope &scope);
  void inlineBody(Node &node, const onnx::FunctionProto &function, const Scope &scope);
  std::optional<onnx::FunctionProto> definitionOf(const Node &node);
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
