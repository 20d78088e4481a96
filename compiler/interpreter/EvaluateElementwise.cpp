#include "compiler/interpreter/Evaluate.h"
#include "compiler/interpreter/Extremum.h"
#include "compiler/interpreter/Rounding.h"
#include "compiler/interpreter/StoredElements.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace freestone::graph;

namespace freestone::interpreter {

template <typename In, typename Out, typename Function>
static Tensor map(const Tensor &x, Type type, Function function) {
  Tensor result(type, x.getDims());
  const In *in = x.data<In>();
  Out *out = result.data<Out>();
  for (int64_t i = 0, count = x.size(); i < count; ++i)
    out[i] = static_cast<Out>(function(in[i]));
  return result;
}

template <typename In, typename Out, typename Function>
static Tensor zip(const Tensor &x, const Tensor &y, Type type, Function function) {
  Tensor result(type, x.getDims());
  const In *lhs = x.data<In>(), *rhs = y.data<In>();
  Out *out = result.data<Out>();
  for (int64_t i = 0, count = x.size(); i < count; ++i)
    out[i] = static_cast<Out>(function(lhs[i], rhs[i]));
  return result;
}

static Tensor evaluateReal(UnaryKind kind, const Tensor &x, Type type) {
  auto real = [&](auto function) { return map<double, double>(x, type, function); };
  auto test = [&](auto function) { return map<double, int64_t>(x, type, function); };
  switch (kind) {
  case UnaryKind::abs:
    return real([](double v) { return std::fabs(v); });
  case UnaryKind::neg:
    return real([](double v) { return -v; });
  case UnaryKind::exp:
    return real([](double v) { return std::exp(v); });
  case UnaryKind::exp2:
    return real([](double v) { return std::exp2(v); });
  case UnaryKind::log:
    return real([](double v) { return std::log(v); });
  case UnaryKind::log1p:
    return real([](double v) { return std::log1p(v); });
  case UnaryKind::expm1:
    return real([](double v) { return std::expm1(v); });
  case UnaryKind::sqrt:
    return real([](double v) { return std::sqrt(v); });
  case UnaryKind::rsqrt:
    return real([](double v) { return 1 / std::sqrt(v); });
  case UnaryKind::reciprocal:
    return real([](double v) { return 1 / v; });
  case UnaryKind::sin:
    return real([](double v) { return std::sin(v); });
  case UnaryKind::cos:
    return real([](double v) { return std::cos(v); });
  case UnaryKind::tan:
    return real([](double v) { return std::tan(v); });
  case UnaryKind::asin:
    return real([](double v) { return std::asin(v); });
  case UnaryKind::acos:
    return real([](double v) { return std::acos(v); });
  case UnaryKind::atan:
    return real([](double v) { return std::atan(v); });
  case UnaryKind::sinh:
    return real([](double v) { return std::sinh(v); });
  case UnaryKind::cosh:
    return real([](double v) { return std::cosh(v); });
  case UnaryKind::tanh:
    return real([](double v) { return std::tanh(v); });
  case UnaryKind::asinh:
    return real([](double v) { return std::asinh(v); });
  case UnaryKind::acosh:
    return real([](double v) { return std::acosh(v); });
  case UnaryKind::atanh:
    return real([](double v) { return std::atanh(v); });
  case UnaryKind::erf:
    return real([](double v) { return std::erf(v); });
  case UnaryKind::floor:
    return real([](double v) { return std::floor(v); });
  case UnaryKind::ceil:
    return real([](double v) { return std::ceil(v); });
  case UnaryKind::round:
    return real([](double v) { return std::nearbyint(v); });
  case UnaryKind::trunc:
    return real([](double v) { return std::trunc(v); });
  case UnaryKind::sign:
    return real([](double v) { return v > 0 ? 1 : v < 0 ? -1 : v; });
  case UnaryKind::isnan:
    return test([](double v) { return std::isnan(v); });
  case UnaryKind::isinf_pos:
    return test([](double v) { return v == std::numeric_limits<double>::infinity(); });
  case UnaryKind::isinf_neg:
    return test([](double v) { return v == -std::numeric_limits<double>::infinity(); });
  case UnaryKind::not_:
    break;
  }
  llvm_unreachable("the verifier accepts no other kind of floats");
}

static Tensor evaluateInteger(UnaryKind kind, const Tensor &x, Type type) {
  auto wrapped = [&](auto function) {
    return map<int64_t, int64_t>(x, type, [&](int64_t v) { return wrapTo(type, function(v)); });
  };
  bool isUnsigned = x.isUnsigned();
  switch (kind) {
  case UnaryKind::abs:
    return wrapped(
        [&](int64_t v) { return isUnsigned || v >= 0 ? v : static_cast<int64_t>(-static_cast<uint64_t>(v)); });
  case UnaryKind::neg:
    return wrapped([](int64_t v) { return static_cast<int64_t>(-static_cast<uint64_t>(v)); });
  case UnaryKind::sign:
    return wrapped([&](int64_t v) { return v == 0 ? 0 : isUnsigned || v > 0 ? 1 : -1; });
  case UnaryKind::not_:
    return wrapped([](int64_t v) { return ~v; });
  default:
    llvm_unreachable("the verifier accepts no other kind of integers");
  }
}

/// The remainder with the sign of the divisor.
static double floorModulo(double a, double b) {
  double remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

static Tensor evaluateReal(BinaryKind kind, const Tensor &x, const Tensor &y, Type type) {
  auto real = [&](auto function) { return zip<double, double>(x, y, type, function); };
  switch (kind) {
  case BinaryKind::add:
    return real([](double a, double b) { return a + b; });
  case BinaryKind::sub:
    return real([](double a, double b) { return a - b; });
  case BinaryKind::mul:
    return real([](double a, double b) { return a * b; });
  case BinaryKind::div:
    return real([](double a, double b) { return a / b; });
  case BinaryKind::rem:
    return real([](double a, double b) { return std::fmod(a, b); });
  case BinaryKind::mod:
    return real(floorModulo);
  case BinaryKind::pow:
    return real([](double a, double b) { return std::pow(a, b); });
  case BinaryKind::max:
    return real(largest);
  case BinaryKind::min:
    return real(smallest);
  case BinaryKind::atan2:
    return real([](double a, double b) { return std::atan2(a, b); });
  default:
    llvm_unreachable("the verifier accepts no other kind of floats");
  }
}

/// By squaring, wrapping around; a negative exponent truncates the quotient.
static uint64_t power(int64_t base, int64_t exponent, bool isUnsigned) {
  if (exponent < 0 && !isUnsigned)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  uint64_t result = 1, square = base;
  for (uint64_t rest = exponent; rest; rest >>= 1, square *= square)
    if (rest & 1)
      result *= square;
  return result;
}

template <typename T> static T quotient(T a, T b) {
  if (b == 0)
    return 0;
  return std::is_signed_v<T> && b == static_cast<T>(-1) ? static_cast<T>(0 - static_cast<uint64_t>(a)) : a / b;
}

template <typename T> static T remainder(T a, T b) {
  return b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1)) ? 0 : a % b;
}

