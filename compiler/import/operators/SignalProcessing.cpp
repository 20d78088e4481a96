// Discrete Fourier transforms, as contractions with their matrices. A length with two factors is transformed by one
// after the other, as far as they are about equal; other lengths, and those known at run time alone, at once.
#include "compiler/import/Registry.h"
#include "compiler/import/operators/AxisValues.h"
#include <cmath>

using namespace llvm;

namespace freestone::importer {
namespace {

/// A signal [before, n, behind] as its real and imaginary part; the latter is null where there is none.
struct Signal {
  Tensor real, imaginary;
};

/// Splits [..., 1 or 2] into parts without that dimension.
std::optional<Signal> partsOf(Node &node, Tensor x) {
  std::optional<int64_t> parts = x.rank() > 0 ? x.extent(-1) : std::nullopt;
  if (!parts || *parts < 1 || *parts > 2) {
    node.refuse("the last dimension, of real and imaginary parts, must be 1 or 2");
    return std::nullopt;
  }
  auto part = [&](int64_t index) {
    return squeeze(slice(x, -1, node.builder().size(index), node.builder().size(1)), {x.rank() - 1});
  };
  return Signal{part(0), *parts == 2 ? part(1) : Tensor()};
}

/// cos and sin of 2π·k·n / length, as [n, k]: the product is taken modulo the length first, so that large ones are
/// exact too.
std::pair<Tensor, Tensor> twiddles(GraphBuilder &builder, Expr rows, Expr columns, Expr length, mlir::Type type) {
  mlir::Type i64 = builder.getI64Type(), f64 = builder.getF64Type();
  Tensor product = iota(builder, {rows, columns}, 0, i64) * iota(builder, {rows, columns}, 1, i64);
  Tensor period = reshape(builder.vector(ArrayRef(length)), {});
  Tensor angle = cast(binary(BinaryKind::mod, product, period), f64) * (2 * M_PI) / cast(period, f64);
  return {cast(cos(angle), type), cast(sin(angle), type)};
}

/// [before, n, behind] times [n, k] over n, as [before, k, behind].
Tensor alongMiddle(Tensor x, Tensor matrix) { return transpose(contract(x, matrix, {{}, {}, {1}, {0}}), {0, 2, 1}); }

/// The complex product with cosine - i · sine, for any product of tensors.
Signal multiply(Signal x, std::pair<Tensor, Tensor> factor, function_ref<Tensor(Tensor, Tensor)> product) {
  auto &[cosine, sine] = factor;
  Signal y{product(x.real, cosine), -product(x.real, sine)};
  if (x.imaginary) {
    y.real = y.real + product(x.imaginary, sine);
    y.imaginary = product(x.imaginary, cosine) - product(x.real, sine);
  }
  return y;
}

/// The transform over the middle dimension by one matrix.
Signal transformAtOnce(Signal x, Expr length, Expr outputs) {
  return multiply(x, twiddles(x.real.builder(), x.real.dim(1), outputs, length, x.real.elementType()), alongMiddle);
}

Signal reshaped(Signal x, ArrayRef<Expr> shape) {
  return {reshape(x.real, shape), x.imaginary ? reshape(x.imaginary, shape) : Tensor()};
}

/// The largest factor up to the square root of a length that is long enough to be split; nothing for other lengths.
std::optional<int64_t> smallerFactor(Expr length) {
  constexpr int64_t shortestSplit = 64, leastFactor = 4;
  std::optional<int64_t> count = length.asConstant();
  if (!count || *count < shortestSplit)
    return std::nullopt;
  int64_t factor = std::sqrt(double(*count));
  while (factor >= leastFactor && *count % factor)
    --factor;
  return factor >= leastFactor ? std::optional(factor) : std::nullopt;
}

/// The transform over the middle dimension, of the first `outputs` frequencies out of `length`. With length = p · q,
/// position a · q + b and frequency c + p · d, the sums are over a, then over b:
///   y[c + p·d] = Σ_b w(b·d / q) · w(b·c / length) · Σ_a w(a·c / p) · x[a·q + b],   w(t) = exp(-2πi·t)
Signal transform(Signal x, Expr length, Expr outputs) {
  std::optional<int64_t> factor = smallerFactor(length);
  if (!factor || x.real.dim(1) != length)
    return transformAtOnce(x, length, outputs);
  GraphBuilder &builder = x.real.builder();
  mlir::Type type = x.real.elementType();
  Expr p = builder.size(*factor), q = builder.size(*length.asConstant() / *factor);
  Expr before = x.real.dim(0), behind = x.real.dim(2), last = Expr::floorDiv(outputs - 1, p) + 1;
  Signal y = transformAtOnce(reshaped(x, {before, p, q * behind}), p, p);
  auto [cosine, sine] = twiddles(builder, p, q, length, type);
  Shape spread{p, q, builder.size(1)};
  y = multiply(reshaped(y, {before, p, q, behind}), {reshape(cosine, spread), reshape(sine, spread)},
               [](Tensor part, Tensor factor) { return part * factor; });
  y = reshaped(transformAtOnce(reshaped(y, {before * p, q, behind}), q, last), {before, p, last, behind});
  auto inOrder = [&](Tensor part) {
    Tensor frequencies = reshape(transpose(part, {0, 2, 1, 3}), {before, last * p, behind});
    return slice(frequencies, 1, builder.size(0), outputs);
  };
  return {inOrder(y.real), inOrder(y.imaginary)};
}

/// The real signal of which these are the frequencies up to the middle one: the others are their conjugates.
Tensor inverse(Signal x, Expr length) {
  GraphBuilder &builder = x.real.builder();
  auto [cosine, sine] = twiddles(builder, x.real.dim(1), length, length, x.real.elementType());
  Tensor k = iota(builder, {x.real.dim(1)}, 0, builder.getI64Type()),
         period = reshape(builder.vector(ArrayRef(length)), {});
  // Each but the first, and the middle one of an even length, stands for two.
  Tensor isSingle = equal(k, 0.0) | equal(k * 2.0, period);
  Tensor count = unsqueeze(cast(select(isSingle, scalarLike(1, k), scalarLike(2, k)), x.real.elementType()), {1});
  Tensor sum = alongMiddle(x.real * count, cosine);
  if (x.imaginary)
    sum = sum - alongMiddle(x.imaginary * count, sine);
  return sum / cast(period, x.real.elementType());
}

/// The first `length` elements of the middle dimension, with zeros behind where there are fewer.
Tensor fitMiddle(Tensor x, Expr length) {
  if (!x || x.dim(1) == length)
    return x;
  GraphBuilder &builder = x.builder();
  Expr none = builder.size(0);
  return pad(x, {none, none, none}, {none, length - x.dim(1), none}, scalarLike(0, x));
}

/// Parts as the last dimension.
Tensor joinParts(Signal x, ArrayRef<Expr> shape) {
  auto part = [&](Tensor tensor) { return unsqueeze(reshape(tensor, shape), {int64_t(shape.size())}); };
  return x.imaginary ? concat({part(x.real), part(x.imaginary)}, shape.size()) : part(x.real);
}

std::optional<Expr> sizeOr(Node &node, int64_t index, Expr otherwise) {
  if (!node.has(index))
    return otherwise;
  std::optional<Shape> sizes = node.sizesInput(index);
  if (sizes && sizes->size() != 1)
    node.reject("a length must be one number");
  return sizes && sizes->size() == 1 ? std::optional(sizes->front()) : std::nullopt;
}

/// How many frequencies of a real signal are different.
Expr half(GraphBuilder &builder, Expr length) { return Expr::floorDiv(length, 2) + builder.size(1); }

Tensor dft(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  ModelBuilder &builder = node.builder();
  bool isInverse = node.integer("inverse"), isOneSided = node.integer("onesided");
  int64_t named = node.integer("axis", node.opset() < 20 ? 1 : -2);
  if (node.opset() >= 20 && node.has(2)) {
    std::optional<SmallVector<int64_t>> given = node.constantsInput(2);
    if (!given || given->size() != 1)
      return given ? node.reject("the axis must be one number") : Tensor();
    named = given->front();
  }
  std::optional<int64_t> axis = node.normalize(named, x.rank());
  std::optional<Signal> signal = axis ? partsOf(node, x) : std::nullopt;
  if (!signal)
    return {};
  if (*axis == x.rank() - 1)
    return node.reject("the last dimension holds real and imaginary parts, it is no axis to transform");
  if (isInverse && !isOneSided)
    return node.refuse("the inverse transform to a complex signal is not supported");
  if (isOneSided && !isInverse && signal->imaginary)
    return node.reject("one side alone is of real signals");
  Expr extent = x.dim(*axis);
  std::optional<Expr> length = sizeOr(node, 1, isInverse ? (extent - builder.size(1)) * 2 : extent);
  if (!length)
    return {};
  auto around = [&](Tensor part) { return part ? aroundAxis(node, part, builder.size(*axis)) : part; };
  Expr taken = isInverse ? half(builder, *length) : *length;
  Signal middle{fitMiddle(around(signal->real), taken), fitMiddle(around(signal->imaginary), taken)};
  Expr outputs = isOneSided && !isInverse ? half(builder, *length) : *length;
  Shape shape(x.shape().drop_back());
  shape[*axis] = outputs;
  return joinParts(isInverse ? Signal{inverse(middle, *length), Tensor()} : transform(middle, *length, outputs), shape);
}

/// Frames of the signal, each `step` behind the one before, and the transform of each.
Tensor stft(Node &node) {
  Tensor signal = node.input(0), window = node.optionalInput(2);
  if (!signal || (node.has(2) && !window))
    return {};
  if (signal.rank() != 3)
    return node.reject("the signal must have the shape [batch, length, 1 or 2]");
  ModelBuilder &builder = node.builder();
  std::optional<Expr> step = sizeOr(node, 1, builder.size(1));
  std::optional<Expr> length = sizeOr(node, 3, window ? window.dim(0) : signal.dim(1));
  std::optional<Signal> parts = step && length ? partsOf(node, signal) : std::nullopt;
  if (!parts)
    return {};
  bool isOneSided = node.integer("onesided", 1);
  if (isOneSided && parts->imaginary)
    return node.reject("one side alone is of real signals");
  Expr frames = builder.defineSize("frames", Expr::floorDiv(signal.dim(1) - *length, *step) + builder.size(1));
  if (frames.asConstant().value_or(0) < 0)
    return node.reject("the signal is shorter than a frame");
  Tensor places =
      iota(builder, {frames, *length}, 0, builder.getI64Type()) * reshape(builder.vector(ArrayRef(*step)), {}) +
      iota(builder, {frames, *length}, 1, builder.getI64Type());
  // [batch · frames, length, 1]
  auto framed = [&](Tensor part) {
    if (!part)
      return part;
    Tensor taken = gather(part, places, 1);
    if (window)
      taken = taken * conform(window, {*length}, "the window and the frames");
    return reshape(taken, {signal.dim(0) * frames, *length, builder.size(1)});
  };
  Expr outputs = isOneSided ? half(builder, *length) : *length;
  Signal result = transform({framed(parts->real), framed(parts->imaginary)}, *length, outputs);
  return joinParts(result, {signal.dim(0), frames, outputs});
}

} // namespace

void registerSignalProcessing(Registry &registry) {
  registry.add("DFT", {17}, dft);
  registry.add("STFT", {17}, stft);
}

} // namespace freestone::importer
