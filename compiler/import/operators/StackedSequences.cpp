#include "compiler/import/operators/StackedSequences.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::importer;

Tensor importer::stackOf(Node &node, const ModelValue &sequence) {
  if (sequence.kind != ModelValue::Kind::Sequence)
    return node.refuse("its body gives sequences or optionals, whose number only the run knows");
  if (sequence.isStacked())
    return sequence.tensor;
  SmallVector<Tensor> parts;
  for (const ModelValue &element : sequence.elements) {
    if (element.kind != ModelValue::Kind::Tensor || !element.tensor)
      return node.refuse("the sequence holds what is no tensor");
    Tensor first = parts.empty() ? element.tensor : sequence.elements.front().tensor;
    if (element.tensor.rank() != first.rank() || element.tensor.elementType() != first.elementType())
      return node.refuse("a sequence whose length only the run knows holds tensors of other ranks or types");
    Tensor alike = parts.empty() ? first : node.builder().conform(element.tensor, first.shape(), "sizes of elements");
    if (!alike)
      return {};
    parts.push_back(unsqueeze(alike, {0}));
  }
  return parts.empty() ? node.refuse("what an empty sequence holds is unknown") : concat(parts, 0);
}

Tensor importer::elementOf(Node &node, const ModelValue &sequence) {
  Tensor stack = stackOf(node, sequence);
  return stack ? squeeze(slice(stack, 0, node.builder().size(0), node.builder().size(1)), {0}) : Tensor();
}

Tensor importer::insertInto(Node &node, Tensor stack, Tensor x, Expr place) {
  if (!x || x.rank() + 1 != stack.rank() || x.elementType() != stack.elementType())
    return node.refuse("a sequence whose length only the run knows holds tensors of other ranks or types");
  x = node.builder().conform(x, stack.shape().drop_front(), "sizes of elements");
  if (!x)
    return {};
  Expr length = stack.dim(0);
  if (place == length)
    return concat({stack, unsqueeze(x, {0})}, 0);
  Tensor before = slice(stack, 0, node.builder().size(0), place), behind = slice(stack, 0, place, length - place);
  return concat({before, unsqueeze(x, {0}), behind}, 0);
}

Tensor importer::eraseFrom(Tensor stack, Expr place) {
  Expr zero = place - place;
  return concat({slice(stack, 0, zero, place), slice(stack, 0, place + 1, stack.dim(0) - place - 1)}, 0);
}

Tensor importer::concatStack(Node &node, Tensor stack, int64_t axis, bool isNew) {
  SmallVector<int64_t> order = to_vector(seq<int64_t>(1, stack.rank()));
  order.insert(order.begin() + axis, 0);
  Tensor moved = transpose(stack, order);
  if (isNew)
    return moved;
  Shape shape(moved.shape());
  shape[axis] = shape[axis] * shape[axis + 1];
  shape.erase(shape.begin() + axis + 1);
  return reshape(moved, shape);
}
