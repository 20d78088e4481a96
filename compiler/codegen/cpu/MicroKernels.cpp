#include "compiler/codegen/cpu/MicroKernels.h"

#include "compiler/tile/CutContraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

namespace {

/// Blocks of one height: accumulators in registers, one step of k a turn. Unrolled further, values spill.
class BlockEmitter {
public:
  BlockEmitter(OpBuilder &builder, Location location, Type elementType, const DeviceDescription &device)
      : builder(builder), location(location), elementType(elementType), bytes(elementType.getIntOrFloatBitWidth() / 8),
        lanes(device.getLanes(bytes * 8)), rowStride(tile::ContractionBlocks::get(device, bytes).getRowStride(bytes)),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())), vector(VectorType::get({lanes}, elementType)) {}

  func::FuncOp emitBlock(int64_t rows);
  func::FuncOp emitDriver(ArrayRef<std::pair<int64_t, func::FuncOp>> blocks);

private:
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, location, value); }
  Value word(int64_t value) { return arith::ConstantIntOp::create(builder, location, value, 64); }
  Value toIndex(Value value) { return arith::IndexCastOp::create(builder, location, builder.getIndexType(), value); }
  Value element(Value base, LLVM::GEPArg index) {
    return LLVM::GEPOp::create(builder, location, pointer, elementType, base, ArrayRef<LLVM::GEPArg>{index});
  }
  Value multiplyAdd(Value a, Value b, Value sum);
  Value loadBroadcast(Value address);

  OpBuilder &builder;
  Location location;
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

/// void block(i64 columns, i64 depth, ptr A, ptr B, ptr C, i64 ldc, i64 accumulate)
func::FuncOp BlockEmitter::emitBlock(int64_t rows) {
  OpBuilder::InsertionGuard guard(builder);
  Type i64 = builder.getI64Type(), i1 = builder.getI1Type();
  auto type = builder.getFunctionType({i64, i64, pointer, pointer, pointer, i64, i64}, {});
  auto function = func::FuncOp::create(builder, location, "block_" + std::to_string(rows), type);
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  Value columns = toIndex(entry->getArgument(0)), depth = toIndex(entry->getArgument(1));
  Value accumulate = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, entry->getArgument(6), word(0));

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
    Value offset = arith::MulIOp::create(builder, location, entry->getArgument(5), word(row));
    for (int64_t half = 0; half < 2; ++half) {
      Value address = element(element(entry->getArgument(4), offset), static_cast<int32_t>(half * lanes));
      addresses.push_back(address);
      state.push_back(zeros);
      // What is in C is added last; the loop gives memory the time to bring it.
      LLVM::Prefetch::create(builder, location, address, /*rw=*/1, /*hint=*/3, /*cache=*/1);
    }
  }
  state.push_back(entry->getArgument(2));
  state.push_back(entry->getArgument(3));

  auto loop = scf::ForOp::create(builder, location, constant(0), depth, constant(1), state);
  {
    OpBuilder::InsertionGuard loopGuard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ValueRange sums = loop.getRegionIterArgs();
    Value a = sums[2 * rows], b = sums[2 * rows + 1];
    Value right[2] = {LLVM::LoadOp::create(builder, location, vector, b),
                      LLVM::LoadOp::create(builder, location, vector, element(b, static_cast<int32_t>(lanes)))};
    SmallVector<Value> next;
    for (int64_t row = 0; row < rows; ++row) {
      Value left = loadBroadcast(element(a, static_cast<int32_t>(row * rowStride)));
      for (int64_t half = 0; half < 2; ++half)
        next.push_back(multiplyAdd(left, right[half], sums[2 * row + half]));
    }
    next.push_back(element(a, 1));
    next.push_back(element(b, static_cast<int32_t>(2 * lanes)));
    scf::YieldOp::create(builder, location, next);
  }
  for (auto [number, address] : llvm::enumerate(addresses)) {
    Value before = LLVM::MaskedLoadOp::create(builder, location, vector, address, loadMasks[number % 2], zeros, bytes);
    Value sum = isa<FloatType>(elementType) ? arith::AddFOp::create(builder, location, loop.getResult(number), before).getResult()
                                            : arith::AddIOp::create(builder, location, loop.getResult(number), before).getResult();
    LLVM::MaskedStoreOp::create(builder, location, sum, address, masks[number % 2], bytes);
  }
  func::ReturnOp::create(builder, location);
  return function;
}

