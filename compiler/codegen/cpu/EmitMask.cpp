#include "compiler/codegen/cpu/TreeScope.h"
#include "compiler/plan/MaskedBlocks.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;
using vector::CombiningKind;

namespace {

/// Emits whether all values of a compute in the current ranges are masked.
class MaskEmitter : TreeWalker {
public:
  MaskEmitter(TreeScope &scope, tile::ComputeOp compute)
      : TreeWalker(scope.emission, scope), scope(scope), compute(compute), loopAxes(scope.form.axes.of(compute)),
        lanes(scope.form.tiling.getMicroKernel().getLanes()), first(scope.getLoops(compute)) {
    for (unsigned axis : loopAxes) {
      const AxisRange &range = axes.ranges[axis];
      last.push_back(emission.getPositionSymbol("z" + std::to_string(axis)));
      positions.push_back({scope.getSymbol(axis), range.first});
      positions.push_back({last.back(), emission.subtract(emission.add(range.first, range.count), constant(1))});
    }
  }

  Value emit(const tile::Mask &mask);

private:
  Value isIn(Expr region);
  void findHidden(const tile::Mask::Operand &operand, const tile::Mask &mask);
  Value isHidden(Value element, const tile::Mask::Operand &operand);
  Value getLeastMaximum(const tile::Mask &mask);
  Value getPlace(const tile::LoopTensor &tensor, ArrayRef<Expr> loops);
  /// Combines the elements that `read` visits, in vectors.
  Value reduce(CombiningKind kind, TypedAttr neutral, llvm::function_ref<void(Value)> read);
  void readRows(const tile::LoopTensor &tensor, CombiningKind kind, Value neutral, SmallVector<Expr> at, unsigned loop);
  void readRow(Value memory, Value place, Value count, CombiningKind kind, Value neutral);
  Value constant(int64_t value) { return emission.getConstant(value); }
  TypedAttr getNumber(double value) { return builder.getF32FloatAttr(float(value)); }
  Value compareTo(arith::CmpFPredicate predicate, Value number, double other) {
    return arith::CmpFOp::create(builder, location, predicate, number,
                                 arith::ConstantOp::create(builder, location, getNumber(other)));
  }

  static constexpr double infinity = std::numeric_limits<double>::infinity();
  TreeScope &scope;
  tile::ComputeOp compute;
  ArrayRef<unsigned> loopAxes;
  int64_t lanes;
  /// The first and the last positions of the loops, over symbols of `positions`.
  SmallVector<Expr> first, last;
  Positions positions;
};

} // namespace

/// Regions are linear in the loops: least at a corner.
Value MaskEmitter::isIn(Expr region) {
  tile::LinearIndex linear = *tile::asLinear(region, compute.getNumLoops());
  SmallVector<Expr> corner(first);
  for (auto [loop, stride] : llvm::enumerate(linear.strides))
    if (*stride.asConstant() < 0)
      corner[loop] = last[loop];
  return compare(arith::CmpIPredicate::sgt, emission.getIndex(tile::substituteLoops(region, corner), positions),
                 constant(0));
}

Value MaskEmitter::getPlace(const tile::LoopTensor &tensor, ArrayRef<Expr> loops) {
  Expr place = tensor.index.offset;
  for (auto [stride, loop] : llvm::zip_equal(tensor.index.strides, loops))
    place = place + stride * loop;
  return emission.getIndex(place, positions);
}

Value MaskEmitter::isHidden(Value element, const tile::Mask::Operand &operand) {
  if (isa<FloatType>(element.getType()))
    return compareTo(arith::CmpFPredicate::OLE, element, tile::mostMasked);
  Value hidden = arith::ConstantIntOp::create(builder, location, element.getType(), operand.hidden);
  return compare(arith::CmpIPredicate::eq, element, hidden);
}

Value MaskEmitter::reduce(CombiningKind kind, TypedAttr neutral, llvm::function_ref<void(Value)> read) {
  auto type = VectorType::get({lanes}, neutral.getType());
  Value start = arith::ConstantOp::create(builder, location, DenseElementsAttr::get(type, Attribute(neutral)));
  SmallVector<Value> combined = carry({start}, [&] { read(start); });
  return vector::ReductionOp::create(builder, location, kind, combined.front());
}

void MaskEmitter::readRow(Value memory, Value place, Value count, CombiningKind kind, Value neutral) {
  auto type = cast<VectorType>(neutral.getType());
  forVectors(constant(0), count, lanes, {1}, [&](Value from, unsigned, Value tail) {
    Value index = emission.add(place, from), elements;
    if (tail)
      elements = vector::MaskedLoadOp::create(builder, location, type, memory, index, tail, neutral);
    else
      elements = vector::LoadOp::create(builder, location, type, memory, index);
    carried = {vector::makeArithReduction(builder, location, kind, elements, carried.front())};
  });
}

