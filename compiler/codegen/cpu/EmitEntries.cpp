#include "compiler/codegen/cpu/EmitEntries.h"

#include "compiler/codegen/cpu/EntryEmitter.h"
#include "compiler/codegen/cpu/SizeTable.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "runtime/artifact/abi.h"
#include <cstddef>

using namespace mlir;
using namespace freestone;
using namespace freestone::task;
using namespace freestone::codegen;

/// A constant global with the initializer that `initialize` builds.
static LLVM::GlobalOp emitConstantGlobal(OpBuilder &builder, Location location, Type type, StringRef name,
                                         LLVM::Linkage linkage, llvm::function_ref<Value()> initialize) {
  auto global = LLVM::GlobalOp::create(builder, location, type, /*isConstant=*/true, linkage, name, Attribute());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&global.getInitializerRegion());
  Value value = initialize();
  LLVM::ReturnOp::create(builder, location, value);
  return global;
}

LLVM::LLVMFuncOp EntryEmitter::emitBind() {
  OpBuilder::InsertionGuard guard(builder);
  SizeTable sizeTable(program, slots);
  LLVM::GlobalOp words = emitWords("_sizes", sizeTable.getWords());
  LLVM::LLVMFuncOp compute = declare("freestone_compute_sizes",
                                     LLVM::LLVMFunctionType::get(i32, {pointer, pointer, pointer, i64, i64, pointer}));
  auto type = LLVM::LLVMFunctionType::get(i32, {pointer});
  auto bind = LLVM::LLVMFuncOp::create(builder, location, (program.getSymName() + "_bind").str(), type,
                                       LLVM::Linkage::Internal);
  Block *entry = bind.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  Value first = LLVM::AddressOfOp::create(builder, location, words);
  Value end = element(i64, first, static_cast<int32_t>(sizeTable.getWords().size()));
  constexpr int64_t wordsOfValue = sizeof(StepValue) / sizeof(int64_t);
  Value values =
      LLVM::AllocaOp::create(builder, location, pointer, i64, constant(wordsOfValue * sizeTable.getNumValues()));
  Value failed = LLVM::CallOp::create(builder, location, compute,
                                      ValueRange{first, end, entry->getArgument(0), constant(slots.count()),
                                                 constant(slots.checkedCount()), values})
                     .getResult();
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
  deals = field(pointer, offsetof(freestone_run_context, deals));
  base = field(i64, offsetof(freestone_run_context, base));
  Value stride = field(i64, offsetof(freestone_run_context, scratch_stride));
  scratch = element(builder.getI8Type(), field(pointer, offsetof(freestone_run_context, scratch)),
                    arith::MulIOp::create(builder, location, worker, stride).getResult());
  bufferArguments = LLVM::AllocaOp::create(builder, location, pointer, pointer, constant(table.getMostBuffers()));
  sizeArguments = LLVM::AllocaOp::create(builder, location, pointer, i64, constant(table.getMostSizes()));
  claimedTiles = LLVM::AllocaOp::create(builder, location, pointer, i64, constant(2));
  views = LLVM::AllocaOp::create(builder, location, pointer, pointer, constant(table.getNumViews()));
  iterations =
      LLVM::AllocaOp::create(builder, location, pointer, i64, constant(2 * table.getDepth() + table.getNumTurns()));
  for (int64_t turn : llvm::seq(table.getNumTurns()))
    store(constant(0), element(i64, iterations, static_cast<int32_t>(table.getDepth() + turn)));
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

/// Waits until all tiles of the phases of a list are done, of the iteration whose progress begins at `base`. Returns 0,
/// or 1 when the run has failed.
Value EntryEmitter::emitWaits(Value phases, Value count, Value base) {
  Value isWaiting = compare(arith::CmpIPredicate::ne, count, constant(0));
  return ifThen(isWaiting, status(0), [&] {
    auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i64, i64, pointer, i64});
    Value wait = field(pointer, offsetof(freestone_run_context, wait_for));
    return LLVM::CallOp::create(builder, location, type, ValueRange{wait, context, worker, base, phases, count})
        .getResult();
  });
}

/// Waits until all workers have finished the phase before `awaited` in the iteration before, which has so many phases;
/// not in the first one, nor if `awaited` is 0. Returns 0, or 1 when the run has failed.
Value EntryEmitter::emitWaitAgain(Value awaited, Value loop, Value iteration) {
  Value isWaiting = compare(arith::CmpIPredicate::ne, awaited, constant(0));
  return ifThen(isWaiting, status(0), [&] {
    Value trip = load(i64, iterations, loop);
    return ifThen(compare(arith::CmpIPredicate::ne, trip, constant(0)), status(0), [&] {
      auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i64, i64, i64});
      Value wait = field(pointer, offsetof(freestone_run_context, wait_all));
      // Loops within have moved the base since the iteration began, and in the one before. Where phases within them, or
      // before them, are awaited, the number is one of a later phase.
      Value number = subtract(add(load(i64, getBeginOf(loop)), awaited), iteration);
      return LLVM::CallOp::create(builder, location, type,
                                  ValueRange{wait, context, worker, number, subtract(awaited, constant(1))})
          .getResult();
    });
  });
}

