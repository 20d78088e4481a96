#include "compiler/codegen/cpu/MicroKernels.h"

#include "compiler/codegen/cpu/LowerToObject.h"
#include "compiler/codegen/cpu/UpdateKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

static FunctionType getKernelType(OpBuilder &builder, KernelKind kind);

/// Whether A is an intermediate in scratch: blocks have even heights, and prefetch nothing.
static bool readsScratch(KernelKind kind) { return kind == KernelKind::down || kind == KernelKind::across; }
/// Whether rows of A are not packed: steps have offsets.
static bool readsInPlace(KernelKind kind) { return kind == KernelKind::window || readsScratch(kind); }
/// Whether panels of B are not packed: rows are `pitch` bytes apart.
static bool streams(KernelKind kind) { return kind == KernelKind::stream; }

namespace {

/// Emits blocks of one height: accumulators in registers, k unrolled.
class BlockEmitter {
public:
  BlockEmitter(OpBuilder &builder, Location location, KernelKind kind, Type elementType, tile::MicroKernelAttr shape)
      : builder(builder), location(location), kind(kind), elementType(elementType),
        bytes(elementType.getIntOrFloatBitWidth() / 8), shape(shape), lanes(shape.getLanes()),
        unroll(shape.getUnroll()), rowPitch(kind == KernelKind::across ? static_cast<int32_t>(shape.getWidth()) : 1),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())), vector(VectorType::get({lanes}, elementType)) {}

  /// Emits blocks for all heights of the shape, and the driver that calls them.
  void emit();

private:
  func::FuncOp openBlock(const std::string &name);
  func::FuncOp emitBlock(int64_t rows, bool prefetches);
  func::FuncOp emitNarrowBlock(int64_t columns);
  void emitDriver();
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, location, value); }
  Value word(int64_t value) { return arith::ConstantIntOp::create(builder, location, value, 64); }
  Value toIndex(Value value) { return arith::IndexCastOp::create(builder, location, builder.getIndexType(), value); }
  Value element(Value base, LLVM::GEPArg index) { return element(base, elementType, index); }
  Value element(Value base, Type type, LLVM::GEPArg index) {
    return LLVM::GEPOp::create(builder, location, pointer, type, base, ArrayRef<LLVM::GEPArg>{index});
  }
  Value multiplyPairs(Value a, Value b);
  Value multiplyAdd(Value a, Value b, Value sum);
  Value loadBroadcast(Value address);
  int64_t getRowLines() const { return llvm::divideCeil(2 * lanes * bytes, lineBytes); }
  SmallVector<Value> emitStep(ValueRange sums, Value left, Value right);
  Value getRight(Value row, int64_t steps, Value pitch);
  Value getLeft(Value a, Value steps, int32_t step, int32_t rows);

  OpBuilder &builder;
  Location location;
  KernelKind kind;
  Type elementType;
  unsigned bytes;
  tile::MicroKernelAttr shape;
  int64_t lanes, unroll;
  /// Elements from a row of A to the next one, within a step.
  int32_t rowPitch;
  Type pointer;
  VectorType vector;
  /// Keyed by height; plus `prefetchingKey` for variants with prefetching, which are at least `leastPrefetching` high.
  /// Blocks of up to `mostNarrow` columns are keyed by their number of columns plus `narrowKey`.
  SmallVector<std::pair<int64_t, func::FuncOp>> blocks;
  static constexpr int64_t prefetchingKey = 64, narrowKey = 128;
  static constexpr int32_t lineBytes = 64;
  int64_t leastPrefetching = 0, mostNarrow = 0;
};

} // namespace

/// Pair products: for every 32-bit word, the sum of the products of its 16-bit halves.
Value BlockEmitter::multiplyPairs(Value a, Value b) {
  auto halves = VectorType::get({2 * lanes}, builder.getI16Type());
  assert((lanes == 8 || lanes == 16) && "vectors are those of AVX2 or AVX-512");
  StringRef intrinsic = lanes == 16 ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd";
  auto toHalves = [&](Value words) -> Value { return vector::BitCastOp::create(builder, location, halves, words); };
  return LLVM::CallIntrinsicOp::create(builder, location, vector, builder.getStringAttr(intrinsic),
                                       ValueRange{toHalves(a), toHalves(b)})
      .getResult(0);
}

