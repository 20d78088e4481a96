// Discrete Fourier transforms, as contractions with their matrices. A length with two factors is transformed by one
// after the other, as far as they are about equal; other lengths, and those known at run time alone, at once.
#include "compiler/import/Registry.h"
#include "compiler/import/TensorData.h"
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

/// The complex signal of which these are all frequencies: the conjugate of their conjugates' transform, over the
/// length.
Signal inverseComplex(Signal x, Expr length) {
  Signal y = transform({x.real, x.imaginary ? -x.imaginary : Tensor()}, length, length);
  return {y.real / beside(y.real, length), -y.imaginary / beside(y.imaginary, length)};
}

/// The first `length` elements of the middle dimension, with zeros behind where there are fewer.
Tensor fitMiddle(Tensor x, Expr length) {
  if (!x || x.dim(1) == length)
    return x;
  GraphBuilder &builder = x.builder();
  Expr none = builder.size(0);
  return pad(x, {none, none, none}, {none, length - x.dim(1), none}, scalarLike(0, x));
}

/// Parts as the last dimension, behind a shape with as many elements.
Tensor joinParts(Signal x, ArrayRef<Expr> shape) {
  auto part = [&](Tensor tensor) { return unsqueeze(reshapeUnchecked(tensor, shape), {int64_t(shape.size())}); };
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
  std::optional<Expr> named =
      node.opset() < 20 ? builder.size(node.integer("axis", 1)) : sizeOr(node, 2, builder.size(-2));
  std::optional<Signal> signal = named ? partsOf(node, x) : std::nullopt;
  if (!signal)
    return {};
  if (std::optional<int64_t> axis = named->asConstant()) {
    if (!(axis = node.normalize(*axis, x.rank())))
      return {};
    if (*axis == x.rank() - 1)
      return node.reject("the last dimension holds real and imaginary parts, it is no axis to transform");
    named = builder.size(*axis);
  } else {
    named = *named + isNegative(*named) * x.rank();
  }
  if (isOneSided && !isInverse && signal->imaginary)
    return node.reject("one side alone is of real signals");
  auto around = [&](Tensor part) { return part ? aroundAxis(node, part, *named) : part; };
  Signal middle{around(signal->real), around(signal->imaginary)};
  if (!middle.real)
    return {};
  bool toReal = isInverse && isOneSided;
  Expr extent = middle.real.dim(1);
  std::optional<Expr> length = sizeOr(node, 1, toReal ? (extent - builder.size(1)) * 2 : extent);
  if (!length)
    return {};
  Expr taken = toReal ? half(builder, *length) : *length;
  middle = {fitMiddle(middle.real, taken), fitMiddle(middle.imaginary, taken)};
  Expr outputs = isOneSided && !isInverse ? half(builder, *length) : *length;
  Shape shape = valuesByAxis(node, *named, outputs, x.shape().drop_back());
  Signal result = toReal      ? Signal{inverse(middle, *length), Tensor()}
                  : isInverse ? inverseComplex(middle, *length)
                              : transform(middle, *length, outputs);
  return joinParts(result, shape);
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

/// Triangles over frequencies, of equal width in mels: [frequencies, bins]. The ends are positions among frequencies.
Tensor melWeights(Node &node) {
  ModelBuilder &builder = node.builder();
  std::optional<Expr> bins = sizeOr(node, 0, {}), length = bins ? sizeOr(node, 1, {}) : std::nullopt;
  SmallVector<Tensor> in = node.allInputs();
  if (!length || in.size() != 5 || !llvm::all_of(in, [](Tensor t) { return bool(t); }))
    return length && in.size() != 5 ? node.reject("there must be five inputs") : Tensor();
  int onnxType = node.integer("output_datatype", onnx::TensorProto::FLOAT);
  mlir::Type f64 = builder.getF64Type(), i64 = builder.getI64Type(),
             type = elementTypeOf(builder.getContext(), onnxType);
  if (!type)
    return node.refuse("the type " + onnxTypeName(onnxType) + " is not supported");
  auto number = [&](int64_t index) { return cast(reshape(in[index], {}), f64); };
  Tensor rate = number(2);
  auto toMel = [&](Tensor frequency) { return log1p(frequency / 700.0) * (2595 / std::log(10.0)); };
  Expr points = *bins + builder.size(2);
  Tensor low = toMel(number(3)), step = (toMel(number(4)) - low) / cast(builder.integer(points), f64);
  Tensor mel = cast(iota(builder, {points}, 0, i64), f64) * step + low;
  Tensor frequency = 700.0 * (pow(builder.scalar(10, f64), mel / 2595.0) - 1.0);
  Tensor place = floor(cast(builder.integer(*length + builder.size(1)), f64) * frequency / rate);
  auto edge = [&](int64_t first) { return slice(place, 0, builder.size(first), *bins); };
  Tensor left = edge(0), center = edge(1), right = edge(2);
  Tensor at = cast(iota(builder, {half(builder, *length), builder.size(1)}, 0, i64), f64);
  Tensor rise = center - left, fall = right - center;
  Tensor rising = select((at >= left) & (at <= center), (at - left) / max(rise, 1.0), 0.0);
  rising = select(equal(rise, 0.0), cast(equal(at, center), f64), rising);
  return cast(select((at >= center) & (at < right), (right - at) / max(fall, 1.0), rising), type);
}

} // namespace

void registerSignalProcessing(Registry &registry) {
  registry.add("DFT", {17}, dft);
  registry.add("STFT", {17}, stft);
  registry.add("MelWeightMatrix", {17}, melWeights);
}

} // namespace freestone::importer
