#include "compiler/codegen/cpu/MicroKernels.h"

#include "compiler/tile/CutContraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

static FunctionType getKernelType(OpBuilder &builder, KernelKind kind);

namespace {

/// Blocks of one height: accumulators in registers, two steps of k a turn. Unrolled further, values spill.
class BlockEmitter {
public:
  BlockEmitter(OpBuilder &builder, Location location, KernelKind kind, Type elementType, const DeviceDescription &device)
      : builder(builder), location(location), kind(kind), elementType(elementType), bytes(elementType.getIntOrFloatBitWidth() / 8),
        lanes(device.getLanes(bytes * 8)), rowStride(tile::ContractionBlocks::get(device, bytes).getRowStride(bytes)),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())), vector(VectorType::get({lanes}, elementType)) {}

  func::FuncOp emitBlock(int64_t rows);
  func::FuncOp emitDriver(ArrayRef<std::pair<int64_t, func::FuncOp>> blocks);

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, location, value); }
  Value word(int64_t value) { return arith::ConstantIntOp::create(builder, location, value, 64); }
  Value toIndex(Value value) { return arith::IndexCastOp::create(builder, location, builder.getIndexType(), value); }
  Value element(Value base, LLVM::GEPArg index) { return element(base, elementType, index); }
  Value element(Value base, Type type, LLVM::GEPArg index) {
    return LLVM::GEPOp::create(builder, location, pointer, type, base, ArrayRef<LLVM::GEPArg>{index});
  }
  Value multiplyAdd(Value a, Value b, Value sum);
  Value loadBroadcast(Value address);
  SmallVector<Value> emitStep(ValueRange sums, Value left, Value right);
  Value getLeft(Value a, Value steps, int32_t step);
  Value emitHeight(Value left, int64_t most);

  OpBuilder &builder;
  Location location;
  KernelKind kind;
  Type elementType;
  unsigned bytes;
  int64_t lanes, rowStride;
  Type pointer;
  VectorType vector;
};

} // namespace

Value BlockEmitter::multiplyAdd(Value a, Value b, Value sum) {
  if (isa<FloatType>(elementType))
    return vector::FMAOp::create(builder, location, a, b, sum);
  return arith::AddIOp::create(builder, location, sum, arith::MulIOp::create(builder, location, a, b));
}

Value BlockEmitter::loadBroadcast(Value address) {
  Value scalar = LLVM::LoadOp::create(builder, location, elementType, address);
  return vector::BroadcastOp::create(builder, location, vector, scalar);
}

/// One row of B times the elements of A from `left`, one a row of the block.
SmallVector<Value> BlockEmitter::emitStep(ValueRange sums, Value left, Value right) {
  Value vectors[2];
  for (int32_t half = 0; half < 2; ++half)
    vectors[half] = LLVM::LoadOp::create(builder, location, vector, element(right, half * static_cast<int32_t>(lanes)), bytes);
  int32_t distance = kind == KernelKind::window ? 1 : static_cast<int32_t>(rowStride);
  SmallVector<Value> next;
  for (int32_t row = 0, rows = static_cast<int32_t>(sums.size() / 2); row < rows; ++row) {
    Value factor = loadBroadcast(element(left, row * distance));
    for (int64_t half = 0; half < 2; ++half)
      next.push_back(multiplyAdd(factor, vectors[half], sums[2 * row + half]));
  }
  return next;
}

/// Where a step of k finds A: by its offset in a window, else in the next column.
Value BlockEmitter::getLeft(Value a, Value steps, int32_t step) {
  if (kind != KernelKind::window)
    return element(steps, step);
  Type i64 = builder.getI64Type();
  Value offset = LLVM::LoadOp::create(builder, location, i64, element(steps, i64, step));
  return element(a, offset);
}

