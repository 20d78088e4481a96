#include "compiler/codegen/cpu/EmitEntries.h"

#include "compiler/dialect/sym/Lowering.h"
#include "compiler/task/SizeSlots.h"
#include "runtime/abi.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include <cstddef>

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// The functions of one entry.
class EntryEmitter {
public:
  EntryEmitter(OpBuilder &module, ProgramOp program)
      : builder(module), program(program), slots(program), location(program.getLoc()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())), i32(module.getI32Type()), i64(module.getI64Type()) {}

  LLVM::LLVMFuncOp emitBind();
  LLVM::LLVMFuncOp emitRun(LLVM::LLVMFuncOp bind);

private:
  void emitPhase(int64_t index, PhaseOp phase, LLVM::LLVMFuncOp bind);
  void emitSpace(SpaceOp space);
  void emitProgramCall(SpaceOp space, Value begin, Value end);
  void emitServiceCall();
  void emitRebind(PhaseOp phase, LLVM::LLVMFuncOp bind);
  void failUnlessZero(Value status);
  LLVM::LLVMFuncOp declareProgram(StringRef name);

  Value constant(int64_t value) { return LLVM::ConstantOp::create(builder, location, i64, value); }
  Value element(Type type, Value base, int64_t index) {
    return LLVM::GEPOp::create(builder, location, pointer, type, base, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  }
  Value load(Type type, Value address) { return LLVM::LoadOp::create(builder, location, type, address); }
  void store(Value value, Value address) { LLVM::StoreOp::create(builder, location, value, address); }
  Value field(Type type, size_t offset) { return load(type, element(builder.getI8Type(), context, offset)); }
  Value size(sym::Expr expr) { return load(i64, element(i64, sizes, slots.of(expr))); }
  Value ceilOfShare(Value worker, Value tiles);
  Block *addBlock() { return builder.createBlock(function.getCallableRegion()); }

  OpBuilder &builder;
  ProgramOp program;
  SizeSlots slots;
  Location location;
  Type pointer, i32, i64;

  // While `run` is emitted.
  LLVM::LLVMFuncOp function;
  Block *failure = nullptr;
  Value context, worker, buffers, sizes, workers, base, scratch, bufferArguments, sizeArguments;
  int64_t serviceCalls = 0;
  DenseMap<Value, int64_t> bufferIndex;
};

LLVM::LLVMFuncOp EntryEmitter::emitBind() {
  OpBuilder::InsertionGuard guard(builder);
  auto type = LLVM::LLVMFunctionType::get(i32, {pointer});
  auto bind = LLVM::LLVMFuncOp::create(builder, location, (program.getSymName() + "_bind").str(), type, LLVM::Linkage::Internal);
  Block *entry = bind.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  Value table = entry->getArgument(0);

  llvm::StringMap<Value> symbols;
  for (auto [index, symbol] : llvm::enumerate(program.getSymbols().getAsRange<SymbolAttr>()))
    symbols[symbol.getName()] = load(i64, element(i64, table, index));
  Value overflow;
  auto symbolValue = [&](StringRef name) { return symbols.lookup(name); };
  if (auto definitions = program.getDefinitions())
    for (auto definition : definitions->getAsRange<ArrayAttr>()) {
      sym::Expr size = cast<sym::ExprAttr>(definition[1]).getExpr();
      symbols[cast<StringAttr>(definition[0])] = sym::lowerExprChecked(builder, location, size, symbolValue, overflow);
    }
  for (int64_t slot = slots.symbolCount(); slot < slots.count(); ++slot) {
    bool isCount = slot >= slots.checkedCount();
    Value saturated;
    Value value = sym::lowerExprChecked(builder, location, slots.getExprs()[slot],
                                        symbolValue, isCount ? saturated : overflow);
    if (isCount)
      value = LLVM::SelectOp::create(builder, location, saturated, constant(INT64_MAX), value);
    store(value, element(i64, table, slot));
  }
  Value status = overflow ? LLVM::ZExtOp::create(builder, location, i32, overflow).getResult()
                          : LLVM::ConstantOp::create(builder, location, i32, 0).getResult();
  LLVM::ReturnOp::create(builder, location, status);
  return bind;
}

