#include "compiler/interpreter/ScalarBody.h"

#include "compiler/interpreter/Extremum.h"
#include "compiler/interpreter/RandomBits.h"
#include "compiler/interpreter/Rounding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace freestone::interpreter {

Scalar getElement(const Tensor &tensor, int64_t position) {
  Scalar scalar;
  if (tensor.isReal())
    scalar.real = tensor.data<double>()[position];
  else
    scalar.integer = wrapTo(tile::getScalarType(tensor.getElementType()), tensor.data<int64_t>()[position]);
  return scalar;
}

void setElement(Tensor &tensor, int64_t position, Scalar value) {
  if (tensor.isReal())
    tensor.data<double>()[position] = value.real;
  else
    tensor.data<int64_t>()[position] = wrapTo(tensor.getElementType(), value.integer);
}

static unsigned widthOf(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

static int64_t wrap(Type type, int64_t value) { return type.isIndex() ? value : wrapTo(type, value); }

/// The same bits, zero-extended.
static uint64_t toUnsigned(Type type, int64_t value) {
  unsigned width = widthOf(type);
  return width == 64 ? static_cast<uint64_t>(value) : static_cast<uint64_t>(value) & ((uint64_t(1) << width) - 1);
}

template <typename Function> ScalarBody::Step ScalarBody::unary(Operation &op, Function function) {
  return [function, to = placeOf(op.getResult(0)), from = placeOf(op.getOperand(0))](Frame &frame) {
    frame.values[to] = function(frame.values[from]);
    return true;
  };
}

template <typename Function> ScalarBody::Step ScalarBody::binary(Operation &op, Function function) {
  return [function, to = placeOf(op.getResult(0)), a = placeOf(op.getOperand(0)),
          b = placeOf(op.getOperand(1))](Frame &frame) {
    frame.values[to] = function(frame.values[a], frame.values[b]);
    return true;
  };
}

ScalarBody::Step ScalarBody::prepareReal(Operation &op) {
  auto one = [&](double (*function)(double)) {
    return unary(op, [function](Scalar a) { return Scalar{.real = function(a.real)}; });
  };
  auto two = [&](auto function) {
    return binary(op, [function](Scalar a, Scalar b) { return Scalar{.real = function(a.real, b.real)}; });
  };
  return TypeSwitch<Operation *, Step>(&op)
      .Case([&](arith::AddFOp) { return two([](double a, double b) { return a + b; }); })
      .Case([&](arith::SubFOp) { return two([](double a, double b) { return a - b; }); })
      .Case([&](arith::MulFOp) { return two([](double a, double b) { return a * b; }); })
      .Case([&](arith::DivFOp) { return two([](double a, double b) { return a / b; }); })
      .Case([&](arith::RemFOp) { return two([](double a, double b) { return std::fmod(a, b); }); })
      .Case([&](arith::MaximumFOp) { return two(largest); })
      .Case([&](arith::MinimumFOp) { return two(smallest); })
      .Case([&](arith::MaxNumFOp) { return two([](double a, double b) { return std::fmax(a, b); }); })
      .Case([&](arith::MinNumFOp) { return two([](double a, double b) { return std::fmin(a, b); }); })
      .Case([&](math::PowFOp) { return two([](double a, double b) { return std::pow(a, b); }); })
      .Case([&](math::Atan2Op) { return two([](double a, double b) { return std::atan2(a, b); }); })
      .Case([&](arith::NegFOp) { return one([](double a) { return -a; }); })
      .Case([&](math::FmaOp fma) -> Step {
        return [to = placeOf(fma), a = placeOf(fma.getA()), b = placeOf(fma.getB()),
                c = placeOf(fma.getC())](Frame &frame) {
          frame.values[to] = Scalar{.real = std::fma(frame.values[a].real, frame.values[b].real, frame.values[c].real)};
          return true;
        };
      })
      .Case([&](math::AbsFOp) { return one([](double a) { return std::fabs(a); }); })
      .Case([&](math::ExpOp) { return one([](double a) { return std::exp(a); }); })
      .Case([&](math::Exp2Op) { return one([](double a) { return std::exp2(a); }); })
      .Case([&](math::ExpM1Op) { return one([](double a) { return std::expm1(a); }); })
      .Case([&](math::LogOp) { return one([](double a) { return std::log(a); }); })
      .Case([&](math::Log1pOp) { return one([](double a) { return std::log1p(a); }); })
      .Case([&](math::SqrtOp) { return one([](double a) { return std::sqrt(a); }); })
      .Case([&](math::RsqrtOp) { return one([](double a) { return 1 / std::sqrt(a); }); })
      .Case([&](math::SinOp) { return one([](double a) { return std::sin(a); }); })
      .Case([&](math::CosOp) { return one([](double a) { return std::cos(a); }); })
      .Case([&](math::TanOp) { return one([](double a) { return std::tan(a); }); })
      .Case([&](math::AsinOp) { return one([](double a) { return std::asin(a); }); })
      .Case([&](math::AcosOp) { return one([](double a) { return std::acos(a); }); })
      .Case([&](math::AtanOp) { return one([](double a) { return std::atan(a); }); })
      .Case([&](math::SinhOp) { return one([](double a) { return std::sinh(a); }); })
      .Case([&](math::CoshOp) { return one([](double a) { return std::cosh(a); }); })
      .Case([&](math::TanhOp) { return one([](double a) { return std::tanh(a); }); })
      .Case([&](math::AsinhOp) { return one([](double a) { return std::asinh(a); }); })
      .Case([&](math::AcoshOp) { return one([](double a) { return std::acosh(a); }); })
      .Case([&](math::AtanhOp) { return one([](double a) { return std::atanh(a); }); })
      .Case([&](math::ErfOp) { return one([](double a) { return std::erf(a); }); })
      .Case([&](math::FloorOp) { return one([](double a) { return std::floor(a); }); })
      .Case([&](math::CeilOp) { return one([](double a) { return std::ceil(a); }); })
      .Case([&](math::TruncOp) { return one([](double a) { return std::trunc(a); }); })
      .Case([&](math::RoundEvenOp) { return one([](double a) { return std::nearbyint(a); }); })
      .Default([](Operation *) { return Step(); });
}

ScalarBody::Step ScalarBody::prepareInteger(Operation &op) {
  if (op.getNumOperands() != 2 || op.getNumResults() != 1 || !op.getResult(0).getType().isIntOrIndex())
    return {};
  Type type = op.getResult(0).getType();
  // Divisions by zero and shifts by at least the width are unspecified; here they give 0.
  auto as = [&]<typename T>(T (*function)(T a, T b)) {
    return binary(op, [function, type](Scalar a, Scalar b) {
      auto convert = [&](int64_t value) {
        return std::is_signed_v<T> ? static_cast<T>(value) : static_cast<T>(toUnsigned(type, value));
      };
      return Scalar{.integer = wrap(type, static_cast<int64_t>(function(convert(a.integer), convert(b.integer))))};
    });
  };
  using I = int64_t;
  using U = uint64_t;
  return TypeSwitch<Operation *, Step>(&op)
      .Case([&](arith::AddIOp) { return as(+[](U a, U b) { return a + b; }); })
      .Case([&](arith::SubIOp) { return as(+[](U a, U b) { return a - b; }); })
      .Case([&](arith::MulIOp) { return as(+[](U a, U b) { return a * b; }); })
      .Case([&](arith::AndIOp) { return as(+[](U a, U b) { return a & b; }); })
      .Case([&](arith::OrIOp) { return as(+[](U a, U b) { return a | b; }); })
      .Case([&](arith::XOrIOp) { return as(+[](U a, U b) { return a ^ b; }); })
      .Case([&](arith::DivUIOp) { return as(+[](U a, U b) { return b ? a / b : 0; }); })
      .Case([&](arith::RemUIOp) { return as(+[](U a, U b) { return b ? a % b : 0; }); })
      .Case([&](arith::MaxUIOp) { return as(+[](U a, U b) { return std::max(a, b); }); })
      .Case([&](arith::MinUIOp) { return as(+[](U a, U b) { return std::min(a, b); }); })
      .Case([&](arith::ShLIOp) { return as(+[](U a, U b) { return b < 64 ? a << b : 0; }); })
      .Case([&](arith::ShRUIOp) { return as(+[](U a, U b) { return b < 64 ? a >> b : 0; }); })
      .Case([&](arith::ShRSIOp) { return as(+[](I a, I b) { return b >= 0 && b < 64 ? a >> b : 0; }); })
      .Case([&](arith::DivSIOp) { return as(+[](I a, I b) { return b == 0    ? 0
                                                                   : b == -1 ? I(0 - U(a))
                                                                             : a / b; }); })
      .Case([&](arith::RemSIOp) { return as(+[](I a, I b) { return b == 0 || b == -1 ? 0 : a % b; }); })
      .Case([&](arith::MaxSIOp) { return as(+[](I a, I b) { return std::max(a, b); }); })
      .Case([&](arith::MinSIOp) { return as(+[](I a, I b) { return std::min(a, b); }); })
      .Default([](Operation *) { return Step(); });
}

ScalarBody::Step ScalarBody::prepareCast(Operation &op) {
  if (op.getNumOperands() != 1 || op.getNumResults() != 1)
    return {};
  Type from = op.getOperand(0).getType(), to = op.getResult(0).getType();
  auto same = [](Scalar a) { return a; };
  auto zeroExtended = [=](Scalar a) {
    return Scalar{.integer = wrap(to, static_cast<int64_t>(toUnsigned(from, a.integer)))};
  };
  auto wrapped = [=](Scalar a) { return Scalar{.integer = wrap(to, a.integer)}; };
  return TypeSwitch<Operation *, Step>(&op)
      .Case([&](arith::ExtFOp) { return unary(op, same); })
      .Case([&](arith::TruncFOp) { return unary(op, [=](Scalar a) { return Scalar{.real = roundTo(to, a.real)}; }); })
      .Case([&](arith::ExtSIOp) {
        // A true bool is -1 when sign-extended, 1 here.
        return unary(op, [=](Scalar a) { return Scalar{.integer = from.isInteger(1) ? -a.integer : a.integer}; });
      })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](auto) { return unary(op, zeroExtended); })
      .Case<arith::TruncIOp, arith::IndexCastOp>([&](auto) { return unary(op, wrapped); })
      .Case([&](arith::SIToFPOp) {
        return unary(op, [=](Scalar a) { return Scalar{.real = roundInteger(to, a.integer, false)}; });
      })
      .Case([&](arith::UIToFPOp) {
        return unary(op, [=](Scalar a) {
          return Scalar{.real = roundInteger(to, static_cast<int64_t>(toUnsigned(from, a.integer)), true)};
        });
      })
      .Case<arith::FPToSIOp, arith::FPToUIOp>([&](auto) {
        return unary(op, [=](Scalar a) {
          // Out of the range of 64 bits the result is unspecified.
          bool fits = a.real > -0x1p63 && a.real < 0x1p64;
          bool isLarge = a.real >= 0x1p63;
          int64_t value = !fits     ? 0
                          : isLarge ? static_cast<int64_t>(static_cast<uint64_t>(a.real))
                                    : static_cast<int64_t>(a.real);
          return Scalar{.integer = wrap(to, value)};
        });
      })
      .Case([&](arith::BitcastOp) {
        return unary(op, [=](Scalar a) {
          uint64_t bits = isa<FloatType>(from) ? toBits(from, a.real) : toUnsigned(from, a.integer);
          return isa<FloatType>(to) ? Scalar{.real = fromBits(to, bits)}
                                    : Scalar{.integer = wrap(to, static_cast<int64_t>(bits))};
        });
      })
      .Default([](Operation *) { return Step(); });
}

