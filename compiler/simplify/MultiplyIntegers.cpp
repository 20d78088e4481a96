#include "compiler/dialect/sym/Bounds.h"
#include "compiler/expressions/Expressions.h"
#include "compiler/expressions/IntegerProducts.h"
#include "compiler/simplify/Counters.h"
#include "compiler/simplify/Passes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace freestone::expressions;

namespace freestone::graph {

#define GEN_PASS_DEF_MULTIPLYINTEGERS
#include "compiler/simplify/Passes.h.inc"

namespace {

/// A number for each index of some dimensions of a tensor, ascending; for none of them, a scalar.
struct Parameter {
  Value numbers;
  SmallVector<int64_t> dims;

  /// As a tensor of this rank, with a size of 1 along all other dimensions; a scalar stays one.
  Tensor spread(GraphBuilder &builder, int64_t rank) const;
};

/// (integers - zero) * scale, where the zero point and the scale may be absent.
struct Dequantized {
  Value integers;
  std::optional<Parameter> zero, scale;
};

Tensor Parameter::spread(GraphBuilder &builder, int64_t rank) const {
  Tensor tensor(builder, numbers);
  Shape shape(dims.empty() ? 0 : rank, builder.size(1));
  for (auto [dim, size] : llvm::zip_equal(dims, tensor.shape()))
    shape[dim] = size;
  return reshape(tensor, shape);
}

/// What a tensor repeats; nothing where every element is one of its own.
std::optional<Parameter> getParameter(Value value) {
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat()) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    auto scalar = cast<TensorType>(value.getType()).withShape({});
    auto one = DenseElementsAttr::get(RankedTensorType::get({}, constant.getElementType()),
                                      constant.getSplatValue<Attribute>());
    return Parameter{ConstantOp::create(builder, value.getLoc(), scalar, one), {}};
  }
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return std::nullopt;
  Parameter parameter;
  Shape kept;
  for (auto [dim, extent] : llvm::zip_equal(broadcast.getDims(), getShape(broadcast.getOperand()))) {
    if (extent.isConstant(1))
      continue;
    parameter.dims.push_back(dim);
    kept.push_back(extent);
  }
  GraphBuilder builder(broadcast.getLoc(), broadcast);
  parameter.numbers = reshape(Tensor(builder, broadcast.getOperand()), kept).value();
  return parameter;
}

/// The integers that were cast to these floats, in i32; null where they may be none.
Tensor getIntegers(GraphBuilder &builder, Value floats) {
  DenseElementsAttr constant;
  if (matchPattern(floats, m_Constant(&constant))) {
    bool areIntegers = llvm::all_of(constant.getValues<APFloat>(), [](const APFloat &value) {
      return value.isInteger() && std::abs(value.convertToDouble()) <= 255;
    });
    return areIntegers ? expressions::cast(Tensor(builder, floats), builder.getI32Type()) : Tensor();
  }
  if (auto reshaped = floats.getDefiningOp<ReshapeOp>()) {
    Tensor source = getIntegers(builder, reshaped.getOperand());
    return source ? reshape(source, getShape(floats)) : source;
  }
  auto conversion = floats.getDefiningOp<CastOp>();
  bool isByte = conversion && isa<IntegerType>(getElementType(conversion.getOperand())) &&
                getElementType(conversion.getOperand()).getIntOrFloatBitWidth() == 8;
  return isByte ? expressions::cast(Tensor(builder, conversion.getOperand()), builder.getI32Type()) : Tensor();
}

