#ifndef FREESTONE_COMPILER_PLAN_TREENODES_H
#define FREESTONE_COMPILER_PLAN_TREENODES_H

#include "compiler/dialect/tile/TileDialect.h"
#include "mlir/IR/Builders.h"

namespace freestone::tile {

/// Builds nodes of a tree of tiles, from the innermost ones out.
class TreeNodes {
public:
  explicit TreeNodes(mlir::MLIRContext *context) : builder(context) {}

  sym::Expr constant(int64_t value) { return sym::Expr::constant(builder.getContext(), value); }
  mlir::ArrayAttr body(llvm::ArrayRef<mlir::Attribute> nodes) { return builder.getArrayAttr(nodes); }
  BlocksAttr deal(unsigned axis, sym::Expr step, llvm::ArrayRef<mlir::Attribute> nodes, int64_t unit = 1,
                  int64_t together = 1, ShareAttr share = {}, bool alternate = false) {
    return BlocksAttr::get(builder.getContext(), axis, step, unit, /*dealt=*/true, together, share, /*mostDepth=*/0,
                           body(nodes), /*maskedBy=*/-1, alternate);
  }
  BlocksAttr divide(unsigned axis, sym::Expr step, llvm::ArrayRef<mlir::Attribute> nodes, int64_t unit = 1,
                    int64_t maskedBy = -1, int64_t mostDepth = 0) {
    return BlocksAttr::get(builder.getContext(), axis, step, unit, /*dealt=*/false, /*together=*/1, ShareAttr(),
                           mostDepth, body(nodes), maskedBy, /*alternate=*/false);
  }
  VectorsAttr vectors(unsigned axis, int64_t lanes, int64_t together, llvm::ArrayRef<mlir::Attribute> nodes,
                      llvm::ArrayRef<sym::Expr> ends = {}) {
    return VectorsAttr::get(builder.getContext(), axis, lanes, together, body(nodes), ends);
  }
  PackedAttr pack(int64_t compute, int64_t input, int64_t kept = 0, int64_t most = 0, bool whole = false,
                  int64_t inPlace = 0, bool apart = false, int64_t together = 1, int64_t far = 0) {
    return PackedAttr::get(builder.getContext(), compute, input, kept, most, whole, inPlace, apart, together, far);
  }
  MultiplyAttr multiply(int64_t compute, unsigned columns, int64_t wordSteps = 1, bool skipTaps = false,
                        int64_t bringBeyond = 0, bool direct = false) {
    return MultiplyAttr::get(builder.getContext(), compute, columns, wordSteps, skipTaps, bringBeyond, direct);
  }
  EvaluateAttr evaluate(llvm::ArrayRef<int64_t> computes, unsigned lanes, unsigned along, int64_t ahead = 0) {
    return EvaluateAttr::get(builder.getContext(), computes, lanes, along, ahead);
  }

private:
  mlir::Builder builder;
};

} // namespace freestone::tile

#endif // FREESTONE_COMPILER_PLAN_TREENODES_H
