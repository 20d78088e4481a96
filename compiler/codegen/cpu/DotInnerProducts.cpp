#include "compiler/codegen/cpu/InPlaceKernelEmitter.h"
#include "compiler/codegen/cpu/TransposeLanes.h"
#include <map>

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

Value InPlaceKernelEmitter::flip(Value vector) {
  Value bits = vector::BitCastOp::create(builder, location, wordType, vector);
  return layout.flipsRows() ? arith::XOrIOp::create(builder, location, bits, getFlippedZeros(builder, location)) : bits;
}

/// As many as `most`, then by half of it at a time.
void InPlaceKernelEmitter::forParts(Value count, int64_t most,
                                    llvm::function_ref<void(Value first, int64_t count)> body) {
  Value first = constant(0);
  for (int64_t size = most; size > 0; size /= 2) {
    Value end = multiply(divide(count, size), size);
    forRange(first, end, size, [&](Value at) { body(at, size); });
    first = end;
  }
}

/// The first block of rows, if they are flipped, computes what each column's sums have too much.
void InPlaceKernelEmitter::emitInnerProducts() {
  std::map<std::tuple<int64_t, int64_t, bool>, func::FuncOp> blocks;
  for (int64_t columns = 1; columns <= mostOfBlock; columns *= 2)
    for (int64_t rows = 1; rows <= (columns == 1 ? rowsOfColumn : mostOfBlock); rows *= 2)
      for (int hasExcess = 0; hasExcess <= int(layout.flipsRows()); ++hasExcess)
        blocks[{rows, columns, hasExcess}] = emitBlock(rows, columns, hasExcess);
  func::FuncOp function = declareInPlace(module, kernel);
  function.setPublic();
  builder.setInsertionPointToStart(function.addEntryBlock());
  ValueRange arguments = function.getArguments();
  Value rows = toIndex(arguments[0]), columns = toIndex(arguments[1]), zero = constant(0);
  auto forRows = [&](Value row, int64_t rowCount, int64_t mostColumns) {
    Value a = advance(arguments[3], arith::MulIOp::create(builder, location, toWord(row), arguments[4]));
    forParts(columns, mostColumns, [&](Value column, int64_t columnCount) {
      Value b = advance(arguments[5], arith::MulIOp::create(builder, location, toWord(column), arguments[6]));
      SmallVector<Value> operands = {arguments[2],
                                     a,
                                     arguments[4],
                                     b,
                                     arguments[6],
                                     arguments[7],
                                     advance(arguments[8], add(multiply(row, panelRow), multiply(column, 4))),
                                     arguments[9],
                                     advance(arguments[10], multiply(column, 4))};
      if (kernel.result) {
        Value before = arith::MulIOp::create(builder, location, toWord(row), arguments[12]);
        Value result = advance(advance(arguments[11], before), multiply(column, resultBytes()));
        operands.append({selectIfSet(arguments[11], result, arguments[11]), arguments[12]});
      }
      auto callBlock = [&](bool hasExcess) {
        func::CallOp::create(builder, location, blocks[{rowCount, columnCount, hasExcess}], operands);
      };
      if (!layout.flipsRows())
        return callBlock(false);
      emitIf(
          arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, row, zero), [&] { callBlock(true); },
          [&] { callBlock(false); });
    });
  };
  auto forBlocks = [&](int64_t mostRows, int64_t mostColumns) {
    forParts(rows, mostRows, [&](Value row, int64_t count) { forRows(row, count, mostColumns); });
  };
  emitIf(
      arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, columns, constant(1)),
      [&] { forBlocks(rowsOfColumn, 1); }, [&] { forBlocks(mostOfBlock, mostOfBlock); });
  func::ReturnOp::create(builder, location);
}

