#include "compiler/codegen/cpu/DotProductKernels.h"

#include "compiler/codegen/cpu/DotProductKernelEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

std::string freestone::codegen::getResultSuffix(Type result) {
  std::string suffix;
  llvm::raw_string_ostream stream(suffix);
  if (result)
    stream << "_" << result;
  return suffix;
}

static std::string getName(const DotProductKernel &kernel, bool isNarrow) {
  constexpr StringRef ofRows[] = {"", "_in_place", "_flipped"};
  return ("dot_products_" + Twine(kernel.factors.getName()) + getResultSuffix(kernel.result) +
          ofRows[static_cast<unsigned>(kernel.rows)] + (isNarrow ? "_narrow" : ""))
      .str();
}

static FunctionType getKernelType(Builder &builder, const DotProductKernel &kernel) {
  Type i64 = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  SmallVector<Type> types = {i64, i64, pointer, i64, pointer, pointer, i64};
  if (kernel.unit == tile::DotProductUnit::tiles)
    types.append({pointer, i64, pointer, pointer, pointer});
  if (kernel.rows != RowsOfDotProducts::packed)
    types.push_back(i64);
  if (kernel.result)
    types.append({pointer, i64, i64, pointer});
  return builder.getFunctionType(types, {});
}

static func::FuncOp declare(ModuleOp module, StringRef name, FunctionType type) {
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto declaration = func::FuncOp::create(builder, module.getLoc(), name, type);
  declaration.setPrivate();
  return declaration;
}

func::FuncOp freestone::codegen::declareDotProducts(ModuleOp module, const DotProductKernel &kernel, bool isNarrow) {
  Builder builder(module.getContext());
  return declare(module, "freestone_" + getName(kernel, isNarrow), getKernelType(builder, kernel));
}

func::FuncOp freestone::codegen::declareTileFunction(ModuleOp module, TileFunction function) {
  return declare(module, getTileFunctionName(function), FunctionType::get(module.getContext(), {}, {}));
}

Value freestone::codegen::addDotProducts(OpBuilder &builder, Location location, const tile::DotProductFactors &factors,
                                         Value sums, Value lhs, Value rhs) {
  int64_t lanes = cast<VectorType>(sums.getType()).getNumElements() * factors.getStepsOfWord();
  auto elements = VectorType::get({lanes}, factors.getElementType(builder.getContext()));
  auto toElements = [&](Value words) -> Value { return vector::BitCastOp::create(builder, location, elements, words); };
  StringRef intrinsic = factors.areIntegers ? "llvm.x86.avx512.vpdpbusd.512" : "llvm.x86.avx512bf16.dpbf16ps.512";
  assert((!factors.areIntegers || factors.isLhsSigned != factors.isRhsSigned) && "one factor is unsigned");
  // The unsigned factor comes first.
  if (factors.areIntegers && factors.isLhsSigned)
    std::swap(lhs, rhs);
  return LLVM::CallIntrinsicOp::create(builder, location, sums.getType(), builder.getStringAttr(intrinsic),
                                       ValueRange{sums, toElements(lhs), toElements(rhs)})
      .getResult(0);
}

void freestone::codegen::emitIf(OpBuilder &builder, Location location, Value condition, llvm::function_ref<void()> then,
                                llvm::function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(builder, location, condition, /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  then();
  if (!otherwise)
    return;
  builder.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

Value freestone::codegen::getFlippedZeros(OpBuilder &builder, Location location) {
  auto bytes = static_cast<int32_t>(0x01010101u * static_cast<uint8_t>(tile::DotProductLayout::flippedZero));
  auto type = VectorType::get({tile::DotProductLayout::rowWords}, builder.getI32Type());
  return arith::ConstantOp::create(builder, location, DenseElementsAttr::get(type, bytes));
}

void freestone::codegen::storeDotProducts(OpBuilder &builder, Location location, Type result, Value sums, Value excess,
                                          Value address, Value mask) {
  auto type = cast<VectorType>(sums.getType());
  if (excess)
    sums = arith::SubIOp::create(builder, location, sums, excess);
  if (result != type.getElementType())
    sums = arith::TruncFOp::create(builder, location, VectorType::get(type.getShape(), result), sums);
  unsigned bytes = result.getIntOrFloatBitWidth() / 8;
  if (mask)
    LLVM::MaskedStoreOp::create(builder, location, sums, address, mask, bytes);
  else
    LLVM::StoreOp::create(builder, location, sums, address, bytes);
}

func::FuncOp DotProductKernelEmitter::open(StringRef name, FunctionType type) {
  builder.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(builder, location, name, type);
  builder.setInsertionPointToStart(function.addEntryBlock());
  return function;
}

ValueRange DotProductKernelEmitter::openKernel(bool isNarrow) {
  return open("freestone_" + getName(kernel, isNarrow), getKernelType(builder, kernel)).getArguments();
}

void DotProductKernelEmitter::call(StringRef intrinsic, ArrayRef<int64_t> tiles, ValueRange rest) {
  SmallVector<Value> operands = llvm::map_to_vector(tiles, [&](int64_t tile) -> Value {
    return LLVM::ConstantOp::create(builder, location, builder.getI8Type(), builder.getI8IntegerAttr(tile));
  });
  llvm::append_range(operands, rest);
  LLVM::CallIntrinsicOp::create(builder, location, builder.getStringAttr(intrinsic), operands);
}

void DotProductKernelEmitter::forStrips(ValueRange arguments, Value stripBytes,
                                        llvm::function_ref<void(Value strip, Value a, Value c)> body) {
  Value strips = arith::CeilDivUIOp::create(builder, location, toIndex(arguments[0]), constant(stripRows));
  auto loop =
      scf::ForOp::create(builder, location, constant(0), strips, constant(1), ValueRange{arguments[2], arguments[5]});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value a = loop.getRegionIterArg(0), c = loop.getRegionIterArg(1);
  body(loop.getInductionVar(), a, c);
  scf::YieldOp::create(builder, location, ValueRange{advance(a, stripBytes), advance(c, stripRows * panelRow)});
}

/// Calls the lowest block with so many rows, of which there are 1 to `most`.
void DotProductKernelEmitter::callBlock(ArrayRef<func::FuncOp> blocks, Value rows, int64_t most, ValueRange operands) {
  SmallVector<int64_t> cases;
  for (int64_t used = 1; used < most; ++used)
    cases.push_back(used);
  auto choice = scf::IndexSwitchOp::create(builder, location, TypeRange{}, rows, cases, cases.size());
  auto emitCall = [&](Region &region, int64_t used) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&region);
    func::CallOp::create(builder, location, blocks[llvm::lower_bound(heights, used) - std::begin(heights)], operands);
    scf::YieldOp::create(builder, location);
  };
  for (auto [region, used] : llvm::zip_equal(choice.getCaseRegions(), cases))
    emitCall(region, used);
  emitCall(choice.getDefaultRegion(), most);
}

