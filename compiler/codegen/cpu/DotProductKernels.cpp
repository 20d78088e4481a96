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

void DotProductKernelEmitter::emitIf(Value condition, llvm::function_ref<void()> then,
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

/// Writes the sums of a block to the result.
void DotProductKernelEmitter::storeResults(ValueRange sums, int64_t vectors, const Results &results) {
  auto sumType = cast<VectorType>(sums.front().getType());
  int64_t lanes = sumType.getNumElements(), rows = static_cast<int64_t>(sums.size()) / vectors;
  auto maskType = VectorType::get({lanes}, builder.getI1Type());
  Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(sumType));
  SmallVector<Value> masks, excess(vectors);
  for (int64_t vector = 0; vector < vectors; ++vector) {
    Value left = arith::SubIOp::create(builder, location, toIndex(results.columns), constant(vector * lanes));
    masks.push_back(vector::CreateMaskOp::create(builder, location, maskType, ValueRange{left}));
  }
  if (kernel.factors.areIntegers) {
    auto all = scf::IfOp::create(
        builder, location, isSet(LLVM::PtrToIntOp::create(builder, location, i64, results.excess)),
        [&](OpBuilder &, Location) {
          SmallVector<Value> loaded;
          for (auto [vector, mask] : llvm::enumerate(masks))
            loaded.push_back(LLVM::MaskedLoadOp::create(
                builder, location, sumType, advance(results.excess, static_cast<int32_t>(vector * tileRow)), mask,
                zeros, 4));
          scf::YieldOp::create(builder, location, loaded);
        },
        [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, SmallVector<Value>(vectors, zeros)); });
    llvm::copy(all.getResults(), excess.begin());
  }
  SmallVector<Value> addresses = {results.first};
  while (static_cast<int64_t>(addresses.size()) < rows)
    addresses.push_back(advance(addresses.back(), results.pitch));
  // A last row that there is not is overwritten by the one before it.
  if (results.hasLast)
    addresses.back() = arith::SelectOp::create(builder, location, results.hasLast, addresses.back(),
                                               addresses[std::max<int64_t>(0, rows - 2)]);
  int64_t bytes = lanes * kernel.result.getIntOrFloatBitWidth() / 8;
  for (int64_t row = rows - 1; row >= 0; --row)
    for (int64_t vector = 0; vector < vectors; ++vector)
      storeDotProducts(builder, location, kernel.result, sums[row * vectors + vector], excess[vector],
                       advance(addresses[row], static_cast<int32_t>(vector * bytes)), masks[vector]);
}

/// Prefetches the rows of the result that a block will write.
void DotProductKernelEmitter::bringResults(int64_t rows, int64_t vectors, const Results &results) {
  Value row = results.first;
  int64_t bytes = vectors * 16 * kernel.result.getIntOrFloatBitWidth() / 8;
  for (int64_t number = 0; number < rows; ++number) {
    for (int64_t at = 0; at < bytes; at += tileRow)
      LLVM::Prefetch::create(builder, location, advance(row, static_cast<int32_t>(at)), /*rw=*/1, /*hint=*/3,
                             /*cache=*/1);
    row = advance(row, results.pitch);
  }
}

/// A step of the kernel: the words of all rows by those of the columns, of which the rows' are given.
SmallVector<Value> DotProductKernelEmitter::addWords(ValueRange sums, int64_t vectors, Value right, Value mask,
                                                     llvm::function_ref<Value(int64_t row)> getWord) {
  auto wordType = VectorType::get({16}, builder.getI32Type());
  SmallVector<Value> next, columns;
  for (int32_t vector = 0; vector < vectors; ++vector)
    columns.push_back(
        LLVM::LoadOp::create(builder, location, wordType, advance(right, vector * static_cast<int32_t>(tileRow)), 64));
  for (int64_t row = 0, rows = static_cast<int64_t>(sums.size()) / vectors; row < rows; ++row) {
    Value word = LLVM::LoadOp::create(builder, location, builder.getI32Type(), getWord(row), 4);
    if (mask)
      word = arith::AndIOp::create(builder, location, word, mask);
    Value spread = vector::BroadcastOp::create(builder, location, wordType, word);
    if (kernel.rows == RowsOfDotProducts::flipped)
      spread = arith::XOrIOp::create(builder, location, spread, getFlippedZeros(builder, location));
    for (int64_t vector = 0; vector < vectors; ++vector)
      next.push_back(
          addDotProducts(builder, location, kernel.factors, sums[vectors * row + vector], spread, columns[vector]));
  }
  return next;
}

