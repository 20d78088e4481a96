#include "compiler/codegen/cpu/LaneReduction.h"
#include "compiler/codegen/cpu/TreeScope.h"
#include "compiler/codegen/cpu/VectorizeBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

/// Emits an evaluation of some vectors of columns side by side, along the other axis from the first to the last pass.
class EvaluationEmitter {
public:
  EvaluationEmitter(TreeScope &scope, tile::EvaluateAttr node)
      : scope(scope), form(scope.form), emission(scope.emission), builder(emission.builder),
        location(emission.location), node(node), passes(form.getPasses(node)),
        lanes(form.tiling.getMicroKernel().getLanes()) {}

  void emit(const RangeVectors &at);

private:
  /// Values of one vector of columns.
  struct Vector {
    /// The first column, counted from the beginning of the range.
    Value column;
    /// Values for the whole of the other axis: sums, and what is computed from them.
    DenseMap<Value, Value> values;
    /// Factors of running maxima that have just grown.
    DenseMap<Value, Value> corrections;
  };

  void emitPass(unsigned pass);
  SmallVector<Value> emitRows(unsigned pass, Value from, Value to, ValueRange start);
  SmallVector<Value> emitRuns(unsigned pass, Value count, ValueRange start);
  void forReductions(unsigned pass, llvm::function_ref<void(Vector &, tile::ComputeOp)> visit);
  void emitCompute(tile::ComputeOp compute, Vector &vector, Value row, DenseMap<Value, Value> &values);
  SmallVector<Value> emitStep(unsigned pass, Value row, ValueRange accumulators);
  void finish(tile::ComputeOp compute, Vector &vector, ValueRange before, ValueRange sums);
  BodyVectorizer makeBody(tile::ComputeOp compute, Vector &vector, Value row, DenseMap<Value, Value> &values);
  Value getStart(Value result, unsigned number, Vector &vector);
  Value stabilise(Value maximum);
  Value correct(Value before, Value after);
  Value load(const tile::TreeForm::Buffer &buffer, Type type, Vector &vector, Value row);
  Value toType(Value stored, Type type);
  Value loadTransposed(const tile::TreeForm::Pack &pack, Type type, Vector &vector, Value row);
  void keep(Value result, Value value, Vector &vector, Value row);
  Value splat(double value) { return getLaneConstant(emission, builder.getF32FloatAttr(float(value)), lanes); }
  unsigned getPasses() {
    unsigned count = 0;
    for (tile::EvaluatedCompute &each : passes)
      count = std::max(count, each.pass + each.runsAlong);
    return count;
  }

  TreeScope &scope;
  const tile::TreeForm &form;
  Emission &emission;
  OpBuilder &builder;
  Location location;
  tile::EvaluateAttr node;
  SmallVector<tile::EvaluatedCompute> passes;
  unsigned lanes;
  SmallVector<Vector> vectors;
  Value mask;
};

} // namespace

void EvaluationEmitter::emit(const RangeVectors &at) {
  mask = at.mask;
  for (unsigned number = 0; number < at.count; ++number)
    vectors.emplace_back().column = emission.add(at.first, emission.getConstant(number * lanes));
  for (unsigned pass = 0; pass <= getPasses(); ++pass) {
    for (tile::EvaluatedCompute &each : passes)
      if (!each.runsAlong && each.pass == pass)
        for (Vector &vector : vectors)
          emitCompute(each.compute, vector, emission.getConstant(0), vector.values);
    if (llvm::any_of(passes, [&](auto &each) { return each.runsAlong && each.pass == pass; }))
      emitPass(pass);
  }
}

/// Some passes begin with sums of the blocks before.
Value EvaluationEmitter::getStart(Value result, unsigned number, Vector &vector) {
  auto compute = result.getDefiningOp<tile::ComputeOp>();
  Value init = getLaneConstant(emission, compute.getInit(number), lanes);
  std::optional<unsigned> axis = form.getRunningAxis(result);
  if (!axis)
    return init;
  Value before = load(form.buffers.find(result)->second, form.getElementType(), vector, emission.getConstant(0));
  if (Value correction = vector.corrections.lookup(form.getMaximum(result)))
    before = arith::MulFOp::create(builder, location, before, correction);
  return arith::SelectOp::create(builder, location, scope.ranges[*axis].isFirst, init, before);
}