/// The operand of an f32 product and what is combined with it, in either order where this is one number for several.
template <typename Match> std::optional<Dequantized> matchSides(BinaryOp op, bool commutes, Match match) {
  for (auto [value, other] : {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
    if (std::optional<Dequantized> found = match(value))
      if (std::optional<Parameter> parameter = getParameter(other)) {
        (op.getKind() == BinaryKind::mul ? found->scale : found->zero) = *parameter;
        return found;
      }
    if (!commutes)
      break;
  }
  return std::nullopt;
}

std::optional<Dequantized> getConverted(Value value) {
  auto conversion = value.getDefiningOp<CastOp>();
  if (!conversion || !getElementType(value).isF32())
    return std::nullopt;
  Type type = getElementType(conversion.getOperand());
  bool isByte = isa<IntegerType>(type) && type.getIntOrFloatBitWidth() == 8;
  return isByte ? std::optional(Dequantized{conversion.getOperand(), {}, {}}) : std::nullopt;
}

std::optional<Dequantized> getCentered(Value value) {
  auto difference = value.getDefiningOp<BinaryOp>();
  if (difference && difference.getKind() == BinaryKind::sub)
    return matchSides(difference, /*commutes=*/false, getConverted);
  return getConverted(value);
}

std::optional<Dequantized> getScaled(Value value) {
  auto product = value.getDefiningOp<BinaryOp>();
  if (product && product.getKind() == BinaryKind::mul)
    return matchSides(product, /*commutes=*/true, getCentered);
  return getCentered(value);
}

/// What an operand of a product stands for. With one scale and one zero point for all its elements, it may be reshaped
/// or transposed.
std::optional<Dequantized> getDequantized(Value value) {
  Operation *moved = value.getDefiningOp();
  if (!isa_and_present<TransposeOp, ReshapeOp>(moved))
    return getScaled(value);
  std::optional<Dequantized> source = getDequantized(moved->getOperand(0));
  auto differs = [](const std::optional<Parameter> &parameter) { return parameter && !parameter->dims.empty(); };
  if (!source || differs(source->zero) || differs(source->scale))
    return std::nullopt;
  OpBuilder builder(moved);
  Operation *copy = builder.clone(*moved);
  copy->setOperand(0, source->integers);
  auto type = cast<TensorType>(value.getType()).withElementType(getElementType(source->integers));
  copy->getResult(0).setType(type);
  source->integers = copy->getResult(0);
  return source;
}

/// Replaces products of a function by those of the integers that their factors stand for.
class IntegerProducts {
public:
  IntegerProducts(func::FuncOp function, bool windows, int64_t fewestProducts)
      : bounds(sym::Interval::size()), windows(windows), fewestProducts(fewestProducts) {
    auto symbols = function->getAttrOfType<DictionaryAttr>("graph.symbols");
    for (NamedAttribute symbol : symbols ? symbols.getValue() : ArrayRef<NamedAttribute>())
      if (auto known = dyn_cast<sym::SymbolBoundsAttr>(symbol.getValue()))
        bounds.set(symbol.getName(), known.getBounds());
  }

  bool replace(ContractOp product);
  bool replace(ConvolveOp product);

private:
  /// Sums of this many products of differences of bytes fit integers of so many bits.
  bool fit(ArrayRef<Expr> depth, unsigned bits = 31) {
    const int64_t most = ((int64_t(1) << bits) - 1) / (255 * 255);
    Expr terms = Expr::constant(context(depth), 1);
    for (Expr size : depth)
      terms = terms * size;
    return bounds.interval(terms).hi <= most;
  }
  static MLIRContext *context(ArrayRef<Expr> depth) { return depth.front().context(); }

  sym::Bounds bounds;
  /// Whether filters may have several places, and of how many products then.
  bool windows;
  int64_t fewestProducts;
};

/// The integers with their zero point, which must not vary along these dimensions; nothing if it does, or is no
/// integer.
std::optional<CenteredIntegers> getFactor(GraphBuilder &builder, const Dequantized &from, ArrayRef<int64_t> summed) {
  auto varies = [&](const std::optional<Parameter> &parameter) {
    return parameter && llvm::any_of(summed, [&](int64_t dim) { return llvm::is_contained(parameter->dims, dim); });
  };
  if (varies(from.zero) || varies(from.scale))
    return std::nullopt;
  CenteredIntegers factor{Tensor(builder, from.integers), {}};
  if (!from.zero)
    return factor;
  Parameter zero = *from.zero;
  Tensor integers = getIntegers(builder, zero.numbers);
  if (!integers)
    return std::nullopt;
  zero.numbers = integers.value();
  if (!matchPattern(zero.numbers, m_Zero()))
    factor.zero = zero.spread(builder, factor.integers.rank());
  return factor;
}

Tensor getScale(GraphBuilder &builder, const Dequantized &from) {
  int64_t rank = cast<TensorType>(from.integers.getType()).getRank();
  return from.scale ? from.scale->spread(builder, rank) : builder.scalar(1.0, builder.getF32Type());
}

bool IntegerProducts::replace(ContractOp product) {
  if (!getElementType(product.getResult()).isF32() || product.getLhsContract().empty())
    return false;
  SmallVector<Expr> depth;
  for (int64_t dim : product.getLhsContract())
    depth.push_back(getShape(product.getLhs())[dim]);
  if (!fit(depth))
    return false;
  std::optional<Dequantized> left = getDequantized(product.getLhs()), right = getDequantized(product.getRhs());
  if (!left || !right)
    return false;
  GraphBuilder builder(product.getLoc(), product);
  std::optional<CenteredIntegers> lhs = getFactor(builder, *left, product.getLhsContract()),
                                  rhs = getFactor(builder, *right, product.getRhsContract());
  if (!lhs || !rhs)
    return false;
  ContractAxes axes;
  axes.lhsBatch.assign(product.getLhsBatch().begin(), product.getLhsBatch().end());
  axes.rhsBatch.assign(product.getRhsBatch().begin(), product.getRhsBatch().end());
  axes.lhsContract.assign(product.getLhsContract().begin(), product.getLhsContract().end());
  axes.rhsContract.assign(product.getRhsContract().begin(), product.getRhsContract().end());
  Tensor scale[2];
  for (bool isLhs : {true, false})
    scale[isLhs] = spreadOverProduct(getScale(builder, isLhs ? *left : *right), lhs->integers.rank(),
                                     rhs->integers.rank(), axes, isLhs);
  Tensor sums = expressions::cast(contractCentered(*lhs, *rhs, axes), builder.getF32Type());
  product.replaceAllUsesWith((sums * (scale[true] * scale[false])).value());
  product.erase();
  return true;
}

/// Whether windows hold so few products that packing them as words takes longer than summing them in f32.
bool isShallow(ArrayRef<Expr> kernel, int64_t least) {
  int64_t depth = 1, taps = 1;
  for (auto [dim, size] : llvm::enumerate(kernel.drop_front())) {
    depth *= size.asConstant().value_or(least);
    taps *= dim ? size.asConstant().value_or(1) : 1;
  }
  return taps > 1 && depth < least;
}

bool IntegerProducts::replace(ConvolveOp product) {
  auto isOne = [](int64_t number) { return number == 1; };
  ArrayRef<Expr> kernel = getShape(product.getKernel());
  // A channel for each filter: no dot products, but f32, whose 24 bits hold the integers' sums, and bytes in memory.
  bool isDepthwise = product.getGroups() != 1;
  if (!isDepthwise && isShallow(kernel, fewestProducts))
    return false;
  if (!getElementType(product.getResult()).isF32() || !llvm::all_of(product.getOperandDilation(), isOne) ||
      !fit(kernel.drop_front(), isDepthwise ? 23 : 31) ||
      (isDepthwise && !(kernel[1].isConstant(1) && kernel[0].isConstant(product.getGroups()))))
    return false;
  std::optional<Dequantized> picture = getDequantized(product.getOperand()),
                             filters = getDequantized(product.getKernel());
  if (!picture || !filters)
    return false;
  GraphBuilder builder(product.getLoc(), product);
  int64_t rank = product.getStrides().size() + 2;
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(rank));
  std::optional<CenteredIntegers> x = getFactor(builder, *picture, all),
                                  w = getFactor(builder, *filters, ArrayRef(all).drop_front());
  if (!x || !w || (isDepthwise && w->zero))
    return false;
  Window window;
  for (Expr size : kernel.drop_front(2)) {
    std::optional<int64_t> places = size.asConstant();
    if (!places || (*places > 1 && !windows && !isDepthwise))
      return false;
    window.sizes.push_back(*places);
  }
  window.strides.assign(product.getStrides().begin(), product.getStrides().end());
  window.dilations.assign(product.getDilations().begin(), product.getDilations().end());
  window.low.assign(product.getLow().begin(), product.getLow().end());
  window.high.assign(product.getHigh().begin(), product.getHigh().end());
  Tensor scale = getScale(builder, *filters);
  if (scale.rank() > 0) {
    Shape shape(rank - 1, builder.size(1));
    shape.front() = scale.dim(0);
    scale = reshape(scale, shape);
  }
  Type real = builder.getF32Type();
  Tensor sums = convolveCentered(*x, *w, window, product.getGroups(), isDepthwise ? real : Type());
  sums = expressions::cast(sums, real);
  product.replaceAllUsesWith((sums * (getScale(builder, *picture) * scale)).value());
  product.erase();
  return true;
}

