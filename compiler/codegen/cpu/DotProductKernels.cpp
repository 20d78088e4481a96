#include "compiler/codegen/cpu/DotProductKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

static constexpr llvm::StringLiteral functionNames[] = {"freestone_dot_products_bf16", "freestone_dot_products_enter",
                                                        "freestone_dot_products_leave"};

static FunctionType getFunctionType(Builder &builder, DotProductFunction function) {
  if (function != DotProductFunction::multiply)
    return builder.getFunctionType({}, {});
  Type i64 = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  return builder.getFunctionType({i64, i64, pointer, i64, pointer, pointer, i64}, {});
}

func::FuncOp freestone::codegen::declareDotProductFunction(ModuleOp module, DotProductFunction function) {
  StringRef name = functionNames[static_cast<unsigned>(function)];
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto declaration = func::FuncOp::create(builder, module.getLoc(), name, getFunctionType(builder, function));
  declaration.setPrivate();
  return declaration;
}

namespace {

class DotProductKernelEmitter {
public:
  DotProductKernelEmitter(OpBuilder &builder, Location location)
      : builder(builder), location(location), i64(builder.getI64Type()),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())) {}

  void emitTileKernel();
  void emitVectorKernel();
  void emitEnter();
  void emitLeave();

private:
  /// Bytes of a tile's row, of a row of sums or of B, of a tile, and of a group of a strip or panel.
  static constexpr int64_t tileRow = 64, panelRow = 128, tileBytes = 1024, groupBytes = 2048;
  /// Rows whose accumulators fit into vector registers, two vectors each; a strip is three blocks.
  static constexpr int64_t blockRows[] = {11, 11, 10};

  Block *open(DotProductFunction function);
  void close() { func::ReturnOp::create(builder, location); }
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, location, value); }
  Value word(int64_t value) {
    return LLVM::ConstantOp::create(builder, location, i64, builder.getI64IntegerAttr(value));
  }
  Value toIndex(Value value) { return arith::IndexCastOp::create(builder, location, builder.getIndexType(), value); }
  Value advance(Value base, LLVM::GEPArg bytes) {
    return LLVM::GEPOp::create(builder, location, pointer, builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
  }
  void call(StringRef intrinsic, ArrayRef<int64_t> tiles, ValueRange rest = {});
  void forStrips(ValueRange arguments, llvm::function_ref<void(Value a, Value c)> body);
  void emitIf(Value word, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise);
  void forSums(Value c, llvm::function_ref<void(int64_t tile, Value address)> body);
  void emitBlock(int64_t rows, Value a, Value b, Value c, Value groups, Value accumulate);

  OpBuilder &builder;
  Location location;
  Type i64, pointer;
};

} // namespace

Block *DotProductKernelEmitter::open(DotProductFunction function) {
  StringRef name = functionNames[static_cast<unsigned>(function)];
  Block *entry = func::FuncOp::create(builder, location, name, getFunctionType(builder, function)).addEntryBlock();
  builder.setInsertionPointToStart(entry);
  return entry;
}

void DotProductKernelEmitter::call(StringRef intrinsic, ArrayRef<int64_t> tiles, ValueRange rest) {
  SmallVector<Value> operands = llvm::map_to_vector(tiles, [&](int64_t tile) -> Value {
    return LLVM::ConstantOp::create(builder, location, builder.getI8Type(), builder.getI8IntegerAttr(tile));
  });
  llvm::append_range(operands, rest);
  LLVM::CallIntrinsicOp::create(builder, location, builder.getStringAttr(intrinsic), operands);
}

void DotProductKernelEmitter::forStrips(ValueRange arguments, llvm::function_ref<void(Value a, Value c)> body) {
  auto loop = scf::ForOp::create(builder, location, constant(0), toIndex(arguments[0]), constant(1),
                                 ValueRange{arguments[2], arguments[5]});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value a = loop.getRegionIterArg(0), c = loop.getRegionIterArg(1);
  body(a, c);
  scf::YieldOp::create(builder, location, ValueRange{advance(a, arguments[3]), advance(c, 32 * panelRow)});
}

