#include "compiler/codegen/cpu/UpdateKernel.h"

#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/plan/ContractionTree.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;

/// Rows of B that come side by side from memory, beyond what one prefetcher follows. A set of L1 has as many lines,
/// which rows whole pages apart would fill.
static constexpr int64_t mostStreams = 8;

namespace {

/// Emits updates of one number of rows: some rows of B at a time are added to all of C, or all of them to sums in
/// registers.
class UpdateEmitter {
public:
  UpdateEmitter(OpBuilder &builder, func::FuncOp function, Type elementType, int64_t lanes)
      : builder(builder), location(function.getLoc()), elementType(elementType), lanes(lanes),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())), vector(VectorType::get({lanes}, elementType)) {
    ValueRange arguments = function.getArguments();
    columns = toIndex(arguments[1]);
    depth = toIndex(arguments[2]);
    a = arguments[3];
    b = arguments[4];
    pitch = arguments[5];
    c = arguments[6];
    ldc = arguments[7];
    accumulate = arguments[8];
    held = arguments[9];
    far = arguments[10];
  }

  void emit(int64_t rows);

private:
  void emitUpdates(int64_t rows);
  /// Columns that fit so many vectors; their sums stay in registers.
  void emitHeld(int64_t rows, int64_t vectors);
  /// Adds the products of all steps of k, so many at a time, whose rows of B pass by side by side; meanwhile as many
  /// that come next are prefetched into L2.
  void emitAll(int64_t rows, int64_t steps, bool prefetches);
  /// Adds the products of `steps` steps of k from `step` on.
  void emitSteps(int64_t rows, int64_t steps, bool prefetches, Value step);
  void emitColumns(ArrayRef<SmallVector<Value>> factors, ArrayRef<Value> rowsOfB, Value column, Value mask);
  void emitZeros(int64_t rows);
  void forRange(Value from, Value to, int64_t step, llvm::function_ref<void(Value)> body) {
    auto loop = scf::ForOp::create(builder, location, from, to, constant(step));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }
  /// Whole vectors of columns, without a mask, then the rest.
  void forColumns(llvm::function_ref<void(Value, Value)> body) {
    Value whole = multiply(divide(columns, constant(lanes)), constant(lanes));
    forRange(constant(0), whole, lanes, [&](Value column) { body(column, {}); });
    Value left = arith::SubIOp::create(builder, location, columns, whole);
    Value some = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, left, constant(0));
    auto branch = scf::IfOp::create(builder, location, some, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    auto maskType = VectorType::get({lanes}, builder.getI1Type());
    body(whole, vector::CreateMaskOp::create(builder, location, maskType, ValueRange{left}));
  }
  Value load(Value address, Value mask) {
    unsigned bytes = elementType.getIntOrFloatBitWidth() / 8;
    if (!mask)
      return LLVM::LoadOp::create(builder, location, vector, address, bytes);
    return LLVM::MaskedLoadOp::create(builder, location, vector, address, mask, zeros(), bytes);
  }
  void store(Value value, Value address, Value mask) {
    unsigned bytes = elementType.getIntOrFloatBitWidth() / 8;
    if (mask)
      LLVM::MaskedStoreOp::create(builder, location, value, address, mask, bytes);
    else
      LLVM::StoreOp::create(builder, location, value, address, bytes);
  }
  Value multiplyAdd(Value x, Value y, Value sum) {
    if (isa<FloatType>(elementType))
      return vector::FMAOp::create(builder, location, x, y, sum);
    return arith::AddIOp::create(builder, location, sum, arith::MulIOp::create(builder, location, x, y));
  }
  Value addUp(Value x, Value y) {
    if (isa<FloatType>(elementType))
      return arith::AddFOp::create(builder, location, x, y);
    return add(x, y);
  }
  /// A row's element in a step of k, in all lanes.
  Value getFactor(int64_t rows, Value step, int64_t row) {
    Value address = element(a, elementType, add(multiply(step, constant(rows)), constant(row)));
    Value factor = LLVM::LoadOp::create(builder, location, elementType, address);
    return vector::BroadcastOp::create(builder, location, vector, factor);
  }
  Value getRow(int64_t row) { return element(c, elementType, multiply(toIndex(ldc), constant(row))); }
  Value element(Value base, Type type, Value index) {
    Value word = arith::IndexCastOp::create(builder, location, builder.getI64Type(), index);
    return LLVM::GEPOp::create(builder, location, pointer, type, base, ArrayRef<LLVM::GEPArg>{word});
  }
  Value zeros() { return arith::ConstantOp::create(builder, location, vector, builder.getZeroAttr(vector)); }
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, location, value); }
  Value toIndex(Value value) { return arith::IndexCastOp::create(builder, location, builder.getIndexType(), value); }
  Value add(Value x, Value y) { return arith::AddIOp::create(builder, location, x, y); }
  Value multiply(Value x, Value y) { return arith::MulIOp::create(builder, location, x, y); }
  Value divide(Value x, Value y) { return arith::DivUIOp::create(builder, location, x, y); }

  OpBuilder &builder;
  Location location;
  Type elementType;
  int64_t lanes;
  Type pointer;
  VectorType vector;
  Value columns, depth, a, b, pitch, c, ldc, accumulate, held, far;
};

} // namespace