/// The elements of the current ranges, from this loop on.
void MaskEmitter::readRows(const tile::LoopTensor &tensor, CombiningKind kind, Value neutral, SmallVector<Expr> at,
                           unsigned loop) {
  ArrayRef<Expr> strides = tensor.index.strides;
  while (loop < strides.size() && (loop == tensor.along || strides[loop].isConstant(0)))
    ++loop;
  if (loop == strides.size())
    return readRow(emission.getBuffer(tensor.tensor), getPlace(tensor, at), axes.ranges[loopAxes[tensor.along]].count,
                   kind, neutral);
  const AxisRange &range = axes.ranges[loopAxes[loop]];
  at[loop] = emission.getPositionSymbol("y" + std::to_string(loop));
  forRange(range.first, emission.add(range.first, range.count), constant(1), [&](Value row) {
    positions.push_back({at[loop], row});
    readRows(tensor, kind, neutral, at, loop + 1);
    positions.pop_back();
  });
}

/// Of all rows: of the blocks so far, unless it is in memory.
Value MaskEmitter::getLeastMaximum(const tile::Mask &mask) {
  return reduce(CombiningKind::MINIMUMF, getNumber(infinity), [&](Value neutral) {
    if (mask.maximum)
      return readRows(*mask.maximum, CombiningKind::MINIMUMF, neutral, first, 0);
    const tile::TreeForm::Buffer &maximum = scope.form.buffers.find(compute.getResult(0))->second;
    readRow(scope.getMemory(maximum), scope.getPlace(maximum, constant(0), constant(0)),
            axes.ranges[maximum.columnAxis].count, CombiningKind::MINIMUMF, neutral);
  });
}

/// Carries whether the operand hides all values. It is read as a whole only where it hides the one in the last row and
/// the first column: of causal masks, windows before a position and padding, the last one to be hidden.
void MaskEmitter::findHidden(const tile::Mask::Operand &operand, const tile::Mask &mask) {
  SmallVector<Expr> corner(last);
  corner[mask.column] = first[mask.column];
  Value memory = emission.getBuffer(operand.tensor);
  Value element = memref::LoadOp::create(builder, location, memory, getPlace(operand, corner));
  Type type = element.getType();
  bool isFloat = isa<FloatType>(type);
  TypedAttr neutral = isFloat ? getNumber(-infinity) : TypedAttr(builder.getIntegerAttr(type, operand.hidden));
  CombiningKind kind = isFloat ? CombiningKind::MAXIMUMF : operand.hidden ? CombiningKind::AND : CombiningKind::OR;
  emitIf(isHidden(element, operand), [&] {
    Value all = reduce(kind, neutral, [&](Value start) { readRows(operand, kind, start, first, 0); });
    Value isLow = isHidden(all, operand);
    if (mask.maximum || !operand.isInfinite) {
      Value isVanishing = compareTo(arith::CmpFPredicate::OGT, getLeastMaximum(mask), tile::leastMaximum);
      if (!mask.maximum && isFloat)
        isVanishing =
            arith::OrIOp::create(builder, location, isVanishing, compareTo(arith::CmpFPredicate::OEQ, all, -infinity));
      isLow = conjoin(isLow, isVanishing);
    }
    carried = {isLow};
  });
}

Value MaskEmitter::emit(const tile::Mask &mask) {
  Value isMasked = arith::ConstantIntOp::create(builder, location, 0, 1);
  for (Expr region : mask.regions)
    isMasked = arith::OrIOp::create(builder, location, isMasked, isIn(region));
  for (const tile::Mask::Operand &operand : mask.operands) {
    Value isOpen =
        arith::XOrIOp::create(builder, location, isMasked, arith::ConstantIntOp::create(builder, location, 1, 1));
    for (unsigned axis : loopAxes)
      isOpen = conjoin(isOpen, compare(arith::CmpIPredicate::sgt, axes.ranges[axis].count, constant(0)));
    isMasked = carry({isMasked}, [&] { emitIf(isOpen, [&] { findHidden(operand, mask); }); }).front();
  }
  return isMasked;
}

Value codegen::emitIsSeen(TreeScope &scope, tile::ComputeOp masked) {
  bool isMaximum = masked.getNumReductions() > 0;
  Emission &emission = scope.emission;
  Value isMasked = MaskEmitter(scope, masked).emit(isMaximum ? tile::getMask(masked) : tile::getVanishingMask(masked));
  Value isNotMasked = arith::XOrIOp::create(emission.builder, emission.location, isMasked,
                                            arith::ConstantIntOp::create(emission.builder, emission.location, 1, 1));
  if (!isMaximum)
    return isNotMasked;
  Value isFirst = scope.ranges[*scope.form.getRunningAxis(masked.getResult(0))].isFirst;
  return arith::OrIOp::create(emission.builder, emission.location, isNotMasked, isFirst);
}
