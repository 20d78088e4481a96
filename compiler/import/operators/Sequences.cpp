// Sequences and optionals: they exist only while importing. Where the elements and the places in a sequence are known,
// its operators need none of the program; other sequences are stacked.
#include "compiler/import/Registry.h"
#include "compiler/import/operators/StackedSequences.h"

using namespace llvm;

namespace freestone::importer {
namespace {

using ValueKind = ModelValue::Kind;

const ModelValue *sequenceInput(Node &node) {
  const ModelValue &value = node.value(0);
  if (value.kind == ValueKind::Sequence)
    return &value;
  node.refuse("the first input is no sequence");
  return nullptr;
}

/// A constant place in a sequence of this length; `end` says whether the place behind the last is one. Nothing where
/// the place is not known.
std::optional<int64_t> placeIn(Node &node, int64_t input, int64_t length, bool end) {
  Tensor tensor = node.input(input);
  const Content *content = tensor && tensor.isInteger() ? tensor.constant() : nullptr;
  std::optional<int64_t> place = content && content->size() == 1 ? content->front().asConstantInteger() : std::nullopt;
  if (!place)
    return std::nullopt;
  if (*place < -length || *place >= length + end) {
    node.reject("the position is not within the sequence of " + Twine(length));
    return std::nullopt;
  }
  return *place < 0 ? *place + length : *place;
}

void construct(Node &node) {
  std::vector<ModelValue> elements;
  for (int64_t index = 0; index < node.inputCount(); ++index)
    elements.push_back(node.value(index));
  node.setOutput(0, ModelValue::sequence(std::move(elements)));
}

void at(Node &node) {
  const ModelValue *sequence = sequenceInput(node);
  if (!sequence)
    return;
  if (std::optional<int64_t> place =
          sequence->isStacked() ? std::nullopt : placeIn(node, 1, sequence->elements.size(), false))
    node.setOutput(0, sequence->elements[*place]);
  else if (!node.builder().stopped())
    node.setOutput(0, elementAt(node, stacked(node.builder(), *sequence), 1));
}

void insert(Node &node) {
  const ModelValue *sequence = sequenceInput(node);
  if (!sequence)
    return;
  std::optional<int64_t> place;
  if (!sequence->isStacked())
    place = node.has(2) ? placeIn(node, 2, sequence->elements.size(), true) : sequence->elements.size();
  if (place) {
    std::vector<ModelValue> elements = sequence->elements;
    elements.insert(elements.begin() + *place, node.value(1));
    node.setOutput(0, ModelValue::sequence(std::move(elements)));
  } else if (!node.builder().stopped()) {
    // What is inserted may need more room.
    std::optional<StackForm> form = formOf(node.builder(), ModelValue::sequence({node.value(1)})),
                             own = formOf(node.builder(), *sequence);
    if (form && own)
      form = joinForms(node.builder(), *own, *form);
    if (form && !node.builder().stopped())
      node.setOutput(0, insertInto(node, stackAs(node.builder(), *sequence, *form), node.input(1), 2));
  }
}

void erase(Node &node) {
  const ModelValue *sequence = sequenceInput(node);
  if (!sequence)
    return;
  if (!sequence->isStacked() && sequence->elements.empty()) {
    node.reject("nothing can be erased from an empty sequence");
    return;
  }
  std::optional<int64_t> place;
  if (!sequence->isStacked())
    place = node.has(1) ? placeIn(node, 1, sequence->elements.size(), false) : sequence->elements.size() - 1;
  if (place) {
    std::vector<ModelValue> elements = sequence->elements;
    elements.erase(elements.begin() + *place);
    node.setOutput(0, ModelValue::sequence(std::move(elements)));
  } else if (!node.builder().stopped()) {
    node.setOutput(0, eraseFrom(node, stacked(node.builder(), *sequence), 1));
  }
}

Tensor lengthOf(Node &node) {
  const ModelValue *sequence = sequenceInput(node);
  if (!sequence)
    return {};
  ModelBuilder &builder = node.builder();
  return builder.integer(sequence->isStacked() ? sequence->tensor.dim(0) : builder.size(sequence->elements.size()));
}

/// How many parts a dimension has and how long each is: by a vector of lengths, or by one length for all of a constant
/// number of parts. Nothing where their number is not known.
std::optional<Shape> partsOf(Node &node, Expr extent, Expr each) {
  ModelBuilder &builder = node.builder();
  if (!each)
    return node.sizesInput(1);
  if (std::optional<Expr> count = extent.exactDiv(each); count && count->isConstant())
    return Shape(*count->asConstant(), each);
  std::optional<int64_t> all = extent.asConstant(), length = each.asConstant();
  if (!all || !length || *length < 1)
    return std::nullopt;
  Shape parts(*all / *length, each);
  if (*all % *length)
    parts.push_back(builder.size(*all % *length));
  return parts;
}

/// The parts of x, all as long as `each` but the last, in a stack.
ModelValue splitToStack(Node &node, Tensor x, int64_t axis, Expr each, bool dropsAxis) {
  ModelBuilder &builder = node.builder();
  Expr extent = x.dim(axis), one = builder.size(1);
  if (!builder.makeAtMost(one, each, "the length of a part must be positive"))
    return Tensor();
  Expr length = builder.define("part", Expr::max(each, one), {1, sym::Interval::plusInfinity});
  Expr count = builder.define("parts", Expr::ceilDiv(extent, length), sym::Interval::size());
  Shape none(x.rank(), builder.size(0)), behind(none), split(x.shape());
  behind[axis] = count * length - extent;
  split[axis] = length;
  split.insert(split.begin() + axis, count);
  SmallVector<int64_t> order = to_vector(seq<int64_t>(0, x.rank() + 1));
  order.erase(order.begin() + axis);
  order.insert(order.begin(), axis);
  Tensor stack = transpose(reshapeUnchecked(pad(x, none, behind, 0.0), split), order);
  if (length.isConstant(1))
    return ModelValue::stacked(dropsAxis ? squeeze(stack, {axis + 1}) : stack);
  Tensor starts = iota(builder, {count, one}, 0, builder.getI64Type()) * length;
  return ModelValue::stacked(stack, min(builder.integer(extent) - starts, builder.integer(length)),
                             SmallVector<OpenSize>{OpenSize{axis}});
}

void splitToSequence(Node &node) {
  Tensor x = node.input(0), split = node.optionalInput(1);
  if (!x || (node.has(1) && !split))
    return;
  ModelBuilder &builder = node.builder();
  std::optional<int64_t> axis = node.normalize(node.integer("axis", 0), x.rank());
  Expr each;
  if (!split) {
    each = builder.size(1);
  } else if (split.rank() == 0) {
    std::optional<Shape> length = node.sizesInput(1);
    each = length ? length->front() : Expr();
  }
  if (!axis || builder.stopped())
    return;
  if (each && each.asConstant().value_or(1) < 1) {
    node.reject("the length of a part must be positive");
    return;
  }
  bool dropsAxis = !split && !node.integer("keepdims", 1);
  constexpr size_t mostParts = 1 << 10;
  std::optional<Shape> parts = partsOf(node, x.dim(*axis), each);
  if (each && (!parts || parts->size() > mostParts)) {
    node.setOutput(0, splitToStack(node, x, *axis, each, dropsAxis));
    return;
  }
  if (!parts)
    return;
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
  const ModelValue *sequence = sequenceInput(node);
  if (!sequence)
    return {};
  bool isNew = node.integer("new_axis") != 0;
  if (sequence->isStacked()) {
    std::optional<int64_t> axis = node.normalize(node.integer("axis"), sequence->tensor.rank() - 1 + isNew);
    return axis ? concatStack(node, *sequence, *axis, isNew) : Tensor();
  }
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
  ModelBuilder &builder = node.builder();
  if (value.kind == ValueKind::Optional && value.tensor)
    return notEqual(builder.integer(value.tensor.dim(0)), 0.0);
  if (value.presence)
    return value.presence;
  bool has = value.kind == ValueKind::Optional ? !value.elements.empty() : value.kind != ValueKind::Absent;
  return builder.scalar(has, builder.getI1Type());
}

void getElement(Node &node) {
  const ModelValue &value = node.value(0);
  if (value.kind != ValueKind::Optional)
    node.setOutput(0, value);
  else if (value.tensor)
    node.setOutput(0, onlyElement(node, value));
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
