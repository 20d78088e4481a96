#include "compiler/codegen/cpu/InnerKernel.h"

#include "compiler/codegen/cpu/TransposeLanes.h"
#include "compiler/plan/MatrixInPlace.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;

namespace {

/// Blocks of rows and columns of results, each with a vector of partial sums.
class InnerEmitter {
public:
  InnerEmitter(func::FuncOp function, Type elementType, tile::MicroKernelAttr shape)
      : builder(function.getContext()), function(function), location(function.getLoc()), elementType(elementType),
        lanes(shape.getLanes()), vectors(shape.getVectors()),
        bytes(static_cast<int64_t>(elementType.getIntOrFloatBitWidth()) / 8), i64(builder.getI64Type()),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())), vector(VectorType::get({lanes}, elementType)) {}

  void emit();

private:
  /// Blocks of so many rows, of columns from `from` to `to`, so many in each turn.
  struct Turns {
    int64_t leastRows, mostRows, columns;
    Value from, to;
  };

  /// Few rows read columns of up to so many bytes four at a time: prefetchers follow them from line to line.
  static constexpr int64_t shortBytes = 512;

  int64_t getMostRows() const { return tile::AlongDepth::getBlockRows(lanes * bytes); }
  /// So few rows read eight columns at a time, since sums by four would wait for those of the step before.
  int64_t getFewRows() const { return getMostRows() / 3; }

  /// Emits `void inner_R_C(i64 depth, ptr A, i64 rowPitch, ptr B, i64 columnPitch, i64 groupPitch, ptr C, i64 ldc,
  /// i64 accumulate)`, whose pitches are in bytes.
  func::FuncOp emitBlock(int64_t rows, int64_t columns);
  /// Adds the products of a group of steps, of which `left` exist; all where it is null.
  SmallVector<Value> addGroup(SmallVector<Value> sums, ArrayRef<Value> a, ArrayRef<Value> b, Value left);
  /// Stores the sums of lanes of some rows of a block.
  void storeRows(ArrayRef<Value> sums, int64_t rows, int64_t columns, Value c, Value ldc, Value accumulate);
  void emitTurns(const Turns &turns);

  Value load(VectorType type, Value address, Value mask = {}) {
    if (mask)
      return LLVM::MaskedLoadOp::create(builder, location, type, address, mask, zeros(type), bytes);
    return LLVM::LoadOp::create(builder, location, type, address, bytes);
  }
  Value zeros(VectorType type) { return arith::ConstantOp::create(builder, location, type, builder.getZeroAttr(type)); }
  Value advance(Value base, Value distance) {
    return LLVM::GEPOp::create(builder, location, pointer, builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{distance});
  }
  Value advance(Value base, int64_t distance) { return distance ? advance(base, word(distance)) : base; }
  Value word(int64_t value) { return arith::ConstantIntOp::create(builder, location, i64, value); }
  Value add(Value lhs, Value rhs) { return arith::AddIOp::create(builder, location, lhs, rhs); }
  Value subtract(Value lhs, Value rhs) { return arith::SubIOp::create(builder, location, lhs, rhs); }
  Value multiply(Value lhs, Value rhs) { return arith::MulIOp::create(builder, location, lhs, rhs); }
  Value multiply(Value lhs, int64_t rhs) { return multiply(lhs, word(rhs)); }
  Value divide(Value lhs, Value rhs) { return arith::DivUIOp::create(builder, location, lhs, rhs); }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, location, predicate, lhs, rhs);
  }
  void forRange(Value from, Value to, Value step, llvm::function_ref<void(Value)> body) {
    auto loop = scf::ForOp::create(builder, location, from, to, step);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  OpBuilder builder;
  func::FuncOp function;
  Location location;
  Type elementType;
  int64_t lanes, vectors, bytes;
  Type i64, pointer;
  VectorType vector;
};

} // namespace