Value BlockEmitter::multiplyAdd(Value a, Value b, Value sum) {
  if (isa<FloatType>(elementType))
    return vector::FMAOp::create(builder, location, a, b, sum);
  if (kind == KernelKind::pairs)
    return arith::AddIOp::create(builder, location, sum, multiplyPairs(a, b));
  return arith::AddIOp::create(builder, location, sum, arith::MulIOp::create(builder, location, a, b));
}

Value BlockEmitter::loadBroadcast(Value address) {
  Value scalar = LLVM::LoadOp::create(builder, location, elementType, address);
  return vector::BroadcastOp::create(builder, location, vector, scalar);
}

/// One step of k: the outer product of a row of B with the elements of A from `left` on, one for each row of the block.
SmallVector<Value> BlockEmitter::emitStep(ValueRange sums, Value left, Value right) {
  Value vectors[2];
  for (int32_t half = 0; half < 2; ++half)
    vectors[half] =
        LLVM::LoadOp::create(builder, location, vector, element(right, half * static_cast<int32_t>(lanes)), bytes);
  SmallVector<Value> next;
  for (int32_t row = 0, rows = static_cast<int32_t>(sums.size() / 2); row < rows; ++row) {
    Value factor = loadBroadcast(element(left, row * rowPitch));
    for (int64_t half = 0; half < 2; ++half)
      next.push_back(multiplyAdd(factor, vectors[half], sums[2 * row + half]));
  }
  return next;
}

/// The address of A for a step of k: by its offset in a window, else contiguous.
Value BlockEmitter::getLeft(Value a, Value steps, int32_t step, int32_t rows) {
  if (!readsInPlace(kind))
    return element(steps, step * rows);
  Type i64 = builder.getI64Type();
  Value offset = LLVM::LoadOp::create(builder, location, i64, element(steps, i64, step));
  return element(a, offset);
}

/// The address of B some steps after `row`.
Value BlockEmitter::getRight(Value row, int64_t steps, Value pitch) {
  if (!streams(kind))
    return element(row, static_cast<int32_t>(steps * 2 * lanes));
  return element(row, builder.getI8Type(), arith::MulIOp::create(builder, location, pitch, word(steps)).getResult());
}

