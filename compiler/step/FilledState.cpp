#include "compiler/step/FilledState.h"

using namespace llvm;
using namespace freestone;

/// The bytes of `count` elements that all equal `value`.
static std::vector<char> fill(mlir::Type type, int64_t count, double value) {
  uint64_t bits = static_cast<uint64_t>(value);
  if (auto floats = dyn_cast<mlir::FloatType>(type)) {
    APFloat number(value);
    bool losesInformation = false;
    number.convert(floats.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInformation);
    bits = number.bitcastToAPInt().getZExtValue();
  }
  int64_t width = type.getIntOrFloatBitWidth() / 8;
  std::vector<char> bytes(count * width);
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(&bytes[i * width], &bits, width);
  return bytes;
}

expressions::Tensor step::addFilledState(StepFunction &function, WeightStore &weights, StringRef name,
                                         graph::TensorType type, double initial) {
  if (initial == 0)
    return function.addState(name, type);
  if (!weights.find(name))
    weights.addOwned(name, type.getElementType(), *type.getStaticShape(),
                     fill(type.getElementType(), *type.getNumElements().asConstant(), initial));
  return function.addState(name, type, name);
}
