#include "compiler/codegen/cpu/LaneReduction.h"

#include "compiler/codegen/cpu/TransposeLanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

Value codegen::getLaneConstant(Emission &emission, TypedAttr scalar, unsigned lanes) {
  if (lanes > 1)
    scalar = DenseElementsAttr::get(VectorType::get({lanes}, scalar.getType()), Attribute(scalar));
  return arith::ConstantOp::create(emission.builder, emission.location, scalar);
}

LaneReduction::LaneReduction(Emission &emission, tile::ComputeOp compute, unsigned lanes)
    : emission(emission), builder(emission.builder), location(emission.location), compute(compute), lanes(lanes) {
  if (lanes == 1)
    return;
  combiners = tile::getCombiners(compute);
  if (!combiners)
    selection = tile::getSelection(compute);
}

SmallVector<Value> LaneReduction::getStart() {
  SmallVector<Value> start;
  for (unsigned result = 0; result < compute.getNumResults(); ++result)
    start.push_back(
        getLaneConstant(emission, combiners ? (*combiners)[result].neutral : compute.getInit(result), lanes));
  return start;
}

/// The product that a sum of f32 or f64 adds, which one instruction multiplies and adds; null if it adds none.
static arith::MulFOp getSummedProduct(const tile::Combiner &combiner) {
  Type type = combiner.value.getType();
  bool isSum = isa<arith::AddFOp>(combiner.op) && (type.isF32() || type.isF64());
  return isSum ? combiner.value.getDefiningOp<arith::MulFOp>() : arith::MulFOp();
}

/// The combiner's operation on an accumulator and a value, scalars or vectors.
Value LaneReduction::combine(const tile::Combiner &combiner, Value lhs, Value rhs) {
  // Accumulators begin with numbers, and so remain numbers: one instruction ignores values that are none.
  if (isa<arith::MaxNumFOp, arith::MinNumFOp>(combiner.op)) {
    auto predicate = isa<arith::MaxNumFOp>(combiner.op) ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
    Value takes = arith::CmpFOp::create(builder, location, predicate, rhs, lhs);
    return arith::SelectOp::create(builder, location, takes, rhs, lhs);
  }
  OperationState state(location, combiner.op->getName(), {lhs, rhs}, {lhs.getType()});
  return builder.create(state)->getResult(0);
}

SmallVector<Value> LaneReduction::emitStep(BodyVectorizer &body, ValueRange accumulators, Value mask) {
  if (selection)
    return select(body, accumulators, mask);
  if (!combiners) {
    for (auto [argument, value] : llvm::zip_equal(compute.getAccumulators(), accumulators))
      body.set(argument, value);
    return body.getYielded();
  }
  SmallVector<Value> next;
  for (auto [combiner, accumulator] : llvm::zip_equal(*combiners, accumulators)) {
    if (auto product = getSummedProduct(combiner)) {
      Value sum = vector::FMAOp::create(builder, location, body.getVector(product.getLhs()),
                                        body.getVector(product.getRhs()), accumulator);
      next.push_back(mask ? arith::SelectOp::create(builder, location, mask, sum, accumulator).getResult() : sum);
      continue;
    }
    Value value = body.getVector(combiner.value);
    if (mask)
      value =
          arith::SelectOp::create(builder, location, mask, value, getLaneConstant(emission, combiner.neutral, lanes));
    next.push_back(combine(combiner, accumulator, value));
  }
  return next;
}

SmallVector<Value> LaneReduction::select(BodyVectorizer &body, ValueRange accumulators, Value mask) {
  for (auto [argument, value] : llvm::zip_equal(compute.getAccumulators(), accumulators))
    body.set(argument, value);
  Value takes = body.getVector(selection->takes);
  if (mask)
    takes = arith::AndIOp::create(builder, location, takes, mask);
  SmallVector<Value> next;
  for (auto [value, accumulator] : llvm::zip_equal(selection->values, accumulators))
    next.push_back(arith::SelectOp::create(builder, location, takes, body.getVector(value), accumulator));
  return next;
}

