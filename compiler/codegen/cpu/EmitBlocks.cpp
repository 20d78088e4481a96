#include "compiler/codegen/cpu/EmitBlocks.h"

#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/codegen/cpu/Pack.h"
#include "compiler/codegen/cpu/TreeScope.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

class BlocksEmitter : TreeWalker {
public:
  BlocksEmitter(Emission &emission, tile::TreeForm &form)
      : TreeWalker(emission, scope), form(form), kernel(form.tiling.getMicroKernel()), width(kernel.getWidth()),
        scope(emission, form) {}

  void emit();

private:
  Value emitOffsets(Expr steps, llvm::function_ref<Value(Value)> getOffset);
  void emitBlocks(tile::BlocksAttr blocks) override;
  void emitPacked(tile::PackedAttr node, unsigned depth) override;
  void emitMultiply(tile::MultiplyAttr node) override;
  void emitVectors(tile::VectorsAttr node) override;
  void emitEvaluate(tile::EvaluateAttr node) override { emitEvaluation(scope, node, vectors); }
  Expr getTiles(tile::BlocksAttr blocks) {
    return Expr::ceilDiv(form.axes.getExtent(blocks.getAxis()), blocks.getStep());
  }
  void emitInPlace(tile::ContractionForm &oriented, const tile::TreeForm::Buffer &factors, const AxisRange &rows,
                   Value depth, Value b, Value column, Value accumulates);
  void emitZeros(unsigned axis);
  void emitCorrection(const tile::TreeForm::Buffer &buffer, Value maximum, const AxisRange &rows,
                      const AxisRange &columns);
  ContractionPoints getPoints(tile::ContractionForm &oriented);
  func::FuncOp declare(KernelKind kind) {
    ModuleOp module = builder.getBlock()->getParentOp()->getParentOfType<ModuleOp>();
    return declareKernel(module, kind, form.getElementType(), kernel);
  }
  Value constant(int64_t value) { return emission.getConstant(value); }

  tile::TreeForm &form;
  tile::MicroKernelAttr kernel;
  int64_t width;
  TreeScope scope;
  /// The current vectors.
  RangeVectors vectors;
  /// Offsets of steps down an intermediate's panels, and across them.
  Value offsetsDown, offsetsAcross;
};

} // namespace

void BlocksEmitter::emit() {
  Value lanes = constant(width);
  offsetsDown = emitOffsets(form.stepsDown, [&](Value step) { return emission.multiply(step, lanes); });
  offsetsAcross = emitOffsets(form.stepsAcross, [&](Value step) {
    Value panel = emission.divide(step, lanes), above = emission.multiply(panel, lanes);
    Value panels = emission.multiply(above, emission.getSize(form.panelRows));
    return emission.add(panels, emission.subtract(step, above));
  });
  auto dealtAxes = llvm::map_to_vector(form.dealt, [&](tile::BlocksAttr blocks) -> DealtAxis {
    return {getTiles(blocks), blocks.getStep(), form.axes.getExtent(blocks.getAxis())};
  });
  Positions outer;
  walkTiles(form.tiling.getBody(), {}, outer, dealtAxes);
}

/// A table of offsets, one for every step of a block that is read in place; null without any.
Value BlocksEmitter::emitOffsets(Expr steps, llvm::function_ref<Value(Value)> getOffset) {
  if (steps.isConstant(0))
    return {};
  // The same size as in the plan's `scratch`.
  Value offsets = emission.takeScratch(builder.getI64Type(), steps);
  emission.forRange(constant(0), emission.getSize(steps), 1, [&](Value step) {
    memref::StoreOp::create(builder, location, toWord(getOffset(step)), offsets, ValueRange{step});
  });
  return offsets;
}

/// Sets the current ranges of sums over blocks of an axis to zero, where blocks may be left out.
void BlocksEmitter::emitZeros(unsigned axis) {
  auto type = VectorType::get({width}, form.getElementType());
  for (Value value : form.zeroed) {
    if (form.getRunningAxis(value) != axis)
      continue;
    const tile::TreeForm::Buffer &sums = form.buffers.find(value)->second;
    Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(type));
    emission.forRange(constant(0), scope.ranges[sums.columnAxis].count, width, [&](Value column) {
      emission.forRange(constant(0), scope.ranges[*sums.rowAxis].count, 1, [&](Value row) {
        vector::StoreOp::create(builder, location, zeros, scope.getMemory(sums), scope.getPlace(sums, column, row));
      });
    });
  }
}

void BlocksEmitter::emitBlocks(tile::BlocksAttr blocks) {
  emitZeros(blocks.getAxis());
  forBlocks(blocks, [&] {
    auto walkBody = [&] { walk(blocks.getBody().getValue()); };
    if (blocks.getMaskedBy() < 0)
      walkBody();
    else
      emitIf(emitIsSeen(scope, form.computes[blocks.getMaskedBy()]), walkBody);
  });
}

ContractionPoints BlocksEmitter::getPoints(tile::ContractionForm &oriented) {
  ContractionPoints points(emission, oriented, kernel.getLanes());
  for (auto [position, loop] : llvm::zip_equal(points.outer, oriented.outer))
    position.value = scope.ranges[form.axes.of(oriented.compute)[loop]].first;
  return points;
}

