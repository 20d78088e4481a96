#include "compiler/codegen/cpu/EmitEntries.h"

#include "compiler/dialect/sym/Lowering.h"
#include "compiler/task/SizeSlots.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "runtime/abi.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallBitVector.h"
#include <cstddef>

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// A constant global whose value is computed by `initialize`.
LLVM::GlobalOp emitConstantGlobal(OpBuilder &builder, Location location, Type type, StringRef name,
                                  LLVM::Linkage linkage, llvm::function_ref<Value()> initialize) {
  auto global = LLVM::GlobalOp::create(builder, location, type, /*isConstant=*/true, linkage, name, Attribute());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&global.getInitializerRegion());
  Value value = initialize();
  LLVM::ReturnOp::create(builder, location, value);
  return global;
}

/// A row of the table that `run` walks: one space. Behind it stand the indices of its buffers, the slots of its sizes
/// and its sites.
enum Column : int64_t {
  phaseIndex,
  waitFor,   ///< 1 + the phase that all workers must have finished; 0: none
  publishAs, ///< 1 + the phase that ends here and that somebody waits for; 0: none
  callee,    ///< index of the program, or ~ of the number of the service call
  tileCount, ///< slot
  bufferCount,
  sizeCount,
  siteCount,
  bindsSlot, ///< 1 + the slot that element 0 of `bindsBuffer` gives its value; 0: none
  bindsBuffer,
  bindsLower, ///< the value where nothing was found
  columns
};

/// The functions of one entry. `run` is a loop over a table and not a sequence of calls: its size, and the time that it
/// takes to compile, would grow with every phase.
class EntryEmitter {
public:
  EntryEmitter(OpBuilder &module, ProgramOp program)
      : builder(module), program(program), slots(program), location(program.getLoc()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())), i32(module.getI32Type()), i64(module.getI64Type()) {}

  LLVM::LLVMFuncOp emitBind();
  LLVM::LLVMFuncOp emitRun(LLVM::LLVMFuncOp bind);

private:
  void makeTable();
  void addRow(SpaceOp space);
  LLVM::GlobalOp emitTable();
  LLVM::GlobalOp emitPrograms();
  LLVM::LLVMFuncOp declareProgram(StringRef name);

  Value emitRow(LLVM::LLVMFuncOp bind);
  Value emitCall(Value begin, Value end);
  Value emitProgramCall(Value begin, Value end);
  void emitTrace(Value begin, Value end, Value tiles);
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
  Value column(Column of) { return load(i64, element(i64, row, static_cast<int32_t>(of))); }
  Value ceilOfShare(Value worker, Value tiles);
  /// What `body` gives where `condition` holds, else `otherwise`.
  Value ifThen(Value condition, Value otherwise, llvm::function_ref<Value()> body);

  OpBuilder &builder;
  ProgramOp program;
  SizeSlots slots;
  Location location;
  Type pointer, i32, i64;

  SmallVector<int64_t> table;
  llvm::MapVector<StringRef, int64_t> programs;
  DenseMap<Value, int64_t> bufferIndex;
  int64_t serviceCalls = 0, mostBuffers = 1, mostSizes = 1;

  // While `run` is emitted.
  Value context, worker, buffers, sizes, workers, base, scratch, programTable, bufferArguments, sizeArguments, row;
};