/// Declares a function and enters its body:
///   void block(i64 columns, i64 depth, ptr A, ptr C, i64 ldc, i64 accumulate, i64 used, ptr ahead, i64 pitch,
///              ptr steps, ptr B of each unrolled step…)
/// of which only `used` rows are stored.
func::FuncOp BlockEmitter::openBlock(const std::string &name) {
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

/// With a single pointer for all unrolled steps, LLVM would move loads before the first step and spill accumulators. A
/// prefetching block brings one line in two steps into L2, from `ahead` on: that costs 2 % of its time, so there is a
/// variant without.
func::FuncOp BlockEmitter::emitBlock(int64_t rows, bool prefetches) {
  OpBuilder::InsertionGuard guard(builder);
  Type i64 = builder.getI64Type(), i1 = builder.getI1Type();
  func::FuncOp function = openBlock((prefetches ? "prefetching_block_" : "block_") + std::to_string(rows));
  Block *entry = &function.getBody().front();
  ValueRange arguments = entry->getArguments();
  Value columns = toIndex(arguments[0]), depth = arguments[1], a = arguments[2];
  Value accumulate = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, arguments[5], word(0));

  auto maskType = VectorType::get({lanes}, i1);
  Value zeros = arith::ConstantOp::create(builder, location, vector, builder.getZeroAttr(vector));
  SmallVector<Value> addresses;
  SmallVector<Value> state;
  for (int64_t row = 0; row < rows; ++row) {
    Value offset = arith::MulIOp::create(builder, location, arguments[4], word(row));
    for (int64_t half = 0; half < 2; ++half) {
      Value address = element(element(arguments[3], offset), static_cast<int32_t>(half * lanes));
      addresses.push_back(address);
      state.push_back(zeros);
    }
  }
  // C is added last, so prefetch it during the loop. Lines that are only written need no prefetch, and would evict A
  // and B.
  auto bring = scf::IfOp::create(builder, location, accumulate, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard bringGuard(builder);
    builder.setInsertionPointToStart(bring.thenBlock());
    for (Value address : addresses)
      LLVM::Prefetch::create(builder, location, address, /*rw=*/1, /*hint=*/3, /*cache=*/1);
  }
  llvm::append_range(state, arguments.drop_front(9));
  if (prefetches)
    state.push_back(arguments[7]);
  int64_t sums = 2 * rows;

  Type stepType = readsInPlace(kind) ? i64 : elementType;
  int32_t stepElements = readsInPlace(kind) ? 1 : static_cast<int32_t>(rows);
  /// Some steps of k; returns the accumulators, followed by the pointers of the next iteration.
  auto emitSteps = [&](ValueRange values, int64_t count) {
    SmallVector<Value> next(values.take_front(sums));
    Value steps = values[sums];
    ValueRange right = values.slice(sums + 1, unroll);
    for (int32_t step = 0; step < count; ++step)
      next = emitStep(next, getLeft(a, steps, step, rows), right[step]);
    next.push_back(element(steps, stepType, static_cast<int32_t>(count) * stepElements));
    for (Value row : right)
      next.push_back(getRight(row, count, arguments[8]));
    return next;
  };
  Value turns = toIndex(arith::ShRUIOp::create(builder, location, depth, word(llvm::Log2_64(unroll))));
  auto loop = scf::ForOp::create(builder, location, constant(0), turns, constant(1), state);
  {
    OpBuilder::InsertionGuard loopGuard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    ValueRange values = loop.getRegionIterArgs();
    Value ahead = values.back();
    int64_t rowsAhead = streams(kind) ? unroll : unroll / 2, lines = streams(kind) ? getRowLines() : 1;
    for (int64_t row = 0; prefetches && row < rowsAhead; ++row) {
      for (int32_t line = 0; line < lines; ++line)
        LLVM::Prefetch::create(builder, location, element(ahead, builder.getI8Type(), line * lineBytes), /*rw=*/0,
                               /*hint=*/2, /*cache=*/1);
      ahead = element(ahead, builder.getI8Type(), arguments[8]);
    }
    SmallVector<Value> next = emitSteps(values, unroll);
    if (prefetches)
      next.push_back(ahead);
    scf::YieldOp::create(builder, location, next);
  }
  // Remaining steps, by halving the unrolled count.
  SmallVector<Value> results(loop.getResults().take_front(sums + 1 + unroll));
  for (int64_t count = unroll / 2; count >= 1; count /= 2) {
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
  Value masks[2];
  for (int64_t half = 0; half < 2; ++half) {
    Value left = arith::SubIOp::create(builder, location, columns, constant(half * lanes));
    masks[half] = vector::CreateMaskOp::create(builder, location, maskType, ValueRange{left});
  }
  auto store = [&](bool adds, bool isWhole) {
    for (auto [number, address] : llvm::enumerate(addresses)) {
      Value mask = masks[number % 2], sum = results[number], before;
      if (adds) {
        before = isWhole ? LLVM::LoadOp::create(builder, location, vector, address, bytes).getResult()
                         : LLVM::MaskedLoadOp::create(builder, location, vector, address, mask, zeros, bytes);
        sum = isa<FloatType>(elementType) ? arith::AddFOp::create(builder, location, sum, before).getResult()
                                          : arith::AddIOp::create(builder, location, sum, before).getResult();
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
    Value isWhole = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::uge, columns, constant(2 * lanes));
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

/// A block for the few columns of a last panel: vectors run along the rows of A, so that no lane computes columns that
/// do not exist.
func::FuncOp BlockEmitter::emitNarrowBlock(int64_t columns) {
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
      sum = isa<FloatType>(elementType) ? arith::AddFOp::create(builder, location, sum, other).getResult()
                                        : arith::AddIOp::create(builder, location, sum, other).getResult();
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
        Value both = isa<FloatType>(elementType) ? arith::AddFOp::create(builder, location, before, sum).getResult()
                                                 : arith::AddIOp::create(builder, location, before, sum).getResult();
        scf::YieldOp::create(builder, location, both);
      },
      [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, sum); });
  LLVM::StoreOp::create(builder, location, total.getResult(0), address);
  builder.setInsertionPointAfter(rowLoop);
  func::ReturnOp::create(builder, location);
  return function;
}

/// Calls the block of the given height while enough rows are left, then one for the rest. The first four calls
/// prefetch: each half of the lines of half of the rows.
void BlockEmitter::emitDriver() {
  OpBuilder::InsertionGuard guard(builder);
  bool isInPlace = readsInPlace(kind), hasWholePanels = isInPlace || streams(kind);
  Type i64 = builder.getI64Type();
  auto function =
      func::FuncOp::create(builder, location, getKernelName(kind, elementType, shape), getKernelType(builder, kind));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  ValueRange arguments = entry->getArguments();
  Value rows = arguments[0], most = arguments[1], columns = hasWholePanels ? word(2 * lanes) : arguments[2];
  Value depth = arguments[isInPlace ? 2 : 3], a = arguments[isInPlace ? 3 : 4], offsets = arguments[4],
        b = arguments[5], c = arguments[6];
  Value ldc = isInPlace ? columns : arguments[7], accumulate = arguments[isInPlace ? 7 : 8];
  auto add = [&](Value x, Value y) -> Value { return arith::AddIOp::create(builder, location, x, y); };
  auto multiply = [&](Value x, Value y) -> Value { return arith::MulIOp::create(builder, location, x, y); };
  auto compare = [&](arith::CmpIPredicate predicate, Value x, int64_t y) -> Value {
    return arith::CmpIOp::create(builder, location, predicate, x, word(y));
  };
  auto select = [&](Value condition, Value x, Value y) -> Value {
    return arith::SelectOp::create(builder, location, condition, x, y);
  };
  scf::WhileOp::create(
      builder, location, TypeRange{i64, pointer, pointer, i64},
      ValueRange{rows, a, c, isInPlace ? arguments[9] : word(0)},
      [&](OpBuilder &, Location, ValueRange values) {
        scf::ConditionOp::create(builder, location, compare(arith::CmpIPredicate::sgt, values[0], 0), values);
      },
      [&](OpBuilder &, Location, ValueRange values) {
        Value used = arith::MinSIOp::create(builder, location, values[0], most), height = used;
        if (readsScratch(kind))
          height = arith::AndIOp::create(builder, location, add(used, word(1)), word(-2));
        Value half = arith::ShRUIOp::create(builder, location, values[3], word(1));
        Value line = arith::AndIOp::create(builder, location, values[3], word(1));
        Value steps = arith::ShRUIOp::create(builder, location, depth, word(1));
        Value pitch = isInPlace ? word(2 * lanes * bytes) : arguments[10];
        Value distance = add(multiply(half, multiply(steps, pitch)), multiply(line, word(lanes * bytes)));
        if (streams(kind))
          distance = word(0);
        Value ahead = element(arguments[isInPlace ? 8 : 9], builder.getI8Type(), distance);
        Value prefetches =
            arith::AndIOp::create(builder, location, compare(arith::CmpIPredicate::slt, values[3], prefetchingBlocks),
                                  compare(arith::CmpIPredicate::sge, height, leastPrefetching));
        Value key = readsScratch(kind) || streams(kind) ? height
                                                        : select(prefetches, add(height, word(prefetchingKey)), height);
        if (!hasWholePanels)
          key = select(compare(arith::CmpIPredicate::sle, columns, mostNarrow), add(columns, word(narrowKey)), key);
        SmallVector<int64_t> cases =
            llvm::map_to_vector(ArrayRef(blocks).drop_back(), [](auto &block) { return block.first; });
        auto choice = scf::IndexSwitchOp::create(builder, location, TypeRange{}, toIndex(key), cases, cases.size());
        auto emitCall = [&](Region &region, func::FuncOp block) {
          OpBuilder::InsertionGuard caseGuard(builder);
          builder.createBlock(&region);
          SmallVector<Value> operands = {columns,    depth,  values[1], values[2], ldc,
                                         accumulate, height, ahead,     pitch,     isInPlace ? offsets : values[1]};
          for (int32_t step = 0; step < unroll; ++step)
            operands.push_back(getRight(b, step, pitch));
          func::CallOp::create(builder, location, block, operands);
          scf::YieldOp::create(builder, location);
        };
        for (auto [region, block] : llvm::zip_equal(choice.getCaseRegions(), ArrayRef(blocks).drop_back()))
          emitCall(region, block.second);
        emitCall(choice.getDefaultRegion(), blocks.back().second);

        scf::YieldOp::create(builder, location,
                             ValueRange{arith::SubIOp::create(builder, location, values[0], used),
                                        element(values[1], multiply(height, isInPlace ? word(rowPitch) : depth)),
                                        element(values[2], multiply(height, ldc)), add(values[3], word(1))});
      });
  func::ReturnOp::create(builder, location);
}

void BlockEmitter::emit() {
  int64_t mostRows = shape.getRows(), unit = readsScratch(kind) ? 2 : 1;
  leastPrefetching = llvm::divideCeil(mostRows, 2);
  if (!readsInPlace(kind) && !streams(kind) && mostRows <= lanes)
    for (int64_t width = 1; width <= 8; width *= 2) {
      func::FuncOp block = emitNarrowBlock(width);
      while (mostNarrow < width)
        blocks.emplace_back(narrowKey + ++mostNarrow, block);
    }
  for (int64_t rows = unit; rows <= mostRows; rows += unit) {
    blocks.emplace_back(rows, emitBlock(rows, /*prefetches=*/streams(kind)));
    if (!readsScratch(kind) && !streams(kind) && rows >= leastPrefetching)
      blocks.emplace_back(rows + prefetchingKey, emitBlock(rows, /*prefetches=*/true));
  }
  emitDriver();
}

static std::string getTypeName(Type type) {
  return (isa<FloatType>(type) ? "f" : "i") + std::to_string(type.getIntOrFloatBitWidth());
}

static StringRef getKindName(KernelKind kind) {
  static constexpr StringRef names[] = {"contract", "stream", "update", "pairs", "window", "down", "across"};
  return names[static_cast<unsigned>(kind)];
}

/// A kernel's name by kind, type and shape: rows, columns and steps of a block.
static std::string getShapedName(KernelKind kind, Type elementType, tile::MicroKernelAttr shape) {
  return (getKindName(kind) + "_" + getTypeName(elementType) + "_" + Twine(shape.getRows()) + "x" +
          Twine(shape.getWidth()) + "x" + Twine(shape.getUnroll()))
      .str();
}

std::string freestone::codegen::getKernelName(KernelKind kind, Type elementType, tile::MicroKernelAttr shape) {
  return "freestone_" + getShapedName(kind, elementType, shape);
}

static FunctionType getKernelType(OpBuilder &builder, KernelKind kind) {
  Type i64 = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  if (kind == KernelKind::update)
    return builder.getFunctionType({i64, i64, i64, pointer, pointer, i64, pointer, i64, i64}, {});
  if (readsInPlace(kind))
    return builder.getFunctionType({i64, i64, i64, pointer, pointer, pointer, pointer, i64, pointer, i64}, {});
  return builder.getFunctionType({i64, i64, i64, i64, pointer, pointer, pointer, i64, i64, pointer, i64}, {});
}

func::FuncOp freestone::codegen::declareKernel(ModuleOp module, KernelKind kind, Type elementType,
                                               tile::MicroKernelAttr shape) {
  std::string name = getKernelName(kind, elementType, shape);
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto function = func::FuncOp::create(builder, module.getLoc(), name, getKernelType(builder, kind));
  function.setPrivate();
  return function;
}

Value freestone::codegen::getBlockHeight(Emission &emission, Value rows, int64_t most, int64_t unit) {
  Value one = emission.getConstant(1);
  Value blocks = emission.maximum(one, emission.ceilDivide(rows, emission.getConstant(most)));
  Value height = emission.ceilDivide(rows, blocks), step = emission.getConstant(unit);
  return emission.maximum(step, emission.multiply(emission.ceilDivide(height, step), step));
}

void freestone::codegen::emitMicroKernels(ModuleOp module, KernelKind kind, Type elementType,
                                          tile::MicroKernelAttr shape) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto nested = ModuleOp::create(builder, module.getLoc(), getShapedName(kind, elementType, shape));
  builder.setInsertionPointToStart(nested.getBody());
  if (kind != KernelKind::update)
    return BlockEmitter(builder, module.getLoc(), kind, elementType, shape).emit();
  auto function = func::FuncOp::create(builder, module.getLoc(), getKernelName(kind, elementType, shape),
                                       getKernelType(builder, kind));
  emitUpdateKernel(function, elementType, shape.getLanes());
}
