#include "compiler/tile/lowering/Lowering.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

namespace {

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
      SmallVector<Value> key = llvm::map_to_vector(words, [&](unsigned word) { return body.input(word); });
      Type type = getScalarType(graph::getElementType(op.getResult()));
      return RandomBitsOp::create(body.builder, type, key, body.index(position));
    });
  }
};

} // namespace

void populateRandomPatterns(RewritePatternSet &patterns) { patterns.add<LowerRandomBits>(patterns.getContext()); }

} // namespace freestone::tile