/// Adds the products of packed rows, group by group. Meanwhile as many rows are prefetched into L2 from `ahead` on: no
/// prefetcher follows some rows of each group.
SmallVector<Value> DotProductKernelEmitter::addPacked(ValueRange sums, int64_t vectors, const Operands &operands,
                                                      Value ahead) {
  size_t count = sums.size();
  int64_t rows = static_cast<int64_t>(count) / vectors;
  Value wordsOfGroup = constant(tile::DotProductLayout::rowWords);
  SmallVector<Value> state(sums);
  state.append({operands.a, operands.b, ahead});
  auto groupLoop = scf::ForOp::create(builder, location, constant(0), operands.words, wordsOfGroup, state);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(groupLoop.getBody());
  ValueRange pointers = groupLoop.getRegionIterArgs().drop_front(count);
  for (int64_t row = 0; row < rows; ++row)
    LLVM::Prefetch::create(builder, location, advance(pointers[2], static_cast<int32_t>(row * tileRow)), /*rw=*/0,
                           /*hint=*/2, /*cache=*/1);
  Value left = arith::SubIOp::create(builder, location, operands.words, groupLoop.getInductionVar());
  Value ofGroup = arith::MinSIOp::create(builder, location, left, wordsOfGroup);
  auto loop = scf::ForOp::create(builder, location, constant(0), ofGroup, constant(1),
                                 groupLoop.getRegionIterArgs().drop_back());
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ValueRange values = loop.getRegionIterArgs();
    Value left = values[count], right = values[count + 1];
    SmallVector<Value> next = addWords(values.take_front(count), vectors, right, /*mask=*/{},
                                       [&](int64_t row) { return advance(left, static_cast<int32_t>(row * tileRow)); });
    next.append({advance(left, 4), advance(right, static_cast<int32_t>(panelRow))});
    scf::YieldOp::create(builder, location, next);
  }
  SmallVector<Value> next(loop.getResults());
  next[count] = advance(pointers[0], groupBytes);
  next.push_back(advance(pointers[2], groupBytes));
  scf::YieldOp::create(builder, location, next);
  return llvm::to_vector_of<Value>(groupLoop.getResults().take_front(count));
}

/// Adds the products of rows in place, which are reached from every third one. A last row that there is not is the one
/// before it; of the last words, those bits of `mask` alone, if it is not null.
SmallVector<Value> DotProductKernelEmitter::addInPlace(ValueRange sums, int64_t vectors, const Operands &operands,
                                                       Value pitch, Value hasLast, Value mask) {
  constexpr int64_t rowsOfBase = 3;
  size_t count = sums.size();
  int64_t rows = static_cast<int64_t>(count) / vectors;
  auto getRow = [&](Value first, int64_t row) -> Value {
    return row ? advance(first, arith::MulIOp::create(builder, location, pitch, word(row)).getResult()) : first;
  };
  SmallVector<Value> state(sums);
  state.push_back(operands.b);
  for (int64_t row = 0; row < rows; row += rowsOfBase)
    state.push_back(getRow(operands.a, row));
  if (hasLast)
    state.push_back(arith::SelectOp::create(builder, location, hasLast, getRow(operands.a, rows - 1),
                                            getRow(operands.a, rows - 2)));
  auto addStep = [&](ValueRange values, Value mask) {
    ValueRange bases = values.drop_front(count + 1);
    return addWords(values.take_front(count), vectors, values[count], mask, [&](int64_t row) -> Value {
      return hasLast && row == rows - 1 ? bases.back() : getRow(bases[row / rowsOfBase], row % rowsOfBase);
    });
  };
  Value words = operands.words;
  if (mask)
    words = arith::SubIOp::create(builder, location, words, constant(1));
  auto loop = scf::ForOp::create(builder, location, constant(0), words, constant(1), state);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ValueRange values = loop.getRegionIterArgs();
    SmallVector<Value> next = addStep(values, {});
    next.push_back(advance(values[count], static_cast<int32_t>(panelRow)));
    for (Value base : values.drop_front(count + 1))
      next.push_back(advance(base, 4));
    scf::YieldOp::create(builder, location, next);
  }
  if (!mask)
    return llvm::to_vector_of<Value>(loop.getResults().take_front(count));
  return addStep(loop.getResults(), mask);
}