/// Within `depth` dealt blocks. Beside dealt blocks, and where copies are kept for several tiles, only the first tile
/// of the worker packs.
void BlocksEmitter::emitPacked(tile::PackedAttr node, unsigned depth) {
  const tile::TreeForm::Pack &pack = *form.getPack(node.getCompute(), node.getInput());
  if (pack.kind == tile::TreeForm::Pack::transposed)
    return emitTransposedCopy(scope, pack);
  tile::ComputeOp compute = form.computes[pack.compute];
  tile::ContractionForm contraction = *tile::ContractionForm::getOfMatrices(compute);
  // The axis of a packed operand is that of its rows or columns.
  unsigned m = form.axes.of(compute)[contraction.m.front()], n = form.axes.of(compute)[contraction.n.front()];
  bool isRows = pack.kind == tile::TreeForm::Pack::rows;
  tile::ContractionForm oriented = form.getOriented(compute, isRows == (pack.axis == m) ? n : m);
  TreeScope::PackedOperand &operand = scope.getPacked(pack);
  operand.free = scope.ranges[pack.axis];
  operand.depth = scope.ranges[form.axes.of(compute)[oriented.k.front()]];
  Value zero = constant(0);
  if (unsigned kept = node.getKept()) {
    // Blocks of the free or of the reduced axis follow each other.
    Value across = isRows
                       ? operand.depth.count
                       : emission.multiply(emission.ceilDivide(operand.free.count, constant(width)), constant(width));
    Value along = isRows ? operand.free.first : operand.depth.first, tiles = constant(1);
    for (tile::BlocksAttr blocks : ArrayRef(form.dealt).take_back(kept))
      tiles = emission.multiply(tiles, emission.getSize(getTiles(blocks)));
    Value isUsedAgain = compare(arith::CmpIPredicate::sgt, tiles, constant(1));
    operand.start = arith::SelectOp::create(builder, location, isUsedAgain, emission.multiply(along, across), zero);
    depth -= kept;
  }
  auto packAll = [&] {
    ContractionPoints points = getPoints(oriented);
    PackedBlock block{operand.free.first, operand.free.count, operand.depth.first, operand.depth.count};
    if (isRows)
      return packRows(emission, oriented, points, block, operand.memory, operand.start,
                      getBlockHeight(emission, block.count, kernel.getRows(), 1), kernel.getRows());
    emission.forRange(zero, operand.free.count, width, [&](Value column) {
      PackedBlock panel = block;
      panel.first = emission.add(operand.free.first, column);
      panel.count = emission.minimum(constant(width), emission.subtract(operand.free.count, column));
      packPanel(emission, oriented, points, panel, operand.memory,
                emission.add(operand.start, emission.multiply(column, operand.depth.count)), width);
    });
  };
  if (depth == form.dealt.size())
    return packAll();
  emitIf(isNewTile(depth), packAll);
}

/// Multiplies the rows of a sum by the factors of a maximum that has grown.
void BlocksEmitter::emitCorrection(const tile::TreeForm::Buffer &buffer, Value maximum, const AxisRange &rows,
                                   const AxisRange &columns) {
  Value memory = scope.getMemory(buffer), factors = scope.getCorrection(maximum);
  const tile::TreeForm::Buffer &grown = form.buffers.find(maximum)->second;
  auto type = VectorType::get({width}, form.getElementType());
  Value one = arith::ConstantOp::create(builder, location, builder.getF32FloatAttr(1));
  emission.forRange(constant(0), rows.count, 1, [&](Value row) {
    Value factor = memref::LoadOp::create(builder, location, factors, scope.getPlace(grown, row, constant(0)));
    Value grew = arith::CmpFOp::create(builder, location, arith::CmpFPredicate::UNE, factor, one);
    emitIf(grew, [&] {
      Value spread = vector::BroadcastOp::create(builder, location, type, factor);
      emission.forRange(constant(0), columns.count, width, [&](Value column) {
        Value place = scope.getPlace(buffer, column, row);
        Value sums = vector::LoadOp::create(builder, location, type, memory, place);
        sums = arith::MulFOp::create(builder, location, sums, spread);
        vector::StoreOp::create(builder, location, sums, memory, place);
      });
    });
  });
}