/// void block(i64 columns, i64 depth, ptr A, ptr steps, ptr B, ptr C, i64 ldc, i64 accumulate)
func::FuncOp BlockEmitter::emitBlock(int64_t rows) {
  OpBuilder::InsertionGuard guard(builder);
  Type i64 = builder.getI64Type(), i1 = builder.getI1Type();
  auto type = builder.getFunctionType({i64, i64, pointer, pointer, pointer, pointer, i64, i64}, {});
  auto function = func::FuncOp::create(builder, location, "block_" + std::to_string(rows), type);
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  Value columns = toIndex(entry->getArgument(0)), depth = entry->getArgument(1), a = entry->getArgument(2);
  Value accumulate = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, entry->getArgument(7), word(0));

  auto maskType = VectorType::get({lanes}, i1);
  Value zeros = arith::ConstantOp::create(builder, location, vector, builder.getZeroAttr(vector));
  Value none = arith::ConstantOp::create(builder, location, maskType, builder.getZeroAttr(maskType));
  Value masks[2], loadMasks[2];
  for (int64_t half = 0; half < 2; ++half) {
    Value left = arith::SubIOp::create(builder, location, columns, constant(half * lanes));
    masks[half] = vector::CreateMaskOp::create(builder, location, maskType, ValueRange{left});
    loadMasks[half] = arith::SelectOp::create(builder, location, accumulate, masks[half], none);
  }
  SmallVector<Value> addresses;
  SmallVector<Value> state;
  for (int64_t row = 0; row < rows; ++row) {
    Value offset = arith::MulIOp::create(builder, location, entry->getArgument(6), word(row));
    for (int64_t half = 0; half < 2; ++half) {
      Value address = element(element(entry->getArgument(5), offset), static_cast<int32_t>(half * lanes));
      addresses.push_back(address);
      state.push_back(zeros);
      // What is in C is added last; the loop gives memory the time to bring it.
      LLVM::Prefetch::create(builder, location, address, /*rw=*/1, /*hint=*/3, /*cache=*/1);
    }
  }
  state.push_back(entry->getArgument(3));
  state.push_back(entry->getArgument(4));

  Type stepType = kind == KernelKind::window ? i64 : elementType;
  Value pairs = toIndex(arith::ShRUIOp::create(builder, location, depth, word(1)));
  auto loop = scf::ForOp::create(builder, location, constant(0), pairs, constant(1), state);
  {
    OpBuilder::InsertionGuard loopGuard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ValueRange values = loop.getRegionIterArgs();
    SmallVector<Value> sums(values.drop_back(2));
    Value steps = values[2 * rows], right = values[2 * rows + 1];
    for (int32_t step = 0; step < 2; ++step) {
      sums = emitStep(sums, getLeft(a, steps, step), right);
      right = element(right, static_cast<int32_t>(2 * lanes));
    }
    llvm::append_values(sums, element(steps, stepType, 2), right);
    scf::YieldOp::create(builder, location, sums);
  }
  Value isOdd = arith::TruncIOp::create(builder, location, i1, depth);
  ValueRange results = loop.getResults();
  auto last = scf::IfOp::create(
      builder, location, isOdd,
      [&](OpBuilder &, Location) {
        SmallVector<Value> sums = emitStep(results.drop_back(2), getLeft(a, results[2 * rows], 0), results[2 * rows + 1]);
        scf::YieldOp::create(builder, location, sums);
      },
      [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, results.drop_back(2)); });
  for (auto [number, address] : llvm::enumerate(addresses)) {
    Value before = LLVM::MaskedLoadOp::create(builder, location, vector, address, loadMasks[number % 2], zeros, bytes);
    Value sum = isa<FloatType>(elementType) ? arith::AddFOp::create(builder, location, last.getResult(number), before).getResult()
                                            : arith::AddIOp::create(builder, location, last.getResult(number), before).getResult();
    LLVM::MaskedStoreOp::create(builder, location, sum, address, masks[number % 2], bytes);
  }
  func::ReturnOp::create(builder, location);
  return function;
}

/// The height of the next block: of the largest one while two of them fit, then two of about equal height, then what is left.
Value BlockEmitter::emitHeight(Value left, int64_t most) {
  auto compare = [&](arith::CmpIPredicate predicate, int64_t with) -> Value {
    return arith::CmpIOp::create(builder, location, predicate, left, word(with));
  };
  auto select = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(builder, location, condition, yes, no);
  };
  auto evenBelow = [&](Value value) -> Value { return arith::AndIOp::create(builder, location, value, word(-2)); };
  auto add = [&](int64_t value) -> Value { return arith::AddIOp::create(builder, location, left, word(value)); };
  // Half of what is left, rounded up to an even height.
  Value half = evenBelow(arith::ShRSIOp::create(builder, location, add(3), word(1)));
  Value height = select(compare(arith::CmpIPredicate::sge, 2 * most), word(most), half);
  // A window has room for one row more than there are.
  Value last = kind == KernelKind::window
                   ? evenBelow(add(1))
                   : select(compare(arith::CmpIPredicate::eq, 1), word(1), evenBelow(left));
  return select(compare(arith::CmpIPredicate::sle, most), last, height);
}

