// Sequences and optionals: they exist only while importing. Their lengths and the places in them are known there, but
// for sequences that loops carry, which are stacked.
#include "compiler/import/Registry.h"
#include "compiler/import/operators/StackedSequences.h"

using namespace llvm;

namespace freestone::importer {
namespace {

using ValueKind = ModelValue::Kind;

/// The first input, if it is a stacked sequence.
Tensor stackOfInput(Node &node) { return node.value(0).isStacked() ? node.value(0).tensor : Tensor(); }

const ModelValue *sequenceInput(Node &node) {
  const ModelValue &value = node.value(0);
  if (value.kind == ValueKind::Sequence)
    return &value;
  node.refuse("the first input is no sequence whose elements are known while importing");
  return nullptr;
}

/// A place in a sequence of this length; `end` says whether the place behind the last is one.
std::optional<int64_t> placeIn(Node &node, int64_t input, int64_t length, bool end) {
  std::optional<SmallVector<int64_t>> place = node.constantsInput(input);
  if (!place)
    return std::nullopt;
  if (place->size() != 1 || place->front() < -length || place->front() >= length + end) {
    node.reject("the position is not within the sequence of " + Twine(length));
    return std::nullopt;
  }
  return place->front() < 0 ? place->front() + length : place->front();
}

/// A place in a stacked sequence, from its end if negative; `otherwise` where the input is absent.
Expr placeInStack(Node &node, int64_t input, Expr length, Expr otherwise) {
  if (!node.has(input))
    return otherwise;
  std::optional<Shape> place = node.sizesInput(input);
  if (!place || place->size() != 1)
    return {};
  std::optional<int64_t> constant = place->front().asConstant();
  return constant && *constant < 0 ? length + *constant : place->front();
}

void construct(Node &node) {
  std::vector<ModelValue> elements;
  for (int64_t index = 0; index < node.inputCount(); ++index)
    elements.push_back(node.value(index));
  node.setOutput(0, ModelValue::sequence(std::move(elements)));
}

void at(Node &node) {
  if (Tensor stack = stackOfInput(node)) {
    Tensor place = node.input(1);
    node.setOutput(0, place ? gather(stack, reshape(place, {}), 0) : Tensor());
    return;
  }
  const ModelValue *sequence = sequenceInput(node);
  std::optional<int64_t> place = sequence ? placeIn(node, 1, sequence->elements.size(), false) : std::nullopt;
  if (place)
    node.setOutput(0, sequence->elements[*place]);
}

void insert(Node &node) {
  if (Tensor stack = stackOfInput(node)) {
    Expr place = placeInStack(node, 2, stack.dim(0), stack.dim(0));
    node.setOutput(0, ModelValue::stacked(place ? insertInto(node, stack, node.input(1), place) : Tensor()));
    return;
  }
  const ModelValue *sequence = sequenceInput(node);
  if (!sequence)
    return;
  std::vector<ModelValue> elements = sequence->elements;
  std::optional<int64_t> place = elements.size();
  if (node.has(2))
    place = placeIn(node, 2, elements.size(), true);
  if (!place)
    return;
  elements.insert(elements.begin() + *place, node.value(1));
  node.setOutput(0, ModelValue::sequence(std::move(elements)));
}

void erase(Node &node) {
  if (Tensor stack = stackOfInput(node)) {
    Expr place = placeInStack(node, 1, stack.dim(0), stack.dim(0) - 1);
    node.setOutput(0, ModelValue::stacked(place ? eraseFrom(stack, place) : Tensor()));
    return;
  }
  const ModelValue *sequence = sequenceInput(node);
  if (!sequence)
    return;
  std::vector<ModelValue> elements = sequence->elements;
  if (elements.empty()) {
    node.reject("nothing can be erased from an empty sequence");
    return;
  }
  std::optional<int64_t> place = elements.size() - 1;
  if (node.has(1))
    place = placeIn(node, 1, elements.size(), false);
  if (!place)
    return;
  elements.erase(elements.begin() + *place);
  node.setOutput(0, ModelValue::sequence(std::move(elements)));
}

Tensor lengthOf(Node &node) {
  if (Tensor stack = stackOfInput(node))
    return node.builder().integer(stack.dim(0));
  const ModelValue *sequence = sequenceInput(node);
  return sequence ? node.builder().integer(sequence->elements.size()) : Tensor();
}

/// How many parts a dimension has and how long each is: by a vector of lengths, a length for all, or 1.
std::optional<Shape> partsOf(Node &node, Expr extent) {
  ModelBuilder &builder = node.builder();
  std::optional<int64_t> length = extent.asConstant();
  if (node.has(1)) {
    Tensor split = node.input(1);
    if (split && split.rank() == 1)
      return node.sizesInput(1);
    std::optional<SmallVector<int64_t>> each = split ? node.constantsInput(1) : std::nullopt;
    if (!each)
      return std::nullopt;
    if (each->size() != 1 || each->front() < 1) {
      node.reject("the length of a part must be positive");
      return std::nullopt;
    }
    if (std::optional<Expr> count = extent.exactDiv(builder.size(each->front())); count && count->isConstant())
      return Shape(*count->asConstant(), builder.size(each->front()));
    if (length) {
      Shape parts(*length / each->front(), builder.size(each->front()));
      if (*length % each->front())
        parts.push_back(builder.size(*length % each->front()));
      return parts;
    }
  } else if (length && *length <= 1 << 16) {
    return Shape(*length, builder.size(1));
  }
  node.refuse("the number of parts depends on a size");
  return std::nullopt;
}

void splitToSequence(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return;
  std::optional<int64_t> axis = node.normalize(node.integer("axis", 0), x.rank());
  std::optional<Shape> parts = axis ? partsOf(node, x.dim(*axis)) : std::nullopt;
  if (!parts)
    return;
  ModelBuilder &builder = node.builder();
  bool dropsAxis = !node.has(1) && !node.integer("keepdims", 1);
  Expr start = builder.size(0), total = start;
  for (Expr part : *parts)
    total = total + part;
  if (!builder.makeEqual(total, x.dim(*axis), "the sum of the parts and the size of what is split"))
    return;
  std::vector<ModelValue> elements;
  for (Expr part : *parts) {
    Tensor element = slice(x, *axis, start, part);
    elements.push_back(dropsAxis ? squeeze(element, {*axis}) : element);
    start = start + part;
  }
  node.setOutput(0, ModelValue::sequence(std::move(elements)));
}

Tensor concatFromSequence(Node &node) {
  if (Tensor stack = stackOfInput(node)) {
    bool isNew = node.integer("new_axis") != 0;
    std::optional<int64_t> axis = node.normalize(node.integer("axis"), stack.rank() - 1 + isNew);
    return axis ? concatStack(node, stack, *axis, isNew) : Tensor();
  }
  const ModelValue *sequence = sequenceInput(node);
  if (!sequence)
    return {};
  bool isNew = node.integer("new_axis") != 0;
  SmallVector<Tensor> operands;
  for (const ModelValue &element : sequence->elements) {
    if (element.kind != ValueKind::Tensor || !element.tensor)
      return node.refuse("the sequence holds what is no tensor");
    operands.push_back(element.tensor);
  }
  if (operands.empty())
    return node.reject("the sequence is empty");
  std::optional<int64_t> axis = node.normalize(node.integer("axis"), operands.front().rank() + isNew);
  if (!axis)
    return {};
  if (isNew)
    for (Tensor &operand : operands)
      operand = unsqueeze(operand, {*axis});
  return concat(operands, *axis);
}

void makeOptional(Node &node) {
  std::vector<ModelValue> content;
  if (node.has(0))
    content.push_back(node.value(0));
  node.setOutput(0, ModelValue::optional(std::move(content)));
}

Tensor hasElement(Node &node) {
  const ModelValue &value = node.value(0);
  bool has = value.kind == ValueKind::Optional ? !value.elements.empty() : value.kind != ValueKind::Absent;
  ModelBuilder &builder = node.builder();
  return builder.scalar(has, builder.getI1Type());
}

void getElement(Node &node) {
  const ModelValue &value = node.value(0);
  if (value.kind != ValueKind::Optional)
    node.setOutput(0, value);
  else if (!value.elements.empty())
    node.setOutput(0, value.elements.front());
  else
    node.reject("the optional is empty");
}

} // namespace

void registerSequences(Registry &registry) {
  registry.addMany("SequenceConstruct", {11}, construct);
  registry.addMany("SequenceEmpty", {11}, [](Node &node) { node.setOutput(0, ModelValue::sequence({})); });
  registry.addMany("SequenceAt", {11}, at);
  registry.addMany("SequenceInsert", {11}, insert);
  registry.addMany("SequenceErase", {11}, erase);
  registry.add("SequenceLength", {11}, lengthOf);
  registry.addMany("SplitToSequence", {11}, splitToSequence);
  registry.add("ConcatFromSequence", {11}, concatFromSequence);
  registry.addMany("Optional", {15}, makeOptional);
  registry.add("OptionalHasElement", {15}, hasElement);
  registry.addMany("OptionalGetElement", {15}, getElement);
}

} // namespace freestone::importer
