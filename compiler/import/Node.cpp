#include "compiler/import/Node.h"

#include "compiler/import/GraphImporter.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace freestone::importer {

ModelValue ModelValue::sequence(std::vector<ModelValue> elements) {
  ModelValue value;
  value.kind = Kind::Sequence;
  value.elements = std::move(elements);
  return value;
}

ModelValue ModelValue::stacked(Tensor stack, Tensor sizes, SmallVector<OpenSize> open, int64_t lacking) {
  ModelValue value;
  value.kind = Kind::Sequence;
  value.tensor = stack;
  value.sizes = sizes;
  value.open = std::move(open);
  value.lacking = lacking;
  return value;
}

ModelValue ModelValue::optional(std::vector<ModelValue> content) {
  ModelValue value = sequence(std::move(content));
  value.kind = Kind::Optional;
  return value;
}

ModelValue ModelValue::stackedOptional(ModelValue sequence) {
  sequence.kind = Kind::Optional;
  return sequence;
}

ModelValue ModelValue::optionalSequence(ModelValue sequence, Tensor presence) {
  ModelValue value = optional({std::move(sequence)});
  value.presence = presence;
  return value;
}

bool ModelValue::isBuilt() const {
  return (kind != Kind::Tensor || tensor) && llvm::all_of(elements, [](const ModelValue &v) { return v.isBuilt(); });
}

Node::Node(const onnx::NodeProto &proto, int opset, std::vector<ModelValue> inputs, ModelBuilder &builder,
           GraphImporter &importer)
    : proto(proto), version(opset), inputs(std::move(inputs)), results(proto.output_size()), graph(builder),
      graphs(importer) {}

bool Node::has(int64_t index) const { return index < inputCount() && inputs[index].kind != ModelValue::Kind::Absent; }

const ModelValue &Node::value(int64_t index) const {
  static const ModelValue absent;
  return index < inputCount() ? inputs[index] : absent;
}

Tensor Node::input(int64_t index) {
  if (!has(index))
    return reject("input " + Twine(index) + " is missing");
  if (inputs[index].kind != ModelValue::Kind::Tensor)
    return refuse("input " + Twine(index) + " is a sequence or an optional, not a tensor");
  return inputs[index].tensor;
}

Expr &Node::sizeAt(StringRef name, int64_t place) { return graphs.sizeAt(name, input(place)); }

SmallVector<Tensor> Node::allInputs() {
  SmallVector<Tensor> tensors;
  for (int64_t index = 0; index < inputCount(); ++index)
    tensors.push_back(input(index));
  return tensors;
}

std::optional<Shape> Node::sizesInput(int64_t index) {
  Tensor tensor = input(index);
  if (!tensor)
    return std::nullopt;
  if (!tensor.isInteger()) {
    reject("input " + Twine(index) + " must hold integers");
    return std::nullopt;
  }
  if (!tensor.content()) {
    refuse("input " + Twine(index) + " decides a size, but is computed from data");
    return std::nullopt;
  }
  Shape sizes;
  for (const Element &element : *tensor.content())
    sizes.push_back(element.asExpr());
  return sizes;
}

std::optional<Shape> Node::extentsInput(int64_t index) {
  Tensor tensor = input(index);
  if (!tensor || tensor.rank() != 1 || !tensor.isInteger() || tensor.content())
    return sizesInput(index);
  std::optional<int64_t> count = tensor.extent(0);
  // One element at most, such as a slice with a computed bound takes, is one.
  if (!count && graph.bounds().interval(tensor.shape()[0]).hi == 1) {
    count = 1;
    tensor = reshape(tensor, {graph.size(1)});
  }
  if (!count)
    return sizesInput(index);
  Shape sizes;
  for (int64_t element = 0; element < *count && !graph.stopped(); ++element)
    sizes.push_back(graph.dataSizes.get(tensor, element));
  return graph.stopped() ? std::nullopt : std::optional(sizes);
}

std::optional<SmallVector<int64_t>> Node::constantsInput(int64_t index) {
  std::optional<Shape> sizes = sizesInput(index);
  if (!sizes)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (Expr size : *sizes) {
    std::optional<int64_t> value = size.asConstant();
    if (!value) {
      refuse("input " + Twine(index) + " must be constant, but is known only when the program runs");
      return std::nullopt;
    }
    values.push_back(*value);
  }
  return values;
}

std::optional<double> Node::realInput(int64_t index) {
  Tensor tensor = input(index);
  if (!tensor)
    return std::nullopt;
  const Content *content = tensor.constant();
  if (!content || content->size() != 1) {
    refuse("input " + Twine(index) + " must be one constant number");
    return std::nullopt;
  }
  return content->front().asReal();
}

const onnx::AttributeProto *Node::attribute(StringRef name) const {
  for (const onnx::AttributeProto &attribute : proto.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

int64_t Node::integer(StringRef name, int64_t otherwise) const {
  const onnx::AttributeProto *found = attribute(name);
  return found ? found->i() : otherwise;
}

double Node::real(StringRef name, double otherwise) const {
  const onnx::AttributeProto *found = attribute(name);
  return found ? found->f() : otherwise;
}

std::string Node::text(StringRef name, StringRef otherwise) const {
  const onnx::AttributeProto *found = attribute(name);
  return found ? found->s() : otherwise.str();
}

SmallVector<int64_t> Node::integers(StringRef name) const {
  const onnx::AttributeProto *found = attribute(name);
  return found ? SmallVector<int64_t>(found->ints().begin(), found->ints().end()) : SmallVector<int64_t>();
}

SmallVector<double> Node::reals(StringRef name) const {
  const onnx::AttributeProto *found = attribute(name);
  return found ? SmallVector<double>(found->floats().begin(), found->floats().end()) : SmallVector<double>();
}

std::optional<int64_t> Node::normalize(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    reject("axis " + Twine(axis) + " does not exist in a tensor of rank " + Twine(rank));
    return std::nullopt;
  }
  return axis < 0 ? axis + rank : axis;
}

bool Node::normalize(SmallVectorImpl<int64_t> &axes, int64_t rank) {
  for (int64_t &axis : axes) {
    std::optional<int64_t> normal = normalize(axis, rank);
    if (!normal)
      return false;
    axis = *normal;
  }
  SmallVector<int64_t> sorted(axes.begin(), axes.end());
  llvm::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end())
    return true;
  reject("an axis is named twice");
  return false;
}

void Node::setOutput(int64_t index, ModelValue value) {
  if (index < int64_t(results.size()))
    results[index] = std::move(value);
}

} // namespace freestone::importer
