#include "compiler/codegen/cpu/EmitEntries.h"

#include "compiler/codegen/cpu/EntryTable.h"
#include "compiler/dialect/sym/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "runtime/artifact/abi.h"
#include <cstddef>

using namespace mlir;
using namespace freestone;
using namespace freestone::task;
using freestone::codegen::EntryTable;

namespace {

/// A constant global with the initializer that `initialize` builds.
LLVM::GlobalOp emitConstantGlobal(OpBuilder &builder, Location location, Type type, StringRef name,
                                  LLVM::Linkage linkage, llvm::function_ref<Value()> initialize) {
  auto global = LLVM::GlobalOp::create(builder, location, type, /*isConstant=*/true, linkage, name, Attribute());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&global.getInitializerRegion());
  Value value = initialize();
  LLVM::ReturnOp::create(builder, location, value);
  return global;
}

/// The functions of one entry. `run` is a loop over a table, not a sequence of calls: its size and compile time would
/// grow with every phase.
class EntryEmitter {
public:
  EntryEmitter(OpBuilder &module, ProgramOp program)
      : builder(module), program(program), slots(program), location(program.getLoc()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())), i32(module.getI32Type()), i64(module.getI64Type()),
        table(program, slots) {}

  LLVM::LLVMFuncOp emitBind();
  LLVM::LLVMFuncOp emitRun(LLVM::LLVMFuncOp bind);

private:
  LLVM::GlobalOp emitTable();
  LLVM::GlobalOp emitPrograms();
  LLVM::LLVMFuncOp declareProgram(StringRef name);

  /// What follows a row: the next one, the status, and the progress number of the iteration's beginning.
  using State = SmallVector<Value, 3>;
  State emitRow(LLVM::LLVMFuncOp bind);
  Value emitSpace(LLVM::LLVMFuncOp bind);
  State emitControl();
  State emitTest();
  State emitFork();
  Value emitWait(Value awaited);
  void emitPublish(Value number);
  void emitViews(Value rows, Value count, Value trip);
  Value holds(Value condition);
  Value emitCall(Value begin, Value end);
  Value emitProgramCall(Value begin, Value end);
  void emitTrace(Value begin, Value end);
  Value emitRebind(LLVM::LLVMFuncOp bind, Value status);
  void emitCopies(Value count, Value words, Type type, Value to, llvm::function_ref<Value(Value)> valueOf);

  Value constant(int64_t value) { return arith::ConstantIntOp::create(builder, location, value, 64); }
  Value status(int64_t value) { return arith::ConstantIntOp::create(builder, location, value, 32); }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, location, predicate, lhs, rhs);
  }
  Value isZero(Value value) {
    Value zero = arith::ConstantOp::create(builder, location, builder.getZeroAttr(value.getType()));
    return compare(arith::CmpIPredicate::eq, value, zero);
  }
  Value subtract(Value lhs, Value rhs) { return arith::SubIOp::create(builder, location, lhs, rhs); }
  Value add(Value lhs, Value rhs) { return arith::AddIOp::create(builder, location, lhs, rhs); }
  Value element(Type type, Value base, LLVM::GEPArg index) {
    return LLVM::GEPOp::create(builder, location, pointer, type, base, ArrayRef<LLVM::GEPArg>{index});
  }
  Value load(Type type, Value address) { return LLVM::LoadOp::create(builder, location, type, address); }
  Value load(Type type, Value base, Value index) { return load(type, element(type, base, index)); }
  void store(Value value, Value address) { LLVM::StoreOp::create(builder, location, value, address); }
  Value field(Type type, size_t offset) {
    return load(type, element(builder.getI8Type(), context, static_cast<int32_t>(offset)));
  }
  Value column(EntryTable::Column of) { return load(i64, element(i64, row, static_cast<int32_t>(of))); }
  Value firstTile(Value worker, Value before, Value tiles, Value dealt);
  Value control(EntryTable::ControlColumn of) { return load(i64, element(i64, row, static_cast<int32_t>(of))); }
  Value rowAt(Value position) { return element(i64, firstRow, position); }
  /// The memory of a buffer or view.
  Value memoryOf(Value index);
  /// The result of `body` if `condition` holds, else `otherwise`.
  Value ifThen(Value condition, Value otherwise, llvm::function_ref<Value()> body);
  State ifElse(Value condition, llvm::function_ref<State()> whenTrue, llvm::function_ref<State()> whenFalse);

  OpBuilder &builder;
  ProgramOp program;
  SizeSlots slots;
  Location location;
  Type pointer, i32, i64;

  EntryTable table;

  // Values during the emission of `run`.
  Value context, worker, buffers, sizes, workers, base, scratch, programTable, bufferArguments, sizeArguments, row;
  /// Of programs with loops or branches: the first row, the memory of views, and the iteration of each loop around.
  Value firstRow, views, iterations;
};

