#include "compiler/dialect/sym/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace freestone::sym;

namespace {

class ExprLowering {
public:
  ExprLowering(OpBuilder &builder, Location location, llvm::function_ref<Value(StringRef)> symbolValue, Value *overflow)
      : builder(builder), location(location), symbolValue(symbolValue), overflow(overflow) {}

  Value lower(Expr expr);

private:
  Value lowerTerm(const Term &term, Type word);
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

  Value add(Value lhs, Value rhs) { return emit<arith::AddIOp, LLVM::SAddWithOverflowOp>(lhs, rhs); }
  Value subtract(Value lhs, Value rhs) { return emit<arith::SubIOp, LLVM::SSubWithOverflowOp>(lhs, rhs); }
  Value multiply(Value lhs, Value rhs) { return emit<arith::MulIOp, LLVM::SMulWithOverflowOp>(lhs, rhs); }

  template <typename Plain, typename Checked> Value emit(Value lhs, Value rhs) {
    if (!overflow)
      return Plain::create(builder, location, lhs, rhs);
    auto pair = LLVM::LLVMStructType::getLiteral(builder.getContext(), {lhs.getType(), builder.getI1Type()});
    Value both = Checked::create(builder, location, pair, lhs, rhs);
    accumulate(LLVM::ExtractValueOp::create(builder, location, both, 1));
    return LLVM::ExtractValueOp::create(builder, location, both, 0);
  }

  /// From 128 bits, where it must fit.
  Value narrow(Value wide) {
    Value value = arith::TruncIOp::create(builder, location, builder.getI64Type(), wide);
    Value same = arith::ExtSIOp::create(builder, location, wide.getType(), value);
    accumulate(compare(arith::CmpIPredicate::ne, same, wide));
    return value;
  }

  void accumulate(Value flag) {
    *overflow = *overflow ? Value(arith::OrIOp::create(builder, location, *overflow, flag)) : flag;
  }

  OpBuilder &builder;
  Location location;
  llvm::function_ref<Value(StringRef)> symbolValue;
  /// Null for unchecked arithmetic.
  Value *overflow;
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

/// Operations in the order of `evaluate`, so that both overflow for the same values.
Value ExprLowering::lowerTerm(const Term &term, Type word) {
  Value product;
  if (term.factors.empty() || term.coefficient != 1)
    product = arith::ConstantOp::create(
        builder, location, builder.getIntegerAttr(word, APInt(word.getIntOrFloatBitWidth(), term.coefficient, true)));
  for (const Factor &factor : term.factors) {
    Value value = lowerAtom(factor.atom);
    if (value.getType() != word)
      value = arith::ExtSIOp::create(builder, location, word, value);
    for (unsigned i = 0; i < factor.power; ++i)
      product = product ? multiply(product, value) : value;
  }
  return product;
}

Value ExprLowering::lower(Expr expr) {
  bool isWide = overflow && expr.mayCancel();
  Value sum;
  for (const Term &term : expr.terms()) {
    Value value = lowerTerm(term, builder.getIntegerType(isWide ? 128 : 64));
    sum = sum ? add(sum, value) : value;
  }
  if (isWide)
    return narrow(sum);
  return sum ? sum : constant(0);
}

Value freestone::sym::lowerExpr(OpBuilder &builder, Location location, Expr expr,
                                llvm::function_ref<Value(StringRef)> symbolValue) {
  assert(!expr.isInvalid() && "an invalid expression has no value");
  return ExprLowering(builder, location, symbolValue, nullptr).lower(expr);
}

Value freestone::sym::lowerExprChecked(OpBuilder &builder, Location location, Expr expr,
                                       llvm::function_ref<Value(StringRef)> symbolValue, Value &overflow) {
  assert(!expr.isInvalid() && "an invalid expression has no value");
  if (!overflow)
    overflow = arith::ConstantIntOp::create(builder, location, 0, 1);
  return ExprLowering(builder, location, symbolValue, &overflow).lower(expr);
}
