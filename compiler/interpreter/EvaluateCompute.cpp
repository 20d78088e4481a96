#include "compiler/dialect/tile/WinogradTransforms.h"
#include "compiler/interpreter/Evaluate.h"
#include "compiler/interpreter/ScalarBody.h"

using namespace mlir;

namespace freestone::interpreter {

namespace {

int64_t evaluate(AffineExpr expr, ArrayRef<int64_t> loops, ArrayRef<int64_t> sizes) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return loops[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return sizes[symbol.getPosition()];
  auto parts = cast<AffineBinaryOpExpr>(expr);
  int64_t a = evaluate(parts.getLHS(), loops, sizes), b = evaluate(parts.getRHS(), loops, sizes);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::FloorDiv:
    return b ? llvm::divideFloorSigned(a, b) : 0;
  case AffineExprKind::CeilDiv:
    return b ? llvm::divideCeilSigned(a, b) : 0;
  default:
    return b ? llvm::mod(a, b) : a;
  }
}

/// Reads one operand at points of the loops.
struct Reader {
  Tensor tensor;
  AffineMap map;
  std::optional<Scalar> fill;

  /// The element; nothing where the point is out of bounds and there is no fill.
  std::optional<Scalar> read(ArrayRef<int64_t> point, ArrayRef<int64_t> sizes) const {
    int64_t position = 0;
    for (auto [axis, index] : llvm::enumerate(map.getResults())) {
      int64_t at = evaluate(index, point, sizes), extent = tensor.getDim(axis);
      if (at < 0 || at >= extent)
        return fill;
      position = position * extent + at;
    }
    return getElement(tensor, position);
  }
};

Scalar toScalar(TypedAttr value) {
  if (auto real = dyn_cast<FloatAttr>(value))
    return {.real = real.getValueAsDouble()};
  // A true bool is -1 when sign-extended, 1 here.
  auto integer = cast<IntegerAttr>(value);
  return {.integer = integer.getType().isInteger(1) ? !integer.getValue().isZero() : integer.getValue().getSExtValue()};
}

FailureOr<Tensors> evaluateCompute(tile::ComputeOp op, const Context &context) {
  FailureOr<Dims> extents = context.symbols.getDims(op, op.getExtents());
  if (failed(extents))
    return failure();
  SmallVector<int64_t> sizes;
  for (sym::Expr size : op.getSymbolSizes()) {
    FailureOr<int64_t> value = context.symbols.getOffset(op, size);
    if (failed(value))
      return failure();
    sizes.push_back(*value);
  }
  SmallVector<Reader> readers;
  for (auto [number, map] : llvm::enumerate(op.getMaps())) {
    TypedAttr fill = op.getFill(number);
    readers.push_back({context.operands[number], map, fill ? std::optional(toScalar(fill)) : std::nullopt});
  }
  FailureOr<ScalarBody> body = ScalarBody::create(op, context.operands.drop_front(readers.size()), context.symbols);
  if (failed(body))
    return failure();

  Tensors results;
  Dims parallel(ArrayRef(*extents).take_front(op.getNumParallel())),
      reduced(ArrayRef(*extents).drop_front(op.getNumParallel()));
  for (unsigned result = 0; result < op.getNumResults(); ++result)
    results.emplace_back(op.getResultType(result).getElementType(), parallel);
  unsigned accumulators = reduced.empty() ? 0 : results.size();
  SmallVector<Scalar> arguments(readers.size() + accumulators);
  SmallVector<int64_t> point(extents->size(), 0);
  MutableArrayRef<int64_t> outer = MutableArrayRef(point).take_front(parallel.size()),
                           inner = MutableArrayRef(point).drop_front(parallel.size());
  for (int64_t position = 0, count = getNumElements(parallel); position < count; ++position, advance(outer, parallel)) {
    for (unsigned result = 0; result < accumulators; ++result)
      arguments[readers.size() + result] = toScalar(op.getInit(result));
    for (int64_t step = 0, steps = getNumElements(reduced); step < steps; ++step, advance(inner, reduced)) {
      for (auto [argument, reader] : llvm::zip(arguments, readers)) {
        std::optional<Scalar> element = reader.read(point, sizes);
        if (!element)
          return op.emitError("reads outside of an operand that has no fill");
        argument = *element;
      }
      FailureOr<ArrayRef<Scalar>> values = body->run(point, arguments);
      if (failed(values))
        return failure();
      if (accumulators)
        llvm::copy(*values, arguments.begin() + readers.size());
      else
        for (auto [result, value] : llvm::zip_equal(results, *values))
          setElement(result, position, value);
    }
    for (unsigned result = 0; result < accumulators; ++result)
      setElement(results[result], position, arguments[readers.size() + result]);
    llvm::fill(inner, 0);
  }
  return results;
}

/// Visits the element at each position of a packed layout, padding left out.
template <typename Function>
void forStored(tile::PanelsAttr panels, ArrayRef<int64_t> shape, ArrayRef<int64_t> storage, Function function) {
  Dims strides = getStrides(shape), at(storage.size());
  int64_t axis = panels.getAxis(), batch = panels.getBatch();
  for (int64_t place = 0, end = getNumElements(storage); place < end; ++place) {
    for (int64_t dim = storage.size() - 1, rest = place; dim >= 0; --dim) {
      at[dim] = rest % storage[dim];
      rest /= storage[dim];
    }
    int64_t along = at[batch] * panels.getWidth() + at.back(), element = along * strides[axis];
    for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
      if (dim != axis)
        element += at[dim < batch || dim > axis ? dim : dim + 1] * strides[dim];
    if (along < shape[axis])
      function(place, element);
  }
}

/// The same of strips of rows.
template <typename Function>
void forStored(tile::StripsAttr strips, ArrayRef<int64_t> shape, ArrayRef<int64_t> storage, Function function) {
  int64_t steps = getNumElements(shape.drop_front()), groups = storage[1], height = storage[2], ofGroup = storage[3];
  for (int64_t row = 0; row < shape[0]; ++row)
    for (int64_t step = 0; step < steps; ++step) {
      int64_t group = row / height * groups + step / ofGroup;
      function((group * height + row % height) * ofGroup + step % ofGroup, row * steps + step);
    }
}

/// Filters [channels in…][from][from][channels out] multiplied by `matrix`, [to][from], along both inner dimensions.
template <typename Source, typename Target>
void transformFilters(const tile::WinogradTransforms::Matrix &matrix, int64_t inChannels, int64_t outChannels,
                      Source source, Target target) {
  int64_t to = matrix.size(), from = matrix.front().size();
  for (int64_t in = 0; in < inChannels; ++in)
    for (int64_t out = 0; out < outChannels; ++out)
      for (int64_t row = 0; row < to; ++row)
        for (int64_t column = 0; column < to; ++column) {
          double sum = 0;
          for (int64_t down = 0; down < from; ++down)
            for (int64_t along = 0; along < from; ++along)
              sum += matrix[row][down] * matrix[column][along] * source(in, down, along, out);
          target(in, row, column, out) = sum;
        }
}

/// The filters of their stored transforms, or these of the filters.
Tensor evaluateTransform(tile::WinogradAttr layout, const Tensor &operand, ArrayRef<int64_t> dims, bool isStored) {
  Tensor result(operand.getElementType(), dims);
  tile::WinogradTransforms transforms = tile::WinogradTransforms::get(layout.getOutputs());
  ArrayRef<int64_t> filters = isStored ? dims : operand.getDims();
  int64_t in = getNumElements(filters.drop_back(3)), out = filters.back(), width = layout.getWidth(),
          points = layout.getPoints();
  const double *source = operand.data<double>();
  double *target = result.data<double>();
  auto getPlain = [&](int64_t i, int64_t row, int64_t column, int64_t o) {
    return ((i * transforms.taps + row) * transforms.taps + column) * out + o;
  };
  auto getStored = [&](int64_t i, int64_t row, int64_t column, int64_t o) {
    return (((o / width * points + row) * points + column) * in + i) * width + o % width;
  };
  auto readsFrom = [&](auto getPlace) { return [=](auto... at) { return source[getPlace(at...)]; }; };
  auto writesTo = [&](auto getPlace) { return [=](auto... at) -> double & { return target[getPlace(at...)]; }; };
  if (isStored)
    transformFilters(transforms.taken, in, out, readsFrom(getStored), writesTo(getPlain));
  else
    transformFilters(transforms.filter, in, out, readsFrom(getPlain), writesTo(getStored));
  return result;
}

Tensor evaluateView(tile::ViewOp op, const Tensor &operand, ArrayRef<int64_t> dims) {
  auto from = cast<graph::TensorType>(op.getTensor().getType()), to = cast<graph::TensorType>(op.getResult().getType());
  if (isa_and_nonnull<graph::PackedAttr>(from.getLayout()) || isa_and_nonnull<graph::PackedAttr>(to.getLayout()))
    return Tensor::fromBytes(to.getElementType(), dims, operand.toHost(from.getElementType()).bytes);
  for (auto type : {from, to})
    if (auto layout = dyn_cast_or_null<tile::WinogradAttr>(type.getLayout()))
      return evaluateTransform(layout, operand, dims, /*isStored=*/type == to);
  Tensor result(operand.getElementType(), dims);
  // Parts are read by products alone, which have the elements themselves beside them.
  if (isa_and_nonnull<tile::PartsAttr>(to.getLayout()))
    return result;
  operand.visit([&](auto element) {
    using T = decltype(element);
    const T *source = operand.data<T>();
    T *target = result.data<T>();
    if (auto strips = dyn_cast_or_null<tile::StripsAttr>(to.getLayout()))
      forStored(strips, dims, operand.getDims(),
                [&](int64_t stored, int64_t plain) { target[plain] = source[stored]; });
    else if (auto panels = dyn_cast_or_null<tile::PanelsAttr>(to.getLayout()))
      forStored(panels, dims, operand.getDims(),
                [&](int64_t stored, int64_t plain) { target[plain] = source[stored]; });
    else
      forStored(cast<tile::PanelsAttr>(from.getLayout()), operand.getDims(), dims,
                [&](int64_t stored, int64_t plain) { target[stored] = source[plain]; });
  });
  return result;
}

} // namespace

std::optional<FailureOr<Tensors>> evaluateTile(Operation *op, const Context &context) {
  if (auto compute = dyn_cast<tile::ComputeOp>(op))
    return evaluateCompute(compute, context);
  // Values do not depend on their layout.
  if (isa<tile::PackOp>(op))
    return Tensors{context.operands[0]};
  if (auto view = dyn_cast<tile::ViewOp>(op)) {
    FailureOr<Dims> dims = context.getResultDims(op);
    return failed(dims) ? FailureOr<Tensors>(failure()) : Tensors{evaluateView(view, context.operands[0], *dims)};
  }
  return std::nullopt;
}

} // namespace freestone::interpreter
