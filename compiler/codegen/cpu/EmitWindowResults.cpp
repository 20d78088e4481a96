#include "compiler/codegen/cpu/Epilogue.h"
#include "compiler/codegen/cpu/Pack.h"
#include "compiler/codegen/cpu/WindowEmitter.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;
using tile::WindowAxis;

/// Rows of results whose chains of operations overlap.
static constexpr int64_t rowsTogether = 4;

/// What follows on the sums of a block: channels, rows, then vectors of pixels.
void WindowEmitter::emitResults() {
  if (!bringsNext)
    return storeBlock(/*brings=*/false);
  emitIf(
      bringsNext, [&] { storeBlock(/*brings=*/true); }, [&] { storeBlock(/*brings=*/false); });
}

void WindowEmitter::storeBlock(bool brings) {
  const AxisRange &channels = axes.ranges[WindowAxis::channels], &rows = axes.ranges[WindowAxis::rows];
  Value zero = emission.getConstant(0), distance = emission.getConstant(lanes);
  auto vectorType = VectorType::get({lanes}, sumType);
  Type resultType = tile::getScalarType(compute.getResultType(0).getElementType());
  emission.forRange(zero, channels.count, 1, [&](Value c) {
    // Sums of all rows are read before results are written, so that no chain waits for the one before.
    auto storeRows = [&](Value first, int64_t count) {
      emission.forRange(zero, emission.getConstant(block.vectors), 1, [&](Value v) {
        SmallVector<Value> values;
        for (int64_t row = 0; row < count; ++row) {
          Value r = emission.add(first, emission.getConstant(row));
          Value number = emission.add(emission.multiply(c, emission.getConstant(block.rows)), r);
          number = emission.add(emission.multiply(number, emission.getConstant(block.vectors)), v);
          Value sum = vector::LoadOp::create(builder, location, vectorType, sums, emission.multiply(number, distance));
          values.push_back(convertWidth(builder, location, sum, resultType));
        }
        for (auto [row, value] : llvm::enumerate(values)) {
          Value r = emission.add(first, emission.getConstant(row));
          Positions positions = getPositions(emission.add(channels.first, c), emission.add(block.row, r),
                                             emission.add(block.pixel, emission.multiply(v, distance)));
          LanePoints at = getPoints(std::move(positions), block.mask);
          if (brings)
            bringNext(at);
          emitEpilogue(emission, compute, value, at);
        }
      });
    };
    Value together = emission.getConstant(rowsTogether);
    Value whole = emission.multiply(emission.divide(rows.count, together), together);
    emission.forRange(zero, whole, rowsTogether, [&](Value r) { storeRows(r, rowsTogether); });
    emission.forRange(whole, rows.count, 1, [&](Value r) { storeRows(r, 1); });
  });
}

/// Prefetches what the next tile, whose rows follow in memory, reads and writes at the same points.
void WindowEmitter::bringNext(const LanePoints &at) {
  Ahead ahead{rowSymbol, emission.getSize(tiles.rowStep)};
  bringEpilogueRow(emission, compute, at, ahead);
  graph::TensorType type = compute.getInputType(form.picture);
  Value memory = emission.getBuffer(compute.getInputs()[form.picture]);
  SmallVector<Expr> indices = tile::getIndices(compute, form.picture, loops);
  Expr first = tile::getLinearIndex(type, indices);
  std::optional<Expr> step = tile::getStride(first, rowSymbol);
  if (!step)
    return;
  Value here = emission.getIndex(first, at.positions),
        distance = emission.multiply(emission.getSize(*step), ahead.positions);
  // With strides, a vector of results reads several rows of several vectors.
  for (int64_t row = 0; row < form.rowStride; ++row) {
    Value inRow = emission.add(distance, emission.getSize(tile::getLinearIndex(type, indices) - first));
    for (int64_t vector = 0; vector < form.pixelStride; ++vector) {
      Value place = emission.add(here, emission.add(inRow, emission.getConstant(vector * lanes)));
      LLVM::Prefetch::create(builder, location, emission.getPointer(memory, place), /*rw=*/0, /*hint=*/2, /*cache=*/1);
    }
    indices[*form.rowDim] = indices[*form.rowDim] + 1;
  }
}
