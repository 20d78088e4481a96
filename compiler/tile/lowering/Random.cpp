#include "compiler/tile/lowering/Lowering.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

/// 32-bit words of one block of the generator.
struct Words {
  Value low, high;
};

/// The two halves of a product of 32-bit numbers.
Words emitWideProduct(ImplicitLocOpBuilder &b, Value x, uint32_t factor) {
  Type i64 = b.getI64Type(), i32 = b.getI32Type();
  Value constant = arith::ConstantIntOp::create(b, factor, 64);
  Value product = arith::MulIOp::create(b, arith::ExtUIOp::create(b, i64, x), constant);
  Value shift = arith::ConstantIntOp::create(b, 32, 64);
  return {arith::TruncIOp::create(b, i32, product),
          arith::TruncIOp::create(b, i32, arith::ShRUIOp::create(b, product, shift))};
}

/// Philox4x32-10 (Salmon et al., Parallel random numbers: as easy as 1, 2, 3).
std::array<Value, 4> emitPhilox(ImplicitLocOpBuilder &b, std::array<Value, 4> counter, std::array<Value, 2> key) {
  auto constant = [&](uint32_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  for (int round = 0; round < 10; ++round) {
    if (round) {
      key[0] = arith::AddIOp::create(b, key[0], constant(0x9E3779B9));
      key[1] = arith::AddIOp::create(b, key[1], constant(0xBB67AE85));
    }
    Words first = emitWideProduct(b, counter[0], 0xD2511F53), second = emitWideProduct(b, counter[2], 0xCD9E8D57);
    auto mix = [&](Value x, Value y, Value z) -> Value {
      return arith::XOrIOp::create(b, arith::XOrIOp::create(b, x, y), z);
    };
    counter = {mix(second.high, counter[1], key[0]), second.low, mix(first.high, counter[3], key[1]), first.low};
  }
  return counter;
}

struct LowerRandomBits : OpRewritePattern<graph::RandomBitsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(graph::RandomBitsOp op, PatternRewriter &rewriter) const override {
    ArrayRef<Expr> shape = graph::getShape(op.getResult());
    ComputeBuilder builder(rewriter, op.getLoc(), shape);
    SmallVector<unsigned> words;
    for (int64_t word = 0; word < 4; ++word)
      words.push_back(builder.read(op.getKey(), {builder.constant(word)}));
    Expr position = builder.constant(0);
    for (auto [dim, extent] : llvm::enumerate(shape))
      position = position * extent + builder.loop(dim);
    return replaceByCompute(rewriter, op, builder, [&](ComputeBody &body) -> Value {
      ImplicitLocOpBuilder &b = body.builder;
      Type i32 = b.getI32Type(), i64 = b.getI64Type();
      Value shift = arith::ConstantIntOp::create(b, 32, 64);
      Value index = arith::IndexCastOp::create(b, i64, body.index(position));
      Value low = arith::TruncIOp::create(b, i32, index);
      Value high = arith::TruncIOp::create(b, i32, arith::ShRUIOp::create(b, index, shift));
      std::array<Value, 4> block = emitPhilox(b, {low, high, body.input(words[2]), body.input(words[3])},
                                              {body.input(words[0]), body.input(words[1])});
      if (graph::getElementType(op.getResult()).getIntOrFloatBitWidth() == 32)
        return block[0];
      Value upper = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, i64, block[1]), shift);
      return arith::OrIOp::create(b, upper, arith::ExtUIOp::create(b, i64, block[0]));
    });
  }
};

} // namespace

void populateRandomPatterns(RewritePatternSet &patterns) { patterns.add<LowerRandomBits>(patterns.getContext()); }

} // namespace freestone::tile