void DotProductKernelEmitter::emitVectorKernel(bool isNarrow) {
  SmallVector<func::FuncOp> blocks;
  for (int64_t rows : heights)
    blocks.push_back(emitBlock(rows, /*vectors=*/isNarrow ? 1 : 2));
  ValueRange arguments = openKernel(isNarrow);
  Value rows = toIndex(arguments[0]);
  bool arePacked = kernel.rows == RowsOfDotProducts::packed;
  Value pitch = arguments[3], ofStrip = pitch;
  if (!arePacked)
    ofStrip = arith::MulIOp::create(builder, location, pitch, word(stripRows));
  forStrips(arguments, ofStrip, [&](Value strip, Value a, Value c) {
    Value next = advance(a, ofStrip), before = arith::MulIOp::create(builder, location, strip, constant(stripRows));
    Value left = arith::SubIOp::create(builder, location, rows, before);
    int64_t first = 0;
    for (int64_t most : blockRows) {
      Value some = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, left, constant(first));
      emitIf(some, [&] {
        Value inBlock = arith::SubIOp::create(builder, location, left, constant(first));
        auto getRow = [&](Value ofStrip) -> Value {
          if (arePacked)
            return advance(ofStrip, static_cast<int32_t>(first * tileRow));
          return advance(ofStrip, arith::MulIOp::create(builder, location, pitch, word(first)).getResult());
        };
        SmallVector<Value> operands = {arguments[1],   getRow(a),
                                       arguments[4],   advance(c, static_cast<int32_t>(first * panelRow)),
                                       arguments[6],   arePacked ? getRow(next) : pitch,
                                       toWord(inBlock)};
        if (!arePacked)
          operands.push_back(arguments[7]);
        if (kernel.result) {
          ValueRange ofResult = arguments.take_back(4);
          Value row = toWord(arith::AddIOp::create(builder, location, before, constant(first)));
          Value at = advance(ofResult[0], arith::MulIOp::create(builder, location, row, ofResult[1]).getResult());
          Value writes = isSet(LLVM::PtrToIntOp::create(builder, location, i64, ofResult[0]));
          operands.append({arith::SelectOp::create(builder, location, writes, at, ofResult[0]), ofResult[1],
                           ofResult[2], ofResult[3]});
        }
        callBlock(blocks, inBlock, most, operands);
      });
      first += most;
    }
  });
  close();
}

static ModuleOp nest(ModuleOp module, StringRef name) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  return ModuleOp::create(builder, module.getLoc(), name);
}

void freestone::codegen::emitDotProductKernel(ModuleOp module, const DotProductKernel &kernel, bool hasNarrow) {
  DotProductKernelEmitter emitter(nest(module, getName(kernel, /*isNarrow=*/false)), kernel);
  if (kernel.unit == tile::DotProductUnit::tiles)
    return emitter.emitTileKernel();
  emitter.emitVectorKernel(/*isNarrow=*/false);
  if (hasNarrow)
    DotProductKernelEmitter(nest(module, getName(kernel, /*isNarrow=*/true)), kernel)
        .emitVectorKernel(/*isNarrow=*/true);
}

void freestone::codegen::emitTileFunctions(ModuleOp module) {
  DotProductKernelEmitter emitter(nest(module, tileModuleName), {});
  emitter.emitEnter();
  emitter.emitLeave();
}