LLVM::LLVMFuncOp EntryEmitter::emitBind() {
  OpBuilder::InsertionGuard guard(builder);
  auto type = LLVM::LLVMFunctionType::get(i32, {pointer});
  auto bind = LLVM::LLVMFuncOp::create(builder, location, (program.getSymName() + "_bind").str(), type,
                                       LLVM::Linkage::Internal);
  // It runs once for new sizes, and is large where the model is.
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

void EntryEmitter::makeTable() {
  for (auto [index, buffer] : llvm::enumerate(program.getBuffers()))
    bufferIndex[buffer.getBuffer()] = index;
  SmallVector<PhaseOp, 8> phases = program.getPhases();
  // A number nobody waits for need not be published: the next one implies it.
  llvm::SmallBitVector awaited(phases.size());
  for (PhaseOp phase : phases)
    for (int64_t before : phase.getAllAfter())
      awaited.set(before);
  if (!phases.empty())
    awaited.set(phases.size() - 1);

  for (auto [index, phase] : llvm::enumerate(phases)) {
    SmallVector<SpaceOp, 8> spaces = phase.getSpaces();
    assert(!spaces.empty() && "a phase computes something");
    size_t first = table.size(), last = first;
    for (SpaceOp space : spaces) {
      last = table.size();
      addRow(space);
      table[last + phaseIndex] = index;
    }
    if (!phase.getAllAfter().empty())
      table[first + waitFor] = *llvm::max_element(phase.getAllAfter()) + 1;
    if (awaited[index])
      table[last + publishAs] = index + 1;
    for (auto [slot, symbol] : llvm::enumerate(program.getSymbols().getAsRange<SymbolAttr>())) {
      if (symbol.getName() != phase.getBinds())
        continue;
      table[last + bindsSlot] = slot + 1;
      table[last + bindsBuffer] = symbol.getTensor();
      table[last + bindsLower] = symbol.getLower();
    }
  }
}

void EntryEmitter::addRow(SpaceOp space) {
  int64_t row[columns] = {};
  // The runtime knows the operands of services from the descriptor, where the calls stand in the order of the program.
  row[callee] = space.getService()
                    ? ~serviceCalls++
                    : programs.insert({space.getProgram(), static_cast<int64_t>(programs.size())}).first->second;
  row[tileCount] = slots.of(space.getTiles().getExpr());
  row[bufferCount] = space->getNumOperands();
  row[sizeCount] = space.getSizes().size();
  row[siteCount] = space.getSites().size();
  llvm::append_range(table, row);
  for (Value operand : space->getOperands())
    table.push_back(bufferIndex.lookup(operand));
  for (auto size : space.getSizes().getAsRange<sym::ExprAttr>())
    table.push_back(slots.of(size.getExpr()));
  llvm::append_range(table, space.getSites());
  mostBuffers = std::max(mostBuffers, row[bufferCount]);
  mostSizes = std::max(mostSizes, row[sizeCount] + row[siteCount]);
}

LLVM::LLVMFuncOp EntryEmitter::emitRun(LLVM::LLVMFuncOp bind) {
  OpBuilder::InsertionGuard guard(builder);
  makeTable();
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
  bufferArguments = LLVM::AllocaOp::create(builder, location, pointer, pointer, constant(mostBuffers));
  sizeArguments = LLVM::AllocaOp::create(builder, location, pointer, i64, constant(mostSizes));
  programTable = LLVM::AddressOfOp::create(builder, location, callees);
  Value first = LLVM::AddressOfOp::create(builder, location, rows);
  Value end = element(i64, first, static_cast<int32_t>(table.size()));

  auto loop = scf::WhileOp::create(
      builder, location, TypeRange{pointer, i32}, ValueRange{first, status(0)},
      [&](OpBuilder &, Location, ValueRange state) {
        Value isRow = LLVM::ICmpOp::create(builder, location, LLVM::ICmpPredicate::ne, state[0], end);
        Value goesOn = arith::AndIOp::create(builder, location, isRow, isZero(state[1]));
        scf::ConditionOp::create(builder, location, goesOn, state);
      },
      [&](OpBuilder &, Location, ValueRange state) {
        row = state[0];
        Value failed = emitRow(bind);
        Value arguments = add(add(column(bufferCount), column(sizeCount)), column(siteCount));
        Value next = element(i64, row, add(arguments, constant(columns)));
        scf::YieldOp::create(builder, location, ValueRange{next, failed});
      });
  LLVM::ReturnOp::create(builder, location, loop.getResult(1));
  return function;
}

Value EntryEmitter::ifThen(Value condition, Value otherwise, llvm::function_ref<Value()> body) {
  auto branch = scf::IfOp::create(
      builder, location, condition, [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, body()); },
      [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, otherwise); });
  return branch.getResult(0);
}