LLVM::LLVMFuncOp EntryEmitter::emitBind() {
  OpBuilder::InsertionGuard guard(builder);
  auto type = LLVM::LLVMFunctionType::get(i32, {pointer});
  auto bind = LLVM::LLVMFuncOp::create(builder, location, (program.getSymName() + "_bind").str(), type,
                                       LLVM::Linkage::Internal);
  // It runs once for new sizes, and is as large as the model.
  bind.setOptimizeNone(true);
  bind.setNoInline(true);
  Block *entry = bind.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  Value table = entry->getArgument(0);

  llvm::StringMap<Value> symbols;
  SmallVector<Value> values(slots.count());
  for (auto [index, symbol] : llvm::enumerate(program.getSymbols().getAsRange<SymbolAttr>()))
    values[index] = symbols[symbol.getName()] = load(i64, element(i64, table, static_cast<int32_t>(index)));
  Value overflow;
  auto symbolValue = [&](StringRef name) {
    std::optional<int64_t> slot = SizeSlots::getSlot(name);
    return slot ? values[*slot] : symbols.lookup(name);
  };
  if (auto definitions = program.getDefinitions())
    for (auto definition : definitions->getAsRange<ArrayAttr>()) {
      sym::Expr size = cast<sym::ExprAttr>(definition[1]).getExpr();
      symbols[cast<StringAttr>(definition[0])] = sym::lowerExprChecked(builder, location, size, symbolValue, overflow);
    }
  for (int64_t slot = slots.symbolCount(); slot < slots.count(); ++slot) {
    bool isCount = slot >= slots.checkedCount();
    Value saturated;
    Value value =
        sym::lowerExprChecked(builder, location, slots.getExprs()[slot], symbolValue, isCount ? saturated : overflow);
    if (isCount)
      value = arith::SelectOp::create(builder, location, saturated, constant(INT64_MAX), value);
    values[slot] = value;
    store(value, element(i64, table, static_cast<int32_t>(slot)));
  }
  Value failed = overflow ? arith::ExtUIOp::create(builder, location, i32, overflow).getResult() : status(0);
  LLVM::ReturnOp::create(builder, location, failed);
  return bind;
}

