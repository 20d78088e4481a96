// Operators with random numbers. In training they differ from step to step; otherwise they are equal in every run: a
// function of the node's seed, or of its position in the model.
#include "compiler/import/GraphImporter.h"
#include "compiler/import/Registry.h"
#include "compiler/import/TensorData.h"

#include "llvm/ADT/bit.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// Of one of a node's draws: those of a node with a seed differ by their number.
Tensor randomKey(Node &node, uint64_t draw) {
  ModelBuilder &builder = node.builder();
  if (builder.options.form == ModelForm::Training)
    return builder.randomKey();
  const onnx::AttributeProto *seed = node.attribute("seed");
  if (!seed)
    return builder.fixedRandomKey(std::nullopt, draw);
  bool isReal = seed->type() == onnx::AttributeProto::FLOAT;
  return builder.fixedRandomKey(isReal ? bit_cast<uint32_t>(seed->f()) : uint64_t(seed->i()), draw);
}

Tensor randomBits(Node &node, ArrayRef<Expr> shape, unsigned width, uint64_t draw = 0) {
  ModelBuilder &builder = node.builder();
  mlir::Type word = builder.getIntegerType(width, false);
  return builder.emit<graph::RandomBitsOp>(graph::TensorType::get(shape, word), randomKey(node, draw).value());
}

/// In which numbers that become `type` are drawn: f64 for itself, f32 for all others.
mlir::Type drawnType(Node &node, mlir::Type type) { return type.isF64() ? type : node.builder().getF32Type(); }

/// Independent numbers from 0 to below 1: multiples of 2^-24 in f32, of 2^-53 in f64.
Tensor uniform(Node &node, ArrayRef<Expr> shape, mlir::Type drawn) {
  unsigned width = drawn.getIntOrFloatBitWidth(), digits = drawn.isF64() ? 53 : 24;
  Tensor bits = randomBits(node, shape, width);
  Tensor upper = binary(BinaryKind::shr, bits, scalarLike(width - digits, bits));
  return cast(upper, drawn) * std::ldexp(1, -static_cast<int>(digits));
}

/// Independent numbers from `low` to below `high`, rounded to the nearest of `type`. What would round beyond an end
/// becomes the last number inside. Where the type has no number inside, all are `low`, rounded.
Tensor uniformBetween(Node &node, ArrayRef<Expr> shape, double low, double high, mlir::Type type) {
  Tensor unit = uniform(node, shape, drawnType(node, type));
  if (low == 0 && high == 1 && type == unit.elementType())
    return unit;
  auto rounded = [&](double value, APFloat::roundingMode mode) {
    APFloat number(value);
    bool isInexact;
    number.convert(cast<mlir::FloatType>(type).getFloatSemantics(), mode, &isInexact);
    return number;
  };
  APFloat first = rounded(low, APFloat::rmTowardPositive), last = rounded(high, APFloat::rmTowardNegative);
  if (last.convertToDouble() == high)
    last.next(/*nextDown=*/true);
  if (last < first)
    first = last = rounded(low, APFloat::rmNearestTiesToEven);
  Tensor scaled = cast(unit, node.builder().getF64Type()) * (high - low) + low;
  return cast(clamp(scaled, first.convertToDouble(), last.convertToDouble()), type);
}

/// By Box and Muller, from two uniform numbers each, of all bits: as far as 6.7 in f32 and 9.4 in f64.
Tensor normal(Node &node, ArrayRef<Expr> shape, mlir::Type drawn) {
  unsigned width = drawn.getIntOrFloatBitWidth();
  double unit = std::ldexp(1, -static_cast<int>(width));
  auto draw = [&](uint64_t number) { return cast(randomBits(node, shape, width, number), drawn); };
  Tensor positive = max(draw(0) * unit, unit / 2);
  return sqrt(-2.0 * log(positive)) * cos(draw(1) * (2 * M_PI * unit));
}

/// The type that the node says, else f32, or that of `like`.
mlir::Type typeOf(Node &node, Tensor like) {
  ModelBuilder &builder = node.builder();
  if (!node.hasAttribute("dtype"))
    return like ? like.elementType() : builder.getF32Type();
  mlir::Type type = elementTypeOf(builder.getContext(), node.integer("dtype"));
  if (!type)
    node.refuse("the type " + onnxTypeName(node.integer("dtype")) + " is not supported");
  return type;
}

Tensor randomLike(Node &node, Tensor like, ArrayRef<Expr> shape) {
  mlir::Type type = typeOf(node, like);
  if (!type)
    return {};
  if (!isa<mlir::FloatType>(type)) {
    node.refuse("draws floats, not " + typeName(type));
    return {};
  }
  node.importer().noteRandom(node, {});
  if (node.op().starts_with("RandomUniform")) {
    double low = node.real("low", 0), high = node.real("high", 1);
    if (!(std::isfinite(low) && std::isfinite(high) && low <= high)) {
      node.refuse("low and high must be finite, and low not above high");
      return {};
    }
    return uniformBetween(node, shape, low, high, type);
  }
  return cast(normal(node, shape, drawnType(node, type)) * node.real("scale", 1) + node.real("mean", 0), type);
}