/// Waits, computes this worker's share of the tiles, publishes. Gives 0, or 1 when the run has failed.
Value EntryEmitter::emitRow(LLVM::LLVMFuncOp bind) {
  Value awaited = column(waitFor);
  Value isWaiting = compare(arith::CmpIPredicate::ne, awaited, constant(0));
  Value waited = ifThen(isWaiting, status(0), [&] {
    auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i64, i64});
    Value wait = field(pointer, offsetof(freestone_run_context, wait_all));
    return LLVM::CallOp::create(builder, location, type, ValueRange{wait, context, worker, add(base, awaited)})
        .getResult();
  });
  return ifThen(isZero(waited), status(1), [&] {
    Value tiles = load(i64, sizes, column(tileCount));
    Value begin = ceilOfShare(worker, tiles), end = ceilOfShare(add(worker, constant(1)), tiles);
    Value isAny = compare(arith::CmpIPredicate::slt, begin, end);
    Value failed = emitRebind(bind, ifThen(isAny, status(0), [&] {
                                Value called = emitCall(begin, end);
                                emitTrace(begin, end, tiles);
                                return called;
                              }));

    Value number = column(publishAs);
    Value isPublished = compare(arith::CmpIPredicate::ne, number, constant(0));
    Value publishes = arith::AndIOp::create(builder, location, isPublished, isZero(failed));
    scf::IfOp::create(builder, location, publishes, [&](OpBuilder &, Location) {
      auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {pointer, i64, i64});
      Value publish = field(pointer, offsetof(freestone_run_context, publish));
      LLVM::CallOp::create(builder, location, type, ValueRange{publish, context, worker, add(base, number)});
      scf::YieldOp::create(builder, location);
    });
    return failed;
  });
}

Value EntryEmitter::ceilOfShare(Value of, Value tiles) {
  Value product = arith::MulIOp::create(builder, location, of, tiles);
  Value rounded = add(product, arith::SubIOp::create(builder, location, workers, constant(1)));
  return arith::DivUIOp::create(builder, location, rounded, workers);
}

Value EntryEmitter::emitCall(Value begin, Value end) {
  Value number = column(callee);
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
  Value operands = element(i64, row, static_cast<int32_t>(columns));
  Value slotsOfSizes = element(i64, operands, column(bufferCount));
  Value sites = element(i64, slotsOfSizes, column(sizeCount));
  emitCopies(column(bufferCount), operands, pointer, bufferArguments,
             [&](Value buffer) { return load(pointer, buffers, buffer); });
  emitCopies(column(sizeCount), slotsOfSizes, i64, sizeArguments, [&](Value slot) { return load(i64, sizes, slot); });
  emitCopies(column(siteCount), sites, i64, element(i64, sizeArguments, column(sizeCount)),
             [](Value site) { return site; });
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {pointer, pointer, i64, i64, pointer});
  LLVM::CallOp::create(
      builder, location, type,
      ValueRange{load(pointer, programTable, column(callee)), bufferArguments, sizeArguments, begin, end, scratch});
  return status(0);
}

void EntryEmitter::emitTrace(Value begin, Value end, Value tiles) {
  Value trace = field(pointer, offsetof(freestone_run_context, trace));
  Value isTraced = LLVM::ICmpOp::create(builder, location, LLVM::ICmpPredicate::ne, trace,
                                        LLVM::ZeroOp::create(builder, location, pointer));
  scf::IfOp::create(builder, location, isTraced, [&](OpBuilder &, Location) {
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {pointer, i64, i64, i64, i64, i64});
    LLVM::CallOp::create(builder, location, type,
                         ValueRange{trace, context, worker, column(phaseIndex), begin, end, tiles});
    scf::YieldOp::create(builder, location);
  });
}

/// The run-time symbol's value is element 0 of its buffer; all sizes follow from it anew. Worker 0 has written it, with
/// tile 0; without tiles nothing was found, and it writes the least that the symbol may be.
Value EntryEmitter::emitRebind(LLVM::LLVMFuncOp bind, Value failed) {
  Value slot = column(bindsSlot);
  Value isBound = compare(arith::CmpIPredicate::ne, slot, constant(0));
  Value isFirst = arith::AndIOp::create(builder, location, isZero(worker), isZero(failed));
  return ifThen(arith::AndIOp::create(builder, location, isBound, isFirst), failed, [&]() -> Value {
    Value address = load(pointer, buffers, column(bindsBuffer));
    Value hasTiles = compare(arith::CmpIPredicate::ne, constant(0), load(i64, sizes, column(tileCount)));
    Value count = arith::SelectOp::create(builder, location, hasTiles, load(i64, address), column(bindsLower));
    store(count, address);
    store(count, element(i64, sizes, arith::SubIOp::create(builder, location, slot, constant(1)).getResult()));
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
  auto type = LLVM::LLVMArrayType::get(i64, table.size());
  auto words =
      DenseIntElementsAttr::get(RankedTensorType::get({static_cast<int64_t>(table.size())}, i64), ArrayRef(table));
  return LLVM::GlobalOp::create(builder, location, type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                (program.getSymName() + "_table").str(), words);
}

LLVM::GlobalOp EntryEmitter::emitPrograms() {
  SmallVector<LLVM::LLVMFuncOp> functions;
  for (StringRef name : llvm::make_first_range(programs))
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