LLVM::LLVMFuncOp EntryEmitter::emitRun(LLVM::LLVMFuncOp bind) {
  OpBuilder::InsertionGuard guard(builder);
  LLVM::GlobalOp rows = emitTable(), callees = emitPrograms();
  auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i64});
  auto function =
      LLVM::LLVMFuncOp::create(builder, location, (program.getSymName() + "_run").str(), type, LLVM::Linkage::Internal);
  Block *entry = function.addEntryBlock(builder);
  context = entry->getArgument(0);
  worker = entry->getArgument(1);

  builder.setInsertionPointToStart(entry);
  buffers = field(pointer, offsetof(freestone_run_context, buffers));
  sizes = field(pointer, offsetof(freestone_run_context, sizes));
  workers = field(i64, offsetof(freestone_run_context, workers));
  base = field(i64, offsetof(freestone_run_context, base));
  Value stride = field(i64, offsetof(freestone_run_context, scratch_stride));
  scratch = element(builder.getI8Type(), field(pointer, offsetof(freestone_run_context, scratch)),
                    arith::MulIOp::create(builder, location, worker, stride).getResult());
  bufferArguments = LLVM::AllocaOp::create(builder, location, pointer, pointer, constant(table.getMostBuffers()));
  sizeArguments = LLVM::AllocaOp::create(builder, location, pointer, i64, constant(table.getMostSizes()));
  views = LLVM::AllocaOp::create(builder, location, pointer, pointer, constant(table.getNumViews()));
  iterations = LLVM::AllocaOp::create(builder, location, pointer, i64, constant(table.getDepth()));
  programTable = LLVM::AddressOfOp::create(builder, location, callees);
  firstRow = LLVM::AddressOfOp::create(builder, location, rows);
  Value end = element(i64, firstRow, static_cast<int32_t>(table.getWords().size()));
  int64_t fixedViews = table.getFixedViews().size() / EntryTable::viewColumns;
  if (fixedViews > 0)
    emitViews(end, constant(fixedViews), constant(0));

  auto loop = scf::WhileOp::create(
      builder, location, TypeRange{pointer, i32, i64}, ValueRange{firstRow, status(0), base},
      [&](OpBuilder &, Location, ValueRange state) {
        Value isRow = LLVM::ICmpOp::create(builder, location, LLVM::ICmpPredicate::ne, state[0], end);
        Value goesOn = arith::AndIOp::create(builder, location, isRow, isZero(state[1]));
        scf::ConditionOp::create(builder, location, goesOn, state);
      },
      [&](OpBuilder &, Location, ValueRange state) {
        row = state[0];
        base = state[2];
        scf::YieldOp::create(builder, location, emitRow(bind));
      });
  Value failed = loop.getResult(1), last = add(loop.getResult(2), constant(table.getNumPhases()));
  if (table.hasControl())
    scf::IfOp::create(builder, location, isZero(failed), [&](OpBuilder &, Location) {
      emitPublish(last);
      scf::YieldOp::create(builder, location);
    });
  scf::IfOp::create(builder, location, isZero(worker), [&](OpBuilder &, Location) {
    store(last, element(builder.getI8Type(), context, static_cast<int32_t>(offsetof(freestone_run_context, end))));
    scf::YieldOp::create(builder, location);
  });
  LLVM::ReturnOp::create(builder, location, failed);
  return function;
}

Value EntryEmitter::ifThen(Value condition, Value otherwise, llvm::function_ref<Value()> body) {
  auto branch = scf::IfOp::create(
      builder, location, condition, [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, body()); },
      [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, otherwise); });
  return branch.getResult(0);
}

EntryEmitter::State EntryEmitter::ifElse(Value condition, llvm::function_ref<State()> whenTrue,
                                         llvm::function_ref<State()> whenFalse) {
  auto branch = scf::IfOp::create(
      builder, location, condition, [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, whenTrue()); },
      [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, whenFalse()); });
  return State(branch.getResults());
}

/// Waits until all workers have finished the phase before `awaited`. Returns 0, or 1 when the run has failed.
Value EntryEmitter::emitWait(Value awaited) {
  auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i64, i64, i64});
  Value wait = field(pointer, offsetof(freestone_run_context, wait_all));
  return LLVM::CallOp::create(
             builder, location, type,
             ValueRange{wait, context, worker, add(base, awaited), subtract(awaited, constant(1))})
      .getResult();
}

void EntryEmitter::emitPublish(Value number) {
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {pointer, i64, i64});
  Value publish = field(pointer, offsetof(freestone_run_context, publish));
  LLVM::CallOp::create(builder, location, type, ValueRange{publish, context, worker, number});
}

