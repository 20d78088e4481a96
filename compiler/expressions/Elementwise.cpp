// Elementwise operations and broadcasting.
#include "compiler/expressions/Expressions.h"
#include "compiler/expressions/Fold.h"

using namespace llvm;

namespace freestone::expressions {
namespace {

Tensor refuseType(Tensor x, const Twine &what) {
  return x.builder().reject(what + " is not defined for " + typeName(x.elementType()));
}

/// Applies `fold` to each element; nothing if one of them can't be folded.
template <typename FoldOne> std::optional<Content> foldEach(int64_t count, FoldOne fold) {
  Content result;
  for (int64_t index = 0; index < count; ++index) {
    std::optional<Element> element = fold(index);
    if (!element)
      return std::nullopt;
    result.push_back(*element);
  }
  return result;
}

const sym::Bounds &boundsOf(Tensor x) { return x.builder().bounds(); }

bool isFloatFunction(UnaryKind kind) {
  switch (kind) {
  case UnaryKind::abs:
  case UnaryKind::neg:
  case UnaryKind::sign:
  case UnaryKind::not_:
    return false;
  default:
    return true;
  }
}

bool rounds(UnaryKind kind) {
  return kind == UnaryKind::floor || kind == UnaryKind::ceil || kind == UnaryKind::round || kind == UnaryKind::trunc;
}

bool givesBool(UnaryKind kind) {
  return kind == UnaryKind::isnan || kind == UnaryKind::isinf_pos || kind == UnaryKind::isinf_neg;
}

/// Whether `size`, which is never more than 1, is taken for 1 beside this other one, which may be more.
bool isTakenForOne(GraphBuilder &builder, Expr size, Expr other) {
  auto most = [&](Expr expr) { return builder.bounds().interval(expr).hi; };
  return size.isConstant(1) || (most(size) == 1 && most(other) > 1);
}

/// The common shape of two under numpy's broadcasting rules; records the required equalities.
bool joinShapes(GraphBuilder &builder, Shape &into, ArrayRef<Expr> shape) {
  if (into.size() < shape.size())
    into.insert(into.begin(), shape.size() - into.size(), builder.size(1));
  Shape other(into.size() - shape.size(), builder.size(1));
  llvm::append_range(other, shape);
  for (auto [mine, theirs] : zip_equal(into, other)) {
    mine = builder.current(mine);
    theirs = builder.current(theirs);
    if (isTakenForOne(builder, mine, theirs))
      std::swap(mine, theirs);
    bool isOne = isTakenForOne(builder, theirs, mine);
    if (!builder.makeEqual(isOne ? theirs : mine, isOne ? builder.size(1) : theirs,
                           "sizes of what is combined element by element"))
      return false;
  }
  into = builder.current(into);
  return true;
}

/// The row-major index in `from` that broadcasts to index `index` of `to`.
int64_t broadcastSource(int64_t index, ArrayRef<Expr> from, ArrayRef<Expr> to) {
  int64_t source = 0, scale = 1;
  for (int64_t axis = 1; axis <= int64_t(to.size()); ++axis) {
    int64_t extent = *to[to.size() - axis].asConstant(), coordinate = index % extent;
    index /= extent;
    if (axis > int64_t(from.size()))
      continue;
    int64_t own = *from[from.size() - axis].asConstant();
    source += own == 1 ? 0 : coordinate * scale;
    scale *= own;
  }
  return source;
}

} // namespace

std::optional<Shape> broadcastShapes(GraphBuilder &builder, ArrayRef<Shape> shapes) {
  Shape common;
  for (const Shape &shape : shapes)
    if (!joinShapes(builder, common, shape))
      return std::nullopt;
  return common;
}

bool broadcastTogether(MutableArrayRef<Tensor> operands) {
  SmallVector<Shape> shapes;
  for (Tensor operand : operands)
    shapes.emplace_back(operand.shape());
  std::optional<Shape> shape = broadcastShapes(operands.front().builder(), shapes);
  if (!shape)
    return false;
  for (Tensor &operand : operands)
    if (!(operand = broadcastTo(operand, *shape)))
      return false;
  return true;
}

Tensor broadcastTo(Tensor x, ArrayRef<Expr> target) {
  if (!x)
    return x;
  GraphBuilder &builder = x.builder();
  Shape shape = builder.current(target);
  if (x.shape() == ArrayRef(shape))
    return x;
  int64_t offset = int64_t(shape.size()) - x.rank();
  if (offset < 0)
    return builder.reject("a tensor of rank " + Twine(x.rank()) + " can't be broadcast to rank " + Twine(shape.size()));
  Shape expected(ArrayRef(shape).drop_front(offset));
  for (auto [mine, theirs] : zip_equal(x.shape(), expected))
    if (isTakenForOne(builder, mine, theirs))
      theirs = builder.size(1);
  x = conform(x, expected, "the sizes of a tensor and of what it is broadcast to");
  if (!x)
    return x;
  shape = builder.current(shape);
  bool isStatic = llvm::all_of(shape, [](Expr extent) { return extent.isConstant(); });
  if (x.content() && isStatic) {
    int64_t count = 1;
    bool overflows = false;
    // Real numbers are no sizes: beyond what a constant holds, they would take memory.
    int64_t most = x.isFloat() ? graph::ConstantOp::maxElements : GraphBuilder::maxContent;
    for (Expr extent : shape)
      overflows |= MulOverflow(count, *extent.asConstant(), count) || count > most;
    if (!overflows) {
      Content content;
      for (int64_t index = 0; index < count; ++index)
        content.push_back((*x.content())[broadcastSource(index, x.shape(), shape)]);
      return builder.fromContent(std::move(content), shape, x.elementType());
    }
  }
  if (const Content *same = x.constant(); same && same->size() == 1)
    return builder.emit<graph::ConstantOp>(graph::TensorType::get(shape, x.elementType()),
                                           denseOf(*same, {}, x.elementType()));
  return broadcast(x, shape, llvm::to_vector(llvm::seq<int64_t>(offset, shape.size())));
}

Tensor scalarLike(double value, Tensor like) {
  return like ? like.builder().scalar(value, like.elementType()) : Tensor();
}

Tensor splatLike(double value, Tensor like) {
  return like ? like.builder().splat(value, like.elementType(), like.shape()) : Tensor();
}

Tensor beside(Tensor like, double value) {
  return like && like.builder().keepsContent() ? scalarLike(value, like) : splatLike(value, like);
}

Tensor beside(Tensor like, Expr size) {
  if (!like)
    return like;
  GraphBuilder &builder = like.builder();
  if (builder.keepsContent())
    return cast(builder.integer(size), like.elementType());
  std::optional<int64_t> constant = size.asConstant();
  Tensor everywhere = constant ? builder.splat(*constant, builder.getI64Type(), like.shape())
                               : broadcast(builder.integer(size), like.shape(), {});
  return cast(everywhere, like.elementType());
}

Tensor widen(Tensor x) {
  bool isNarrow = x && (x.elementType().isF16() || x.elementType().isBF16());
  return isNarrow ? cast(x, x.builder().getF32Type()) : x;
}

Tensor unary(UnaryKind kind, Tensor x) {
  if (!x)
    return x;
  GraphBuilder &builder = x.builder();
  bool onBits = kind == UnaryKind::not_;
  if (onBits ? x.isFloat() : x.isBool() || (isFloatFunction(kind) && !x.isFloat())) {
    if (x.isInteger() && rounds(kind))
      return x;
    return refuseType(x, stringifyUnaryKind(kind));
  }
  if (x.isUnsigned() && kind == UnaryKind::abs)
    return x;
  if (x.content()) {
    auto content = foldEach(x.content()->size(), [&](int64_t index) {
      return foldUnary(kind, (*x.content())[index], x.elementType(), boundsOf(x));
    });
    if (content)
      return builder.fromContent(std::move(*content), x.shape(),
                                 givesBool(kind) ? builder.getI1Type() : x.elementType());
  }
  return builder.emit<graph::UnaryOp>(kind, x.value());
}

/// Whether `x` is known to be a splat of a number.
static bool isEverywhere(Tensor x, double number) {
  return x.constant() && !x.constant()->empty() &&
         llvm::all_of(*x.constant(), [&](const Element &element) { return element.asReal() == number; });
}

/// Whether `x` is a neutral right operand. x + 0 is not neutral for floats: -0 + 0 is +0.
static bool isNeutral(BinaryKind kind, Tensor x) {
  switch (kind) {
  case BinaryKind::add:
    return x.isInteger() && isEverywhere(x, 0);
  case BinaryKind::sub:
    return isEverywhere(x, 0);
  case BinaryKind::mul:
  case BinaryKind::div:
    return isEverywhere(x, 1);
  default:
    return false;
  }
}

Tensor binary(BinaryKind kind, Tensor lhs, Tensor rhs) {
  if (!areBuilt({lhs, rhs}))
    return {};
  GraphBuilder &builder = lhs.builder();
  if (lhs.elementType() != rhs.elementType())
    return builder.reject("the operands have different types: " + typeName(lhs.elementType()) + " and " +
                          typeName(rhs.elementType()));
  bool onBits = kind == BinaryKind::and_ || kind == BinaryKind::or_ || kind == BinaryKind::xor_;
  bool shifts = kind == BinaryKind::shl || kind == BinaryKind::shr;
  if (onBits || shifts ? lhs.isFloat() || (shifts && lhs.isBool()) : lhs.isBool())
    return refuseType(lhs, stringifyBinaryKind(kind));
  bool keepsLeft = isNeutral(kind, rhs) && rhs.rank() <= lhs.rank() && rhs.elementCount().isConstant(1);
  bool commutes = kind == BinaryKind::add || kind == BinaryKind::mul;
  bool keepsRight = commutes && isNeutral(kind, lhs) && lhs.rank() <= rhs.rank() && lhs.elementCount().isConstant(1);
  if (keepsLeft || keepsRight)
    return keepsLeft ? lhs : rhs;
  Tensor operands[] = {lhs, rhs};
  if (!broadcastTogether(operands))
    return {};
  auto [x, y] = operands;
  if (x.content() && y.content()) {
    auto content = foldEach(x.content()->size(), [&](int64_t index) {
      return foldBinary(kind, (*x.content())[index], (*y.content())[index], x.elementType(), boundsOf(x));
    });
    if (content)
      return builder.fromContent(std::move(*content), x.shape(), x.elementType());
  }
  mlir::Value left = x.value(), right = y.value();
  return builder.emit<graph::BinaryOp>(kind, left, right);
}

Tensor compare(CompareKind kind, Tensor lhs, Tensor rhs) {
  if (!areBuilt({lhs, rhs}))
    return {};
  GraphBuilder &builder = lhs.builder();
  if (lhs.elementType() != rhs.elementType())
    return builder.reject("the operands have different types: " + typeName(lhs.elementType()) + " and " +
                          typeName(rhs.elementType()));
  Tensor operands[] = {lhs, rhs};
  if (!broadcastTogether(operands))
    return {};
  auto [x, y] = operands;
  if (x.content() && y.content()) {
    auto content = foldEach(x.content()->size(), [&](int64_t index) {
      return foldCompare(kind, (*x.content())[index], (*y.content())[index], builder.getContext(), boundsOf(x));
    });
    if (content)
      return builder.fromContent(std::move(*content), x.shape(), builder.getI1Type());
  }
  mlir::Value left = x.value(), right = y.value();
  return builder.emit<graph::CompareOp>(kind, left, right);
}

Tensor select(Tensor condition, Tensor whenTrue, Tensor whenFalse) {
  if (!areBuilt({condition, whenTrue, whenFalse}))
    return {};
  GraphBuilder &builder = condition.builder();
  if (!condition.isBool() || whenTrue.elementType() != whenFalse.elementType())
    return builder.reject("a choice needs a bool condition and two tensors of one type");
  Tensor operands[] = {condition, whenTrue, whenFalse};
  if (!broadcastTogether(operands))
    return {};
  auto [c, x, y] = operands;
  if (c.content() && x.content() && y.content()) {
    auto content = foldEach(c.content()->size(), [&](int64_t index) {
      return foldSelect((*c.content())[index], (*x.content())[index], (*y.content())[index]);
    });
    if (content)
      return builder.fromContent(std::move(*content), x.shape(), x.elementType());
  }
  mlir::Value choice = c.value(), left = x.value(), right = y.value();
  return builder.emit<graph::SelectOp>(choice, left, right);
}

static Tensor castAs(Tensor x, mlir::Type type, bool saturate, RoundMode round) {
  GraphBuilder &builder = x.builder();
  return builder.emit<graph::CastOp>(x.value(), mlir::TypeAttr::get(type),
                                     saturate ? builder.getUnitAttr() : mlir::UnitAttr(),
                                     graph::RoundModeAttr::get(builder.getContext(), round));
}

Tensor cast(Tensor x, mlir::Type type, RoundMode round) {
  if (!x || x.elementType() == type)
    return x;
  GraphBuilder &builder = x.builder();
  if (x.content() && !graph::isStorageOnly(type)) {
    auto content = foldEach(x.content()->size(), [&](int64_t index) {
      return foldCast((*x.content())[index], x.elementType(), type, boundsOf(x));
    });
    if (content)
      return builder.fromContent(std::move(*content), x.shape(), type);
  }
  return castAs(x, type, /*saturate=*/false, round);
}

Tensor saturatingCast(Tensor x, mlir::Type type, RoundMode round) {
  return !x || x.elementType() == type ? x : castAs(x, type, /*saturate=*/true, round);
}

Tensor bitcast(Tensor x, mlir::Type type) {
  if (!x || x.elementType() == type)
    return x;
  return x.builder().emit<graph::BitcastOp>(x.value(), mlir::TypeAttr::get(type));
}

} // namespace freestone::expressions