/// Integers as `T`: int64_t or uint64_t.
template <typename T> static Tensor evaluateInteger(BinaryKind kind, const Tensor &x, const Tensor &y, Type type) {
  int64_t width = cast<IntegerType>(type).getWidth();
  auto wrapped = [&](auto function) {
    return zip<int64_t, int64_t>(x, y, type, [&](int64_t a, int64_t b) {
      return wrapTo(type, static_cast<int64_t>(function(static_cast<T>(a), static_cast<T>(b))));
    });
  };
  switch (kind) {
  case BinaryKind::add:
    return wrapped([](uint64_t a, uint64_t b) { return a + b; });
  case BinaryKind::sub:
    return wrapped([](uint64_t a, uint64_t b) { return a - b; });
  case BinaryKind::mul:
    return wrapped([](uint64_t a, uint64_t b) { return a * b; });
  case BinaryKind::div:
    return wrapped(quotient<T>);
  case BinaryKind::rem:
    return wrapped(remainder<T>);
  case BinaryKind::mod:
    return wrapped([](T a, T b) {
      T rest = remainder(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    });
  case BinaryKind::pow:
    return wrapped([](T a, T b) { return power(a, b, std::is_unsigned_v<T>); });
  case BinaryKind::max:
    return wrapped([](T a, T b) { return std::max(a, b); });
  case BinaryKind::min:
    return wrapped([](T a, T b) { return std::min(a, b); });
  case BinaryKind::and_:
    return wrapped([](T a, T b) { return a & b; });
  case BinaryKind::or_:
    return wrapped([](T a, T b) { return a | b; });
  case BinaryKind::xor_:
    return wrapped([](T a, T b) { return a ^ b; });
  case BinaryKind::shl:
    return wrapped(
        [&](T a, uint64_t b) { return b >= static_cast<uint64_t>(width) ? 0 : static_cast<uint64_t>(a) << b; });
  case BinaryKind::shr:
    return wrapped([&](T a, uint64_t b) {
      return b >= static_cast<uint64_t>(width) ? (a < 0 ? static_cast<T>(-1) : T(0)) : static_cast<T>(a >> b);
    });
  case BinaryKind::atan2:
    break;
  }
  llvm_unreachable("the verifier accepts no other kind of integers");
}

template <typename T> static bool holds(CompareKind kind, T a, T b) {
  switch (kind) {
  case CompareKind::eq:
    return a == b;
  case CompareKind::ne:
    return a != b;
  case CompareKind::lt:
    return a < b;
  case CompareKind::le:
    return a <= b;
  case CompareKind::gt:
    return a > b;
  case CompareKind::ge:
    return a >= b;
  }
  llvm_unreachable("all relations are here");
}

static Tensor evaluate(CompareOp op, const Tensor &x, const Tensor &y) {
  Type type = getElementType(op.getResult());
  CompareKind kind = op.getKind();
  if (x.isReal())
    return zip<double, int64_t>(x, y, type, [=](double a, double b) { return holds(kind, a, b); });
  if (x.isUnsigned())
    return zip<int64_t, int64_t>(x, y, type, [=](uint64_t a, uint64_t b) { return holds(kind, a, b); });
  return zip<int64_t, int64_t>(x, y, type, [=](int64_t a, int64_t b) { return holds(kind, a, b); });
}

static Tensor evaluate(SelectOp op, const Tensor &condition, const Tensor &onTrue, const Tensor &onFalse) {
  Tensor result(onTrue.getElementType(), onTrue.getDims());
  result.visit([&](auto kind) {
    using T = decltype(kind);
    const int64_t *test = condition.data<int64_t>();
    for (int64_t i = 0, count = result.size(); i < count; ++i)
      result.data<T>()[i] = test[i] ? onTrue.data<T>()[i] : onFalse.data<T>()[i];
  });
  return result;
}

static int64_t truncate(double value, Type type, bool saturate) {
  bool isUnsigned = type.isUnsignedInteger();
  double low = getSmallest(type), high = isUnsigned ? static_cast<double>(static_cast<uint64_t>(getLargest(type)))
                                                    : static_cast<double>(getLargest(type));
  double whole = std::trunc(value);
  if (saturate) {
    if (std::isnan(value))
      return 0;
    if (whole <= low)
      return getSmallest(type);
    if (whole >= high)
      return getLargest(type);
  }
  if (isUnsigned && whole >= 0x1p63 && whole < 0x1p64)
    return wrapTo(type, static_cast<int64_t>(static_cast<uint64_t>(whole)));
  bool fits = whole >= -0x1p63 && whole < 0x1p63;
  return wrapTo(type, fits ? static_cast<int64_t>(whole) : std::numeric_limits<int64_t>::min());
}

static int64_t narrow(int64_t value, bool wasUnsigned, Type type, bool saturate) {
  if (!saturate)
    return wrapTo(type, value);
  // 128 bits hold the values of both ui64 and i64.
  auto widen = [](int64_t bits, bool isUnsigned) {
    return isUnsigned ? static_cast<__int128>(static_cast<uint64_t>(bits)) : static_cast<__int128>(bits);
  };
  __int128 low = widen(getSmallest(type), false), high = widen(getLargest(type), type.isUnsignedInteger());
  return static_cast<int64_t>(std::clamp(widen(value, wasUnsigned), low, high));
}

/// The values of elements that are only stored, as f32 or i64.
static Tensor decodeElements(const Tensor &x) {
  MLIRContext *context = x.getElementType().getContext();
  if (auto real = dyn_cast<FloatType>(x.getElementType()))
    return map<int64_t, double>(x, Float32Type::get(context), [=](int64_t code) { return decodeStored(real, code); });
  return x.retyped(IntegerType::get(context, 64));
}

static Tensor evaluate(CastOp op, const Tensor &operand) {
  Tensor x = isStorageOnly(operand.getElementType()) ? decodeElements(operand) : operand;
  Type type = op.getElementType();
  if (auto real = dyn_cast<FloatType>(type); real && isStorageOnly(type)) {
    auto encode = [&](double value) { return encodeStored(real, value, op.getSaturate(), op.getRound()); };
    if (x.isReal())
      return map<double, int64_t>(x, type, encode);
    Type single = Float32Type::get(type.getContext());
    return map<int64_t, int64_t>(x, type,
                                 [&](int64_t value) { return encode(roundInteger(single, value, x.isUnsigned())); });
  }
  bool saturate = op.getSaturate(), isUnsigned = x.isUnsigned();
  if (type.isSignlessInteger(1))
    return x.visit(
        [&](auto kind) { return map<decltype(kind), int64_t>(x, type, [](auto value) { return value != 0; }); });
  if (x.isReal() && isa<FloatType>(type))
    return map<double, double>(x, type, [=](double value) { return roundTo(type, value); });
  if (x.isReal())
    return map<double, int64_t>(x, type, [=](double value) { return truncate(value, type, saturate); });
  if (isa<FloatType>(type))
    return map<int64_t, double>(x, type, [=](int64_t value) { return roundInteger(type, value, isUnsigned); });
  return map<int64_t, int64_t>(x, type, [=](int64_t value) { return narrow(value, isUnsigned, type, saturate); });
}

static Tensor evaluate(BitcastOp op, const Tensor &x) {
  Type from = x.getElementType(), to = op.getElementType();
  auto fromInteger = [&](uint64_t bits) -> int64_t {
    return to.isInteger(1) ? bits != 0 : wrapTo(to, static_cast<int64_t>(bits));
  };
  // The width of the integer's own bits, without its sign.
  unsigned width = from.getIntOrFloatBitWidth();
  auto own = [=](int64_t value) {
    return width == 64 ? static_cast<uint64_t>(value) : static_cast<uint64_t>(value) & ((uint64_t(1) << width) - 1);
  };
  bool toReal = isa<FloatType>(to) && !isStorageOnly(to);
  if (x.isReal() && toReal)
    return map<double, double>(x, to, [=](double value) { return fromBits(to, toBits(from, value)); });
  if (x.isReal())
    return map<double, int64_t>(x, to, [=](double value) { return fromInteger(toBits(from, value)); });
  if (toReal)
    return map<int64_t, double>(x, to, [=](int64_t value) { return fromBits(to, own(value)); });
  return map<int64_t, int64_t>(x, to, [=](int64_t value) { return fromInteger(own(value)); });
}

std::optional<FailureOr<Tensors>> evaluateElementwise(Operation *op, const Context &context) {
  using Result = std::optional<FailureOr<Tensors>>;
  ArrayRef<Tensor> x = context.operands;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](UnaryOp op) -> Result {
        Type type = getElementType(op.getResult());
        return Tensors{x[0].isReal() ? evaluateReal(op.getKind(), x[0], type)
                                     : evaluateInteger(op.getKind(), x[0], type)};
      })
      .Case([&](BinaryOp op) -> Result {
        Type type = getElementType(op.getResult());
        if (x[0].isReal())
          return Tensors{evaluateReal(op.getKind(), x[0], x[1], type)};
        return Tensors{x[0].isUnsigned() ? evaluateInteger<uint64_t>(op.getKind(), x[0], x[1], type)
                                         : evaluateInteger<int64_t>(op.getKind(), x[0], x[1], type)};
      })
      .Case([&](CompareOp op) -> Result { return Tensors{evaluate(op, x[0], x[1])}; })
      .Case([&](SelectOp op) -> Result { return Tensors{evaluate(op, x[0], x[1], x[2])}; })
      .Case([&](CastOp op) -> Result { return Tensors{evaluate(op, x[0])}; })
      .Case([&](BitcastOp op) -> Result { return Tensors{evaluate(op, x[0])}; })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

} // namespace freestone::interpreter
