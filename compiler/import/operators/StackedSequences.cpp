#include "compiler/import/operators/StackedSequences.h"

using namespace llvm;
using namespace freestone;
using namespace freestone::importer;

bool StackForm::isOpen(int64_t axis) const {
  return any_of(open, [&](const OpenSize &size) { return size.axis == axis; });
}

static StackForm formOfStack(const ModelValue &value) {
  return {value.tensor.elementType(), Shape(value.tensor.shape().drop_front()), value.open, value.lacking};
}

/// A size that does not depend on data, at least as great.
static Expr roomFor(ModelBuilder &builder, Expr size) {
  Expr room = builder.sizeFacts().greatest(size);
  if (!room)
    builder.refuse("nothing limits the sizes of what a sequence holds; give the sizes of the inputs limits (--dim)");
  return room;
}

/// Refuses tensors of another type than those of a form.
static bool requireAlike(ModelBuilder &builder, const StackForm &form, mlir::Type elementType) {
  if (form.elementType == elementType)
    return true;
  builder.refuse("a sequence whose length only the run knows holds tensors of other types; keep them in sequences of "
                 "their own");
  return false;
}

/// A form with so many more dimensions, which no element has.
static StackForm withLacking(ModelBuilder &builder, StackForm form, int64_t more) {
  for (OpenSize &size : form.open)
    size.axis += more;
  for (int64_t axis = more; axis-- > 0;)
    form.open.insert(form.open.begin(), OpenSize{axis});
  form.room.insert(form.room.begin(), more, builder.size(1));
  form.lacking += more;
  return form;
}

std::optional<StackForm> importer::joinForms(ModelBuilder &builder, const StackForm &a, const StackForm &b) {
  if (!requireAlike(builder, a, b.elementType))
    return std::nullopt;
  int64_t rank = std::max(a.room.size(), b.room.size());
  StackForm left = withLacking(builder, a, rank - a.room.size()), right = withLacking(builder, b, rank - b.room.size());
  StackForm form = {a.elementType, {}, {}, std::max(left.lacking, right.lacking)};
  for (auto [axis, one, other] : enumerate(left.room, right.room)) {
    bool isOpen = one != other || left.isOpen(axis) || right.isOpen(axis);
    form.room.push_back(one == other ? one : builder.sizeFacts().simplify(Expr::max(one, other)));
    if (isOpen)
      form.open.push_back({int64_t(axis)});
  }
  return form;
}

std::optional<StackForm> importer::formOf(ModelBuilder &builder, const ModelValue &sequence) {
  if (sequence.tensor)
    return formOfStack(sequence);
  std::optional<StackForm> form;
  for (const ModelValue &element : sequence.elements) {
    if (element.kind != ModelValue::Kind::Tensor || !element.tensor) {
      builder.refuse("the sequence holds what is no tensor");
      return std::nullopt;
    }
    StackForm own = {element.tensor.elementType(), {}, {}};
    for (auto [axis, size] : enumerate(element.tensor.shape())) {
      own.room.push_back(roomFor(builder, size));
      if (!own.room.back())
        return std::nullopt;
      if (own.room.back() != size)
        own.open.push_back({int64_t(axis)});
    }
    form = form ? joinForms(builder, *form, own) : own;
    if (!form)
      return std::nullopt;
  }
  return form;
}

static bool isAtMost(const SizeFacts &facts, Expr size, Expr room) {
  // Larger expressions are symbols.
  if (std::optional<StringRef> name = room.asSymbol(); name && size != room)
    if (auto symbol = facts.symbols().find(name->str()); symbol != facts.symbols().end() && symbol->second.definition)
      room = symbol->second.definition;
  if (size.kind() == sym::Kind::Max)
    return all_of(size.operands(), [&](Expr operand) { return isAtMost(facts, operand, room); });
  return size == room || facts.bounds().provablyLE(size, room) ||
         (room.kind() == sym::Kind::Max &&
          any_of(room.operands(), [&](Expr operand) { return isAtMost(facts, size, operand); }));
}

