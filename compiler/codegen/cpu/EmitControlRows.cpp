#include "compiler/codegen/cpu/EntryEmitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

EntryEmitter::State EntryEmitter::ifElse(Value condition, llvm::function_ref<State()> whenTrue,
                                         llvm::function_ref<State()> whenFalse) {
  auto branch = scf::IfOp::create(
      builder, location, condition, [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, whenTrue()); },
      [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, whenFalse()); });
  return State(branch.getResults());
}

EntryEmitter::State EntryEmitter::emitControl() {
  Value of = column(EntryTable::kind), next = element(i64, row, static_cast<int32_t>(EntryTable::controlColumns));
  auto isKind = [&](EntryTable::Kind kind) { return compare(arith::CmpIPredicate::eq, of, constant(kind)); };
  auto trip = [&] { return element(i64, iterations, control(EntryTable::loop)); };
  auto emitEnter = [&]() -> State {
    Value waited = emitWaits(next, control(EntryTable::waits));
    store(constant(-1), trip());
    return {rowAt(control(EntryTable::target)), waited, subtract(base, control(EntryTable::phases))};
  };
  auto emitJoin = [&]() -> State {
    emitPublish(add(base, control(EntryTable::published)));
    return {rowAt(control(EntryTable::target)), status(0), base};
  };
  auto emitTurn = [&]() -> State {
    Value taken = add(load(i64, trip()), constant(1)), viewCount = control(EntryTable::viewCount);
    store(taken, trip());
    emitViews(next, viewCount, taken);
    Value words = arith::MulIOp::create(builder, location, viewCount, constant(EntryTable::viewColumns));
    return {element(i64, next, words), status(0), base};
  };
  auto emitJoinOrTurn = [&]() -> State {
    return table.getNumTurns() == 0 ? emitJoin() : ifElse(isKind(EntryTable::turn), emitTurn, emitJoin);
  };
  return ifElse(
      isKind(EntryTable::test), [&] { return emitTest(); },
      [&] {
        return ifElse(isKind(EntryTable::enter), emitEnter, [&] {
          return ifElse(
              isKind(EntryTable::fork), [&] { return emitFork(); }, emitJoinOrTurn);
        });
      });
}

/// Whether there is no condition, or its memory holds true.
Value EntryEmitter::holds(Value condition) {
  Value isNone = isZero(condition), yes = arith::ConstantIntOp::create(builder, location, 1, 1);
  return ifThen(arith::XOrIOp::create(builder, location, isNone, yes), yes, [&]() -> Value {
    Value byte = load(builder.getI8Type(), memoryOf(subtract(condition, constant(1))));
    return arith::XOrIOp::create(builder, location, isZero(byte), yes);
  });
}

/// Counts on, and goes on with an iteration or behind the loop: there, the last iteration counts as the only one, and
/// the loop's last phase as finished, without any iteration too.
EntryEmitter::State EntryEmitter::emitTest() {
  Value counter = element(i64, iterations, control(EntryTable::loop)), trip = add(load(i64, counter), constant(1));
  store(trip, counter);
  Value last = base, begin = add(base, control(EntryTable::phases));
  store(begin, getBeginOf(control(EntryTable::loop)));
  Value waited = emitWaitAgain(control(EntryTable::awaited), control(EntryTable::loop), control(EntryTable::phases));
  return ifElse(
      isZero(waited),
      [&]() -> State {
        Value yes = arith::ConstantIntOp::create(builder, location, 1, 1);
        Value rows = element(i64, row, static_cast<int32_t>(EntryTable::controlColumns));
        Value viewCount = control(EntryTable::viewCount), trips = control(EntryTable::trips);
        emitViews(rows, viewCount, trip);
        Value isWithin = ifThen(compare(arith::CmpIPredicate::ne, trips, constant(0)), yes, [&]() -> Value {
          Value most = load(i64, sizes, subtract(trips, constant(1)));
          return compare(arith::CmpIPredicate::slt, trip, most);
        });
        Value goesOn = ifThen(isWithin, isWithin, [&] { return holds(control(EntryTable::condition)); });
        return ifElse(
            goesOn,
            [&]() -> State {
              return {rowAt(control(EntryTable::target)), waited, begin};
            },
            [&]() -> State {
              Value left = arith::SelectOp::create(builder, location, isZero(trip), begin, last);
              emitPublish(add(left, control(EntryTable::published)));
              Value words = arith::MulIOp::create(builder, location, viewCount, constant(EntryTable::viewColumns));
              return {element(i64, rows, words), waited, left};
            });
      },
      [&]() -> State {
        return {row, waited, begin};
      });
}

EntryEmitter::State EntryEmitter::emitFork() {
  Value waits = element(i64, row, static_cast<int32_t>(EntryTable::controlColumns)),
        count = control(EntryTable::waits);
  Value waited = emitWaits(waits, count);
  return ifElse(
      isZero(waited),
      [&]() -> State {
        Value next = element(i64, waits, count);
        Value other = rowAt(control(EntryTable::target));
        return {arith::SelectOp::create(builder, location, holds(control(EntryTable::condition)), next, other), waited,
                base};
      },
      [&]() -> State { return {row, waited, base}; });
}

/// Lets `count` views look at their slices in iteration `trip`.
void EntryEmitter::emitViews(Value rows, Value count, Value trip) {
  auto body = [&](OpBuilder &, Location, Value index, ValueRange) {
    Value view = element(
        i64, rows, arith::MulIOp::create(builder, location, index, constant(EntryTable::viewColumns)).getResult());
    auto word = [&](EntryTable::ViewColumn of) { return load(i64, element(i64, view, static_cast<int32_t>(of))); };
    Value slice =
        arith::AndIOp::create(builder, location, add(trip, word(EntryTable::viewShift)), word(EntryTable::viewMask));
    Value offset = arith::MulIOp::create(builder, location, slice, load(i64, sizes, word(EntryTable::viewStep)));
    Value slot = element(pointer, views, word(EntryTable::viewIndex));
    store(element(builder.getI8Type(), memoryOf(word(EntryTable::viewSource)), offset), slot);
    scf::YieldOp::create(builder, location);
  };
  scf::ForOp::create(builder, location, constant(0), count, constant(1), ValueRange(), body);
}

Value EntryEmitter::memoryOf(Value index) {
  if (!table.hasControl())
    return load(pointer, buffers, index);
  Value isBuffer = compare(arith::CmpIPredicate::slt, index, constant(table.getNumBuffers()));
  Value view = element(pointer, views, subtract(index, constant(table.getNumBuffers())));
  return load(pointer, arith::SelectOp::create(builder, location, isBuffer, element(pointer, buffers, index), view));
}
