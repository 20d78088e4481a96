#include "compiler/codegen/cpu/KernelBlocks.h"

#include "compiler/codegen/cpu/LowerToObject.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

/// Pair products: for every 32-bit word, the sum of the products of its 16-bit halves.
Value KernelBlocks::multiplyPairs(Value a, Value b) {
  auto halves = VectorType::get({2 * lanes}, builder.getI16Type());
  assert((lanes == 8 || lanes == 16) && "vectors are those of AVX2 or AVX-512");
  StringRef intrinsic = lanes == 16 ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd";
  auto toHalves = [&](Value words) -> Value { return vector::BitCastOp::create(builder, location, halves, words); };
  return LLVM::CallIntrinsicOp::create(builder, location, vector, builder.getStringAttr(intrinsic),
                                       ValueRange{toHalves(a), toHalves(b)})
      .getResult(0);
}

Value KernelBlocks::addUp(Value a, Value b) {
  if (isa<FloatType>(elementType))
    return arith::AddFOp::create(builder, location, a, b);
  return arith::AddIOp::create(builder, location, a, b);
}

Value KernelBlocks::multiplyAdd(Value a, Value b, Value sum) {
  if (isa<FloatType>(elementType))
    return vector::FMAOp::create(builder, location, a, b, sum);
  if (kind == KernelKind::pairs)
    return addUp(sum, multiplyPairs(a, b));
  return addUp(sum, arith::MulIOp::create(builder, location, a, b));
}

Value KernelBlocks::loadBroadcast(Value address) {
  Value scalar = LLVM::LoadOp::create(builder, location, elementType, address);
  return vector::BroadcastOp::create(builder, location, vector, scalar);
}

/// One step of k: the outer product of a row of B with an element of each row of the block, whose addresses are given.
SmallVector<Value> KernelBlocks::emitStep(ValueRange sums, int64_t vectors,
                                          llvm::function_ref<Value(int32_t row)> getFactor, Value right) {
  SmallVector<Value> columns, next;
  for (int64_t number = 0; number < vectors; ++number)
    columns.push_back(
        LLVM::LoadOp::create(builder, location, vector, element(right, static_cast<int32_t>(number * lanes)), bytes));
  for (int32_t row = 0, rows = static_cast<int32_t>(sums.size() / vectors); row < rows; ++row) {
    Value factor = loadBroadcast(getFactor(row));
    for (auto [number, ofColumns] : llvm::enumerate(columns))
      next.push_back(multiplyAdd(factor, ofColumns, sums[vectors * row + number]));
  }
  return next;
}

/// The address of A for a step of k: by its offset in a window, else contiguous.
Value KernelBlocks::getLeft(Value a, Value steps, int32_t step, int32_t rows) {
  if (!readsInPlace(kind))
    return element(steps, step * rows);
  return element(a, loadOffset(steps, listsSteps(kind) ? 2 * step : step));
}

Value KernelBlocks::loadOffset(Value steps, int32_t number) {
  Type i64 = builder.getI64Type();
  return LLVM::LoadOp::create(builder, location, i64, element(steps, i64, number));
}

/// The address of B for a step of k whose offsets are listed.
Value KernelBlocks::getListed(Value b, int64_t vectors, Value steps, int32_t step) {
  Value later = element(b, loadOffset(steps, 2 * (step + tile::ConvolutionTiles::listedAhead) + 1));
  for (int64_t at = 0; at < vectors * lanes * bytes; at += lineBytes)
    LLVM::Prefetch::create(builder, location, element(later, builder.getI8Type(), static_cast<int32_t>(at)), /*rw=*/0,
                           /*hint=*/3, /*cache=*/1);
  return element(b, loadOffset(steps, 2 * step + 1));
}

Value KernelBlocks::getRight(Value row, int64_t steps, Value pitch) {
  if (listsSteps(kind))
    return row;
  if (!streams(kind))
    return element(row, static_cast<int32_t>(steps * 2 * lanes));
  return element(row, builder.getI8Type(), arith::MulIOp::create(builder, location, pitch, word(steps)).getResult());
}