void UpdateEmitter::emit(int64_t rows) {
  auto number = arith::IndexCastOp::create(builder, location, builder.getIndexType(), held);
  auto cases = llvm::to_vector(llvm::seq<int64_t>(1, heldVectors + 1));
  auto choice = scf::IndexSwitchOp::create(builder, location, TypeRange{}, number, cases, cases.size());
  for (auto [vectors, region] : llvm::enumerate(choice->getRegions())) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&region);
    // The default is the first region.
    vectors == 0 ? emitUpdates(rows) : emitHeld(rows, static_cast<int64_t>(vectors));
    scf::YieldOp::create(builder, location);
  }
}

void UpdateEmitter::emitHeld(int64_t rows, int64_t vectors) {
  auto maskType = VectorType::get({lanes}, builder.getI1Type());
  SmallVector<Value> masks;
  for (int64_t number = 0; number < vectors; ++number) {
    Value left = arith::SubIOp::create(builder, location, columns, constant(number * lanes));
    masks.push_back(vector::CreateMaskOp::create(builder, location, maskType, ValueRange{left}));
  }
  // Neighbouring steps have sums of their own, which hide the latency of additions.
  int64_t ofStep = rows * vectors, steps = llvm::PowerOf2Ceil(llvm::divideCeil(latencyOfAdd, ofStep));
  auto addSteps = [&](ValueRange before, Value first, int64_t count) {
    SmallVector<Value> sums = llvm::to_vector_of<Value>(before);
    for (int64_t step = 0; step < count; ++step) {
      Value at = add(first, constant(step));
      Value row = element(b, builder.getI8Type(), multiply(at, toIndex(pitch)));
      SmallVector<Value> right;
      for (int64_t number = 0; number < vectors; ++number)
        right.push_back(load(element(row, elementType, constant(number * lanes)), masks[number]));
      for (int64_t number = 0; number < rows; ++number) {
        Value factor = getFactor(rows, at, number);
        for (auto [place, ofColumns] : llvm::enumerate(right)) {
          Value &sum = sums[step * ofStep + number * vectors + place];
          sum = multiplyAdd(factor, ofColumns, sum);
        }
      }
    }
    return sums;
  };
  auto addAll = [&](Value from, Value to, int64_t count, ValueRange before) -> ValueRange {
    auto loop = scf::ForOp::create(builder, location, from, to, constant(count), before);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(builder, location, addSteps(loop.getRegionIterArgs(), loop.getInductionVar(), count));
    return loop.getResults();
  };
  Value whole = multiply(divide(depth, constant(steps)), constant(steps));
  SmallVector<Value> begin(steps * ofStep, zeros());
  SmallVector<Value> sums = llvm::to_vector_of<Value>(addAll(constant(0), whole, steps, begin));
  llvm::copy(addAll(whole, depth, 1, ArrayRef(sums).take_front(ofStep)), sums.begin());
  for (; steps > 1; steps /= 2)
    for (int64_t number = 0; number < steps / 2 * ofStep; ++number)
      sums[number] = addUp(sums[number], sums[steps / 2 * ofStep + number]);
  Value adds = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, accumulate,
                                     arith::ConstantIntOp::create(builder, location, 0, 64));
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t number = 0; number < vectors; ++number) {
      Value address = element(getRow(row), elementType, constant(number * lanes)), sum = sums[row * vectors + number];
      auto total = scf::IfOp::create(
          builder, location, adds,
          [&](OpBuilder &, Location) {
            scf::YieldOp::create(builder, location, addUp(load(address, masks[number]), sum));
          },
          [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, sum); });
      store(total.getResult(0), address, masks[number]);
    }
}

