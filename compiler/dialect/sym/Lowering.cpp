#include "compiler/dialect/sym/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace freestone::sym;

namespace {

class ExprLowering {
public:
  ExprLowering(OpBuilder &builder, Location location, llvm::function_ref<Value(StringRef)> symbolValue)
      : builder(builder), location(location), symbolValue(symbolValue) {}

  Value lower(Expr expr);

private:
  Value lowerTerm(const Term &term);
  Value lowerAtom(Expr atom);
  Value lowerDivision(Expr atom);
  Value lowerConstantDivision(Value dividend, int64_t divisor);

  Value constant(int64_t value) { return arith::ConstantIntOp::create(builder, location, value, 64); }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, location, predicate, lhs, rhs);
  }
  Value select(Value condition, Value lhs, Value rhs) {
    return arith::SelectOp::create(builder, location, condition, lhs, rhs);
  }

  Value add(Value lhs, Value rhs) { return arith::AddIOp::create(builder, location, lhs, rhs); }
  Value subtract(Value lhs, Value rhs) { return arith::SubIOp::create(builder, location, lhs, rhs); }
  Value multiply(Value lhs, Value rhs) { return arith::MulIOp::create(builder, location, lhs, rhs); }

  OpBuilder &builder;
  Location location;
  llvm::function_ref<Value(StringRef)> symbolValue;
  llvm::DenseMap<Expr, Value> lowered;
};

} // namespace

Value ExprLowering::lowerConstantDivision(Value dividend, int64_t divisor) {
  if (llvm::isPowerOf2_64(divisor))
    return arith::ShRSIOp::create(builder, location, dividend, constant(llvm::Log2_64(divisor)));
  Value divisorValue = constant(divisor);
  Value quotient = arith::DivSIOp::create(builder, location, dividend, divisorValue);
  Value remainder = arith::RemSIOp::create(builder, location, dividend, divisorValue);
  Value below = compare(arith::CmpIPredicate::slt, remainder, constant(0));
  Value borrow = arith::ExtUIOp::create(builder, location, builder.getI64Type(), below);
  return arith::SubIOp::create(builder, location, quotient, borrow);
}

Value ExprLowering::lowerDivision(Expr atom) {
  Value dividend = lower(atom.operands()[0]);
  if (std::optional<int64_t> divisor = atom.operands()[1].asConstant())
    return lowerConstantDivision(dividend, *divisor);

  Value divisor = lower(atom.operands()[1]);
  Value zero = constant(0);
  // No division is undefined: the sign moves to the dividend, a divisor of 0 is replaced.
  Value isNegative = compare(arith::CmpIPredicate::slt, divisor, zero);
  dividend = subtract(select(isNegative, zero, dividend), select(isNegative, dividend, zero));
  divisor = subtract(select(isNegative, zero, divisor), select(isNegative, divisor, zero));
  Value isZero = compare(arith::CmpIPredicate::eq, divisor, zero);
  Value safeDivisor = select(isZero, constant(1), divisor);
  Value quotient = arith::DivSIOp::create(builder, location, dividend, safeDivisor);
  Value remainder = arith::RemSIOp::create(builder, location, dividend, safeDivisor);

  bool roundDown = atom.kind() == Kind::FloorDiv;
  Value inexact = compare(roundDown ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sgt, remainder, zero);
  Value step = arith::ExtUIOp::create(builder, location, builder.getI64Type(), inexact);
  // An inexact quotient is far from the ends of 64 bits.
  Value rounded = roundDown ? Value(arith::SubIOp::create(builder, location, quotient, step))
                            : Value(arith::AddIOp::create(builder, location, quotient, step));
  return select(isZero, zero, rounded);
}

Value ExprLowering::lowerAtom(Expr atom) {
  if (Value known = lowered.lookup(atom))
    return known;
  Value result;
  switch (atom.kind()) {
  case Kind::Symbol:
    result = symbolValue(*atom.asSymbol());
    break;
  case Kind::FloorDiv:
  case Kind::CeilDiv:
    result = lowerDivision(atom);
    break;
  default:
    result = lower(atom.operands().front());
    for (Expr operand : atom.operands().drop_front()) {
      Value other = lower(operand);
      result = atom.kind() == Kind::Min ? Value(arith::MinSIOp::create(builder, location, result, other))
                                        : Value(arith::MaxSIOp::create(builder, location, result, other));
    }
  }
  lowered[atom] = result;
  return result;
}

Value ExprLowering::lowerTerm(const Term &term) {
  Value product;
  if (term.factors.empty() || term.coefficient != 1)
    product = constant(term.coefficient);
  for (const Factor &factor : term.factors) {
    Value value = lowerAtom(factor.atom);
    for (unsigned i = 0; i < factor.power; ++i)
      product = product ? multiply(product, value) : value;
  }
  return product;
}

Value ExprLowering::lower(Expr expr) {
  Value sum;
  for (const Term &term : expr.terms()) {
    Value value = lowerTerm(term);
    sum = sum ? add(sum, value) : value;
  }
  return sum ? sum : constant(0);
}

Value freestone::sym::lowerExpr(OpBuilder &builder, Location location, Expr expr,
                                llvm::function_ref<Value(StringRef)> symbolValue) {
  assert(!expr.isInvalid() && "an invalid expression has no value");
  return ExprLowering(builder, location, symbolValue).lower(expr);
}