SmallVector<Value> LaneReduction::emitCombined(ValueRange lhs, ValueRange rhs) {
  SmallVector<Value> combined;
  for (auto [combiner, left, right] : llvm::zip_equal(*combiners, lhs, rhs))
    combined.push_back(combine(combiner, left, right));
  return combined;
}

SmallVector<Value> LaneReduction::emitResults(const LanePoints &row, ValueRange accumulators, Value used) {
  if (selection)
    return selectAmongLanes(row, accumulators, used);
  if (!combiners)
    return llvm::to_vector_of<Value>(accumulators);
  SmallVector<Value> results;
  for (auto [number, combiner] : llvm::enumerate(*combiners)) {
    Value start = getLaneConstant(emission, compute.getInit(number), 1), value = accumulators[number];
    auto flags = arith::FastMathFlags::reassoc;
    if (isa<arith::MaxNumFOp, arith::MinNumFOp>(combiner.op))
      flags = flags | arith::FastMathFlags::nnan;
    if (isa<arith::AddFOp>(combiner.op)) {
      results.push_back(vector::ReductionOp::create(builder, location, combiner.kind, value, start, flags));
      continue;
    }
    Value across = vector::ReductionOp::create(builder, location, combiner.kind, value, flags);
    results.push_back(combine(combiner, start, across));
  }
  return results;
}

SmallVector<Value> LaneReduction::emitResultsOfRows(ArrayRef<SmallVector<Value>> rows) {
  SmallVector<Value> results;
  for (auto [number, combiner] : llvm::enumerate(*combiners)) {
    SmallVector<Value> vectors;
    for (const SmallVector<Value> &accumulators : rows)
      vectors.push_back(accumulators[number]);
    auto combineLanes = [&](Value lhs, Value rhs) { return combine(combiner, lhs, rhs); };
    Value across = reduceEach(builder, location, std::move(vectors), combineLanes);
    results.push_back(combine(combiner, getLaneConstant(emission, compute.getInit(number), rows.size()), across));
  }
  return results;
}

/// Some neighbouring lanes of a vector; a scalar for a single one.
static Value getLanes(OpBuilder &builder, Location location, Value vector, int64_t first, int64_t count) {
  if (count == 1)
    return vector::ExtractOp::create(builder, location, vector, first);
  return vector::ExtractStridedSliceOp::create(builder, location, vector, ArrayRef{first}, ArrayRef{count},
                                               ArrayRef<int64_t>{1});
}

/// Offers the selections of the upper half of the lanes to the lower half, until a single lane is left, and this one's
/// to the start. Lanes without points, the last, have no selection.
SmallVector<Value> LaneReduction::selectAmongLanes(const LanePoints &row, ValueRange accumulators, Value used) {
  auto offer = [&](unsigned width, ValueRange values, ValueRange kept, Value mask) {
    LanePoints points = row;
    points.lanes = width;
    points.mask = {};
    BodyVectorizer body(emission, compute, points);
    for (auto [value, offered] : llvm::zip_equal(selection->values, values))
      body.set(value, offered);
    return select(body, kept, mask);
  };
  auto hasMoreThan = [&](int64_t count) {
    return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, used, emission.getConstant(count));
  };
  SmallVector<Value> kept(accumulators);
  for (unsigned width = lanes / 2; width > 0; width /= 2) {
    auto getHalf = [&](unsigned first) {
      return llvm::map_to_vector(kept, [&](Value value) { return getLanes(builder, location, value, first, width); });
    };
    Value mask = hasMoreThan(width);
    if (width > 1) {
      Value beyond = arith::SubIOp::create(builder, location, used, emission.getConstant(width));
      mask = vector::CreateMaskOp::create(builder, location, VectorType::get({width}, builder.getI1Type()), beyond);
    }
    kept = offer(width, getHalf(width), getHalf(0), mask);
  }
  SmallVector<Value> start;
  for (unsigned result = 0; result < compute.getNumResults(); ++result)
    start.push_back(getLaneConstant(emission, compute.getInit(result), 1));
  return offer(1, kept, start, hasMoreThan(0));
}