static Scalar toScalar(Attribute value) {
  if (auto real = dyn_cast<FloatAttr>(value))
    return {.real = real.getValueAsDouble()};
  return {.integer = wrap(cast<IntegerAttr>(value).getType(), cast<IntegerAttr>(value).getValue().getSExtValue())};
}

FailureOr<ScalarBody::Step> ScalarBody::prepare(Operation &op, ArrayRef<Tensor> reads, const Symbols &symbols) {
  for (auto family : {&ScalarBody::prepareReal, &ScalarBody::prepareInteger, &ScalarBody::prepareCast})
    if (Step step = (this->*family)(op))
      return step;
  if (auto fixed = dyn_cast<arith::ConstantOp>(op))
    return Step([to = placeOf(fixed), value = toScalar(fixed.getValue())](Frame &frame) {
      frame.values[to] = value;
      return true;
    });
  if (auto index = dyn_cast<tile::IndexOp>(op))
    return Step([to = placeOf(index), loop = index.getLoop()](Frame &frame) {
      frame.values[to].integer = frame.point[loop];
      return true;
    });
  if (auto size = dyn_cast<tile::SizeOp>(op)) {
    FailureOr<int64_t> value = symbols.getOffset(&op, size.getSize().getExpr());
    if (failed(value))
      return failure();
    return Step([to = placeOf(size), value = *value](Frame &frame) {
      frame.values[to].integer = value;
      return true;
    });
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return binary(op, [predicate = compare.getPredicate()](Scalar a, Scalar b) {
      return Scalar{.integer = arith::applyCmpPredicate(predicate, APFloat(a.real), APFloat(b.real))};
    });
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return binary(op, [predicate = compare.getPredicate(), type = compare.getLhs().getType()](Scalar a, Scalar b) {
      APInt left(widthOf(type), toUnsigned(type, a.integer)), right(widthOf(type), toUnsigned(type, b.integer));
      return Scalar{.integer = arith::applyCmpPredicate(predicate, left, right)};
    });
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return Step([to = placeOf(select), condition = placeOf(select.getCondition()), yes = placeOf(select.getTrueValue()),
                 no = placeOf(select.getFalseValue())](Frame &frame) {
      frame.values[to] = frame.values[condition].integer ? frame.values[yes] : frame.values[no];
      return true;
    });
  if (auto lookup = dyn_cast<tile::LookupOp>(op))
    return unary(op, [table = lookup.getTable()](Scalar a) {
      return Scalar{.integer = table[static_cast<uint8_t>(a.integer)]};
    });
  if (auto check = dyn_cast<tile::CheckOp>(op))
    return Step([check, condition = placeOf(check.getCondition())](Frame &frame) mutable {
      if (frame.values[condition].integer)
        return true;
      check->emitError(check.getMessage());
      return false;
    });
  if (auto random = dyn_cast<tile::RandomBitsOp>(op)) {
    SmallVector<unsigned> key = llvm::map_to_vector(random.getKey(), [&](Value word) { return placeOf(word); });
    return Step([key, to = placeOf(random), index = placeOf(random.getIndex()), type = random.getType()](Frame &frame) {
      std::array<uint32_t, 4> words;
      llvm::transform(key, words.begin(), [&](unsigned place) { return frame.values[place].integer; });
      frame.values[to].integer = wrap(type, getRandomBits(type, words, frame.values[index].integer));
      return true;
    });
  }
  if (auto read = dyn_cast<tile::ReadOp>(op)) {
    SmallVector<unsigned> indices;
    for (Value index : read.getIndices())
      indices.push_back(placeOf(index));
    return Step([indices, to = placeOf(read), tensor = reads[read.getReadNumber()]](Frame &frame) {
      int64_t position = 0;
      for (auto [axis, place] : llvm::enumerate(indices)) {
        int64_t at = frame.values[place].integer, extent = tensor.getDim(axis);
        if (at < 0 || at >= extent) {
          frame.values[to] = Scalar{};
          return true;
        }
        position = position * extent + at;
      }
      frame.values[to] = getElement(tensor, position);
      return true;
    });
  }
  return op.emitError("is no operation of a body that the interpreter knows");
}

FailureOr<ScalarBody> ScalarBody::create(tile::ComputeOp compute, ArrayRef<Tensor> reads, const Symbols &symbols) {
  ScalarBody body;
  for (Value argument : compute.getBody()->getArguments())
    body.placeOf(argument);
  for (Operation &op : compute.getBody()->without_terminator()) {
    FailureOr<Step> step = body.prepare(op, reads, symbols);
    if (failed(step))
      return failure();
    body.steps.push_back(std::move(*step));
  }
  for (Value value : compute.getBody()->getTerminator()->getOperands())
    body.yielded.push_back(body.placeOf(value));
  body.frame.values.resize(body.places.size());
  body.results.resize(body.yielded.size());
  return body;
}

FailureOr<ArrayRef<Scalar>> ScalarBody::run(ArrayRef<int64_t> point, ArrayRef<Scalar> arguments) {
  frame.point = point;
  llvm::copy(arguments, frame.values.begin());
  for (const Step &step : steps)
    if (!step(frame))
      return failure();
  for (auto [result, place] : llvm::zip_equal(results, yielded))
    result = frame.values[place];
  return ArrayRef<Scalar>(results);
}

} // namespace freestone::interpreter