/// Waits for all that a phase comes after. Returns 0, or 1 when the run has failed.
Value EntryEmitter::emitWaitsOfPhase() {
  Value waits = element(i64, row, static_cast<int32_t>(EntryTable::columns)), count = column(EntryTable::waitCount);
  if (table.getDepth() == 0)
    return emitWaits(waits, count);
  Value again = column(EntryTable::againCount), here = subtract(count, again);
  Value waited = emitWaits(waits, here);
  waited = ifThen(isZero(waited), waited, [&] {
    return emitWaitAgain(column(EntryTable::awaitedAgain), column(EntryTable::aroundLoop),
                         column(EntryTable::iteration));
  });
  Value mayWait =
      arith::AndIOp::create(builder, location, isZero(waited), compare(arith::CmpIPredicate::ne, again, constant(0)));
  return ifThen(mayWait, waited, [&] {
    Value trip = load(i64, iterations, column(EntryTable::aroundLoop));
    return ifThen(compare(arith::CmpIPredicate::ne, trip, constant(0)), status(0), [&] {
      Value begin = load(i64, getBeginOf(column(EntryTable::aroundLoop)));
      return emitWaits(element(i64, waits, here), again, subtract(begin, column(EntryTable::iteration)));
    });
  });
}

void EntryEmitter::emitPublish(Value number) {
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {pointer, i64, i64});
  Value publish = field(pointer, offsetof(freestone_run_context, publish));
  LLVM::CallOp::create(builder, location, type, ValueRange{publish, context, worker, number});
}

EntryEmitter::State EntryEmitter::emitRow(LLVM::LLVMFuncOp bind) {
  auto emitRowOfSpace = [&]() -> State {
    Value failed = emitSpace(bind);
    return {element(i64, row, column(EntryTable::next)), failed, base};
  };
  if (!table.hasControl())
    return emitRowOfSpace();
  Value isControl = compare(arith::CmpIPredicate::ugt, column(EntryTable::kind), constant(EntryTable::meeting));
  return ifElse(
      unlikely(isControl), [&] { return emitControl(); }, emitRowOfSpace);
}

/// Waits, computes this worker's share of the tiles, publishes. Returns 0, or 1 + the phase when the run has failed.
Value EntryEmitter::emitSpace(LLVM::LLVMFuncOp bind) {
  Value isMeeting =
      unlikely(compare(arith::CmpIPredicate::eq, column(EntryTable::kind), constant(EntryTable::meeting)));
  Value waited = ifThen(isMeeting, status(0), [&] { return emitWaitsOfPhase(); });
  Value failed = ifThen(isZero(waited), waited, [&] { return table.hasClaims() ? emitClaims() : emitShare(); });
  return ifThen(isMeeting, status(0), [&] {
    failed = emitRebind(bind, failed);
    Value number = column(EntryTable::publishAs);
    Value isPublished = compare(arith::CmpIPredicate::ne, number, constant(0));
    Value publishes = arith::AndIOp::create(builder, location, isPublished, isZero(failed));
    scf::IfOp::create(builder, location, publishes, [&](OpBuilder &, Location) {
      emitPublish(add(base, number));
      scf::YieldOp::create(builder, location);
    });
    Value place = arith::TruncIOp::create(builder, location, i32, add(column(EntryTable::phaseIndex), constant(1)));
    return arith::SelectOp::create(builder, location, isZero(failed), failed, place).getResult();
  });
}

/// Computes the tiles that were dealt to this worker.
Value EntryEmitter::emitShare() {
  Value share =
      add(arith::MulIOp::create(builder, location, column(EntryTable::deal), add(workers, constant(1))), worker);
  Value begin = load(i64, deals, share), end = load(i64, deals, add(share, constant(1)));
  Value isAny = unlikely(compare(arith::CmpIPredicate::slt, begin, end));
  return ifThen(isAny, status(0), [&] {
    Value called;
    if (table.getDepth() == 0) {
      called = emitCall(begin, end);
    } else {
      Value loops = column(EntryTable::alternates), none = constant(0);
      Value turn = ifThen(compare(arith::CmpIPredicate::ne, loops, none), none, [&] {
        Value trip = load(i64, iterations, subtract(loops, constant(1)));
        return arith::AndIOp::create(builder, location, trip, constant(1)).getResult();
      });
      Value isForward = compare(arith::CmpIPredicate::eq, turn, none);
      called = emitCall(arith::SelectOp::create(builder, location, isForward, begin, end),
                        arith::SelectOp::create(builder, location, isForward, end, begin));
    }
    emitTrace(begin, end);
    return called;
  });
}