/// The number that all elements of a constant are.
std::optional<double> getSplat(Value value) {
  DenseElementsAttr constant;
  if (!matchPattern(value, m_Constant(&constant)) || !constant.isSplat() || !constant.getElementType().isF32())
    return std::nullopt;
  return constant.getSplatValue<APFloat>().convertToDouble();
}

/// The one number of a parameter; `otherwise` where there is none.
std::optional<double> getNumber(const std::optional<Parameter> &parameter, double otherwise) {
  return parameter ? getSplat(parameter->numbers) : otherwise;
}

/// The greatest of dequantised numbers is that of their integers: a window that holds one element at least.
bool poolIntegers(WindowOp pool) {
  if (pool.getKind() != ReduceKind::max || !getElementType(pool.getResult()).isF32())
    return false;
  auto isInside = [&](ArrayRef<Expr> borders) {
    return llvm::all_of(llvm::zip_equal(borders, pool.getSizes()), [](auto sides) {
      std::optional<int64_t> border = std::get<0>(sides).asConstant();
      return border && *border < std::get<1>(sides);
    });
  };
  if (!llvm::all_of(pool.getDilations(), [](int64_t dilation) { return dilation == 1; }) || !isInside(pool.getLow()) ||
      !isInside(pool.getHigh()))
    return false;
  std::optional<Dequantized> source = getScaled(pool.getOperand());
  if (!source || getNumber(source->scale, 1).value_or(0) <= 0 || !getNumber(source->zero, 0))
    return false;
  GraphBuilder builder(pool.getLoc(), pool);
  Window window;
  window.sizes.assign(pool.getSizes().begin(), pool.getSizes().end());
  window.strides.assign(pool.getStrides().begin(), pool.getStrides().end());
  window.dilations.assign(pool.getDilations().begin(), pool.getDilations().end());
  window.low.assign(pool.getLow().begin(), pool.getLow().end());
  window.high.assign(pool.getHigh().begin(), pool.getHigh().end());
  Tensor numbers =
      expressions::cast(windowReduce(ReduceKind::max, Tensor(builder, source->integers), window), builder.getF32Type());
  int64_t rank = numbers.rank();
  if (source->zero)
    numbers = numbers - source->zero->spread(builder, rank);
  if (source->scale)
    numbers = numbers * source->scale->spread(builder, rank);
  pool.replaceAllUsesWith(numbers.value());
  pool.erase();
  return true;
}