/// Refuses sizes that may be greater than the room for them.
static bool requireRoom(ModelBuilder &builder, Expr size, Expr room) {
  Expr most = builder.sizeFacts().greatest(size);
  if (most && isAtMost(builder.sizeFacts(), most, room))
    return true;
  builder.refuse("a sequence that it carries gets larger elements in each iteration; declare their sizes");
  return false;
}

/// A tensor in the room that a form has for it, and its open sizes: [1, room…] and [1, open dimensions].
static std::pair<Tensor, Tensor> place(ModelBuilder &builder, Tensor x, const StackForm &form) {
  if (!x || !requireAlike(builder, form, x.elementType()))
    return {};
  int64_t lacks = form.room.size() - x.rank();
  assert(lacks >= 0 && lacks <= form.lacking && "no form for this tensor");
  x = unsqueeze(x, to_vector(seq<int64_t>(0, lacks)));
  Shape expected(form.room), none(x.rank(), builder.size(0)), behind(none), open;
  for (const OpenSize &size : form.open) {
    expected[size.axis] = x.dim(size.axis);
    open.push_back(size.axis < lacks ? builder.size(-1) : x.dim(size.axis));
    behind[size.axis] = form.room[size.axis] - x.dim(size.axis);
    if (!requireRoom(builder, x.dim(size.axis), form.room[size.axis]))
      return {};
  }
  Tensor placed = builder.conform(x, expected, "sizes of elements");
  if (!placed)
    return {};
  placed = unsqueeze(pad(placed, none, behind, 0.0), {0});
  return {placed, form.open.empty() ? Tensor() : unsqueeze(builder.vector(open), {0})};
}

ModelValue importer::stackAs(ModelBuilder &builder, const ModelValue &sequence, const StackForm &form) {
  ModelValue failed = Tensor();
  SmallVector<Tensor> parts, sizes;
  if (sequence.tensor) {
    if (!requireAlike(builder, form, sequence.tensor.elementType()))
      return failed;
    int64_t lacks = form.room.size() + 1 - sequence.tensor.rank();
    assert(lacks >= 0 && lacks + sequence.lacking <= form.lacking && "no form for this sequence");
    Tensor own = unsqueeze(sequence.tensor, to_vector(seq<int64_t>(1, 1 + lacks)));
    Expr length = own.dim(0);
    Shape expected = {length}, none(own.rank(), builder.size(0)), behind(none);
    append_range(expected, form.room);
    for (const OpenSize &size : form.open) {
      Expr extent = own.dim(size.axis + 1);
      if (!requireRoom(builder, extent, form.room[size.axis]))
        return failed;
      expected[size.axis + 1] = extent;
      behind[size.axis + 1] = form.room[size.axis] - extent;
      auto before = find_if(sequence.open, [&](const OpenSize &other) { return other.axis + lacks == size.axis; });
      bool wasOpen = before != sequence.open.end();
      Tensor same = builder.integer(size.axis < lacks ? builder.size(-1) : extent);
      sizes.push_back(wasOpen ? slice(sequence.sizes, 1, builder.size(before - sequence.open.begin()), builder.size(1))
                              : broadcastTo(same, {length, builder.size(1)}));
    }
    for (const OpenSize &size : sequence.open)
      if (!form.isOpen(size.axis + lacks))
        return builder.refuse("a sequence that it carries gets elements of other sizes; declare their sizes"), failed;
    Tensor stack = builder.conform(own, expected, "sizes of elements");
    return ModelValue::stacked(stack ? pad(stack, none, behind, 0.0) : stack,
                               sizes.empty() ? Tensor() : concat(sizes, 1), form.open, form.lacking);
  }
  for (const ModelValue &element : sequence.elements) {
    if (element.kind != ModelValue::Kind::Tensor)
      return builder.refuse("the sequence holds what is no tensor"), failed;
    auto [part, size] = place(builder, element.tensor, form);
    if (!part)
      return failed;
    parts.push_back(part);
    sizes.push_back(size);
  }
  if (parts.empty()) {
    Shape shape = {builder.size(0)};
    append_range(shape, form.room);
    parts.push_back(builder.splat(0, form.elementType, shape));
    sizes.push_back(builder.splat(0, builder.getI64Type(), {builder.size(0), builder.size(form.open.size())}));
  }
  return ModelValue::stacked(concat(parts, 0), form.open.empty() ? Tensor() : concat(sizes, 0), form.open,
                             form.lacking);
}