EntryEmitter::State EntryEmitter::emitRow(LLVM::LLVMFuncOp bind) {
  auto emitRowOfSpace = [&]() -> State {
    Value failed = emitSpace(bind);
    Value arguments =
        add(add(column(EntryTable::bufferCount), column(EntryTable::sizeCount)), column(EntryTable::siteCount));
    return {element(i64, row, add(arguments, constant(EntryTable::columns))), failed, base};
  };
  if (!table.hasControl())
    return emitRowOfSpace();
  return ifElse(isZero(column(EntryTable::kind)), emitRowOfSpace, [&] { return emitControl(); });
}

EntryEmitter::State EntryEmitter::emitControl() {
  Value of = column(EntryTable::kind), next = element(i64, row, static_cast<int32_t>(EntryTable::controlColumns));
  auto isKind = [&](EntryTable::Kind kind) { return compare(arith::CmpIPredicate::eq, of, constant(kind)); };
  auto trip = [&] { return element(i64, iterations, control(EntryTable::loop)); };
  auto emitEnter = [&]() -> State {
    store(constant(0), trip());
    return {next, status(0), base};
  };
  auto emitAgain = [&]() -> State {
    store(add(load(i64, trip()), constant(1)), trip());
    return {rowAt(control(EntryTable::target)), status(0), add(base, control(EntryTable::phases))};
  };
  auto emitJoin = [&]() -> State {
    emitPublish(add(base, control(EntryTable::published)));
    return {rowAt(control(EntryTable::target)), status(0), base};
  };
  return ifElse(isKind(EntryTable::test), [&] { return emitTest(); }, [&] {
    return ifElse(isKind(EntryTable::again), emitAgain, [&] {
      return ifElse(isKind(EntryTable::enter), emitEnter, [&] {
        return ifElse(isKind(EntryTable::fork), [&] { return emitFork(); }, emitJoin);
      });
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

/// Workers meet, and go on with an iteration or behind the loop: there, the last iteration counts as the only one.
EntryEmitter::State EntryEmitter::emitTest() {
  Value waited = emitWait(control(EntryTable::awaited));
  return ifElse(
      isZero(waited),
      [&]() -> State {
        Value trip = load(i64, element(i64, iterations, control(EntryTable::loop)));
        Value rows = element(i64, row, static_cast<int32_t>(EntryTable::controlColumns));
        Value viewCount = control(EntryTable::viewCount), trips = control(EntryTable::trips);
        emitViews(rows, viewCount, trip);
        Value isWithin = ifThen(compare(arith::CmpIPredicate::ne, trips, constant(0)),
                                arith::ConstantIntOp::create(builder, location, 1, 1), [&]() -> Value {
                                  Value most = load(i64, sizes, subtract(trips, constant(1)));
                                  return compare(arith::CmpIPredicate::slt, trip, most);
                                });
        Value goesOn = ifThen(isWithin, isWithin, [&] { return holds(control(EntryTable::condition)); });
        Value words = arith::MulIOp::create(builder, location, viewCount, constant(EntryTable::viewColumns));
        Value next = arith::SelectOp::create(builder, location, goesOn, element(i64, rows, words),
                                             rowAt(control(EntryTable::target)));
        Value left = subtract(base, control(EntryTable::phases));
        return {next, waited, arith::SelectOp::create(builder, location, goesOn, base, left)};
      },
      [&]() -> State { return {row, waited, base}; });
}

EntryEmitter::State EntryEmitter::emitFork() {
  Value awaited = control(EntryTable::awaited);
  Value waited =
      ifThen(compare(arith::CmpIPredicate::ne, awaited, constant(0)), status(0), [&] { return emitWait(awaited); });
  return ifElse(
      isZero(waited),
      [&]() -> State {
        Value next = element(i64, row, static_cast<int32_t>(EntryTable::controlColumns));
        Value other = rowAt(control(EntryTable::target));
        return {arith::SelectOp::create(builder, location, holds(control(EntryTable::condition)), next, other), waited,
                base};
      },
      [&]() -> State { return {row, waited, base}; });
}

/// Lets `count` views look at their slices in iteration `trip`.
void EntryEmitter::emitViews(Value rows, Value count, Value trip) {
  auto body = [&](OpBuilder &, Location, Value index, ValueRange) {
    Value view = element(i64, rows, arith::MulIOp::create(builder, location, index, constant(EntryTable::viewColumns)).getResult());
    auto word = [&](EntryTable::ViewColumn of) { return load(i64, element(i64, view, static_cast<int32_t>(of))); };
    Value slice = add(trip, word(EntryTable::viewShift)), rotation = word(EntryTable::viewRotation);
    slice = ifThen(compare(arith::CmpIPredicate::ne, rotation, constant(0)), slice,
                   [&]() -> Value { return arith::RemUIOp::create(builder, location, slice, rotation); });
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

/// Waits, computes this worker's share of the tiles, publishes. Returns 0, or 1 + the phase when the run has failed.
Value EntryEmitter::emitSpace(LLVM::LLVMFuncOp bind) {
  Value awaited = column(EntryTable::waitFor);
  Value isWaiting = compare(arith::CmpIPredicate::ne, awaited, constant(0));
  Value waited = ifThen(isWaiting, status(0), [&] { return emitWait(awaited); });
  Value failed = ifThen(isZero(waited), waited, [&] {
    Value tiles = load(i64, sizes, column(EntryTable::tileCount));
    Value before = load(i64, sizes, column(EntryTable::tilesBefore));
    Value dealt = load(i64, sizes, column(EntryTable::tilesDealt));
    Value begin = firstTile(worker, before, tiles, dealt);
    Value end = firstTile(add(worker, constant(1)), before, tiles, dealt);
    Value isAny = compare(arith::CmpIPredicate::slt, begin, end);
    Value failed = emitRebind(bind, ifThen(isAny, status(0), [&] {
                                Value called = emitCall(begin, end);
                                emitTrace(begin, end);
                                return called;
                              }));

    Value number = column(EntryTable::publishAs);
    Value isPublished = compare(arith::CmpIPredicate::ne, number, constant(0));
    Value publishes = arith::AndIOp::create(builder, location, isPublished, isZero(failed));
    scf::IfOp::create(builder, location, publishes, [&](OpBuilder &, Location) {
      emitPublish(add(base, number));
      scf::YieldOp::create(builder, location);
    });
    return failed;
  });
  Value place = arith::TruncIOp::create(builder, location, i32, add(column(EntryTable::phaseIndex), constant(1)));
  return arith::SelectOp::create(builder, location, isZero(failed), failed, place);
}

/// The first tile of the worker or a later one, among `tiles` that come after `before` others.
Value EntryEmitter::firstTile(Value of, Value before, Value tiles, Value dealt) {
  Value product = arith::MulIOp::create(builder, location, of, dealt);
  Value rounded = add(product, subtract(workers, constant(1)));
  Value first = subtract(arith::DivUIOp::create(builder, location, rounded, workers), before);
  Value notBefore = arith::MaxSIOp::create(builder, location, first, constant(0));
  return arith::MinSIOp::create(builder, location, notBefore, tiles);
}

Value EntryEmitter::emitCall(Value begin, Value end) {
  Value number = column(EntryTable::callee);
  Value isProgram = compare(arith::CmpIPredicate::sge, number, constant(0));
  auto branch = scf::IfOp::create(
      builder, location, isProgram,
      [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, emitProgramCall(begin, end)); },
      [&](OpBuilder &, Location) {
        auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i64});
        Value service = field(pointer, offsetof(freestone_run_context, call_service));
        Value call = arith::XOrIOp::create(builder, location, number, constant(-1));
        scf::YieldOp::create(
            builder, location,
            LLVM::CallOp::create(builder, location, type, ValueRange{service, context, call}).getResult());
      });
  return branch.getResult(0);
}

void EntryEmitter::emitCopies(Value count, Value words, Type type, Value to, llvm::function_ref<Value(Value)> valueOf) {
  scf::ForOp::create(builder, location, constant(0), count, constant(1), ValueRange(),
                     [&](OpBuilder &, Location, Value index, ValueRange) {
                       store(valueOf(load(i64, words, index)), element(type, to, index));
                       scf::YieldOp::create(builder, location);
                     });
}

Value EntryEmitter::emitProgramCall(Value begin, Value end) {
  Value operands = element(i64, row, static_cast<int32_t>(EntryTable::columns));
  Value slotsOfSizes = element(i64, operands, column(EntryTable::bufferCount));
  Value sites = element(i64, slotsOfSizes, column(EntryTable::sizeCount));
  emitCopies(column(EntryTable::bufferCount), operands, pointer, bufferArguments,
             [&](Value buffer) { return memoryOf(buffer); });
  emitCopies(column(EntryTable::sizeCount), slotsOfSizes, i64, sizeArguments,
             [&](Value slot) { return load(i64, sizes, slot); });
  emitCopies(column(EntryTable::siteCount), sites, i64, element(i64, sizeArguments, column(EntryTable::sizeCount)),
             [](Value site) { return site; });
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {pointer, pointer, i64, i64, pointer});
  LLVM::CallOp::create(builder, location, type,
                       ValueRange{load(pointer, programTable, column(EntryTable::callee)), bufferArguments,
                                  sizeArguments, begin, end, scratch});
  return status(0);
}

/// Tiles are numbered through the phase.
void EntryEmitter::emitTrace(Value begin, Value end) {
  Value trace = field(pointer, offsetof(freestone_run_context, trace));
  Value isTraced = LLVM::ICmpOp::create(builder, location, LLVM::ICmpPredicate::ne, trace,
                                        LLVM::ZeroOp::create(builder, location, pointer));
  scf::IfOp::create(builder, location, isTraced, [&](OpBuilder &, Location) {
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {pointer, i64, i64, i64, i64, i64});
    Value before = load(i64, sizes, column(EntryTable::tilesBefore));
    Value ofPhase = load(i64, sizes, column(EntryTable::tilesOfPhase));
    LLVM::CallOp::create(builder, location, type,
                         ValueRange{trace, context, worker, column(EntryTable::phaseIndex), add(begin, before),
                                    add(end, before), ofPhase});
    scf::YieldOp::create(builder, location);
  });
}

/// Sets the run-time symbol to element 0 of its buffer, which worker 0 has written with tile 0, and derives all sizes
/// anew. Without tiles the buffer is unwritten, and the symbol gets its lower bound.
Value EntryEmitter::emitRebind(LLVM::LLVMFuncOp bind, Value failed) {
  Value slot = column(EntryTable::bindsSlot);
  Value isBound = compare(arith::CmpIPredicate::ne, slot, constant(0));
  Value isFirst = arith::AndIOp::create(builder, location, isZero(worker), isZero(failed));
  return ifThen(arith::AndIOp::create(builder, location, isBound, isFirst), failed, [&]() -> Value {
    Value address = load(pointer, buffers, column(EntryTable::bindsBuffer));
    Value hasTiles = compare(arith::CmpIPredicate::ne, constant(0), load(i64, sizes, column(EntryTable::tileCount)));
    Value count =
        arith::SelectOp::create(builder, location, hasTiles, load(i64, address), column(EntryTable::bindsLower));
    store(count, address);
    store(count, element(i64, sizes, subtract(slot, constant(1))));
    return LLVM::CallOp::create(builder, location, bind, ValueRange{sizes}).getResult();
  });
}

LLVM::LLVMFuncOp EntryEmitter::declareProgram(StringRef name) {
  auto module = cast<ModuleOp>(builder.getInsertionBlock()->getParentOp());
  if (auto declared = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return declared;
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {pointer, pointer, i64, i64, pointer});
  return LLVM::LLVMFuncOp::create(builder, location, name, type);
}

LLVM::GlobalOp EntryEmitter::emitTable() {
  // Views that follow no loop come behind the last row.
  SmallVector<int64_t> values(table.getWords());
  llvm::append_range(values, table.getFixedViews());
  auto type = LLVM::LLVMArrayType::get(i64, values.size());
  auto words = DenseIntElementsAttr::get(RankedTensorType::get({static_cast<int64_t>(values.size())}, i64), ArrayRef(values));
  return LLVM::GlobalOp::create(builder, location, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                (program.getSymName() + "_table").str(), words);
}

LLVM::GlobalOp EntryEmitter::emitPrograms() {
  SmallVector<LLVM::LLVMFuncOp> functions;
  for (StringRef name : table.getPrograms())
    functions.push_back(declareProgram(name));
  auto type = LLVM::LLVMArrayType::get(pointer, functions.size());
  std::string name = (program.getSymName() + "_programs").str();
  return emitConstantGlobal(builder, location, type, name, LLVM::Linkage::Internal, [&] {
    Value value = LLVM::UndefOp::create(builder, location, type);
    for (auto [index, function] : llvm::enumerate(functions)) {
      Value address = LLVM::AddressOfOp::create(builder, location, function);
      value = LLVM::InsertValueOp::create(builder, location, value, address,
                                          ArrayRef<int64_t>{static_cast<int64_t>(index)});
    }
    return value;
  });
}

} // namespace

OwningOpRef<ModuleOp> codegen::emitEntries(ArrayRef<ProgramOp> entries) {
  ProgramOp first = entries.front();
  MLIRContext *mlirContext = first.getContext();
  Location location = first.getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(location, "entries");
  OpBuilder builder(mlirContext);
  builder.setInsertionPointToEnd(module->getBody());

  SmallVector<std::pair<LLVM::LLVMFuncOp, LLVM::LLVMFuncOp>> functions;
  for (ProgramOp entry : entries) {
    EntryEmitter emitter(builder, entry);
    LLVM::LLVMFuncOp bind = emitter.emitBind();
    functions.push_back({bind, emitter.emitRun(bind)});
  }

  Type pointer = LLVM::LLVMPointerType::get(mlirContext), i64 = builder.getI64Type();
  auto entryType = LLVM::LLVMStructType::getLiteral(mlirContext, {pointer, pointer});
  auto arrayType = LLVM::LLVMArrayType::get(entryType, functions.size());
  LLVM::GlobalOp array =
      emitConstantGlobal(builder, location, arrayType, "freestone_entries", LLVM::Linkage::Internal, [&] {
        Value value = LLVM::UndefOp::create(builder, location, arrayType);
        for (auto [index, pair] : llvm::enumerate(functions)) {
          int64_t position = index;
          for (auto [member, function] :
               llvm::enumerate(std::initializer_list<LLVM::LLVMFuncOp>{pair.first, pair.second})) {
            LLVM::LLVMFuncOp callee = function;
            Value address = LLVM::AddressOfOp::create(builder, location, callee);
            value = LLVM::InsertValueOp::create(builder, location, value, address,
                                                ArrayRef<int64_t>{position, static_cast<int64_t>(member)});
          }
        }
        return value;
      });

  auto tableType = LLVM::LLVMStructType::getLiteral(mlirContext, {i64, i64, pointer});
  emitConstantGlobal(builder, location, tableType, "freestone_table", LLVM::Linkage::External, [&] {
    Value value = LLVM::UndefOp::create(builder, location, tableType);
    Value version = LLVM::ConstantOp::create(builder, location, i64, FREESTONE_ABI_VERSION);
    Value count = LLVM::ConstantOp::create(builder, location, i64, functions.size());
    Value address = LLVM::AddressOfOp::create(builder, location, array);
    for (auto [index, member] : llvm::enumerate(std::initializer_list<Value>{version, count, address}))
      value =
          LLVM::InsertValueOp::create(builder, location, value, member, ArrayRef<int64_t>{static_cast<int64_t>(index)});
    return value;
  });
  return module;
}