/// Integers that are dequantised and quantised again with the same scale and zero point are themselves: the rounding in
/// between is far below half a step.
bool keepIntegers(CastOp quantized) {
  Type type = getElementType(quantized.getResult());
  if (!quantized.getSaturate() || !isa<IntegerType>(type) || type.getIntOrFloatBitWidth() != 8)
    return false;
  auto getBinary = [](Value value, BinaryKind kind) {
    auto op = value.getDefiningOp<BinaryOp>();
    return op && op.getKind() == kind ? op : BinaryOp();
  };
  Value value = quantized.getOperand();
  double zero = 0;
  if (BinaryOp shifted = getBinary(value, BinaryKind::add)) {
    std::optional<double> number = getSplat(shifted.getRhs());
    if (!number)
      return false;
    zero = *number;
    value = shifted.getLhs();
  }
  auto rounded = value.getDefiningOp<UnaryOp>();
  BinaryOp quotient =
      rounded && rounded.getKind() == UnaryKind::round ? getBinary(rounded.getOperand(), BinaryKind::div) : BinaryOp();
  std::optional<double> scale = quotient ? getSplat(quotient.getRhs()) : std::nullopt;
  std::optional<Dequantized> source = scale ? getDequantized(quotient.getLhs()) : std::nullopt;
  if (!source || getElementType(source->integers) != type || getNumber(source->scale, 1) != scale ||
      getNumber(source->zero, 0) != zero || !std::isnormal(*scale))
    return false;
  quantized.replaceAllUsesWith(source->integers);
  return true;
}