ModelValue importer::stacked(ModelBuilder &builder, const ModelValue &sequence) {
  if (sequence.tensor)
    return sequence;
  std::optional<StackForm> form = formOf(builder, sequence);
  if (!form)
    return builder.stopped() ? Tensor() : builder.refuse("what an empty sequence holds is unknown");
  return stackAs(builder, sequence, *form);
}

/// The element at `place`, a scalar. Sizes of names that `sizeAt` knows are those.
static Tensor readElement(Node &node, const ModelValue &sequence, Tensor place,
                          function_ref<Expr *(StringRef)> sizeAt) {
  if (!sequence.tensor || !place)
    return {};
  if (sequence.lacking > 0)
    return node.refuse("only the run knows the rank of an element; declare the shapes of a sequence's elements");
  ModelBuilder &builder = node.builder();
  // Other places are checked where an element is read; elements without room never are.
  if (!builder.makeAtMost(builder.size(1), sequence.tensor.dim(0), "an empty sequence or optional has no element"))
    return {};
  Tensor x = gather(sequence.tensor, place, 0);
  Tensor sizes = sequence.sizes ? gather(sequence.sizes, place, 0) : Tensor();
  for (auto [index, open] : enumerate(sequence.open)) {
    Expr *known = open.name.empty() ? nullptr : sizeAt(open.name);
    if (known && *known) {
      x = slice(x, open.axis, builder.size(0), *known);
      continue;
    }
    Tensor size = reshape(slice(sizes, 0, builder.size(index), builder.size(1)), {});
    Tensor places = iota(builder, {sequence.tensor.dim(open.axis + 1)}, 0, builder.getI64Type());
    x = compress(x, places < size, open.axis);
    if (known && x)
      *known = x.dim(open.axis);
  }
  return x;
}

Tensor importer::elementAt(Node &node, const ModelValue &sequence, int64_t placeInput) {
  Tensor place = node.input(placeInput);
  return readElement(node, sequence, place ? reshape(place, {}) : place,
                     [&](StringRef name) { return &node.sizeAt(name, placeInput); });
}

Tensor importer::onlyElement(Node &node, const ModelValue &optional) {
  return readElement(node, optional, node.builder().integer(0), [](StringRef) { return nullptr; });
}

/// Elements of a sequence by their places; names of sizes are about the places before.
static ModelValue rearrange(ModelValue sequence, function_ref<Tensor(Tensor)> change) {
  sequence.tensor = change(sequence.tensor);
  if (sequence.sizes)
    sequence.sizes = change(sequence.sizes);
  for (OpenSize &open : sequence.open)
    open.name.clear();
  return sequence;
}

/// A place as a size, from the end of `length` if negative; null if it may be none of the `most` first places.
static Expr knownPlace(Node &node, int64_t input, Expr length, Expr most) {
  Tensor place = node.input(input);
  const Content *content = place && place.isInteger() ? place.content() : nullptr;
  if (!content || content->size() != 1)
    return {};
  Expr expr = content->front().asExpr();
  if (std::optional<int64_t> constant = expr.asConstant(); constant && *constant < 0)
    expr = length + *constant;
  const sym::Bounds &bounds = node.builder().sizeFacts().bounds();
  return bounds.provablyNonNegative(expr) && bounds.provablyLT(expr, most) ? expr : Expr();
}