func::FuncOp BlockEmitter::emitDriver(ArrayRef<std::pair<int64_t, func::FuncOp>> blocks) {
  OpBuilder::InsertionGuard guard(builder);
  bool isWindow = kind == KernelKind::window;
  Type i64 = builder.getI64Type();
  auto function = func::FuncOp::create(builder, location, getKernelName(kind, elementType), getKernelType(builder, kind));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  ValueRange arguments = entry->getArguments();
  Value rows = arguments[0], columns = isWindow ? word(2 * lanes) : arguments[1], depth = arguments[isWindow ? 1 : 2];
  Value a = arguments[isWindow ? 2 : 3], steps = arguments[3], b = arguments[4], c = arguments[5];
  Value ldc = isWindow ? columns : arguments[6], accumulate = arguments.back();
  scf::WhileOp::create(
      builder, location, TypeRange{i64, pointer, pointer}, ValueRange{rows, a, c},
      [&](OpBuilder &, Location, ValueRange values) {
        Value some = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, values[0], word(0));
        scf::ConditionOp::create(builder, location, some, values);
      },
      [&](OpBuilder &, Location, ValueRange values) {
        Value left = values[0], height = emitHeight(left, blocks.back().first);
        SmallVector<int64_t> cases = llvm::map_to_vector(blocks.drop_back(), [](auto &block) { return block.first; });
        auto choice = scf::IndexSwitchOp::create(builder, location, TypeRange{}, toIndex(height), cases, cases.size());
        auto emitCall = [&](Region &region, func::FuncOp block) {
          OpBuilder::InsertionGuard caseGuard(builder);
          builder.createBlock(&region);
          func::CallOp::create(builder, location, block,
                               ValueRange{columns, depth, values[1], isWindow ? steps : values[1], b, values[2], ldc, accumulate});
          scf::YieldOp::create(builder, location);
        };
        for (auto [region, block] : llvm::zip_equal(choice.getCaseRegions(), blocks.drop_back()))
          emitCall(region, block.second);
        emitCall(choice.getDefaultRegion(), blocks.back().second);

        auto times = [&](Value value) -> Value { return arith::MulIOp::create(builder, location, height, value); };
        scf::YieldOp::create(builder, location,
                             ValueRange{arith::SubIOp::create(builder, location, left, height),
                                        element(values[1], times(word(isWindow ? 1 : rowStride))),
                                        element(values[2], times(ldc))});
      });
  func::ReturnOp::create(builder, location);
  return function;
}

static std::string getTypeName(Type type) {
  return (isa<FloatType>(type) ? "f" : "i") + std::to_string(type.getIntOrFloatBitWidth());
}

static StringRef getKindName(KernelKind kind) { return kind == KernelKind::window ? "window" : "contract"; }

std::string freestone::codegen::getKernelName(KernelKind kind, Type elementType) {
  return ("freestone_" + getKindName(kind) + "_" + getTypeName(elementType)).str();
}

static FunctionType getKernelType(OpBuilder &builder, KernelKind kind) {
  Type i64 = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  if (kind == KernelKind::window)
    return builder.getFunctionType({i64, i64, pointer, pointer, pointer, pointer, i64}, {});
  return builder.getFunctionType({i64, i64, i64, pointer, pointer, pointer, i64, i64}, {});
}

func::FuncOp freestone::codegen::declareKernel(ModuleOp module, KernelKind kind, Type elementType) {
  std::string name = getKernelName(kind, elementType);
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto function = func::FuncOp::create(builder, module.getLoc(), name, getKernelType(builder, kind));
  function.setPrivate();
  return function;
}

void freestone::codegen::emitMicroKernels(ModuleOp module, KernelKind kind, Type elementType, const DeviceDescription &device) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto nested = ModuleOp::create(builder, module.getLoc(), (getKindName(kind) + "_" + getTypeName(elementType)).str());
  builder.setInsertionPointToStart(nested.getBody());
  BlockEmitter emitter(builder, module.getLoc(), kind, elementType, device);
  SmallVector<std::pair<int64_t, func::FuncOp>> blocks;
  if (kind == KernelKind::contract)
    blocks.emplace_back(1, emitter.emitBlock(1));
  for (int64_t rows = 2, most = device.getPanelRows(); rows <= most; rows += 2)
    blocks.emplace_back(rows, emitter.emitBlock(rows));
  emitter.emitDriver(blocks);
}