/// Computes tiles as long as there are some to claim, where the phase and the run want it.
Value EntryEmitter::emitClaims() {
  Value claims = field(pointer, offsetof(freestone_run_context, claims));
  Value isRun = LLVM::ICmpOp::create(builder, location, LLVM::ICmpPredicate::ne, claims,
                                     LLVM::ZeroOp::create(builder, location, pointer));
  Value isPhase = compare(arith::CmpIPredicate::ne, column(EntryTable::isClaimed), constant(0));
  auto branch = scf::IfOp::create(
      builder, location, arith::AndIOp::create(builder, location, isRun, isPhase),
      [&](OpBuilder &, Location) {
        Value number = add(base, add(column(EntryTable::phaseIndex), constant(1)));
        scf::WhileOp::create(
            builder, location, TypeRange(), ValueRange(),
            [&](OpBuilder &, Location, ValueRange) {
              auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i64, i64, i64, pointer});
              Value claim = field(pointer, offsetof(freestone_run_context, claim));
              Value isTaken = LLVM::CallOp::create(
                                  builder, location, type,
                                  ValueRange{claim, context, worker, column(EntryTable::deal), number, claimedTiles})
                                  .getResult();
              scf::ConditionOp::create(builder, location, compare(arith::CmpIPredicate::ne, isTaken, status(0)),
                                       ValueRange());
            },
            [&](OpBuilder &, Location, ValueRange) {
              Value begin = load(i64, claimedTiles), end = load(i64, element(i64, claimedTiles, 1));
              emitProgramCall(begin, end);
              emitTrace(begin, end);
              scf::YieldOp::create(builder, location);
            });
        scf::YieldOp::create(builder, location, status(0));
      },
      [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, emitShare()); });
  return branch.getResult(0);
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
  Value operands =
      element(i64, element(i64, row, static_cast<int32_t>(EntryTable::columns)), column(EntryTable::waitCount));
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

void EntryEmitter::emitTrace(Value begin, Value end) {
  Value trace = field(pointer, offsetof(freestone_run_context, trace));
  Value isTraced = LLVM::ICmpOp::create(builder, location, LLVM::ICmpPredicate::ne, trace,
                                        LLVM::ZeroOp::create(builder, location, pointer));
  scf::IfOp::create(builder, location, isTraced, [&](OpBuilder &, Location) {
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {pointer, i64, i64, i64, i64, i64});
    LLVM::CallOp::create(builder, location, type,
                         ValueRange{trace, context, worker, column(EntryTable::phaseIndex), begin, end,
                                    load(i64, sizes, column(EntryTable::tileCount))});
    scf::YieldOp::create(builder, location);
  });
}

/// Sets the run-time symbol to element 0 of its buffer, which worker 0 has written with tile 0, and derives all sizes
/// anew, lets memory grow, and deals the tiles of later phases. Without tiles the buffer is unwritten, and the symbol
/// gets its lower bound.
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
    Value overflow = LLVM::CallOp::create(builder, location, bind, ValueRange{sizes}).getResult();
    return ifThen(isZero(overflow), overflow, [&]() -> Value {
      auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i64, i64});
      Value resize = field(pointer, offsetof(freestone_run_context, resize));
      return LLVM::CallOp::create(
                 builder, location, type,
                 ValueRange{resize, context, column(EntryTable::phaseIndex), subtract(slot, constant(1))})
          .getResult();
    });
  });
}

LLVM::LLVMFuncOp EntryEmitter::declare(StringRef name, LLVM::LLVMFunctionType type) {
  OpBuilder::InsertionGuard guard(builder);
  auto module = cast<ModuleOp>(builder.getInsertionBlock()->getParentOp());
  if (auto declared = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return declared;
  return LLVM::LLVMFuncOp::create(builder, location, name, type);
}

LLVM::LLVMFuncOp EntryEmitter::declareProgram(StringRef name) {
  return declare(name, LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()),
                                                   {pointer, pointer, i64, i64, pointer}));
}

/// A constant of the program.
LLVM::GlobalOp EntryEmitter::emitWords(StringRef suffix, ArrayRef<int64_t> values) {
  auto type = LLVM::LLVMArrayType::get(i64, values.size());
  auto words = DenseIntElementsAttr::get(RankedTensorType::get({static_cast<int64_t>(values.size())}, i64), values);
  return LLVM::GlobalOp::create(builder, location, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                (program.getSymName() + suffix).str(), words);
}

LLVM::GlobalOp EntryEmitter::emitTable() {
  // Views that follow no loop come behind the last row.
  SmallVector<int64_t> values(table.getWords());
  llvm::append_range(values, table.getFixedViews());
  return emitWords("_table", values);
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
