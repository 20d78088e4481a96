#include "compiler/import/GraphImporter.h"
#include "compiler/import/ImportOnnx.h"
#include "compiler/import/Registry.h"
#include "compiler/import/Schemas.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace llvm;

namespace freestone::importer {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

std::string nameOf(const onnx::NodeProto &node) {
  if (!node.name().empty())
    return node.name();
  return node.output_size() ? node.output(0) : node.op_type();
}

std::string qualifiedOp(const onnx::NodeProto &node) {
  return (node.domain().empty() ? "ai.onnx" : node.domain()) + "." + node.op_type();
}

/// The type of a value in ONNX's terms; unset if the value is absent. Sizes that are not constant are left open.
onnx::TypeProto typeOf(const ModelValue &value) {
  onnx::TypeProto type;
  bool isSequence = value.kind == ModelValue::Kind::Sequence;
  if (isSequence || value.kind == ModelValue::Kind::Optional) {
    // An empty sequence may have any element type: nothing is ever read from it.
    onnx::TypeProto element;
    element.mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    if (value.tensor)
      element.mutable_tensor_type()->set_elem_type(onnxTypeOf(value.tensor.elementType()));
    else if (!value.elements.empty())
      element = typeOf(value.elements.front());
    *(isSequence ? type.mutable_sequence_type()->mutable_elem_type()
                 : type.mutable_optional_type()->mutable_elem_type()) = element;
    return type;
  }
  if (value.kind != ModelValue::Kind::Tensor || !value.tensor)
    return type;
  auto *tensor = type.mutable_tensor_type();
  tensor->set_elem_type(onnxTypeOf(value.tensor.elementType()));
  auto *shape = tensor->mutable_shape();
  for (Expr extent : value.tensor.shape()) {
    auto *dim = shape->add_dim();
    if (std::optional<int64_t> constant = extent.asConstant())
      dim->set_dim_value(*constant);
  }
  return type;
}

/// Replaces references to a function's attributes by its caller's values; attributes without a value are dropped.
void bindAttributes(Nodes *nodes, const std::map<std::string, onnx::AttributeProto> &given) {
  for (onnx::NodeProto &node : *nodes) {
    auto *attributes = node.mutable_attribute();
    for (int index = attributes->size(); index-- > 0;) {
      onnx::AttributeProto &attribute = (*attributes)[index];
      if (attribute.has_g())
        bindAttributes(attribute.mutable_g()->mutable_node(), given);
      if (attribute.ref_attr_name().empty())
        continue;
      auto value = given.find(attribute.ref_attr_name());
      if (value == given.end()) {
        attributes->DeleteSubrange(index, 1);
        continue;
      }
      std::string name = attribute.name();
      attribute = value->second;
      attribute.set_name(name);
    }
  }
}

} // namespace

std::string describe(const onnx::NodeProto &node, int opset) {
  std::string op = node.op_type();
  if (!node.domain().empty() && node.domain() != "ai.onnx")
    op = node.domain() + "." + op;
  return "'" + nameOf(node) + "' (" + op + ", opset " + std::to_string(opset) + ")";
}

const ModelValue *Scope::find(StringRef name) const {
  for (const Scope *scope = this; scope; scope = scope->outer)
    if (auto found = scope->values.find(name); found != scope->values.end())
      return &found->second;
  return nullptr;
}

int Scope::opset(const std::string &domain) const {
  auto found = opsets.find(domain == "ai.onnx" ? std::string() : domain);
  return found == opsets.end() ? 0 : found->second;
}

GraphImporter::GraphImporter(ModelBuilder &builder, const onnx::ModelProto &model, ModelReport &report)
    : builder(builder), model(model), report(report) {}

const onnx::FunctionProto *GraphImporter::modelFunction(const onnx::NodeProto &proto) const {
  for (const onnx::FunctionProto &function : model.functions())
    if (function.domain() == proto.domain() && function.name() == proto.op_type() &&
        function.overload() == proto.overload())
      return &function;
  return nullptr;
}