/// Emits a function that accumulates a block of rows, of one or two vectors each:
///   void block(i64 words, ptr A, ptr B, ptr C, i64 accumulate, ptr ahead or i64 pitch, i64 rows[, i64 mask]
///              [, ptr result, i64 resultPitch, i64 columns, ptr excess])
/// `rows` may be one less than those of the block: that one's sums are not written to the result.
func::FuncOp DotProductKernelEmitter::emitBlock(int64_t rows, int64_t vectors) {
  bool arePacked = kernel.rows == RowsOfDotProducts::packed;
  SmallVector<Type> types = {i64, pointer, pointer, pointer, i64, arePacked ? pointer : i64, i64};
  if (!arePacked)
    types.push_back(i64);
  if (kernel.result)
    types.append({pointer, i64, i64, pointer});
  FunctionType type = builder.getFunctionType(types, {});
  func::FuncOp function = open((vectors == 1 ? "narrow_block_" : "block_") + std::to_string(rows), type);
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  ValueRange arguments = function.getArguments();
  Operands operands{toIndex(arguments[0]), arguments[1], arguments[2]};
  auto sumType = VectorType::get({16}, kernel.factors.getSumType(builder.getContext()));
  Value zeros = arith::ConstantOp::create(builder, location, builder.getZeroAttr(sumType));
  SmallVector<Value> addresses;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t vector = 0; vector < vectors; ++vector)
      addresses.push_back(advance(arguments[3], static_cast<int32_t>(row * panelRow + vector * tileRow)));
  Value hasLast;
  if (!llvm::is_contained(heights, rows - 1) && rows > 1)
    hasLast = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::uge, arguments[6], word(rows));
  auto before = scf::IfOp::create(
      builder, location, isSet(arguments[4]),
      [&](OpBuilder &, Location) {
        SmallVector<Value> before = llvm::map_to_vector(addresses, [&](Value address) -> Value {
          return LLVM::LoadOp::create(builder, location, sumType, address, 64);
        });
        scf::YieldOp::create(builder, location, before);
      },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(builder, location, SmallVector<Value>(addresses.size(), zeros));
      });
  Results results;
  Value writes;
  if (kernel.result) {
    ValueRange ofResult = arguments.take_back(4);
    results = {ofResult[0], ofResult[1], ofResult[2], ofResult[3], hasLast};
    writes = isSet(LLVM::PtrToIntOp::create(builder, location, i64, results.first));
    emitIf(writes, [&] { bringResults(rows, vectors, results); });
  }
  Value mask;
  if (!arePacked && !kernel.factors.areIntegers)
    mask = arith::TruncIOp::create(builder, location, builder.getI32Type(), arguments[7]);
  SmallVector<Value> sums = arePacked ? addPacked(before.getResults(), vectors, operands, arguments[5])
                                      : addInPlace(before.getResults(), vectors, operands, arguments[5], hasLast, mask);
  auto storeSums = [&] {
    for (auto [address, sum] : llvm::zip(addresses, sums))
      LLVM::StoreOp::create(builder, location, sum, address, 64);
  };
  if (writes)
    emitIf(
        writes, [&] { storeResults(sums, vectors, results); }, storeSums);
  else
    storeSums();
  close();
  return function;
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
