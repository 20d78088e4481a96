// Conversions to bf16 and f16 that round once. The processor converts only from f32; wider types first go to f32
// rounded to odd: the last bit is sticky, so that the second rounding equals a single one (Boldo and Melquiond, When
// double rounding is odd, 2005).
#include "compiler/codegen/cpu/math/ExpandMath.h"
#include "compiler/codegen/cpu/math/Real.h"

using namespace mlir;

namespace freestone::codegen {

namespace {

bool isNarrow(Type type) { return getElementTypeOrSelf(type).getIntOrFloatBitWidth() == 16; }

Type withElement(Type like, Type element) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? Type(vector.clone(element)) : element;
}

Value constantLike(ImplicitLocOpBuilder &b, Type type, uint64_t bits) {
  auto element = cast<IntegerType>(getElementTypeOrSelf(type));
  TypedAttr value = IntegerAttr::get(element, APInt(element.getWidth(), bits));
  if (auto vector = dyn_cast<VectorType>(type))
    value = DenseElementsAttr::get(vector, Attribute(value));
  return arith::ConstantOp::create(b, value);
}

struct NarrowDouble : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    if (!isNarrow(op.getType()) || !getElementTypeOrSelf(op.getIn()).isF64())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Real x(b, op.getIn()), nearest = x.narrowed(), back = nearest.widened();
    Value bits = nearest.bits(), one = nearest.integer(1), zero = nearest.integer(0);
    auto magnitude = [&](Real real) { return real.with(math::AbsFOp::create(b, real.get())); };
    Value towards = arith::SelectOp::create(b, (magnitude(back) > magnitude(x)).value,
                                            arith::SubIOp::create(b, bits, one), arith::AddIOp::create(b, bits, one));
    Value isInexact = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back.get(), x.get());
    Value isEven = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, arith::AndIOp::create(b, bits, one), zero);
    Value odd = arith::SelectOp::create(b, arith::AndIOp::create(b, isInexact, isEven), towards, bits);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), nearest.fromBits(odd).get());
    return success();
  }
};

/// 32-bit integers are exact in f64. 64-bit integers that are not replace their lowest twelve bits by one sticky bit.
template <typename ConvertOp> struct NarrowInteger : OpRewritePattern<ConvertOp> {
  using OpRewritePattern<ConvertOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvertOp op, PatternRewriter &rewriter) const override {
    constexpr bool isSigned = std::is_same_v<ConvertOp, arith::SIToFPOp>;
    Value x = op.getIn();
    Type type = x.getType();
    unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    // f32 holds narrow integers exactly, and all integers below the infinity of f16.
    if (!getElementTypeOrSelf(op.getType()).isBF16() || width < 32)
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (width == 64) {
      auto constant = [&](uint64_t bits) { return constantLike(b, type, bits); };
      Value lowest = arith::AndIOp::create(b, x, constant(0xfff));
      Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, lowest, constant(0));
      Value marked = arith::OrIOp::create(b, arith::AndIOp::create(b, x, constant(~uint64_t(0xfff))),
                                          arith::SelectOp::create(b, any, constant(0x800), constant(0)));
      Value distance = isSigned ? arith::AddIOp::create(b, x, constant(1ull << 53)).getResult() : x;
      Value isLarge =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, distance, constant(isSigned ? 1ull << 54 : 1ull << 53));
      x = arith::SelectOp::create(b, isLarge, marked, x);
    }
    Value wide = ConvertOp::create(b, withElement(type, b.getF64Type()), x);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), wide);
    return success();
  }
};

/// Whether a value of f32 is a bf16, so that rounding it to bf16 changes nothing.
bool isBFloat16(Value x) {
  Operation *op = x.getDefiningOp();
  if (!op)
    return false;
  if (auto wide = dyn_cast<arith::ExtFOp>(op))
    return getElementTypeOrSelf(wide.getIn()).isBF16();
  if (isa<arith::NegFOp, math::AbsFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(op))
    return llvm::all_of(op->getOperands(), isBFloat16);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return isBFloat16(select.getTrueValue()) && isBFloat16(select.getFalseValue());
  return false;
}

struct DropRounding : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    auto narrow = op.getIn().getDefiningOp<arith::TruncFOp>();
    if (!narrow || !getElementTypeOrSelf(narrow.getType()).isBF16() || narrow.getIn().getType() != op.getType() ||
        !isBFloat16(narrow.getIn()))
      return failure();
    rewriter.replaceOp(op, narrow.getIn());
    return success();
  }
};

/// To nearest, ties to even: half of the last place is added, less one bit where the last place is even. NaN has all
/// bits set.
struct RoundToBFloat16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isBF16() || !getElementTypeOrSelf(op.getIn()).isF32())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Real x(b, op.getIn());
    Value bits = x.bits(), places = x.integer(16);
    if (!isBFloat16(x.get())) {
      Value last = arith::AndIOp::create(b, arith::ShRUIOp::create(b, bits, places), x.integer(1));
      Value rounded = arith::AddIOp::create(b, arith::AddIOp::create(b, bits, x.integer(0x7fff)), last);
      Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x.get(), x.get());
      Value quiet =
          arith::AndIOp::create(b, arith::ExtSIOp::create(b, rounded.getType(), isNaN), x.integer(0x7fff0000));
      bits = arith::OrIOp::create(b, rounded, quiet);
    }
    Value upper = arith::TruncIOp::create(b, x.typeOf(b.getI16Type()), arith::ShRUIOp::create(b, bits, places));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), upper);
    return success();
  }
};

struct WidenBFloat16 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getIn()).isBF16() || !getElementTypeOrSelf(op.getType()).isF32())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type type = op.getType(), integer = withElement(type, b.getI32Type());
    Value bits = arith::BitcastOp::create(b, withElement(type, b.getI16Type()), op.getIn());
    Value upper = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, integer, bits), constantLike(b, integer, 16));
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, type, upper);
    return success();
  }
};

} // namespace

void populateExpandConversionPatterns(RewritePatternSet &patterns) {
  patterns.add<NarrowDouble, NarrowInteger<arith::SIToFPOp>, NarrowInteger<arith::UIToFPOp>, DropRounding>(
      patterns.getContext());
}

void populateExpandBFloat16Patterns(RewritePatternSet &patterns) {
  patterns.add<RoundToBFloat16, WidenBFloat16>(patterns.getContext());
}

} // namespace freestone::codegen