/// The rows from `from` to `to` of a pass; returns the accumulators behind them.
SmallVector<Value> EvaluationEmitter::emitRows(unsigned pass, Value from, Value to, ValueRange start) {
  auto loop = scf::ForOp::create(builder, location, from, to, emission.getConstant(1), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next = emitStep(pass, loop.getInductionVar(), loop.getRegionIterArgs());
  // Without accumulators the loop has its terminator already.
  if (!next.empty())
    scf::YieldOp::create(builder, location, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

/// As above, in runs that are reduced by themselves: rounding errors grow with the number of runs and their length, not
/// with the number of rows.
SmallVector<Value> EvaluationEmitter::emitRuns(unsigned pass, Value count, ValueRange start) {
  constexpr int64_t rowsOfRun = 16;
  auto loop =
      scf::ForOp::create(builder, location, emission.getConstant(0), count, emission.getConstant(rowsOfRun), start);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value from = loop.getInductionVar();
  Value to = emission.minimum(emission.add(from, emission.getConstant(rowsOfRun)), count);
  SmallVector<Value> neutral, next;
  forReductions(pass, [&](Vector &, tile::ComputeOp compute) {
    auto combiners = *tile::getCombiners(compute);
    for (const tile::Combiner &combiner : combiners)
      neutral.push_back(getLaneConstant(emission, combiner.neutral, lanes));
  });
  SmallVector<Value> reduced = emitRows(pass, from, to, neutral);
  ValueRange run = reduced, before = loop.getRegionIterArgs();
  forReductions(pass, [&](Vector &, tile::ComputeOp compute) {
    unsigned results = compute.getNumResults();
    llvm::append_range(
        next,
        LaneReduction(emission, compute, lanes).emitCombined(before.take_front(results), run.take_front(results)));
    before = before.drop_front(results);
    run = run.drop_front(results);
  });
  scf::YieldOp::create(builder, location, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

void EvaluationEmitter::forReductions(unsigned pass, llvm::function_ref<void(Vector &, tile::ComputeOp)> visit) {
  for (Vector &vector : vectors)
    for (tile::EvaluatedCompute &each : passes)
      if (each.reduces && each.pass == pass)
        visit(vector, each.compute);
}

void EvaluationEmitter::emitPass(unsigned pass) {
  SmallVector<Value> start;
  bool areCombined = true;
  forReductions(pass, [&](Vector &vector, tile::ComputeOp compute) {
    areCombined &= tile::getCombiners(compute).has_value();
    for (auto [number, result] : llvm::enumerate(compute.getResults()))
      start.push_back(getStart(result, number, vector));
  });
  Value count = scope.ranges[node.getAlong()].count;
  SmallVector<Value> sums = areCombined && !start.empty() ? emitRuns(pass, count, start)
                                                          : emitRows(pass, emission.getConstant(0), count, start);
  ArrayRef<Value> before = start, after = sums;
  forReductions(pass, [&](Vector &vector, tile::ComputeOp compute) {
    unsigned results = compute.getNumResults();
    finish(compute, vector, before.take_front(results), after.take_front(results));
    before = before.drop_front(results);
    after = after.drop_front(results);
  });
}

/// All computes of a pass at one row; returns the next accumulators.
SmallVector<Value> EvaluationEmitter::emitStep(unsigned pass, Value row, ValueRange accumulators) {
  SmallVector<Value> next;
  for (Vector &vector : vectors) {
    DenseMap<Value, Value> values = vector.values;
    for (tile::EvaluatedCompute &each : passes) {
      if (!each.runsAlong || each.pass != pass)
        continue;
      if (!each.reduces) {
        emitCompute(each.compute, vector, row, values);
        continue;
      }
      tile::ComputeOp compute = each.compute;
      BodyVectorizer body = makeBody(compute, vector, row, values);
      for (Value argument : compute.getAccumulators()) {
        body.set(argument, accumulators.front());
        accumulators = accumulators.drop_front();
      }
      for (Value sum : body.getYielded())
        next.push_back(body.spread(sum));
    }
  }
  return next;
}

void EvaluationEmitter::finish(tile::ComputeOp compute, Vector &vector, ValueRange before, ValueRange sums) {
  for (auto [result, start, sum] : llvm::zip_equal(compute.getResults(), before, sums)) {
    vector.values[result] = sum;
    keep(result, sum, vector, emission.getConstant(0));
    if (!form.isCorrected(result))
      continue;
    Value correction = vector.corrections[result] = correct(start, sum);
    Value place = scope.getPlace(form.buffers.find(result)->second, vector.column, emission.getConstant(0));
    vector::StoreOp::create(builder, location, correction, scope.getCorrection(result), place);
  }
}

/// exp(before - after), which is 1 for equal infinities.
Value EvaluationEmitter::correct(Value before, Value after) {
  Value isEqual = arith::CmpFOp::create(builder, location, arith::CmpFPredicate::OEQ, before, after);
  Value factor =
      math::ExpOp::create(builder, location, arith::SubFOp::create(builder, location, before, after).getResult());
  return arith::SelectOp::create(builder, location, isEqual, splat(1), factor);
}

/// A running maximum without -inf, whose distance from -inf would be no number: a later block may have a greater one.
Value EvaluationEmitter::stabilise(Value maximum) {
  Value lowest = splat(-std::numeric_limits<float>::infinity());
  Value isLowest = arith::CmpFOp::create(builder, location, arith::CmpFPredicate::OEQ, maximum, lowest);
  return arith::SelectOp::create(builder, location, isLowest, splat(0), maximum);
}

BodyVectorizer EvaluationEmitter::makeBody(tile::ComputeOp compute, Vector &vector, Value row,
                                           DenseMap<Value, Value> &values) {
  LanePoints points;
  points.loops = scope.getLoops(compute);
  points.lanes = lanes;
  points.lane = scope.getSymbol(node.getLanes());
  points.mask = mask;
  auto place = [&](unsigned axis, Value offset) {
    Value first = scope.ranges[axis].first;
    points.positions.push_back({scope.getSymbol(axis), offset ? emission.add(first, offset) : first});
  };
  for (unsigned axis = 0; axis < form.axes.size(); ++axis)
    if (axis != node.getLanes() && axis != node.getAlong())
      place(axis, {});
  place(node.getAlong(), row);
  place(node.getLanes(), vector.column);

  BodyVectorizer body(emission, compute, std::move(points));
  unsigned number = llvm::find(form.computes, compute) - form.computes.begin();
  for (auto [operand, input] : llvm::enumerate(compute.getInputs())) {
    Value value = values.lookup(input), argument = compute.getInputArgs()[operand];
    if (const tile::TreeForm::Pack *pack = form.getPack(number, operand)) {
      body.set(argument, loadTransposed(*pack, argument.getType(), vector, row));
      continue;
    }
    if (auto buffer = form.buffers.find(input); !value && buffer != form.buffers.end())
      value = load(buffer->second, argument.getType(), vector, row);
    if (!value)
      continue;
    std::optional<unsigned> axis = input.getDefiningOp() ? form.getRunningAxis(input) : std::nullopt;
    if (axis && scope.ranges[*axis].isFirst && form.isCorrected(input))
      value = stabilise(value);
    body.set(argument, value);
  }
  return body;
}

void EvaluationEmitter::emitCompute(tile::ComputeOp compute, Vector &vector, Value row,
                                    DenseMap<Value, Value> &values) {
  BodyVectorizer body = makeBody(compute, vector, row, values);
  for (auto [result, value] : llvm::zip_equal(compute.getResults(), body.getYielded())) {
    values[result] = body.spread(value);
    keep(result, values[result], vector, row);
    if (Value memory = emission.getBuffer(result))
      body.store(value, cast<graph::TensorType>(result.getType()), memory);
  }
}

/// Elements of an intermediate: a vector of them, or one where vectors run along another axis.
Value EvaluationEmitter::load(const tile::TreeForm::Buffer &buffer, Type type, Vector &vector, Value row) {
  Value memory = scope.getMemory(buffer), zero = emission.getConstant(0);
  if (buffer.columnAxis != node.getLanes())
    return toType(memref::LoadOp::create(builder, location, memory, scope.getPlace(buffer, row, zero)), type);
  Value place = scope.getPlace(buffer, vector.column, buffer.rowAxis ? row : zero);
  auto loaded = VectorType::get({lanes}, form.getElementType());
  return toType(vector::LoadOp::create(builder, location, loaded, memory, place), type);
}

Value EvaluationEmitter::loadTransposed(const tile::TreeForm::Pack &pack, Type type, Vector &vector, Value row) {
  Value loaded = vector::LoadOp::create(builder, location, VectorType::get({lanes}, form.getElementType()),
                                        scope.getPacked(pack).memory, scope.getPlace(*pack.buffer, vector.column, row));
  return toType(loaded, type);
}

/// What scratch has as f32; a bool is 0 or another number there.
Value EvaluationEmitter::toType(Value stored, Type type) {
  if (!type.isInteger(1))
    return stored;
  Value zero = arith::ConstantOp::create(builder, location, builder.getZeroAttr(stored.getType()));
  return arith::CmpFOp::create(builder, location, arith::CmpFPredicate::UNE, stored, zero);
}

void EvaluationEmitter::keep(Value result, Value value, Vector &vector, Value row) {
  auto found = form.buffers.find(result);
  if (found == form.buffers.end())
    return;
  const tile::TreeForm::Buffer &buffer = found->second;
  Value place = scope.getPlace(buffer, vector.column, buffer.rowAxis ? row : emission.getConstant(0));
  auto type = VectorType::get({lanes}, form.getElementType());
  if (value.getType() != type)
    value = arith::UIToFPOp::create(builder, location, type, value);
  vector::StoreOp::create(builder, location, value, scope.getMemory(buffer), place);
}

void freestone::codegen::emitEvaluation(TreeScope &scope, tile::EvaluateAttr node, const RangeVectors &at) {
  EvaluationEmitter(scope, node).emit(at);
}
