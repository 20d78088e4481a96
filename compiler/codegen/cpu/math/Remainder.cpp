// Remainders of truncating divisions of f32, exact as C's fmod.
#include "compiler/codegen/cpu/math/ExpandMath.h"
#include "compiler/codegen/cpu/math/Real.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace freestone::codegen {

namespace {

/// Of remainders that stay calls.
constexpr StringLiteral calledAttr = "codegen.called";
/// A quotient of so few digits and a divisor of f32 have an exact product in f64, and so is its difference to the
/// dividend.
constexpr double longQuotient = 0x1p29;

Real truncate(Real x) { return x.with(math::TruncOp::create(x.getBuilder(), x.get())); }

/// Divides in f64; lanes of long quotients, infinities and zeros call a function.
struct ExpandRemainder : OpRewritePattern<arith::RemFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::RemFOp op, PatternRewriter &rewriter) const override {
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!getElementTypeOrSelf(op.getType()).isF32() || (vector && vector.getRank() != 1) || op->hasAttr(calledAttr))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Real x(b, op.getLhs()), dividend = abs(x).widened(), divisor = abs(Real(b, op.getRhs())).widened();
    Real quotient = dividend / divisor, rest = dividend - truncate(quotient) * divisor;
    // The quotient may have been rounded up to the next integer.
    rest = select(rest < 0, rest + divisor, rest);
    Real result = copySign(select(quotient < 1, dividend, rest).narrowed(), x);

    Value isShort = (quotient < longQuotient).value;
    if (vector)
      isShort = vector::ReductionOp::create(b, vector::CombiningKind::AND, isShort);
    auto choice = scf::IfOp::create(b, op.getType(), isShort, /*withElseRegion=*/true);
    b.setInsertionPointToEnd(choice.thenBlock());
    scf::YieldOp::create(b, result.get());
    b.setInsertionPointToEnd(choice.elseBlock());
    auto called = arith::RemFOp::create(b, op.getLhs(), op.getRhs());
    called->setAttr(calledAttr, b.getUnitAttr());
    scf::YieldOp::create(b, called.getResult());
    rewriter.replaceOp(op, choice);
    return success();
  }
};

} // namespace

void populateExpandRemainderPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandRemainder>(patterns.getContext());
}

} // namespace freestone::codegen