LLVM::LLVMFuncOp EntryEmitter::emitRun(LLVM::LLVMFuncOp bind) {
  OpBuilder::InsertionGuard guard(builder);
  auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i64});
  function = LLVM::LLVMFuncOp::create(builder, location, (program.getSymName() + "_run").str(), type, LLVM::Linkage::Internal);
  Block *entry = function.addEntryBlock(builder);
  context = entry->getArgument(0);
  worker = entry->getArgument(1);

  failure = addBlock();
  LLVM::ReturnOp::create(builder, location, LLVM::ConstantOp::create(builder, location, i32, 1).getResult());

  builder.setInsertionPointToStart(entry);
  buffers = field(pointer, offsetof(freestone_run_context, buffers));
  sizes = field(pointer, offsetof(freestone_run_context, sizes));
  workers = field(i64, offsetof(freestone_run_context, workers));
  base = field(i64, offsetof(freestone_run_context, base));
  Value stride = field(i64, offsetof(freestone_run_context, scratch_stride));
  scratch = LLVM::GEPOp::create(builder, location, pointer, builder.getI8Type(), field(pointer, offsetof(freestone_run_context, scratch)),
                                ArrayRef<LLVM::GEPArg>{LLVM::MulOp::create(builder, location, worker, stride).getResult()});

  int64_t mostBuffers = 1, mostSizes = 1;
  program.walk([&](SpaceOp space) {
    mostBuffers = std::max<int64_t>(mostBuffers, space->getNumOperands());
    mostSizes = std::max<int64_t>(mostSizes, space.getSizes().size() + space.getSites().size());
  });
  bufferArguments = LLVM::AllocaOp::create(builder, location, pointer, pointer, constant(mostBuffers));
  sizeArguments = LLVM::AllocaOp::create(builder, location, pointer, i64, constant(mostSizes));
  for (auto [index, buffer] : llvm::enumerate(program.getBuffers()))
    bufferIndex[buffer.getBuffer()] = index;

  for (auto [index, phase] : llvm::enumerate(program.getPhases()))
    emitPhase(index, phase, bind);
  LLVM::ReturnOp::create(builder, location, LLVM::ConstantOp::create(builder, location, i32, 0).getResult());
  return function;
}

void EntryEmitter::failUnlessZero(Value status) {
  Value zero = LLVM::ConstantOp::create(builder, location, i32, 0);
  Value failed = LLVM::ICmpOp::create(builder, location, LLVM::ICmpPredicate::ne, status, zero);
  Block *from = builder.getInsertionBlock();
  Block *next = addBlock();
  builder.setInsertionPointToEnd(from);
  LLVM::CondBrOp::create(builder, location, failed, failure, next);
  builder.setInsertionPointToStart(next);
}

void EntryEmitter::emitPhase(int64_t index, PhaseOp phase, LLVM::LLVMFuncOp bind) {
  location = phase.getLoc();
  Type voidType = LLVM::LLVMVoidType::get(builder.getContext());
  auto progressNumber = [&](int64_t of) { return LLVM::AddOp::create(builder, location, base, constant(of + 1)).getResult(); };

  if (!phase.getAllAfter().empty()) {
    int64_t latest = *llvm::max_element(phase.getAllAfter());
    auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i64, i64});
    Value wait = field(pointer, offsetof(freestone_run_context, wait_all));
    auto call = LLVM::CallOp::create(builder, location, type, ValueRange{wait, context, worker, progressNumber(latest)});
    failUnlessZero(call.getResult());
  }
  for (SpaceOp space : phase.getSpaces())
    emitSpace(space);
  if (phase.getBinds())
    emitRebind(phase, bind);

  // A number nobody waits for need not be published: the next one implies it.
  SmallVector<PhaseOp, 8> phases = program.getPhases();
  bool awaited = index + 1 == static_cast<int64_t>(phases.size());
  for (PhaseOp later : phases)
    awaited |= llvm::is_contained(later.getAllAfter(), index);
  if (!awaited)
    return;
  auto type = LLVM::LLVMFunctionType::get(voidType, {pointer, i64, i64});
  Value publish = field(pointer, offsetof(freestone_run_context, publish));
  LLVM::CallOp::create(builder, location, type, ValueRange{publish, context, worker, progressNumber(index)});
}

Value EntryEmitter::ceilOfShare(Value of, Value tiles) {
  Value product = LLVM::MulOp::create(builder, location, of, tiles);
  Value rounded = LLVM::AddOp::create(builder, location, product, LLVM::SubOp::create(builder, location, workers, constant(1)));
  return LLVM::UDivOp::create(builder, location, rounded, workers);
}

void EntryEmitter::emitSpace(SpaceOp space) {
  Value tiles = size(space.getTiles().getExpr());
  Value begin = ceilOfShare(worker, tiles);
  Value end = ceilOfShare(LLVM::AddOp::create(builder, location, worker, constant(1)), tiles);
  Value any = LLVM::ICmpOp::create(builder, location, LLVM::ICmpPredicate::slt, begin, end);

  Block *from = builder.getInsertionBlock();
  Block *call = addBlock();
  Block *next = addBlock();
  builder.setInsertionPointToEnd(from);
  LLVM::CondBrOp::create(builder, location, any, call, next);

  builder.setInsertionPointToStart(call);
  if (space.getService())
    emitServiceCall();
  else
    emitProgramCall(space, begin, end);
  LLVM::BrOp::create(builder, location, next);
  builder.setInsertionPointToStart(next);
}

