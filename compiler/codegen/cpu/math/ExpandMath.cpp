#include "compiler/codegen/cpu/math/ExpandMath.h"

#include "compiler/codegen/cpu/math/Elementary.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace freestone::codegen {

namespace {

bool isExpandable(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isF32() || element.isF64();
}

/// Expands one `math` operation of one or two operands by the function that computes it.
template <typename Op, auto function> struct Expand : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!isExpandable(op.getType()))
      return rewriter.notifyMatchFailure(op, "only f32 and f64 have elementary functions");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    if constexpr (std::is_invocable_v<decltype(function), Real, Real>) {
      Real result = function(Real(builder, op->getOperand(0)), Real(builder, op->getOperand(1)));
      rewriter.replaceOp(op, result.get());
    } else {
      rewriter.replaceOp(op, function(Real(builder, op->getOperand(0))).get());
    }
    return success();
  }
};

constexpr int64_t registerLanes = 16;

/// x * 2^n, rounded once, of whole registers: `vscalefps`.
Real scaleRegisters(Real x, Real n) {
  ImplicitLocOpBuilder &b = x.getBuilder();
  auto integer = [&](unsigned bits, int64_t number) -> Value {
    return LLVM::ConstantOp::create(b, b.getIntegerAttr(b.getIntegerType(bits), number));
  };
  constexpr int64_t currentRounding = 4;
  Value everyLane = integer(16, -1), rounding = integer(32, currentRounding), result = x.get();
  int64_t lanes = cast<VectorType>(x.type()).getNumElements();
  for (int64_t from = 0; from < lanes; from += registerLanes) {
    auto part = [&](Value value) -> Value {
      return vector::ExtractStridedSliceOp::create(b, value, from, registerLanes, 1);
    };
    Value number = part(x.get());
    Value scaled =
        LLVM::CallIntrinsicOp::create(b, number.getType(), b.getStringAttr("llvm.x86.avx512.mask.scalef.ps.512"),
                                      ValueRange{number, part(n.get()), number, everyLane, rounding})
            .getResult(0);
    result = vector::InsertStridedSliceOp::create(b, scaled, result, from, 1);
  }
  return x.with(result);
}

struct ExpandExpOfRegisters : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || !type.getElementType().isF32() || type.getRank() != 1 || type.getNumElements() % registerLanes)
      return rewriter.notifyMatchFailure(op, "not whole registers of AVX-512");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, expScaled(Real(builder, op.getOperand()), scaleRegisters).get());
    return success();
  }
};

/// Exponentials marked as approximate are shares of a sum: see `graph.softmax`.
struct ExpandExpOfShare : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    bool isShare = arith::bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn);
    if (!isShare || !getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "not an f32 share");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, expOfShare(Real(builder, op.getOperand())).get());
    return success();
  }
};

Real reciprocalSquareRoot(Real x) { return x.like(1) / sqrt(x); }

} // namespace

void populateExpandMathPatterns(RewritePatternSet &patterns, unsigned vectorBytes) {
  patterns.add<ExpandExpOfShare>(patterns.getContext(), /*benefit=*/3);
  if (vectorBytes == 64)
    patterns.add<ExpandExpOfRegisters>(patterns.getContext(), /*benefit=*/2);
  patterns
      .add<Expand<math::ExpOp, exp>, Expand<math::Exp2Op, exp2>, Expand<math::ExpM1Op, expm1>, Expand<math::LogOp, log>,
           Expand<math::Log2Op, log2>, Expand<math::Log10Op, log10>, Expand<math::Log1pOp, log1p>,
           Expand<math::PowFOp, pow>, Expand<math::SinOp, sin>, Expand<math::CosOp, cos>, Expand<math::TanOp, tan>,
           Expand<math::AsinOp, asin>, Expand<math::AcosOp, acos>, Expand<math::AtanOp, atan>,
           Expand<math::Atan2Op, atan2>, Expand<math::SinhOp, sinh>, Expand<math::CoshOp, cosh>,
           Expand<math::TanhOp, tanh>, Expand<math::AsinhOp, asinh>, Expand<math::AcoshOp, acosh>,
           Expand<math::AtanhOp, atanh>, Expand<math::ErfOp, erf>, Expand<math::RsqrtOp, reciprocalSquareRoot>>(
          patterns.getContext());
}

} // namespace freestone::codegen