/// One with the probability that the element says. ONNX's own definition by other operators has it the other way round.
Tensor bernoulli(Node &node) {
  Tensor x = node.input(0);
  mlir::Type type = x ? typeOf(node, x) : mlir::Type();
  if (!type)
    return {};
  node.importer().noteRandom(node, {});
  mlir::Type drawn = drawnType(node, x.elementType());
  return cast(uniform(node, x.shape(), drawn) < cast(x, drawn), type);
}

/// Draws classes, whose logarithmic probabilities x has up to a sum: [batch, draws]. A class is the number of others
/// whose probabilities add up to less than a uniform number.
Tensor multinomial(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  ModelBuilder &builder = node.builder();
  int64_t draws = node.integer("sample_size", 1), onnxType = node.integer("dtype", onnx::TensorProto::INT32);
  mlir::Type type = elementTypeOf(builder.getContext(), onnxType);
  if (!type || !type.isSignlessInteger())
    return node.refuse("the type " + onnxTypeName(onnxType) + " is not supported");
  if (x.rank() != 2 || draws < 1)
    return node.reject("the input must have the shape [batch, classes], and the sample size must be positive");
  node.importer().noteRandom(node, {});
  mlir::Type drawn = drawnType(node, x.elementType());
  Expr one = builder.size(1), count = builder.size(draws);
  Tensor sums = cumulate(ReduceKind::add, softmax(cast(x, drawn), 1), 1, /*exclusive=*/false, /*reverse=*/false);
  Tensor number = uniform(node, {x.dim(0), count, one}, drawn);
  // The last sum may be a little below 1.
  Tensor before = slice(sums, 1, builder.size(0), Expr::max(x.dim(1) - 1, builder.size(0)));
  return reduce(ReduceKind::add, cast(unsqueeze(before, {1}) <= number, type), {2});
}

/// True where x is kept, which is so with a probability of 1 - ratio.
Tensor keepMask(Node &node, Tensor x, double ratio) {
  Tensor bits = randomBits(node, x.shape(), 32);
  return compare(CompareKind::ge, bits, scalarLike(std::min(std::round(ratio * 0x1p32), 0x1p32 - 1), bits));
}

void setDropout(Node &node, Tensor result, Tensor mask) {
  node.setOutput(0, result);
  if (node.wants(1))
    node.setOutput(1, node.opset() < 10 ? cast(mask, result.elementType()) : mask);
}

/// As the node says: ratio and mode may be known by the run alone.
void dropoutAsWritten(Node &node, Tensor x) {
  ModelBuilder &builder = node.builder();
  Tensor ratio = node.has(1) ? node.input(1) : builder.scalar(0.5, builder.getF32Type()), training = node.input(2);
  if (!ratio || !training)
    return;
  auto isConstantly = [](Tensor tensor, double number) {
    const Content *known = tensor.constant();
    return known && known->size() == 1 && known->front().asReal() == number;
  };
  if (isConstantly(training, 0) || isConstantly(ratio, 0))
    return setDropout(node, x, builder.splat(1, builder.getI1Type(), x.shape()));
  node.importer().noteRandom(node, {1, 2});
  ratio = cast(reshape(ratio, {}), builder.getF32Type());
  training = reshape(training, {});
  Tensor keep = uniform(node, x.shape(), builder.getF32Type()) >= ratio;
  Tensor dropped = select(keep, x * cast(1.0 / (1.0 - ratio), x.elementType()), 0.0);
  setDropout(node, select(training, dropped, x), keep | logicalNot(training));
}

/// Drops in the form of training; else it passes its input on and masks nothing, unless it says so.
void dropout(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return;
  ModelBuilder &builder = node.builder();
  if (builder.options.form == ModelForm::AsWritten && node.has(2))
    return dropoutAsWritten(node, x);
  std::optional<double> ratio = 0;
  if (builder.options.form == ModelForm::Training && !builder.options.noDropout)
    ratio = node.opset() < 12 ? node.real("ratio", 0.5) : node.has(1) ? node.realInput(1) : 0.5;
  if (!ratio || *ratio < 0 || *ratio >= 1) {
    node.refuse("dropout needs a constant ratio from 0 to below 1");
    return;
  }
  if (*ratio == 0)
    return setDropout(node, x, builder.splat(1, builder.getI1Type(), x.shape()));
  Tensor mask = keepMask(node, x, *ratio);
  setDropout(node, select(mask, x * (1 / (1 - *ratio)), 0.0), mask);
}

} // namespace

void registerRandom(Registry &registry) {
  registry.addMany("Dropout", {7}, dropout);
  registry.add("Bernoulli", {15}, bernoulli);
  registry.add("Multinomial", {7}, multinomial);
  for (const char *name : {"RandomUniform", "RandomNormal"}) {
    registry.add(name, {1},
                 [](Node &node) { return randomLike(node, {}, node.builder().sizes(node.integers("shape"))); });
    registry.add(std::string(name) + "Like", {1}, [](Node &node) {
      Tensor like = node.input(0);
      return like ? randomLike(node, like, like.shape()) : like;
    });
  }
}

} // namespace freestone::importer