void EntryEmitter::emitProgramCall(SpaceOp space, Value begin, Value end) {
  for (auto [position, operand] : llvm::enumerate(space->getOperands()))
    store(load(pointer, element(pointer, buffers, bufferIndex.lookup(operand))), element(pointer, bufferArguments, position));
  int64_t position = 0;
  for (auto expr : space.getSizes().getAsRange<sym::ExprAttr>())
    store(size(expr.getExpr()), element(i64, sizeArguments, position++));
  for (int64_t site : space.getSites())
    store(constant(site), element(i64, sizeArguments, position++));
  LLVM::CallOp::create(builder, location, declareProgram(space.getProgram()),
                       ValueRange{bufferArguments, sizeArguments, begin, end, scratch});
}

/// The runtime knows the operands from the descriptor, where the calls stand in the order of the program.
void EntryEmitter::emitServiceCall() {
  auto type = LLVM::LLVMFunctionType::get(i32, {pointer, i64});
  Value service = field(pointer, offsetof(freestone_run_context, call_service));
  auto call = LLVM::CallOp::create(builder, location, type, ValueRange{service, context, constant(serviceCalls++)});
  failUnlessZero(call.getResult());
}

/// The run-time symbol's value is element 0 of its buffer; all sizes follow from it anew. Worker 0 has written it, with tile 0; without
/// tiles nothing was found, and it writes the least that the symbol may be.
void EntryEmitter::emitRebind(PhaseOp phase, LLVM::LLVMFuncOp bind) {
  Block *from = builder.getInsertionBlock();
  Block *rebind = addBlock();
  Block *next = addBlock();
  builder.setInsertionPointToEnd(from);
  Value isFirst = LLVM::ICmpOp::create(builder, location, LLVM::ICmpPredicate::eq, worker, constant(0));
  LLVM::CondBrOp::create(builder, location, isFirst, rebind, next);

  builder.setInsertionPointToStart(rebind);
  for (auto [slot, symbol] : llvm::enumerate(program.getSymbols().getAsRange<SymbolAttr>())) {
    if (symbol.getName() != phase.getBinds())
      continue;
    Value address = load(pointer, element(pointer, buffers, symbol.getTensor()));
    Value hasTiles = LLVM::ICmpOp::create(builder, location, LLVM::ICmpPredicate::ne, constant(0),
                                          size(phase.getSpaces().front().getTiles().getExpr()));
    Value count = LLVM::SelectOp::create(builder, location, hasTiles, load(i64, address), constant(symbol.getLower()));
    store(count, address);
    store(count, element(i64, sizes, slot));
  }
  auto call = LLVM::CallOp::create(builder, location, bind, ValueRange{sizes});
  failUnlessZero(call.getResult());
  LLVM::BrOp::create(builder, location, next);
  builder.setInsertionPointToStart(next);
}

LLVM::LLVMFuncOp EntryEmitter::declareProgram(StringRef name) {
  auto module = function->getParentOfType<ModuleOp>();
  if (auto declared = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return declared;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), {pointer, pointer, i64, i64, pointer});
  return LLVM::LLVMFuncOp::create(builder, location, name, type);
}

/// A constant global whose value is computed by `initialize`.
LLVM::GlobalOp emitConstantGlobal(OpBuilder &builder, Location location, Type type, StringRef name, LLVM::Linkage linkage,
                                  llvm::function_ref<Value()> initialize) {
  auto global = LLVM::GlobalOp::create(builder, location, type, /*isConstant=*/true, linkage, name, Attribute());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&global.getInitializerRegion());
  Value value = initialize();
  LLVM::ReturnOp::create(builder, location, value);
  return global;
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
  LLVM::GlobalOp array = emitConstantGlobal(builder, location, arrayType, "freestone_entries", LLVM::Linkage::Internal, [&] {
    Value value = LLVM::UndefOp::create(builder, location, arrayType);
    for (auto [index, pair] : llvm::enumerate(functions)) {
      int64_t position = index;
      for (auto [member, function] : llvm::enumerate(std::initializer_list<LLVM::LLVMFuncOp>{pair.first, pair.second})) {
        LLVM::LLVMFuncOp callee = function;
        Value address = LLVM::AddressOfOp::create(builder, location, callee);
        value = LLVM::InsertValueOp::create(builder, location, value, address, ArrayRef<int64_t>{position, static_cast<int64_t>(member)});
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
      value = LLVM::InsertValueOp::create(builder, location, value, member, ArrayRef<int64_t>{static_cast<int64_t>(index)});
    return value;
  });
  return module;
}
