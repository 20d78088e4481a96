#include "compiler/interpreter/Evaluate.h"
#include "compiler/interpreter/RandomBits.h"
#include "compiler/interpreter/Rounding.h"
#include "compiler/weights/WeightStore.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace freestone::graph;

namespace freestone::interpreter {

static double toDouble(APFloat value) {
  bool inexact;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
  return value.convertToDouble();
}

static Tensor evaluate(ConstantOp op, const Dims &dims) {
  auto value = cast<DenseElementsAttr>(op.getValue());
  Tensor result(value.getElementType(), dims);
  auto fill = [&]<typename T>(T *out, auto elements, auto convert) {
    if (value.isSplat())
      return std::fill_n(out, result.size(), convert(*elements.begin()));
    return std::transform(elements.begin(), elements.end(), out, convert);
  };
  if (result.isReal())
    fill(result.data<double>(), value.getValues<APFloat>(), toDouble);
  else if (isa<FloatType>(value.getElementType()))
    fill(result.data<int64_t>(), value.getValues<APFloat>(),
         [](const APFloat &element) { return static_cast<int64_t>(element.bitcastToAPInt().getZExtValue()); });
  else
    fill(result.data<int64_t>(), value.getValues<APInt>(), [&](const APInt &element) {
      return result.isUnsigned() ? static_cast<int64_t>(element.getZExtValue()) : element.getSExtValue();
    });
  return result;
}

static FailureOr<Tensor> evaluate(WeightOp op, const Dims &dims, const WeightStore &weights) {
  const Weight *weight = weights.find(op.getName());
  if (!weight)
    return op.emitError("there is no weight '") << op.getName() << "'";
  if (weight->elementType != op.getType().getElementType() ||
      ArrayRef<int64_t>(weight->dims) != ArrayRef<int64_t>(dims))
    return op.emitError("the weight '") << op.getName() << "' is not of type " << op.getType();
  size_t bytes = countBytes(weight->elementType, getNumElements(dims));
  if (weight->bytes.size() != bytes)
    return op.emitError("the weight '") << op.getName() << "' has " << weight->bytes.size() << " bytes, not " << bytes;
  return Tensor::fromBytes(weight->elementType, dims, weight->bytes);
}

static FailureOr<Tensor> evaluate(SizesOp op, const Dims &dims, const Symbols &symbols) {
  Tensor result(getElementType(op.getResult()), dims);
  for (auto [place, size] : llvm::enumerate(op.getSizes())) {
    FailureOr<int64_t> value = symbols.getOffset(op, size);
    if (failed(value))
      return failure();
    result.data<int64_t>()[place] = *value;
  }
  return result;
}

static Tensor evaluate(IotaOp op, const Dims &dims) {
  Type type = op.getType().getElementType();
  Tensor result(type, dims);
  int64_t stride = getStrides(dims)[op.getDim()], extent = dims[op.getDim()];
  result.visit([&](auto kind) {
    using T = decltype(kind);
    for (int64_t i = 0, count = result.size(); i < count; ++i) {
      int64_t coordinate = i / stride % extent;
      if constexpr (std::is_same_v<T, double>)
        result.data<T>()[i] = roundTo(type, coordinate);
      else
        result.data<T>()[i] = wrapTo(type, coordinate);
    }
  });
  return result;
}

static Tensor evaluate(RandomBitsOp op, const Dims &dims, const Tensor &key) {
  Type type = op.getType().getElementType();
  Tensor result(type, dims);
  std::array<uint32_t, 4> words;
  std::copy_n(key.data<int64_t>(), words.size(), words.begin());
  for (int64_t i = 0, count = result.size(); i < count; ++i)
    result.data<int64_t>()[i] = getRandomBits(type, words, i);
  return result;
}

std::optional<FailureOr<Tensors>> evaluateSources(Operation *op, const Context &context) {
  using Result = std::optional<FailureOr<Tensors>>;
  if (auto barrier = dyn_cast<BarrierOp>(op))
    return Tensors{context.operands[0]};
  if (!isa<ConstantOp, WeightOp, SizesOp, IotaOp, RandomBitsOp>(op))
    return std::nullopt;
  FailureOr<Dims> dims = context.getResultDims(op);
  if (failed(dims))
    return Result(failure());
  FailureOr<Tensor> result = llvm::TypeSwitch<Operation *, FailureOr<Tensor>>(op)
                                 .Case([&](ConstantOp op) { return evaluate(op, *dims); })
                                 .Case([&](WeightOp op) { return evaluate(op, *dims, context.weights); })
                                 .Case([&](SizesOp op) { return evaluate(op, *dims, context.symbols); })
                                 .Case([&](IotaOp op) { return evaluate(op, *dims); })
                                 .Case([&](RandomBitsOp op) { return evaluate(op, *dims, context.operands[0]); });
  if (failed(result))
    return Result(failure());
  return Tensors{*result};
}

} // namespace freestone::interpreter