bool GraphImporter::isKnown(const onnx::NodeProto &proto, int opset) const {
  std::optional<OperatorSchema> schema = findSchema(proto.domain(), proto.op_type(), opset);
  return modelFunction(proto) || Registry::instance().find(proto.domain(), proto.op_type(), opset) ||
         (schema && schema->hasBody);
}

std::optional<onnx::FunctionProto> GraphImporter::definitionOf(const Node &node) {
  if (const onnx::FunctionProto *function = modelFunction(node.proto))
    return *function;
  std::vector<onnx::TypeProto> types;
  for (const ModelValue &value : node.values()) {
    if (!value.isBuilt())
      return std::nullopt;
    types.push_back(typeOf(value));
  }
  return functionBody(node.proto, node.opset(), types);
}

bool GraphImporter::checkTypes(const Node &node) {
  std::vector<onnx::TypeProto> types;
  for (const ModelValue &value : node.values())
    types.push_back(value.kind == ModelValue::Kind::Tensor ? typeOf(value) : onnx::TypeProto());
  std::string complaint = verifyInputTypes(node.proto, node.opset(), types);
  if (!complaint.empty())
    builder.reject(complaint);
  return complaint.empty();
}

void GraphImporter::inlineBody(Node &node, const onnx::FunctionProto &function, const Scope &caller) {
  if (depth >= maxDepth) {
    node.reject("definitions of operators by operators are nested too deeply; does one use itself?");
    return;
  }
  SaveAndRestore<int> deeper(depth, depth + 1);
  Scope scope;
  // Bodies that a node has, as SequenceMap does, see the values around it; ONNX's own names do not hide them.
  if (!modelFunction(node.proto))
    scope.outer = &caller;
  for (const onnx::OperatorSetIdProto &set : function.opset_import())
    scope.opsets[set.domain()] = set.version();
  for (const auto &[domain, version] : caller.opsets)
    scope.opsets.insert({domain, version});
  for (int index = 0; index < function.input_size(); ++index)
    scope.values[function.input(index)] = node.value(index);
  std::map<std::string, onnx::AttributeProto> given;
  for (const onnx::AttributeProto &attribute : function.attribute_proto())
    given[attribute.name()] = attribute;
  for (const onnx::AttributeProto &attribute : node.proto.attribute())
    given[attribute.name()] = attribute;
  Nodes nodes = function.node();
  bindAttributes(&nodes, given);
  if (!importNodes(nodes, scope))
    return;
  for (int index = 0; index < function.output_size(); ++index) {
    const ModelValue *value = scope.find(function.output(index));
    if (value)
      node.setOutput(index, *value);
    else if (node.wants(index))
      node.reject("its definition does not make output '" + function.output(index) + "'");
  }
}

bool GraphImporter::importNode(const onnx::NodeProto &proto, Scope &scope) {
  int opset = scope.opset(proto.domain());
  if (++imported > maxNodes) {
    builder.refuse("the model has more than " + Twine(maxNodes) + " nodes");
    return false;
  }
  std::vector<ModelValue> inputs;
  for (const std::string &name : proto.input()) {
    const ModelValue *value = name.empty() ? nullptr : scope.find(name);
    if (!value && !name.empty()) {
      builder.reject("input '" + name + "' is made by no node before this one");
      return false;
    }
    inputs.push_back(value ? *value : ModelValue());
  }
  SaveAndRestore<Scope *> inside(current, &scope);
  mlir::Location before = builder.getLoc();
  scope_exit restore([&] { builder.setLoc(before); });
  if (depth == 0)
    builder.setLoc(mlir::NameLoc::get(builder.getStringAttr(nameOf(proto))));
  Node node(proto, opset, std::move(inputs), builder, *this);
  if (!modelFunction(proto) && !checkTypes(node))
    return false;
  const Entry *entry =
      modelFunction(proto) ? nullptr : Registry::instance().find(proto.domain(), proto.op_type(), opset);
  if (entry)
    entry->build(node);
  else if (std::optional<onnx::FunctionProto> function = definitionOf(node))
    inlineBody(node, *function, scope);
  else if (Registry::instance().knows(proto.domain(), proto.op_type()))
    builder.refuse("this version of the operator is not supported; convert the model to a newer opset");
  else
    builder.refuse("the operator is not supported, and ONNX defines it by no other operators");
  if (builder.stopped())
    return false;
  for (auto [name, value] : zip(proto.output(), node.outputs())) {
    if (!name.empty())
      scope.values[name] = value;
  }
  return true;
}

