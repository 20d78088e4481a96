#include "compiler/tile/OpaqueBuilder.h"

#include "compiler/tile/VectorizeLoop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

OpaqueBuilder::OpaqueBuilder(OpBuilder &builder, Location location, Expr tiles, ValueRange inputs,
                             ArrayRef<graph::TensorType> results)
    : op(OpaqueOp::create(builder, location, SmallVector<Type>(results.begin(), results.end()), tiles, inputs)),
      inside(ImplicitLocOpBuilder::atBlockEnd(location, op.getBody())) {}

Value OpaqueBuilder::fromStored(Value stored, Type element) {
  if (!element.isInteger(1))
    return stored;
  Value zero = arith::ConstantOp::create(inside, inside.getZeroAttr(stored.getType()));
  return arith::CmpIOp::create(inside, arith::CmpIPredicate::ne, stored, zero);
}

Value OpaqueBuilder::load(unsigned input, Value position) {
  return fromStored(memref::LoadOp::create(inside, op.getInputBuffers()[input], position),
                    graph::getElementType(op.getInputs()[input]));
}

static Value loadVector(OpBuilder &builder, Location location, Value buffer, Value position, int64_t elements) {
  auto type = VectorType::get({elements}, cast<MemRefType>(buffer.getType()).getElementType());
  return vector::LoadOp::create(builder, location, type, buffer, position);
}

Value OpaqueBuilder::loadRun(unsigned input, Value position, int64_t elements) {
  return fromStored(loadVector(inside, inside.getLoc(), op.getInputBuffers()[input], position, elements),
                    graph::getElementType(op.getInputs()[input]));
}

Value OpaqueBuilder::loadResultRun(unsigned result, Value position, int64_t elements) {
  return fromStored(loadVector(inside, inside.getLoc(), op.getResultBuffers()[result], position, elements),
                    graph::getElementType(op.getResult(result)));
}

Value OpaqueBuilder::loadResult(unsigned result, Value position) {
  return fromStored(memref::LoadOp::create(inside, op.getResultBuffers()[result], position),
                    graph::getElementType(op.getResult(result)));
}

void OpaqueBuilder::store(unsigned result, Value position, Value scalar) {
  if (scalar.getType().isInteger(1))
    scalar = arith::ExtUIOp::create(inside, inside.getI8Type(), scalar);
  memref::StoreOp::create(inside, scalar, op.getResultBuffers()[result], position);
}

Value OpaqueBuilder::constant(int64_t value) { return arith::ConstantIndexOp::create(inside, value); }

Value OpaqueBuilder::size(Expr expr) {
  if (std::optional<int64_t> value = expr.asConstant())
    return constant(*value);
  return SizeOp::create(inside, expr);
}

Value OpaqueBuilder::add(Value a, Value b) { return arith::AddIOp::create(inside, a, b); }
Value OpaqueBuilder::sub(Value a, Value b) { return arith::SubIOp::create(inside, a, b); }
Value OpaqueBuilder::mul(Value a, Value b) { return arith::MulIOp::create(inside, a, b); }
Value OpaqueBuilder::div(Value a, Value b) { return arith::DivUIOp::create(inside, a, b); }
Value OpaqueBuilder::rem(Value a, Value b) { return arith::RemUIOp::create(inside, a, b); }
Value OpaqueBuilder::min(Value a, Value b) { return arith::MinSIOp::create(inside, a, b); }
Value OpaqueBuilder::max(Value a, Value b) { return arith::MaxSIOp::create(inside, a, b); }
Value OpaqueBuilder::less(Value a, Value b) { return arith::CmpIOp::create(inside, arith::CmpIPredicate::slt, a, b); }
Value OpaqueBuilder::isEqual(Value a, Value b) { return arith::CmpIOp::create(inside, arith::CmpIPredicate::eq, a, b); }
Value OpaqueBuilder::toIndex(Value integer) {
  return arith::IndexCastOp::create(inside, inside.getIndexType(), integer);
}
Value OpaqueBuilder::toI64(Value index) { return arith::IndexCastOp::create(inside, inside.getI64Type(), index); }

SmallVector<Value> OpaqueBuilder::delinearize(Value position, ArrayRef<Expr> shape) {
  SmallVector<Value> coordinates(shape.size());
  for (size_t dim = shape.size(); dim > 0; --dim) {
    if (dim == 1) {
      coordinates[0] = position;
      break;
    }
    Value extent = size(shape[dim - 1]);
    coordinates[dim - 1] = rem(position, extent);
    position = div(position, extent);
  }
  return coordinates;
}

Value OpaqueBuilder::linearize(ValueRange coordinates, ArrayRef<Expr> shape) {
  Value position;
  for (auto [coordinate, extent] : llvm::zip_equal(coordinates, shape))
    position = position ? add(mul(position, size(extent)), coordinate) : coordinate;
  return position ? position : constant(0);
}

ValueRange OpaqueBuilder::loop(Value from, Value to, ValueRange carried, LoopBody body) {
  auto loop = scf::ForOp::create(inside, from, to, constant(1), carried);
  OpBuilder::InsertionGuard guard(inside);
  if (carried.empty())
    inside.setInsertionPoint(loop.getBody()->getTerminator());
  else
    inside.setInsertionPointToEnd(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty())
    scf::YieldOp::create(inside, next);
  return loop.getResults();
}

static scf::ForOp createLoop(ImplicitLocOpBuilder &builder, Value from, Value to, Value step,
                             llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(builder, from, to, step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  body(loop.getInductionVar());
  return loop;
}

void OpaqueBuilder::loop(Value from, Value to, Value step, llvm::function_ref<void(Value)> body) {
  createLoop(inside, from, to, step, body);
}

void OpaqueBuilder::loop(Value from, Value to, llvm::function_ref<void(Value)> body) {
  loop(from, to, constant(1), body);
}

void OpaqueBuilder::loopInVectors(Value from, Value to, llvm::function_ref<void(Value)> body) {
  vectorizeLoop(inside, createLoop(inside, from, to, constant(1), body));
}

void OpaqueBuilder::onlyIf(Value condition, llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(inside, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(inside);
  inside.setInsertionPoint(branch.thenBlock()->getTerminator());
  body();
}

OpaqueOp OpaqueBuilder::finish() {
  YieldOp::create(inside, ValueRange());
  return op;
}

} // namespace freestone::tile