void BlocksEmitter::emitMultiply(tile::MultiplyAttr node) {
  tile::ComputeOp compute = form.computes[node.getCompute()];
  tile::ContractionForm oriented = form.getOriented(compute, node.getColumns());
  ArrayRef<unsigned> axes = form.axes.of(compute);
  AxisRange rows = scope.ranges[axes[oriented.m.front()]], columns = scope.ranges[node.getColumns()],
            depth = scope.ranges[axes[oriented.k.front()]];
  Value result = compute.getResult(0), zero = constant(0);
  const tile::TreeForm::Buffer &sums = form.buffers.find(result)->second;
  Value accumulates = form.zeroed.contains(result) ? constant(1) : zero;
  if (depth.isFirst && !form.zeroed.contains(result)) {
    accumulates = arith::SelectOp::create(builder, location, depth.isFirst, zero, constant(1));
    if (Value maximum = form.getMaximum(result)) {
      Value isLater = compare(arith::CmpIPredicate::ne, accumulates, zero);
      emitIf(isLater, [&] { emitCorrection(sums, maximum, rows, columns); });
    }
  }

  unsigned left = *oriented.getInput(oriented.lhs), right = *oriented.getInput(oriented.rhs);
  const TreeScope::PackedOperand &panels = scope.getPacked(*form.getPack(node.getCompute(), right));
  emission.forRange(zero, columns.count, width, [&](Value column) {
    Value distance = emission.add(emission.subtract(columns.first, panels.free.first), column);
    Value step = emission.multiply(emission.subtract(depth.first, panels.depth.first), constant(width));
    Value b = emission.getPointer(
        panels.memory, emission.add(panels.start, emission.add(emission.multiply(distance, panels.depth.count), step)));
    if (!form.getPack(node.getCompute(), left)) {
      const tile::TreeForm::Buffer &factors = form.buffers.find(compute.getInputs()[left])->second;
      return emitInPlace(oriented, factors, rows, depth.count, b, column, accumulates);
    }
    Value c = emission.getPointer(scope.getMemory(sums), scope.getPlace(sums, column, zero));
    const TreeScope::PackedOperand &packedRows = scope.getPacked(*form.getPack(node.getCompute(), left));
    Value height = getBlockHeight(emission, rows.count, kernel.getRows(), 1);
    Value above = emission.multiply(emission.subtract(rows.first, packedRows.free.first), packedRows.depth.count);
    Value a = emission.getPointer(packedRows.memory, emission.add(packedRows.start, above));
    Value used = emission.minimum(constant(width), emission.subtract(columns.count, column));
    // The panel itself: prefetching it again is free.
    Value pitch = constant(width * form.getElementType().getIntOrFloatBitWidth() / 8);
    func::CallOp::create(builder, location, declare(KernelKind::contract),
                         ValueRange{toWord(rows.count), toWord(height), toWord(used), toWord(depth.count), a, b, c,
                                    toWord(constant(width)), toWord(accumulates), b, toWord(pitch), c,
                                    toWord(emission.multiply(accumulates, pitch))});
  });
}

/// Multiplies rows that are columns of an intermediate's panels, panel by panel, or rows of its panels.
void BlocksEmitter::emitInPlace(tile::ContractionForm &oriented, const tile::TreeForm::Buffer &factors,
                                const AxisRange &rows, Value depth, Value b, Value column, Value accumulates) {
  const tile::TreeForm::Buffer &sums = form.buffers.find(oriented.compute.getResult(0))->second;
  Value zero = constant(0);
  auto emitRows = [&](KernelKind kind, Value offsets, Value first, Value count, Value start) {
    Value height = getBlockHeight(emission, count, kernel.getRows(), 2);
    Value a = emission.getPointer(scope.getMemory(factors), start);
    Value c = emission.getPointer(scope.getMemory(sums), scope.getPlace(sums, column, first));
    func::CallOp::create(builder, location, declare(kind),
                         ValueRange{toWord(count), toWord(height), toWord(constant(width)), toWord(depth), a,
                                    emission.getPointer(offsets, zero), b, c, toWord(accumulates), b, toWord(zero)});
  };
  if (form.readsAcross(oriented, factors))
    return emitRows(KernelKind::across, offsetsAcross, zero, rows.count, scope.getPlace(factors, zero, zero));
  emission.forRange(zero, rows.count, width, [&](Value row) {
    Value count = emission.minimum(constant(width), emission.subtract(rows.count, row));
    emitRows(KernelKind::down, offsetsDown, row, count, scope.getPlace(factors, row, zero));
  });
}

void BlocksEmitter::emitVectors(tile::VectorsAttr node) {
  auto walkBody = [&](Value first, unsigned count, Value mask) {
    vectors = {first, count, mask};
    walk(node.getBody().getValue());
  };
  unsigned lanes = node.getLanes(), together = node.getTogether();
  forVectors(constant(0), scope.ranges[node.getAxis()].count, lanes, together, walkBody);
}

static tile::TreeForm getForm(tile::ProgramOp program) {
  std::string why;
  FailureOr<tile::TreeForm> form = tile::TreeForm::get(program, program.getTiling<tile::TreeTilingAttr>(), why);
  assert(succeeded(form) && "the plan is verified");
  return std::move(*form);
}

SmallVector<KernelKind> freestone::codegen::getBlockKernels(tile::ProgramOp program) {
  tile::TreeForm form = getForm(program);
  SmallVector<KernelKind> kinds = {KernelKind::contract};
  if (!form.stepsDown.isConstant(0))
    kinds.push_back(KernelKind::down);
  if (!form.stepsAcross.isConstant(0))
    kinds.push_back(KernelKind::across);
  return kinds;
}

void freestone::codegen::emitBlocks(tile::ProgramOp program, Emission &emission) {
  tile::TreeForm form = getForm(program);
  BlocksEmitter(emission, form).emit();
}