/// Whether a number is computed from a product, in a few operations on its elements.
bool isOfProduct(Value value, unsigned operations = 8) {
  Operation *op = value.getDefiningOp();
  if (!op || operations == 0)
    return false;
  if (isa<ContractOp, ConvolveOp>(op))
    return true;
  Type type = getElementType(value);
  if (isa<IntegerType>(type) && type.getIntOrFloatBitWidth() == 8)
    return false;
  return isa<BinaryOp, UnaryOp, CastOp, ReshapeOp>(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) { return isOfProduct(operand, operations - 1); });
}

/// What is quantised behind a product, whose numbers are rounded already, is multiplied by the reciprocal of the scale:
/// a division takes longer than all else.
bool multiplyByReciprocal(CastOp quantized) {
  Type type = getElementType(quantized.getResult());
  if (!quantized.getSaturate() || !isa<IntegerType>(type) || type.getIntOrFloatBitWidth() != 8)
    return false;
  Value value = quantized.getOperand();
  if (auto shifted = value.getDefiningOp<BinaryOp>(); shifted && shifted.getKind() == BinaryKind::add)
    value = shifted.getLhs();
  auto rounded = value.getDefiningOp<UnaryOp>();
  auto quotient =
      rounded && rounded.getKind() == UnaryKind::round ? rounded.getOperand().getDefiningOp<BinaryOp>() : BinaryOp();
  if (!quotient || quotient.getKind() != BinaryKind::div || !quotient->hasOneUse() || !isOfProduct(quotient.getLhs()))
    return false;
  std::optional<double> scale = getSplat(quotient.getRhs());
  float reciprocal = scale ? 1 / float(*scale) : 0;
  if (!std::isnormal(reciprocal))
    return false;
  OpBuilder builder(quotient);
  Value factor = ConstantOp::create(builder, quotient.getLoc(), cast<TensorType>(quotient.getType()), reciprocal);
  Value product = BinaryOp::create(builder, quotient.getLoc(), BinaryKind::mul, quotient.getLhs(), factor);
  quotient.replaceAllUsesWith(product);
  quotient.erase();
  return true;
}

struct MultiplyIntegersPass : impl::MultiplyIntegersBase<MultiplyIntegersPass> {
  using Base::Base;

  void runOnOperation() override {
    if (!enable)
      return;
    SmallVector<Operation *> products;
    SmallVector<WindowOp> pools;
    SmallVector<CastOp> casts;
    getOperation()->walk([&](Operation *op) {
      if (isa<ContractOp, ConvolveOp>(op))
        products.push_back(op);
      else if (auto pool = dyn_cast<WindowOp>(op))
        pools.push_back(pool);
      else if (auto cast = dyn_cast<CastOp>(op))
        casts.push_back(cast);
    });
    for (WindowOp pool : pools)
      poolIntegers(pool);
    for (CastOp cast : casts)
      keepIntegers(cast);
    IntegerProducts integers(getOperation(), windows, fewestProducts);
    int64_t replaced = 0;
    for (Operation *op : products) {
      if (auto contract = dyn_cast<ContractOp>(op))
        replaced += integers.replace(contract);
      else
        replaced += integers.replace(cast<ConvolveOp>(op));
    }
    for (CastOp cast : casts)
      multiplyByReciprocal(cast);
    count(getOperation(), "integer_products", replaced);
  }
};

} // namespace

} // namespace freestone::graph