/// Cuts the rows: blocks of the largest height while two of them fit, then two of about equal height, then what is left.
func::FuncOp BlockEmitter::emitDriver(ArrayRef<std::pair<int64_t, func::FuncOp>> blocks) {
  OpBuilder::InsertionGuard guard(builder);
  Type i64 = builder.getI64Type();
  auto type = builder.getFunctionType({i64, i64, i64, pointer, pointer, pointer, i64, i64}, {});
  auto function = func::FuncOp::create(builder, location, getContractName(elementType), type);
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  auto compare = [&](arith::CmpIPredicate predicate, Value value, int64_t with) -> Value {
    return arith::CmpIOp::create(builder, location, predicate, value, word(with));
  };
  auto select = [&](Value condition, Value yes, Value no) -> Value {
    return arith::SelectOp::create(builder, location, condition, yes, no);
  };
  auto evenBelow = [&](Value value) -> Value { return arith::AndIOp::create(builder, location, value, word(-2)); };

  Value rows = entry->getArgument(0), ldc = entry->getArgument(6);
  auto loop = scf::WhileOp::create(
      builder, location, TypeRange{i64, pointer, pointer}, ValueRange{rows, entry->getArgument(3), entry->getArgument(5)},
      [&](OpBuilder &, Location, ValueRange values) {
        scf::ConditionOp::create(builder, location, compare(arith::CmpIPredicate::sgt, values[0], 0), values);
      },
      [&](OpBuilder &, Location, ValueRange values) {
        Value left = values[0];
        int64_t most = blocks.back().first;
        // Half of what is left, rounded up to an even height.
        Value half = arith::ShRSIOp::create(builder, location, arith::AddIOp::create(builder, location, left, word(3)), word(1));
        Value height = select(compare(arith::CmpIPredicate::sge, left, 2 * most), word(most), evenBelow(half));
        Value last = select(compare(arith::CmpIPredicate::eq, left, 1), word(1), evenBelow(left));
        height = select(compare(arith::CmpIPredicate::sle, left, most), last, height);

        SmallVector<int64_t> cases = llvm::map_to_vector(blocks.drop_back(), [](auto &block) { return block.first; });
        auto choice = scf::IndexSwitchOp::create(builder, location, TypeRange{}, toIndex(height), cases, cases.size());
        auto emitCall = [&](Region &region, func::FuncOp block) {
          OpBuilder::InsertionGuard caseGuard(builder);
          builder.createBlock(&region);
          func::CallOp::create(builder, location, block,
                               ValueRange{entry->getArgument(1), entry->getArgument(2), values[1], entry->getArgument(4),
                                          values[2], ldc, entry->getArgument(7)});
          scf::YieldOp::create(builder, location);
        };
        for (auto [region, block] : llvm::zip_equal(choice.getCaseRegions(), blocks.drop_back()))
          emitCall(region, block.second);
        emitCall(choice.getDefaultRegion(), blocks.back().second);

        auto times = [&](Value value) -> Value { return arith::MulIOp::create(builder, location, height, value); };
        scf::YieldOp::create(builder, location,
                             ValueRange{arith::SubIOp::create(builder, location, left, height),
                                        element(values[1], times(word(rowStride))), element(values[2], times(ldc))});
      });
  (void)loop;
  func::ReturnOp::create(builder, location);
  return function;
}

static std::string getTypeName(Type type) {
  return (isa<FloatType>(type) ? "f" : "i") + std::to_string(type.getIntOrFloatBitWidth());
}

std::string freestone::codegen::getContractName(Type elementType) { return "freestone_contract_" + getTypeName(elementType); }

func::FuncOp freestone::codegen::declareContract(ModuleOp module, Type elementType) {
  std::string name = getContractName(elementType);
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Type i64 = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(module.getContext());
  auto type = builder.getFunctionType({i64, i64, i64, pointer, pointer, pointer, i64, i64}, {});
  auto function = func::FuncOp::create(builder, module.getLoc(), name, type);
  function.setPrivate();
  return function;
}

void freestone::codegen::emitMicroKernels(ModuleOp module, Type elementType, const DeviceDescription &device) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto nested = ModuleOp::create(builder, module.getLoc(), "kernels_" + getTypeName(elementType));
  builder.setInsertionPointToStart(nested.getBody());
  BlockEmitter emitter(builder, module.getLoc(), elementType, device);
  SmallVector<std::pair<int64_t, func::FuncOp>> blocks;
  for (int64_t rows = 1, most = device.getPanelRows(); rows <= most; rows += rows == 1 ? 1 : 2)
    blocks.emplace_back(rows, emitter.emitBlock(rows));
  emitter.emitDriver(blocks);
}
