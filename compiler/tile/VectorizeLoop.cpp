#include "compiler/tile/VectorizeLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace freestone::tile {

namespace {

/// One AVX-512 register, two AVX2 registers.
constexpr int64_t vectorBytes = 64;

/// Lanes for the narrowest stored element; wider ones take several registers.
int64_t getLanes(scf::ForOp loop) {
  int64_t lanes = 1;
  for (auto store : loop.getBody()->getOps<memref::StoreOp>()) {
    int64_t bytes = llvm::divideCeil(store.getMemRefType().getElementTypeBitWidth(), 8);
    lanes = std::max(lanes, vectorBytes / bytes);
  }
  return lanes;
}

/// Emits the loop's body for `lanes` consecutive positions.
class BodyLanes {
public:
  BodyLanes(ImplicitLocOpBuilder &builder, int64_t lanes, Value position, Value firstPosition)
      : builder(builder), lanes(lanes), positions({position}) {
    emitted.map(position, firstPosition);
  }

  void emit(Operation &op) {
    if (auto load = dyn_cast<memref::LoadOp>(op); load && positions.contains(load.getIndices()[0])) {
      emitted.map(load.getResult(), vector::LoadOp::create(builder, vectorOf(load.getType()), load.getMemRef(),
                                                           emitted.lookup(load.getIndices()[0])));
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      assert(positions.contains(store.getIndices()[0]) && "every iteration stores an element of its own");
      vector::StoreOp::create(builder, spread(emitted.lookupOrDefault(store.getValue())), store.getMemRef(),
                              emitted.lookup(store.getIndices()[0]));
    } else {
      emitArithmetic(op);
    }
  }

private:
  VectorType vectorOf(Type element) { return VectorType::get(lanes, element); }

  Value spread(Value value) {
    if (isa<VectorType>(value.getType()))
      return value;
    return vector::BroadcastOp::create(builder, vectorOf(value.getType()), value);
  }

  void emitArithmetic(Operation &op) {
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return positions.contains(operand); })) {
      assert(isa<arith::AddIOp>(op) && "positions are those of the loop plus what does not change in it");
      positions.insert(op.getResult(0));
    }
    Operation *copy = builder.clone(op, emitted);
    if (llvm::none_of(copy->getOperandTypes(), llvm::IsaPred<VectorType>))
      return;
    assert(OpTrait::hasElementwiseMappableTraits(&op) && "a vector is computed lane by lane");
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(copy);
    for (OpOperand &operand : copy->getOpOperands())
      operand.set(spread(operand.get()));
    for (Value result : copy->getResults())
      result.setType(vectorOf(result.getType()));
  }

  ImplicitLocOpBuilder &builder;
  int64_t lanes;
  /// Values of the body that grow with the loop variable.
  llvm::SmallDenseSet<Value> positions;
  IRMapping emitted;
};

} // namespace

void vectorizeLoop(ImplicitLocOpBuilder &builder, scf::ForOp loop) {
  int64_t lanes = getLanes(loop);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  Value from = loop.getLowerBound(), to = loop.getUpperBound(), step = arith::ConstantIndexOp::create(builder, lanes);
  // Signed, so that an empty loop with `to` below `from` stays empty.
  Value rest = arith::RemSIOp::create(builder, arith::SubIOp::create(builder, to, from), step);
  Value end = arith::SubIOp::create(builder, to, rest);
  auto vectors = scf::ForOp::create(builder, from, end, step);
  loop.setLowerBound(end);
  builder.setInsertionPoint(vectors.getBody()->getTerminator());
  BodyLanes body(builder, lanes, loop.getInductionVar(), vectors.getInductionVar());
  for (Operation &op : loop.getBody()->without_terminator())
    body.emit(op);
}

} // namespace freestone::tile