/// Declares a block and enters its body.
func::FuncOp KernelBlocks::openBlock(const std::string &name) {
  Type i64 = builder.getI64Type();
  SmallVector<Type> types = {i64, i64, pointer, pointer, i64, i64, i64, pointer, i64, pointer};
  types.append(unroll, pointer);
  auto type = builder.getFunctionType(types, {});
  auto function = func::FuncOp::create(builder, location, name, type);
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  function->setAttr("passthrough", builder.getStrArrayAttr({alignedLoopsAttribute}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  return function;
}

/// None of a pitch of 0, where they are in L2 anyway and would evict A and B from L1.
void KernelBlocks::bringRows(Value rows, Value first, Value pitch) {
  OpBuilder::InsertionGuard guard(builder);
  Value brings = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, pitch, word(0));
  builder.setInsertionPointToStart(scf::IfOp::create(builder, location, brings, /*withElseRegion=*/false).thenBlock());
  auto loop = scf::ForOp::create(builder, location, constant(0), toIndex(rows), constant(1), ValueRange{first});
  builder.setInsertionPointToStart(loop.getBody());
  Value row = loop.getRegionIterArg(0);
  for (int64_t at = 0; at < shape.getWidth() * bytes; at += lineBytes) {
    Value line = element(row, builder.getI8Type(), static_cast<int32_t>(at));
    LLVM::Prefetch::create(builder, location, line, /*rw=*/1, /*hint=*/3, /*cache=*/1);
  }
  scf::YieldOp::create(builder, location, element(row, builder.getI8Type(), pitch));
}

/// With a single pointer for all unrolled steps, LLVM would move loads before the first step and spill accumulators.
func::FuncOp KernelBlocks::emitBlock(int64_t rows, int64_t vectors, bool prefetches) {
  OpBuilder::InsertionGuard guard(builder);
  Type i64 = builder.getI64Type(), i1 = builder.getI1Type();
  StringRef name = prefetches ? "prefetching_block_" : vectors < shape.getVectors() ? "last_block_" : "block_";
  func::FuncOp function = openBlock((name + Twine(rows)).str());
  Block *entry = &function.getBody().front();
  ValueRange arguments = entry->getArguments();
  Value columns = toIndex(arguments[0]), depth = arguments[1], a = arguments[2];
  Value accumulate = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, arguments[5], word(0));
  bool goesInGroups = prefetches && kind == KernelKind::apart;

  auto maskType = VectorType::get({lanes}, i1);
  Value zeros = arith::ConstantOp::create(builder, location, vector, builder.getZeroAttr(vector));
  SmallVector<Value> addresses;
  for (int64_t row = 0; row < rows; ++row) {
    Value offset = arith::MulIOp::create(builder, location, arguments[4], word(row));
    for (int64_t number = 0; number < vectors; ++number)
      addresses.push_back(element(element(arguments[3], offset), static_cast<int32_t>(number * lanes)));
  }
  // Blocks of fewer vectors sum in the same order, so that bits don't depend on which of them a module has.
  int64_t ofStep = vectors * rows, sets = 1;
  if (!shape.getInOrder())
    sets = llvm::PowerOf2Ceil(llvm::divideCeil(latencyOfAdd, shape.getVectors() * rows));
  int64_t sums = sets * ofStep, stepsOfTurn = std::max(unroll, sets);
  SmallVector<Value> state(sums, zeros);
  // Rows that are not packed are reached from every third one.
  bool areUnpacked = kind == KernelKind::unpacked;
  constexpr int64_t rowsOfBase = 3;
  int64_t bases = areUnpacked ? llvm::divideCeil(rows, rowsOfBase) : 1;
  auto getRow = [&](Value first, int64_t row) -> Value {
    Value distance = arith::MulIOp::create(builder, location, arguments[8], word(row));
    return row ? element(first, builder.getI8Type(), distance) : first;
  };
  for (int64_t base = 0; base < bases; ++base)
    state.push_back(areUnpacked ? getRow(arguments[9], base * rowsOfBase) : Value(arguments[9]));
  llvm::append_range(state, arguments.drop_front(10));
  if (prefetches)
    state.push_back(arguments[7]);
  // The next line of a group's rows, behind the last row.
  int64_t groupAhead = getGroupAhead(elementType);
  Value nextLine;
  if (goesInGroups) {
    state.push_back(word(0));
    nextLine =
        arith::SubIOp::create(builder, location, word(lineBytes),
                              arith::MulIOp::create(builder, location, arguments[8], word(groupAhead)));
  }

  Type stepType = readsInPlace(kind) ? i64 : elementType;
  int32_t stepElements = listsSteps(kind) ? 2 : packsRows(kind) ? static_cast<int32_t>(rows) : 1;
  /// Some steps of k; returns the accumulators, followed by the pointers of the next iteration.
  auto emitSteps = [&](ValueRange values, int64_t count) {
    SmallVector<Value> next(values.take_front(sums));
    Value steps = values[sums];
    ValueRange firstRows = values.slice(sums, bases), right = values.slice(sums + bases, unroll);
    for (int32_t step = 0; step < count; ++step) {
      MutableArrayRef<Value> set = MutableArrayRef(next).slice(step % sets * ofStep, ofStep);
      Value row = right[step % unroll];
      if (step >= unroll)
        row = getRight(row, step - step % unroll, arguments[8]);
      if (listsSteps(kind))
        row = getListed(row, vectors, steps, step);
      Value left = areUnpacked ? Value() : getLeft(a, steps, step, rows);
      auto getFactor = [&](int32_t number) -> Value {
        if (!areUnpacked)
          return element(left, number * rowPitch);
        return element(getRow(firstRows[number / rowsOfBase], number % rowsOfBase), step);
      };
      llvm::copy(emitStep(set, vectors, getFactor, row), set.begin());
    }
    for (Value first : firstRows)
      next.push_back(element(first, stepType, static_cast<int32_t>(count) * stepElements));
    for (Value row : right)
      next.push_back(getRight(row, count, arguments[8]));
    return next;
  };
  Value turns = toIndex(arith::ShRUIOp::create(builder, location, depth, word(llvm::Log2_64(stepsOfTurn))));
  auto loop = scf::ForOp::create(builder, location, constant(0), turns, constant(1), state);
  {
    OpBuilder::InsertionGuard loopGuard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ValueRange values = loop.getRegionIterArgs();
    Value ahead = values.drop_back(goesInGroups).back();
    int64_t lines = streams(kind) ? getPanelLines(elementType, shape) : 1;
    for (int64_t row = 0; prefetches && row < stepsOfTurn; ++row) {
      for (int32_t line = 0; line < lines; ++line)
        LLVM::Prefetch::create(builder, location, element(ahead, builder.getI8Type(), line * lineBytes), /*rw=*/0,
                               /*hint=*/2, /*cache=*/1);
      ahead = element(ahead, builder.getI8Type(), arguments[8]);
    }
    SmallVector<Value> next = emitSteps(values, stepsOfTurn);
    if (goesInGroups) {
      assert(groupAhead % stepsOfTurn == 0 && "a turn is within a group");
      Value rowsAhead = arith::AddIOp::create(builder, location, values.back(), word(stepsOfTurn));
      Value isLast =
          arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, rowsAhead, word(groupAhead));
      ahead = arith::SelectOp::create(builder, location, isLast, element(ahead, builder.getI8Type(), nextLine), ahead);
      next.push_back(ahead);
      next.push_back(arith::SelectOp::create(builder, location, isLast, word(0), rowsAhead));
    } else if (prefetches) {
      next.push_back(ahead);
    }
    scf::YieldOp::create(builder, location, next);
  }
  // Remaining steps, by halving those of a turn.
  SmallVector<Value> results(loop.getResults().take_front(sums + bases + unroll));
  for (int64_t count = stepsOfTurn / 2; count >= 1; count /= 2) {
    Value some = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne,
                                       arith::AndIOp::create(builder, location, depth, word(count)), word(0));
    // After the last step the pointers are dead.
    size_t kept = count == 1 ? sums : results.size();
    auto branch = scf::IfOp::create(
        builder, location, some,
        [&](OpBuilder &, Location) {
          scf::YieldOp::create(builder, location, ArrayRef(emitSteps(results, count)).take_front(kept));
        },
        [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, ArrayRef(results).take_front(kept)); });
    results = llvm::to_vector_of<Value>(branch.getResults());
  }
  for (int64_t number = ofStep; number < sums; ++number)
    results[number % ofStep] = addUp(results[number % ofStep], results[number]);
  SmallVector<Value> masks;
  for (int64_t number = 0; number < vectors; ++number) {
    Value left = arith::SubIOp::create(builder, location, columns, constant(number * lanes));
    masks.push_back(vector::CreateMaskOp::create(builder, location, maskType, ValueRange{left}));
  }
  auto store = [&](bool adds, bool isWhole) {
    for (auto [number, address] : llvm::enumerate(addresses)) {
      Value mask = masks[number % vectors], sum = results[number], before;
      if (adds) {
        before = isWhole ? LLVM::LoadOp::create(builder, location, vector, address, bytes).getResult()
                         : LLVM::MaskedLoadOp::create(builder, location, vector, address, mask, zeros, bytes);
        sum = addUp(sum, before);
      }
      if (isWhole)
        LLVM::StoreOp::create(builder, location, sum, address, bytes);
      else
        LLVM::MaskedStoreOp::create(builder, location, sum, address, mask, bytes);
    }
  };
  auto storeSums = [&](bool isWhole) {
    OpBuilder::InsertionGuard storeGuard(builder);
    auto branch = scf::IfOp::create(builder, location, accumulate, /*withElseRegion=*/true);
    builder.setInsertionPointToStart(branch.thenBlock());
    store(/*adds=*/true, isWhole);
    builder.setInsertionPointToStart(branch.elseBlock());
    store(/*adds=*/false, isWhole);
  };
  // Rows that are read in place accumulate in scratch that holds whole blocks.
  bool isMaskFree = lanes * bytes == 64;
  if (readsInPlace(kind) || streams(kind)) {
    storeSums(/*isWhole=*/true);
  } else if (isMaskFree) {
    storeSums(/*isWhole=*/false);
  } else {
    // Masked stores are slow without AVX-512.
    Value isWhole =
        arith::CmpIOp::create(builder, location, arith::CmpIPredicate::uge, columns, constant(vectors * lanes));
    auto branch = scf::IfOp::create(builder, location, isWhole, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard storeGuard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    storeSums(/*isWhole=*/true);
    builder.setInsertionPointToStart(branch.elseBlock());
    storeSums(/*isWhole=*/false);
  }
  func::ReturnOp::create(builder, location);
  return function;
}