/// A place that only the run knows, from 0 on; outside of every tensor where it is none of the `most` first places.
static Tensor computedPlace(Node &node, int64_t input, Expr length, Expr most) {
  ModelBuilder &builder = node.builder();
  Tensor place = node.has(input) ? node.input(input) : builder.integer(-1);
  if (!place)
    return place;
  place = cast(reshape(place, {}), builder.getI64Type());
  Tensor zero = builder.integer(0), all = builder.integer(length);
  Tensor fromStart = select(place < zero, place + all, place);
  Tensor isWithin = (fromStart >= zero) & (fromStart < builder.integer(most));
  return select(isWithin, fromStart, builder.integer(length + 1) * builder.integer(-2));
}

ModelValue importer::insertInto(Node &node, const ModelValue &sequence, Tensor x, int64_t placeInput) {
  ModelBuilder &builder = node.builder();
  if (!sequence.tensor || !x)
    return Tensor();
  auto [part, size] = place(node.builder(), x, formOfStack(sequence));
  if (!part)
    return Tensor();
  Expr length = sequence.tensor.dim(0), zero = builder.size(0);
  Expr known = node.has(placeInput) ? knownPlace(node, placeInput, length, length + 1) : length;
  Tensor computed = known ? Tensor() : computedPlace(node, placeInput, length, length + 1);
  return rearrange(sequence, [&](Tensor before) {
    Tensor own = before == sequence.tensor ? part : size;
    if (known == length)
      return concat({before, own}, 0);
    if (known)
      return concat({slice(before, 0, zero, known), own, slice(before, 0, known, length - known)}, 0);
    // Behind the last, then moved to its place.
    Tensor at = iota(builder, {length + 1}, 0, builder.getI64Type());
    Tensor from = select(at < computed, at, select(at > computed, at - builder.integer(1), builder.integer(length)));
    return gather(concat({before, own}, 0), select(computed < builder.integer(0), computed, from), 0);
  });
}

ModelValue importer::eraseFrom(Node &node, const ModelValue &sequence, int64_t placeInput) {
  ModelBuilder &builder = node.builder();
  if (!sequence.tensor)
    return Tensor();
  Expr length = sequence.tensor.dim(0), zero = builder.size(0),
       left = builder.sizeFacts().simplify(Expr::max(length - 1, zero));
  Expr known;
  if (node.has(placeInput))
    known = knownPlace(node, placeInput, length, length);
  else if (left == length - 1)
    known = left;
  Tensor computed = known ? Tensor() : computedPlace(node, placeInput, length, length);
  if (!builder.makeAtMost(builder.size(1), length, "nothing can be erased from an empty sequence"))
    return Tensor();
  return rearrange(sequence, [&](Tensor before) {
    if (known)
      return concat({slice(before, 0, zero, known), slice(before, 0, known + 1, length - known - 1)}, 0);
    Tensor at = iota(builder, {left}, 0, builder.getI64Type());
    Tensor from = select(at < computed, at, at + builder.integer(1));
    return gather(before, select(computed < builder.integer(0), computed, from), 0);
  });
}

Tensor importer::concatStack(Node &node, const ModelValue &sequence, int64_t axis, bool isNew) {
  Tensor stack = sequence.tensor;
  if (sequence.lacking > 0)
    return node.refuse("only the run knows the rank of an element; declare the shapes of a sequence's elements");
  for (const OpenSize &open : sequence.open)
    if (isNew || open.axis != axis)
      return node.refuse("elements whose sizes only the run knows are concatenated; declare their sizes");
  SmallVector<int64_t> order = to_vector(seq<int64_t>(1, stack.rank()));
  order.insert(order.begin() + axis, 0);
  Tensor moved = transpose(stack, order);
  if (isNew || !moved)
    return moved;
  Shape shape(moved.shape());
  shape[axis] = shape[axis] * shape[axis + 1];
  shape.erase(shape.begin() + axis + 1);
  Tensor joined = reshape(moved, shape);
  if (sequence.open.empty() || !joined)
    return joined;
  // Without what is behind the ends of the elements.
  ModelBuilder &builder = node.builder();
  Shape places = {stack.dim(0), stack.dim(axis + 1)};
  Tensor isTaken = iota(builder, places, 1, builder.getI64Type()) < sequence.sizes;
  return compress(joined, reshape(isTaken, {shape[axis]}), axis);
}