void DotProductKernelEmitter::emitIf(Value word, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise) {
  Value zero = arith::ConstantIntOp::create(builder, location, i64, 0);
  Value holds = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, word, zero);
  auto branch = scf::IfOp::create(builder, location, holds, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  then();
  builder.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

/// The four tiles of a strip's accumulators, row-major.
void DotProductKernelEmitter::forSums(Value c, llvm::function_ref<void(int64_t tile, Value address)> body) {
  for (int64_t tile = 0; tile < 4; ++tile)
    body(tile, advance(c, static_cast<int32_t>(tile / 2 * 16 * panelRow + tile % 2 * tileRow)));
}

/// Tiles 0 to 3 are accumulators, 4 and 5 rows of A, 6 and 7 columns of B.
void DotProductKernelEmitter::emitTileKernel() {
  ValueRange arguments = open(DotProductFunction::multiply)->getArguments();
  Value panelPitch = word(panelRow), tilePitch = word(tileRow);
  forStrips(arguments, [&](Value stripA, Value c) {
    emitIf(
        arguments[6],
        [&] {
          forSums(c, [&](int64_t tile, Value address) { call("llvm.x86.tileloadd64", tile, {address, panelPitch}); });
        },
        [&] { forSums(c, [&](int64_t tile, Value) { call("llvm.x86.tilezero", tile); }); });
    auto loop = scf::ForOp::create(builder, location, constant(0), toIndex(arguments[1]), constant(1),
                                   ValueRange{stripA, arguments[4]});
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value a = loop.getRegionIterArg(0), b = loop.getRegionIterArg(1);
      call("llvm.x86.tileloadd64", 6, {b, panelPitch});
      call("llvm.x86.tileloadd64", 4, {a, tilePitch});
      call("llvm.x86.tdpbf16ps", {0, 4, 6});
      call("llvm.x86.tileloadd64", 7, {advance(b, tileRow), panelPitch});
      call("llvm.x86.tdpbf16ps", {1, 4, 7});
      call("llvm.x86.tileloadd64", 5, {advance(a, tileBytes), tilePitch});
      call("llvm.x86.tdpbf16ps", {2, 5, 6});
      call("llvm.x86.tdpbf16ps", {3, 5, 7});
      scf::YieldOp::create(builder, location, ValueRange{advance(a, groupBytes), advance(b, groupBytes)});
    }
    forSums(c, [&](int64_t tile, Value address) { call("llvm.x86.tilestored64", tile, {address, panelPitch}); });
  });
  close();
}