func::FuncOp KernelBlocks::emitNarrowBlock(int64_t columns) {
  OpBuilder::InsertionGuard guard(builder);
  Type i64 = builder.getI64Type();
  func::FuncOp function = openBlock("narrow_block_" + std::to_string(columns));
  Block *entry = &function.getBody().front();
  ValueRange arguments = entry->getArguments();
  Value used = toIndex(arguments[0]), depth = arguments[1], height = arguments[6];
  Value memory = LLVM::AllocaOp::create(builder, location, pointer, vector, word(columns));
  // Independent accumulators for consecutive steps hide latency.
  int64_t steps = std::max<int64_t>(2, 4 / columns);
  Value zeros = arith::ConstantOp::create(builder, location, vector, builder.getZeroAttr(vector));
  SmallVector<Value> state(columns * steps, zeros);
  state.push_back(arguments[2]);
  state.push_back(arguments[10]);
  auto emitSteps = [&](ValueRange values, int64_t count) {
    SmallVector<Value> next = llvm::to_vector(values.drop_back(2));
    Value a = values.drop_back().back(), b = values.back();
    for (int64_t step = 0; step < count; ++step) {
      Value rows = LLVM::LoadOp::create(builder, location, vector, a, bytes);
      for (int64_t column = 0; column < columns; ++column) {
        Value &sum = next[step * columns + column];
        sum = multiplyAdd(rows, loadBroadcast(element(b, static_cast<int32_t>(column))), sum);
      }
      a = element(a, height);
      b = element(b, static_cast<int32_t>(2 * lanes));
    }
    next.push_back(a);
    next.push_back(b);
    scf::YieldOp::create(builder, location, next);
  };
  auto emitLoop = [&](Value from, Value to, ValueRange begin, int64_t count) -> ValueRange {
    auto loop = scf::ForOp::create(builder, location, from, to, constant(1), begin);
    OpBuilder::InsertionGuard loopGuard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    emitSteps(loop.getRegionIterArgs(), count);
    return loop.getResults();
  };
  Value turns = toIndex(arith::ShRUIOp::create(builder, location, depth, word(llvm::Log2_64(steps))));
  Value left = toIndex(arith::AndIOp::create(builder, location, depth, word(steps - 1)));
  ValueRange results = emitLoop(constant(0), turns, state, steps);
  results = emitLoop(constant(0), left, results, 1);

  // Columns of C are not contiguous: elements are stored one by one.
  for (int64_t column = 0; column < columns; ++column) {
    Value sum = results[column];
    for (int64_t step = 1; step < steps; ++step) {
      Value other = results[step * columns + column];
      sum = addUp(sum, other);
    }
    LLVM::StoreOp::create(builder, location, sum, element(memory, static_cast<int32_t>(column * lanes)));
  }
  Value adds = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, arguments[5], word(0));
  auto toWord = [&](Value index) -> Value { return arith::IndexCastOp::create(builder, location, i64, index); };
  auto rowLoop = scf::ForOp::create(builder, location, constant(0), toIndex(height), constant(1));
  builder.setInsertionPointToStart(rowLoop.getBody());
  Value row = toWord(rowLoop.getInductionVar());
  Value distance = arith::MulIOp::create(builder, location, row, arguments[4]);
  Value target = element(arguments[3], distance);
  auto columnLoop = scf::ForOp::create(builder, location, constant(0), used, constant(1));
  builder.setInsertionPointToStart(columnLoop.getBody());
  Value column = toWord(columnLoop.getInductionVar());
  Value at =
      arith::AddIOp::create(builder, location, arith::MulIOp::create(builder, location, column, word(lanes)), row);
  Value sum = LLVM::LoadOp::create(builder, location, elementType, element(memory, at));
  Value address = element(target, column);
  auto total = scf::IfOp::create(
      builder, location, adds,
      [&](OpBuilder &, Location) {
        Value before = LLVM::LoadOp::create(builder, location, elementType, address);
        Value both = addUp(before, sum);
        scf::YieldOp::create(builder, location, both);
      },
      [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, sum); });
  LLVM::StoreOp::create(builder, location, total.getResult(0), address);
  builder.setInsertionPointAfter(rowLoop);
  func::ReturnOp::create(builder, location);
  return function;
}