/// Columns pass by once, and stay in L1 for all blocks of rows, which are divided evenly.
void InnerEmitter::emit() {
  builder.setInsertionPointToStart(function.addEntryBlock());
  Value rows = function.getArgument(0), columns = function.getArgument(1), zero = word(0);
  auto getWhole = [&](int64_t count) { return multiply(divide(columns, word(count)), count); };
  constexpr int64_t four = tile::AlongDepth::blockColumns;
  int64_t few = getFewRows(), most = getMostRows(), wide = std::min(lanes, 2 * four);
  Value areFew = compare(arith::CmpIPredicate::sle, rows, word(few));
  Value areShort = compare(arith::CmpIPredicate::sle, function.getArgument(2), word(shortBytes / bytes));
  auto select = [&](Value condition, Value lhs, Value rhs) -> Value {
    return arith::SelectOp::create(builder, location, condition, lhs, rhs);
  };
  Value whole = select(areFew, select(areShort, getWhole(four), getWhole(wide)), getWhole(four));
  auto emitIf = [&](Value condition, llvm::function_ref<void()> body, llvm::function_ref<void()> otherwise) {
    auto branch = scf::IfOp::create(builder, location, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    body();
    builder.setInsertionPointToStart(branch.elseBlock());
    otherwise();
  };
  auto emitFew = [&] {
    emitIf(
        areShort,
        [&] {
          emitTurns({1, few, four, zero, whole});
        },
        [&] {
          emitTurns({1, few, wide, zero, whole});
        });
  };
  emitIf(areFew, emitFew, [&] { emitTurns({few + 1, most, four, zero, whole}); });
  // The last columns are few: code for them is, too.
  emitTurns({1, 1, 1, whole, columns});
  func::ReturnOp::create(builder, location);
}

void InnerEmitter::emitTurns(const Turns &turns) {
  ValueRange arguments = function.getArguments();
  Value rows = arguments[0], ldc = multiply(arguments[9], bytes), most = word(turns.mostRows), one = word(1);
  Value count = divide(add(rows, subtract(most, one)), most);
  Value least = divide(rows, arith::MaxSIOp::create(builder, location, one, count));
  Value higher = subtract(rows, multiply(least, count));
  auto cases = llvm::to_vector(llvm::seq<int64_t>(turns.leastRows, turns.mostRows));
  SmallVector<func::FuncOp> blocks;
  // The default of the choice, which is its first region, has the most rows.
  blocks.push_back(emitBlock(turns.mostRows, turns.columns));
  for (int64_t ofBlock : cases)
    blocks.push_back(emitBlock(ofBlock, turns.columns));
  forRange(turns.from, turns.to, word(turns.columns), [&](Value column) {
    forRange(word(0), count, one, [&](Value block) {
      Value row = add(multiply(block, least), arith::MinSIOp::create(builder, location, block, higher));
      Value isHigher = compare(arith::CmpIPredicate::slt, block, higher);
      Value height = add(least, arith::ExtUIOp::create(builder, location, i64, isHigher));
      Value c = advance(arguments[8], add(multiply(row, ldc), multiply(column, bytes)));
      Value operands[] = {arguments[2],
                          advance(arguments[3], multiply(row, arguments[4])),
                          arguments[4],
                          advance(arguments[5], multiply(column, arguments[6])),
                          arguments[6],
                          arguments[7],
                          c,
                          ldc,
                          arguments[10]};
      Value number = arith::IndexCastOp::create(builder, location, builder.getIndexType(), height);
      auto choice = scf::IndexSwitchOp::create(builder, location, TypeRange{}, number, cases, cases.size());
      for (auto [region, ofRows] : llvm::zip_equal(choice->getRegions(), blocks)) {
        OpBuilder::InsertionGuard guard(builder);
        builder.createBlock(&region);
        func::CallOp::create(builder, location, ofRows, operands);
        scf::YieldOp::create(builder, location);
      }
    });
  });
}

func::FuncOp InnerEmitter::emitBlock(int64_t rows, int64_t columns) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(function);
  auto type = builder.getFunctionType({i64, pointer, i64, pointer, i64, i64, pointer, i64, i64}, {});
  auto block =
      func::FuncOp::create(builder, location, "inner_" + std::to_string(rows) + "_" + std::to_string(columns), type);
  block->setAttr("llvm.linkage", LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  builder.setInsertionPointToStart(block.addEntryBlock());
  ValueRange arguments = block.getArguments();
  SmallVector<Value> a, b, sums(rows * columns, zeros(vector));
  for (int64_t row = 0; row < rows; ++row)
    a.push_back(row ? advance(a.back(), arguments[2]) : arguments[1]);
  for (int64_t column = 0; column < columns; ++column)
    b.push_back(column ? advance(b.back(), arguments[4]) : arguments[3]);
  auto addAt = [&](Value group, ValueRange before, Value left) {
    Value ofRows = multiply(group, vectors * lanes * bytes), ofColumns = multiply(group, arguments[5]);
    auto rowsHere = llvm::map_to_vector(a, [&](Value row) { return advance(row, ofRows); });
    auto columnsHere = llvm::map_to_vector(b, [&](Value column) { return advance(column, ofColumns); });
    return addGroup(llvm::to_vector_of<Value>(before), rowsHere, columnsHere, left);
  };
  Value groups = divide(arguments[0], word(vectors * lanes));
  auto loop = scf::ForOp::create(builder, location, word(0), groups, word(1), sums);
  {
    OpBuilder::InsertionGuard inLoop(builder);
    builder.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(builder, location, addAt(loop.getInductionVar(), loop.getRegionIterArgs(), {}));
  }
  Value left = subtract(arguments[0], multiply(groups, vectors * lanes));
  auto rest = scf::IfOp::create(builder, location, ValueRange(sums).getTypes(),
                                compare(arith::CmpIPredicate::sgt, left, word(0)), /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard inRest(builder);
    builder.setInsertionPointToStart(rest.thenBlock());
    scf::YieldOp::create(builder, location, addAt(groups, loop.getResults(), left));
    builder.setInsertionPointToStart(rest.elseBlock());
    scf::YieldOp::create(builder, location, loop.getResults());
  }
  sums = llvm::to_vector_of<Value>(rest.getResults());
  Value c = arguments[6];
  // As many rows at a time as have a lane for each sum.
  for (int64_t row = 0; row < rows;) {
    int64_t count = std::min<int64_t>(llvm::bit_floor<uint64_t>(rows - row), lanes / columns);
    storeRows(ArrayRef(sums).slice(row * columns, count * columns), count, columns, c, arguments[7], arguments[8]);
    c = advance(c, multiply(arguments[7], count));
    row += count;
  }
  func::ReturnOp::create(builder, location);
  return block;
}

SmallVector<Value> InnerEmitter::addGroup(SmallVector<Value> sums, ArrayRef<Value> a, ArrayRef<Value> b, Value left) {
  for (int64_t number = 0; number < vectors; ++number) {
    Value mask;
    if (left) {
      Value count = arith::MaxSIOp::create(builder, location, word(0), subtract(left, word(number * lanes)));
      mask = vector::CreateMaskOp::create(
          builder, location, VectorType::get({lanes}, builder.getI1Type()),
          arith::IndexCastOp::create(builder, location, builder.getIndexType(), count).getResult());
    }
    int64_t distance = number * lanes * bytes;
    auto ofRows = llvm::map_to_vector(a, [&](Value row) { return load(vector, advance(row, distance), mask); });
    for (auto [column, address] : llvm::enumerate(b)) {
      Value ofColumn = load(vector, advance(address, distance), mask);
      for (auto [row, ofRow] : llvm::enumerate(ofRows)) {
        Value &sum = sums[row * b.size() + column];
        sum = vector::FMAOp::create(builder, location, ofRow, ofColumn, sum);
      }
    }
  }
  return sums;
}

void InnerEmitter::storeRows(ArrayRef<Value> sums, int64_t rows, int64_t columns, Value c, Value ldc,
                             Value accumulate) {
  auto addSums = [&](Value lhs, Value rhs) -> Value { return arith::AddFOp::create(builder, location, lhs, rhs); };
  Value all = reduceEach(builder, location, llvm::to_vector(sums), addSums);
  auto type = VectorType::get({columns}, elementType);
  Value adds = compare(arith::CmpIPredicate::ne, accumulate, word(0));
  for (int64_t row = 0; row < rows; ++row, c = advance(c, ldc)) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(row * columns, (row + 1) * columns));
    Value ofRow = vector::ShuffleOp::create(builder, location, all, all, order);
    auto before = scf::IfOp::create(
        builder, location, adds, [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, load(type, c)); },
        [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, zeros(type)); });
    LLVM::StoreOp::create(builder, location, addSums(before.getResult(0), ofRow), c, bytes);
  }
}

void codegen::emitInnerKernel(func::FuncOp function, Type elementType, tile::MicroKernelAttr shape) {
  InnerEmitter(function, elementType, shape).emit();
}
