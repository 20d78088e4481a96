#include "compiler/codegen/cpu/DotProductKernelEmitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

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
            loaded.push_back(LLVM::MaskedLoadOp::create(builder, location, sumType,
                                                        advance(results.excess, static_cast<int32_t>(vector * tileRow)),
                                                        mask, zeros, 4));
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
    addresses.back() =
        arith::SelectOp::create(builder, location, results.hasLast, addresses.back(), addresses[rows - 2]);
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