/// Emits a function that computes a block of rows and columns, and may compute one of flipped zeros beside them:
///   void inner(i64 depth, ptr A, i64 rowPitch, ptr B, i64 columnPitch, i64 groupPitch, ptr C, i64 accumulate,
///              ptr excess[, ptr result, i64 pitch])
func::FuncOp InPlaceKernelEmitter::emitBlock(int64_t rows, int64_t columns, bool hasExcess) {
  builder.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types = {i64, pointer, i64, pointer, i64, i64, pointer, i64, pointer};
  if (kernel.result)
    types.append({pointer, i64});
  std::string name = hasExcess ? "inner_excess_" : "inner_";
  auto function = func::FuncOp::create(builder, location, name + std::to_string(rows) + "_" + std::to_string(columns),
                                       builder.getFunctionType(types, {}));
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(function.addEntryBlock());
  ValueRange arguments = function.getArguments();
  Value depth = toIndex(arguments[0]), groups = divide(depth, groupSteps());
  SmallVector<Value> state((rows + hasExcess) * columns, zerosOf(sumType)), a, b;
  for (int64_t row = 0; row < rows; ++row)
    a.push_back(row ? advance(a.back(), arguments[2]) : arguments[1]);
  for (int64_t column = 0; column < columns; ++column)
    b.push_back(column ? advance(b.back(), arguments[4]) : arguments[3]);
  auto addAt = [&](ValueRange before, Value group, Value mask) {
    SmallVector<Value> ofRows, ofColumns;
    for (Value row : a)
      ofRows.push_back(advance(row, multiply(group, vectorBytes)));
    Value offset = arith::MulIOp::create(builder, location, toWord(group), arguments[5]);
    for (Value column : b)
      ofColumns.push_back(advance(column, offset));
    scf::YieldOp::create(builder, location,
                         addGroup(llvm::to_vector_of<Value>(before), ofRows, ofColumns, hasExcess, mask));
  };
  auto loop = scf::ForOp::create(builder, location, constant(0), groups, constant(1), state);
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(loop.getBody());
    addAt(loop.getRegionIterArgs(), loop.getInductionVar(), {});
  }
  Value left = subtract(depth, multiply(groups, groupSteps()));
  auto rest = scf::IfOp::create(builder, location, TypeRange(ValueRange(state)), isLess(constant(0), left),
                                /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToStart(rest.thenBlock());
    addAt(loop.getResults(), groups, getMask(groupSteps(), left));
    builder.setInsertionPointToStart(rest.elseBlock());
    scf::YieldOp::create(builder, location, loop.getResults());
  }
  storeBlock(rows, columns, rest.getResults(), arguments);
  func::ReturnOp::create(builder, location);
  return function;
}

/// The sums of lanes of a block, and of flipped zeros behind its rows, go to C or the result.
void InPlaceKernelEmitter::storeBlock(int64_t rows, int64_t columns, ValueRange state, ValueRange arguments) {
  auto rowType = VectorType::get({columns}, sums);
  auto reduce = [&](ValueRange vectors) {
    return reduceEach(builder, location, llvm::to_vector_of<Value>(vectors),
                      [&](Value lhs, Value rhs) { return addSums(lhs, rhs); });
  };
  auto addBefore = [&](ArrayRef<Value> addresses, ValueRange added) {
    auto all = scf::IfOp::create(
        builder, location, isSet(arguments[7]),
        [&](OpBuilder &, Location) {
          SmallVector<Value> totals;
          for (auto [address, value] : llvm::zip_equal(addresses, added))
            totals.push_back(addSums(load(rowType, address, {}), value));
          scf::YieldOp::create(builder, location, totals);
        },
        [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, added); });
    return llvm::to_vector_of<Value>(all.getResults());
  };
  Value all = reduce(state.take_front(rows * columns));
  SmallVector<Value> ofRows, addresses;
  for (int64_t row = 0; row < rows; ++row) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(row * columns, (row + 1) * columns));
    ofRows.push_back(vector::ShuffleOp::create(builder, location, all, all, order));
    addresses.push_back(advance(arguments[6], row * panelRow));
  }
  ofRows = addBefore(addresses, ofRows);
  Value excess;
  if (static_cast<int64_t>(state.size()) > rows * columns) {
    excess = addBefore({arguments[8]}, ValueRange{reduce(state.drop_front(rows * columns))}).front();
    store(excess, arguments[8], {});
  }
  auto storeSums = [&] {
    for (auto [sum, address] : llvm::zip_equal(ofRows, addresses))
      store(sum, address, {});
  };
  auto write = [&] {
    Value tooMuch = excess;
    if (layout.flipsRows() && !tooMuch)
      tooMuch = load(rowType, arguments[8], {});
    for (auto [row, sum] : llvm::enumerate(ofRows)) {
      Value before = arith::MulIOp::create(builder, location, arguments[10], word(static_cast<int64_t>(row)));
      storeDotProducts(builder, location, kernel.result, sum, tooMuch, advance(arguments[9], before), {});
    }
  };
  if (kernel.result)
    emitIf(isSet(LLVM::PtrToIntOp::create(builder, location, i64, arguments[9])), write, storeSums);
  else
    storeSums();
}

SmallVector<Value> InPlaceKernelEmitter::addGroup(SmallVector<Value> state, ArrayRef<Value> a, ArrayRef<Value> b,
                                                  bool hasExcess, Value mask) {
  SmallVector<Value> left = llvm::map_to_vector(a, [&](Value row) { return flip(load(elementsType, row, mask)); });
  if (hasExcess)
    left.push_back(getFlippedZeros(builder, location));
  for (auto [column, address] : llvm::enumerate(b)) {
    Value right = vector::BitCastOp::create(builder, location, wordType, load(elementsType, address, mask));
    for (size_t row = 0; row < left.size(); ++row) {
      Value &sum = state[row * b.size() + column];
      sum = addProducts(sum, left[row], right);
    }
  }
  return state;
}
