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
  auto store = [&](Value channel, ValueRange ofRows, ValueRange ofVectors) {
    SmallVector<Value> values;
    for (Value row : ofRows)
      for (Value vector : ofVectors) {
        Value number = emission.add(emission.multiply(channel, emission.getConstant(block.rows)), row);
        number = emission.add(emission.multiply(number, emission.getConstant(block.vectors)), vector);
        Value sum = vector::LoadOp::create(builder, location, vectorType, sums, emission.multiply(number, distance));
        values.push_back(convertWidth(builder, location, sum, resultType));
      }
    SmallVector<EpilogueArguments> all;
    for (auto [number, value] : llvm::enumerate(values)) {
      Value row = ofRows[number / ofVectors.size()], vector = ofVectors[number % ofVectors.size()];
      Positions positions = getPositions(emission.add(channels.first, channel), emission.add(block.row, row),
                                         emission.add(block.pixel, emission.multiply(vector, distance)));
      LanePoints at = getPoints(std::move(positions), block.mask);
      if (brings)
        bringNext(at);
      all.push_back({value, std::move(at), std::nullopt});
    }
    emitEpilogues(emission, compute, all);
  };
  auto getNumbers = [&](int64_t count) {
    return llvm::map_to_vector(llvm::seq(count), [&](int64_t number) { return emission.getConstant(number); });
  };
  // Sums of a whole block are read before its results are written, so that no chain of operations waits for another.
  Value isWhole = compare(arith::CmpIPredicate::eq, rows.count, emission.getConstant(block.rows));
  emission.forRange(zero, channels.count, 1, [&](Value channel) {
    auto storeEach = [&] {
      emission.forRange(zero, rows.count, 1, [&](Value row) {
        emission.forRange(zero, emission.getConstant(block.vectors), 1,
                          [&](Value vector) { store(channel, row, vector); });
      });
    };
    emitIf(
        isWhole, [&] { store(channel, getNumbers(block.rows), getNumbers(block.vectors)); }, storeEach);
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
