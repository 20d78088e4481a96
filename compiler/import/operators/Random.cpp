// What draws random numbers. While a model is trained they differ from step to step; else they are the same in every
// run: a function of the seed that the node says, or of the node's place in the model.
#include "compiler/import/GraphImporter.h"
#include "compiler/import/Registry.h"
#include "compiler/import/TensorData.h"

#include "llvm/ADT/bit.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// Of one of a node's draws: those of a node with a seed differ by their number.
Tensor randomKey(Node &node, uint64_t draw) {
  GraphBuilder &builder = node.builder();
  if (builder.options.form == ModelForm::Training)
    return builder.randomKey();
  const onnx::AttributeProto *seed = node.attribute("seed");
  if (!seed)
    return builder.fixedRandomKey(std::nullopt, draw);
  bool isReal = seed->type() == onnx::AttributeProto::FLOAT;
  return builder.fixedRandomKey(isReal ? bit_cast<uint32_t>(seed->f()) : uint64_t(seed->i()), draw);
}

Tensor randomBits(Node &node, ArrayRef<Expr> shape, uint64_t draw = 0) {
  GraphBuilder &builder = node.builder();
  mlir::Type word = builder.ir.getIntegerType(32, false);
  return builder.emit<graph::RandomBitsOp>(graph::TensorType::get(shape, word), randomKey(node, draw).value());
}

/// Independent f32 from 0 to below 1: every one is a multiple of 2^-24.
Tensor uniform(Node &node, ArrayRef<Expr> shape, uint64_t draw = 0) {
  Tensor bits = randomBits(node, shape, draw);
  Tensor upper = binary(BinaryKind::shr, bits, scalarLike(8, bits));
  return cast(upper, node.builder().f32()) * 0x1p-24;
}

/// By Box and Muller, from two uniform numbers each.
Tensor normal(Node &node, ArrayRef<Expr> shape) {
  Tensor radius = sqrt(-2.0 * log(1.0 - uniform(node, shape, 0)));
  return radius * cos(uniform(node, shape, 1) * (2 * M_PI));
}

/// The type that the node says, else f32, or that of `like`.
mlir::Type typeOf(Node &node, Tensor like) {
  GraphBuilder &builder = node.builder();
  if (!node.hasAttribute("dtype"))
    return like ? like.elementType() : builder.f32();
  mlir::Type type = elementTypeOf(builder.context(), node.integer("dtype"));
  if (!type)
    node.refuse("the type " + onnxTypeName(node.integer("dtype")) + " is not supported");
  return type;
}

Tensor randomLike(Node &node, Tensor like, ArrayRef<Expr> shape) {
  mlir::Type type = typeOf(node, like);
  if (!type)
    return {};
  node.importer().noteRandom(node, {});
  if (node.op().starts_with("RandomUniform")) {
    double low = node.real("low", 0), high = node.real("high", 1);
    return cast(uniform(node, shape) * (high - low) + low, type);
  }
  return cast(normal(node, shape) * node.real("scale", 1) + node.real("mean", 0), type);
}

/// One with the probability that the element says. ONNX's own definition by other operators has it the other way round.
Tensor bernoulli(Node &node) {
  Tensor x = node.input(0);
  mlir::Type type = x ? typeOf(node, x) : mlir::Type();
  if (!type)
    return {};
  node.importer().noteRandom(node, {});
  return cast(uniform(node, x.shape()) < cast(x, node.builder().f32()), type);
}

/// True where x is kept, which is so with a probability of 1 - ratio.
Tensor keepMask(Node &node, Tensor x, double ratio) {
  Tensor bits = randomBits(node, x.shape());
  return compare(CompareKind::ge, bits, scalarLike(std::round(ratio * 0x1p32), bits));
}

void setDropout(Node &node, Tensor result, Tensor mask) {
  node.setOutput(0, result);
  if (node.wants(1))
    node.setOutput(1, node.opset() < 10 ? cast(mask, result.elementType()) : mask);
}

/// As the node says: ratio and mode may be known by the run alone.
void dropoutAsWritten(Node &node, Tensor x) {
  GraphBuilder &builder = node.builder();
  Tensor ratio = node.has(1) ? node.input(1) : builder.scalar(0.5, builder.f32()), training = node.input(2);
  if (!ratio || !training)
    return;
  auto isConstantly = [](Tensor tensor, double number) {
    const Content *known = tensor.constant();
    return known && known->size() == 1 && known->front().asReal() == number;
  };
  if (isConstantly(training, 0) || isConstantly(ratio, 0))
    return setDropout(node, x, builder.splat(1, builder.i1(), x.shape()));
  node.importer().noteRandom(node, {1, 2});
  ratio = cast(reshape(ratio, {}), builder.f32());
  training = reshape(training, {});
  Tensor keep = uniform(node, x.shape()) >= ratio;
  Tensor dropped = select(keep, x * cast(1.0 / (1.0 - ratio), x.elementType()), 0.0);
  setDropout(node, select(training, dropped, x), keep | logicalNot(training));
}

/// Drops in the form of training; else it passes its input on and masks nothing, unless it says so.
void dropout(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return;
  GraphBuilder &builder = node.builder();
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
    return setDropout(node, x, builder.splat(1, builder.i1(), x.shape()));
  Tensor mask = keepMask(node, x, *ratio);
  setDropout(node, select(mask, x * (1 / (1 - *ratio)), 0.0), mask);
}

} // namespace

void registerRandom(Registry &registry) {
  registry.addMany("Dropout", {7}, dropout);
  registry.add("Bernoulli", {15}, bernoulli);
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