bool GraphImporter::importNodes(const Nodes &nodes, Scope &scope) {
  for (const onnx::NodeProto &proto : nodes) {
    if (importNode(proto, scope))
      continue;
    Refusal refusal = *builder.takeRefusal();
    std::string reason = "in its definition, at " + proto.op_type() + ": " + refusal.reason;
    refusal.kind == Refusal::Kind::Invalid ? builder.reject(reason) : builder.refuse(reason);
    return false;
  }
  return true;
}

Tensor GraphImporter::tensorNamed(StringRef name) const {
  const ModelValue *value = current->find(name);
  return value && value->kind == ModelValue::Kind::Tensor ? value->tensor : Tensor();
}

void GraphImporter::noteRandom(const Node &node, ArrayRef<int64_t> switches) {
  // Named after the model's own node, even within a definition.
  RandomNode &random = report.random.emplace_back(cast<mlir::NameLoc>(builder.getLoc()).getName().str());
  // Names within a definition are local.
  for (int64_t index : switches)
    if (depth == 0 && node.has(index))
      random.switches.push_back(node.proto.input(index));
}

void GraphImporter::importMain(Scope &scope, const Nodes &nodes) {
  auto markUnbuilt = [&](const onnx::NodeProto &proto) {
    for (const std::string &name : proto.output())
      scope.values[name] = ModelValue(Tensor());
  };
  for (const onnx::NodeProto &proto : nodes) {
    int opset = scope.opset(proto.domain());
    bool isReachable = llvm::all_of(proto.input(), [&](const std::string &name) {
      const ModelValue *value = name.empty() ? nullptr : scope.find(name);
      return !value || value->isBuilt();
    });
    // Operators that depend on an unsupported node are checked by name and version only.
    if (!isReachable) {
      if (!isKnown(proto, opset))
        report.unsupported.push_back({nameOf(proto), qualifiedOp(proto), opset, "the operator is not supported"});
      markUnbuilt(proto);
      continue;
    }
    if (importNode(proto, scope))
      continue;
    Refusal refusal = *builder.takeRefusal();
    if (refusal.kind == Refusal::Kind::Invalid) {
      builder.reject("node " + describe(proto, opset) + ": " + refusal.reason);
      return;
    }
    report.unsupported.push_back({nameOf(proto), qualifiedOp(proto), opset, refusal.reason});
    markUnbuilt(proto);
  }
}

std::optional<std::vector<ModelValue>> GraphImporter::importBody(const onnx::GraphProto &graph,
                                                                 std::vector<ModelValue> inputs) {
  Scope scope;
  scope.outer = current;
  scope.opsets = current->opsets;
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    TensorData data;
    std::string error;
    if (failed(decodeTensor(builder.getContext(), tensor, {tensor.raw_data().data(), tensor.raw_data().size()}, data,
                            error)))
      return builder.reject("initializer '" + tensor.name() + "' of its body: " + error), std::nullopt;
    scope.values[tensor.name()] = builder.fromData(data);
  }
  for (auto [info, value] : zip(graph.input(), inputs))
    scope.values[info.name()] = value;
  if (!importNodes(graph.node(), scope))
    return std::nullopt;
  std::vector<ModelValue> outputs;
  for (const onnx::ValueInfoProto &info : graph.output()) {
    const ModelValue *value = scope.find(info.name());
    if (!value)
      return builder.reject("its body does not make output '" + info.name() + "'"), std::nullopt;
    outputs.push_back(*value);
  }
  return outputs;
}

} // namespace freestone::importer