/// Accumulates a block of rows in vectors.
void DotProductKernelEmitter::emitBlock(int64_t rows, Value a, Value b, Value c, Value groups, Value accumulate) {
  auto sumType = VectorType::get({16}, builder.getF32Type());
  auto pairType = VectorType::get({32}, builder.getBF16Type());
  auto wordType = VectorType::get({16}, builder.getI32Type());
  Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(sumType));
  SmallVector<Value> addresses, state;
  for (int64_t number = 0; number < 2 * rows; ++number)
    addresses.push_back(advance(c, static_cast<int32_t>(number * tileRow)));
  Value zero = arith::ConstantIntOp::create(builder, location, i64, 0);
  Value adds = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, accumulate, zero);
  auto before = scf::IfOp::create(
      builder, location, adds,
      [&](OpBuilder &, Location) {
        SmallVector<Value> sums = llvm::map_to_vector(addresses, [&](Value address) -> Value {
          return LLVM::LoadOp::create(builder, location, sumType, address, 64);
        });
        scf::YieldOp::create(builder, location, sums);
      },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(builder, location, SmallVector<Value>(addresses.size(), zeros));
      });
  llvm::append_range(state, before.getResults());
  state.append({a, b});
  auto groupLoop = scf::ForOp::create(builder, location, constant(0), toIndex(groups), constant(1), state);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(groupLoop.getBody());
    Value groupA = groupLoop.getRegionIterArgs()[2 * rows];
    auto loop =
        scf::ForOp::create(builder, location, constant(0), constant(16), constant(1), groupLoop.getRegionIterArgs());
    {
      OpBuilder::InsertionGuard inner(builder);
      builder.setInsertionPointToStart(loop.getBody());
      ValueRange values = loop.getRegionIterArgs();
      Value left = values[2 * rows], right = values[2 * rows + 1];
      SmallVector<Value> next, columns;
      for (int32_t half = 0; half < 2; ++half)
        columns.push_back(LLVM::LoadOp::create(builder, location, pairType,
                                               advance(right, half * static_cast<int32_t>(tileRow)), 64));
      for (int64_t row = 0; row < rows; ++row) {
        Value pair = LLVM::LoadOp::create(builder, location, builder.getI32Type(),
                                          advance(left, static_cast<int32_t>(row * tileRow)), 4);
        Value spread = vector::BroadcastOp::create(builder, location, wordType, pair);
        Value factors = vector::BitCastOp::create(builder, location, pairType, spread);
        for (int64_t half = 0; half < 2; ++half)
          next.push_back(LLVM::CallIntrinsicOp::create(builder, location, sumType,
                                                       builder.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"),
                                                       ValueRange{values[2 * row + half], factors, columns[half]})
                             .getResult(0));
      }
      next.push_back(advance(left, 4));
      next.push_back(advance(right, static_cast<int32_t>(panelRow)));
      scf::YieldOp::create(builder, location, next);
    }
    SmallVector<Value> next(loop.getResults());
    next[2 * rows] = advance(groupA, groupBytes);
    scf::YieldOp::create(builder, location, next);
  }
  for (auto [address, sum] : llvm::zip(addresses, groupLoop.getResults()))
    LLVM::StoreOp::create(builder, location, sum, address, 64);
}

void DotProductKernelEmitter::emitVectorKernel() {
  ValueRange arguments = open(DotProductFunction::multiply)->getArguments();
  forStrips(arguments, [&](Value a, Value c) {
    int64_t first = 0;
    for (int64_t rows : blockRows) {
      emitBlock(rows, advance(a, static_cast<int32_t>(first * tileRow)), arguments[4],
                advance(c, static_cast<int32_t>(first * panelRow)), arguments[1], arguments[6]);
      first += rows;
    }
  });
  close();
}

/// Configures all tiles with 16 rows of 64 bytes.
void DotProductKernelEmitter::emitEnter() {
  open(DotProductFunction::enter);
  // Palette 1; from byte 16, the row length of each tile in 16 bits; from byte 48, its number of rows in 8 bits.
  constexpr int64_t rowBytes = 0x0040'0040'0040'0040, rows = 0x1010'1010'1010'1010;
  constexpr int64_t words[] = {1, 0, rowBytes, rowBytes, 0, 0, rows, 0};
  Value configuration = LLVM::AllocaOp::create(builder, location, pointer, i64, word(std::size(words)), 64);
  for (auto [number, value] : llvm::enumerate(words))
    LLVM::StoreOp::create(builder, location, word(value), advance(configuration, static_cast<int32_t>(8 * number)), 8);
  call("llvm.x86.ldtilecfg", {}, configuration);
  close();
}

void DotProductKernelEmitter::emitLeave() {
  open(DotProductFunction::leave);
  call("llvm.x86.tilerelease", {});
  close();
}

void freestone::codegen::emitDotProductKernels(ModuleOp module, tile::DotProductUnit unit) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto nested = ModuleOp::create(builder, module.getLoc(), dotProductModuleName);
  auto inModule = [&] { builder.setInsertionPointToEnd(nested.getBody()); };
  inModule();
  DotProductKernelEmitter emitter(builder, module.getLoc());
  if (unit == tile::DotProductUnit::vectors)
    return emitter.emitVectorKernel();
  emitter.emitTileKernel();
  inModule();
  emitter.emitEnter();
  inModule();
  emitter.emitLeave();
}
