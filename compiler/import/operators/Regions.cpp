#include "compiler/import/operators/Regions.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::importer;

const onnx::GraphProto *importer::bodyOf(Node &node, StringRef name) {
  const onnx::AttributeProto *attribute = node.attribute(name);
  if (attribute && attribute->has_g())
    return &attribute->g();
  node.reject("the body '" + name + "' is missing");
  return nullptr;
}

std::optional<int64_t> importer::knownScalar(Tensor tensor) {
  const Content *content = tensor ? tensor.constant() : nullptr;
  return content && content->size() == 1 ? content->front().asConstantInteger() : std::nullopt;
}

std::vector<Tensor> importer::importTensors(Node &node, const onnx::GraphProto &body, const Values &arguments) {
  std::optional<Values> outputs = node.importer().importBody(body, arguments);
  std::vector<Tensor> tensors;
  for (const ModelValue &value : outputs.value_or(Values())) {
    if (value.kind != ModelValue::Kind::Tensor)
      return node.refuse("its body gives sequences or optionals, whose number only the run knows"), tensors;
    tensors.push_back(value.tensor);
  }
  return tensors;
}

/// The values of a body's outputs in the program; nothing if one of them is no tensor.
static std::optional<SmallVector<mlir::Value>> tensorsOf(Node &node, const Values &values) {
  SmallVector<mlir::Value> tensors;
  for (const ModelValue &value : values) {
    if (value.kind != ModelValue::Kind::Tensor) {
      node.refuse("its body gives sequences or optionals, whose number only the run knows");
      return std::nullopt;
    }
    if (!value.tensor)
      return std::nullopt;
    tensors.push_back(value.tensor.value());
  }
  return tensors;
}

std::optional<SmallVector<mlir::Value>> importer::buildRegion(Node &node, mlir::Region &region,
                                                              ArrayRef<mlir::Type> arguments,
                                                              function_ref<std::optional<Values>(Values)> build) {
  ModelBuilder &builder = node.builder();
  mlir::OpBuilder::InsertionGuard guard(builder);
  mlir::Block *block = builder.createBlock(&region);
  Values values;
  for (mlir::Type type : arguments)
    values.push_back(builder.fromValue(block->addArgument(type, builder.getLoc())));
  ModelBuilder::RegionScope inside(builder);
  std::optional<Values> outputs = build(values);
  std::optional<SmallVector<mlir::Value>> tensors = outputs ? tensorsOf(node, *outputs) : std::nullopt;
  if (tensors)
    builder.create<graph::YieldOp>(*tensors);
  return tensors;
}

void importer::setResults(Node &node, mlir::Operation *op) {
  for (auto [index, result] : enumerate(op->getResults()))
    node.setOutput(index, node.builder().fromValue(result));
}