void UpdateEmitter::emitUpdates(int64_t rows) {
  Value sets = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, accumulate,
                                     arith::ConstantIntOp::create(builder, location, 0, 64));
  auto branch = scf::IfOp::create(builder, location, sets, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    emitZeros(rows);
  }
  // Factors take half of the registers: 32 of AVX-512, else 16.
  int64_t bytes = lanes * elementType.getIntOrFloatBitWidth() / 8, registers = bytes == 64 ? 32 : 16;
  int64_t steps = std::min<int64_t>(mostStreams, llvm::bit_floor<uint64_t>(registers / 2 / rows));
  if (steps < mostStreams)
    return emitAll(rows, steps, /*prefetches=*/false);
  Value inPage = arith::AndIOp::create(builder, location, toIndex(pitch), constant(tile::pageBytes - 1));
  Value shareSet = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, inPage, constant(0));
  Value isFar = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, toIndex(far), constant(0));
  auto emitIf = [&](Value condition, llvm::function_ref<void()> yes, llvm::function_ref<void()> no) {
    scf::IfOp::create(
        builder, location, condition,
        [&](OpBuilder &, Location) {
          yes();
          scf::YieldOp::create(builder, location);
        },
        [&](OpBuilder &, Location) {
          no();
          scf::YieldOp::create(builder, location);
        });
  };
  auto emitHalf = [&](bool prefetches) { emitAll(rows, mostStreams / 2, prefetches); };
  auto emitShared = [&] {
    emitIf(
        isFar, [&] { emitHalf(true); }, [&] { emitHalf(false); });
  };
  emitIf(shareSet, emitShared, [&] { emitAll(rows, mostStreams, /*prefetches=*/false); });
}

void UpdateEmitter::emitAll(int64_t rows, int64_t steps, bool prefetches) {
  Value whole = multiply(divide(depth, constant(steps)), constant(steps));
  forRange(constant(0), whole, steps, [&](Value step) { emitSteps(rows, steps, prefetches, step); });
  forRange(whole, depth, 1, [&](Value step) { emitSteps(rows, 1, /*prefetches=*/false, step); });
}

void UpdateEmitter::emitZeros(int64_t rows) {
  forColumns([&](Value column, Value mask) {
    for (int64_t row = 0; row < rows; ++row)
      store(zeros(), element(getRow(row), elementType, column), mask);
  });
}

void UpdateEmitter::emitSteps(int64_t rows, int64_t steps, bool prefetches, Value step) {
  SmallVector<SmallVector<Value>> factors(rows);
  SmallVector<Value> rowsOfB;
  for (int64_t number = 0; number < steps; ++number) {
    Value at = add(step, constant(number));
    rowsOfB.push_back(element(b, builder.getI8Type(), multiply(at, toIndex(pitch))));
    for (int64_t row = 0; row < rows; ++row)
      factors[row].push_back(getFactor(rows, at, row));
  }
  Value ahead = multiply(constant(steps), toIndex(pitch));
  forColumns([&](Value column, Value mask) {
    emitColumns(factors, rowsOfB, column, mask);
    for (Value row : ArrayRef(rowsOfB).take_front(prefetches ? steps : 0))
      LLVM::Prefetch::create(builder, location, element(element(row, builder.getI8Type(), ahead), elementType, column),
                             /*rw=*/0, /*hint=*/2, /*cache=*/1);
  });
}

void UpdateEmitter::emitColumns(ArrayRef<SmallVector<Value>> factors, ArrayRef<Value> rowsOfB, Value column,
                                Value mask) {
  SmallVector<Value> right;
  for (Value row : rowsOfB)
    right.push_back(load(element(row, elementType, column), mask));
  for (auto [row, ofRow] : llvm::enumerate(factors)) {
    Value address = element(getRow(static_cast<int64_t>(row)), elementType, column), sum = load(address, mask);
    for (auto [factor, vector] : llvm::zip_equal(ofRow, right))
      sum = multiplyAdd(factor, vector, sum);
    store(sum, address, mask);
  }
}

void codegen::emitUpdateKernel(func::FuncOp function, Type elementType, int64_t lanes) {
  OpBuilder builder = OpBuilder::atBlockBegin(function.addEntryBlock());
  Location location = function.getLoc();
  Value rows = arith::IndexCastOp::create(builder, location, builder.getIndexType(), function.getArgument(0));
  auto cases = llvm::to_vector(llvm::seq<int64_t>(1, mostUpdatedRows));
  auto choice = scf::IndexSwitchOp::create(builder, location, TypeRange{}, rows, cases, cases.size());
  for (auto [number, region] : llvm::enumerate(choice->getRegions())) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&region);
    // The default, which is the first region, has the most rows.
    UpdateEmitter(builder, function, elementType, lanes).emit(number ? cases[number - 1] : mostUpdatedRows);
    scf::YieldOp::create(builder, location);
  }
  func::ReturnOp::create(builder, location);
}
