#include "compiler/codegen/cpu/InPlaceKernels.h"

#include "compiler/codegen/cpu/DotProductKernels.h"
#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/codegen/cpu/TransposeLanes.h"
#include "compiler/plan/MatrixInPlace.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <map>

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

namespace {

/// Emits the functions of a kernel.
class InPlaceEmitter {
public:
  InPlaceEmitter(ModuleOp module, const InPlaceKernel &kernel)
      : builder(OpBuilder::atBlockEnd(module.getBody())), module(module), location(module.getLoc()), kernel(kernel),
        layout(kernel.layout),
        i64(builder.getI64Type()), pointer(LLVM::LLVMPointerType::get(builder.getContext())),
        element(builder.getIntegerType(8 * elementBytes())), sums(layout.factors.getSumType(builder.getContext())),
        wordType(VectorType::get({words}, builder.getI32Type())), sumType(VectorType::get({words}, sums)),
        elementsType(VectorType::get({groupSteps()}, element)) {}

  void emitUpdates();
  void emitInnerProducts();

private:
  static constexpr int64_t words = tile::DotProductLayout::rowWords, vectorBytes = 64, panelRow = 128,
                           panelColumns = tile::DotProductLayout::unit;
  /// Rows and columns of a block of inner products, and rows of one column.
  static constexpr int64_t mostOfBlock = 4, rowsOfColumn = 8;

  int64_t stepsOfWord() const { return layout.getStepsOfWord(); }
  int64_t elementBytes() const { return tile::DotProductLayout::wordBytes / stepsOfWord(); }
  int64_t groupSteps() const { return layout.getStepsOfGroup(); }
  int64_t resultBytes() const { return kernel.result.getIntOrFloatBitWidth() / 8; }

  // Updates of one number of rows.
  struct Update {
    int64_t rows;
    Value columns, depth, a, b, pitch, c, excess, accumulate;
  };
  void emitUpdate(const Update &update);
  void emitHeld(const Update &update);
  SmallVector<Value> addHeld(const Update &update, ValueRange sums, Value word, Value stepsOfLast);
  void emitZeros(const Update &update);
  SmallVector<SmallVector<Value>> getFactors(const Update &update, Value first, int64_t count);
  SmallVector<Value> getRowsOfB(const Update &update, Value first, int64_t count);
  SmallVector<SmallVector<Value>> getWords(ArrayRef<Value> rowsOfB, Value stepsOfLast, Value column, Value left);
  void emitWords(const Update &update, int64_t count, Value first, Value begin, Value end);
  void emitColumns(const Update &update, ArrayRef<SmallVector<Value>> factors, ArrayRef<Value> rowsOfB,
                   Value stepsOfLast, Value column, Value left);
  void addTo(Value address, ArrayRef<Value> factors, ArrayRef<Value> right, Value mask);
  Value getSums(const Update &update, Value column, int64_t row);

  // Inner products of a block of rows and columns.
  func::FuncOp emitBlock(int64_t rows, int64_t columns, bool hasExcess);
  SmallVector<Value> addGroup(SmallVector<Value> state, ArrayRef<Value> a, ArrayRef<Value> b, bool hasExcess, Value mask);
  void storeBlock(int64_t rows, int64_t columns, ValueRange state, ValueRange arguments);
  void forParts(Value count, int64_t most, llvm::function_ref<void(Value first, int64_t count)> body);

  Value flip(Value vector);
  Value addProducts(Value sum, Value lhs, Value rhs) {
    return addDotProducts(builder, location, layout.multiplied, sum, lhs, rhs);
  }
  Value addSums(Value lhs, Value rhs) {
    if (isa<FloatType>(sums))
      return arith::AddFOp::create(builder, location, lhs, rhs);
    return arith::AddIOp::create(builder, location, lhs, rhs);
  }
  Value zerosOf(Type type) { return arith::ConstantOp::create(builder, location, builder.getZeroAttr(type)); }
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, location, value); }
  Value toIndex(Value word) { return arith::IndexCastOp::create(builder, location, builder.getIndexType(), word); }
  Value toWord(Value index) { return arith::IndexCastOp::create(builder, location, i64, index); }
  Value add(Value lhs, Value rhs) { return arith::AddIOp::create(builder, location, lhs, rhs); }
  Value subtract(Value lhs, Value rhs) { return arith::SubIOp::create(builder, location, lhs, rhs); }
  Value multiply(Value lhs, int64_t rhs) { return arith::MulIOp::create(builder, location, lhs, constant(rhs)); }
  Value divide(Value lhs, int64_t rhs) { return arith::DivUIOp::create(builder, location, lhs, constant(rhs)); }
  Value isLess(Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, lhs, rhs);
  }
  Value isSet(Value word) {
    return arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ne, word,
                                 arith::ConstantIntOp::create(builder, location, i64, 0));
  }
  Value advance(Value base, Value bytes) {
    Value word = bytes.getType().isIndex() ? toWord(bytes) : bytes;
    return LLVM::GEPOp::create(builder, location, pointer, builder.getI8Type(), base, ArrayRef<LLVM::GEPArg>{word});
  }
  Value advance(Value base, int64_t bytes) { return bytes ? advance(base, constant(bytes)) : base; }
  Value getMask(int64_t lanes, Value count) {
    auto type = VectorType::get({lanes}, builder.getI1Type());
    return vector::CreateMaskOp::create(builder, location, type, ValueRange{count});
  }
  Value load(VectorType type, Value address, Value mask) {
    unsigned bytes = type.getElementTypeBitWidth() / 8;
    if (mask)
      return LLVM::MaskedLoadOp::create(builder, location, type, address, mask, zerosOf(type), bytes);
    return LLVM::LoadOp::create(builder, location, type, address, bytes);
  }
  void store(Value value, Value address, Value mask) {
    if (mask)
      LLVM::MaskedStoreOp::create(builder, location, value, address, mask, 4);
    else
      LLVM::StoreOp::create(builder, location, value, address, 4);
  }
  void forRange(Value from, Value to, int64_t step, llvm::function_ref<void(Value)> body) {
    auto loop = scf::ForOp::create(builder, location, from, to, constant(step));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }
  void emitIf(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = {}) {
    auto branch = scf::IfOp::create(builder, location, condition, /*withElseRegion=*/bool(otherwise));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    then();
    if (!otherwise)
      return;
    builder.setInsertionPointToStart(branch.elseBlock());
    otherwise();
  }
  Value word(int64_t value) { return arith::ConstantIntOp::create(builder, location, i64, value); }
  Value selectIfSet(Value address, Value then, Value otherwise) {
    Value is = isSet(LLVM::PtrToIntOp::create(builder, location, i64, address));
    return arith::SelectOp::create(builder, location, is, then, otherwise);
  }

  OpBuilder builder;
  ModuleOp module;
  Location location;
  const InPlaceKernel &kernel;
  const tile::DotProductLayout &layout;
  Type i64, pointer, element, sums;
  VectorType wordType, sumType, elementsType;
};

} // namespace

Value InPlaceEmitter::flip(Value vector) {
  Value bits = vector::BitCastOp::create(builder, location, wordType, vector);
  return layout.flipsRows() ? arith::XOrIOp::create(builder, location, bits, getFlippedZeros(builder, location)) : bits;
}

void InPlaceEmitter::emitUpdates() {
  func::FuncOp function = declareInPlace(module, kernel);
  function.setPublic();
  builder.setInsertionPointToStart(function.addEntryBlock());
  ValueRange arguments = function.getArguments();
  Update update{1,
                toIndex(arguments[1]),
                toIndex(arguments[2]),
                arguments[3],
                arguments[4],
                arguments[5],
                arguments[6],
                arguments[8],
                arguments[7]};
  auto cases = llvm::to_vector(llvm::seq<int64_t>(1, tile::ReadsInPlace::mostRows));
  auto choice = scf::IndexSwitchOp::create(builder, location, TypeRange{}, toIndex(arguments[0]), cases, cases.size());
  for (auto [number, region] : llvm::enumerate(choice->getRegions())) {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&region);
    // The default, which is the first region, has the most rows.
    update.rows = number ? cases[number - 1] : tile::ReadsInPlace::mostRows;
    emitIf(
        isSet(arguments[9]), [&] { emitHeld(update); }, [&] { emitUpdate(update); });
    scf::YieldOp::create(builder, location);
  }
  func::ReturnOp::create(builder, location);
}

/// Of each row, the words of some steps stay in registers while all columns pass by: four words of whole vectors of
/// columns, single ones of the rest of both, whose code is the same for all places.
void InPlaceEmitter::emitUpdate(const Update &update) {
  constexpr int64_t wordsAtOnce = 4;
  Value none = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, update.accumulate,
                                     arith::ConstantIntOp::create(builder, location, i64, 0));
  emitIf(none, [&] { emitZeros(update); });
  Value all = divide(add(update.depth, constant(stepsOfWord() - 1)), stepsOfWord()), zero = constant(0);
  Value most = multiply(divide(divide(update.depth, stepsOfWord()), wordsAtOnce), wordsAtOnce);
  Value whole = multiply(divide(update.columns, groupSteps()), groupSteps());
  forRange(zero, most, wordsAtOnce, [&](Value word) { emitWords(update, wordsAtOnce, word, zero, whole); });
  // Of the first words the last columns, of the others all.
  forRange(zero, all, 1, [&](Value word) {
    Value first = arith::SelectOp::create(builder, location, isLess(word, most), whole, zero);
    emitWords(update, 1, word, first, update.columns);
  });
}

/// The products of a word of all rows, and of flipped zeros, by all columns: sums of a row have a vector for each step
/// of a word.
SmallVector<Value> InPlaceEmitter::addHeld(const Update &update, ValueRange sums, Value number, Value stepsOfLast) {
  SmallVector<SmallVector<Value>> factors = getFactors(update, number, 1);
  SmallVector<SmallVector<Value>> right =
      getWords(getRowsOfB(update, number, 1), stepsOfLast, constant(0), update.columns);
  SmallVector<Value> next;
  for (ArrayRef<Value> factor : factors)
    for (ArrayRef<Value> ofPart : right)
      next.push_back(addProducts(sums[next.size()], factor.front(), ofPart.front()));
  return next;
}

/// Of columns that fit a vector of elements. Neighbouring words have sums of their own, which hide the latency of
/// products; a last word may have fewer steps.
void InPlaceEmitter::emitHeld(const Update &update) {
  int64_t all = update.rows + layout.flipsRows(), ofWord = all * stepsOfWord();
  int64_t sets = llvm::PowerOf2Ceil(llvm::divideCeil(latencyOfAdd, ofWord));
  SmallVector<Value> begin(sets * ofWord, zerosOf(sumType));
  Value wholeWords = divide(update.depth, stepsOfWord()), whole = multiply(divide(wholeWords, sets), sets);
  auto loop = scf::ForOp::create(builder, location, constant(0), whole, constant(sets), begin);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> next;
    for (int64_t set = 0; set < sets; ++set)
      llvm::append_range(next, addHeld(update, loop.getRegionIterArgs().slice(set * ofWord, ofWord),
                                       add(loop.getInductionVar(), constant(set)), {}));
    scf::YieldOp::create(builder, location, next);
  }
  Value end = divide(add(update.depth, constant(stepsOfWord() - 1)), stepsOfWord());
  auto rest = scf::ForOp::create(builder, location, whole, end, constant(1), loop.getResults().take_front(ofWord));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(rest.getBody());
    Value left = subtract(update.depth, multiply(rest.getInductionVar(), stepsOfWord()));
    scf::YieldOp::create(builder, location, addHeld(update, rest.getRegionIterArgs(), rest.getInductionVar(), left));
  }
  SmallVector<Value> sums = llvm::to_vector_of<Value>(rest.getResults());
  llvm::append_range(sums, loop.getResults().drop_front(ofWord));
  for (; sets > 1; sets /= 2)
    for (int64_t number = 0; number < sets / 2 * ofWord; ++number)
      sums[number] = addSums(sums[number], sums[sets / 2 * ofWord + number]);
  for (int64_t part = 0; part < stepsOfWord(); ++part) {
    Value column = constant(part * words), left = subtract(update.columns, column);
    Value mask = getMask(words, arith::MaxSIOp::create(builder, location, left, constant(0)));
    for (int64_t row = 0; row < all; ++row) {
      Value address = getSums(update, column, row), sum = sums[row * stepsOfWord() + part];
      auto before = scf::IfOp::create(
          builder, location, isSet(update.accumulate),
          [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, load(sumType, address, mask)); },
          [&](OpBuilder &, Location) { scf::YieldOp::create(builder, location, zerosOf(sumType)); });
      store(addSums(before.getResult(0), sum), address, mask);
    }
  }
}

Value InPlaceEmitter::getSums(const Update &update, Value column, int64_t row) {
  if (row == update.rows)
    return advance(update.excess, multiply(column, 4));
  Value panel = divide(column, panelColumns), inPanel = subtract(column, multiply(panel, panelColumns));
  Value ofPanel = add(multiply(panel, update.rows * panelRow), multiply(inPanel, 4));
  return advance(advance(update.c, ofPanel), row * panelRow);
}

void InPlaceEmitter::emitZeros(const Update &update) {
  int64_t all = update.rows + layout.flipsRows();
  forRange(constant(0), update.columns, words, [&](Value column) {
    Value mask = getMask(words, subtract(update.columns, column));
    for (int64_t row = 0; row < all; ++row)
      store(zerosOf(sumType), getSums(update, column, row), mask);
  });
}

/// Words of each row from the first on, and of flipped zeros, in all lanes.
SmallVector<SmallVector<Value>> InPlaceEmitter::getFactors(const Update &update, Value first, int64_t count) {
  SmallVector<SmallVector<Value>> factors(update.rows);
  Value group = divide(first, words), inGroup = subtract(first, multiply(group, words));
  Value a = advance(update.a, add(multiply(group, layout.groupWords * layout.wordBytes), multiply(inGroup, 4)));
  for (int64_t number = 0; number < count; ++number)
    for (int64_t row = 0; row < update.rows; ++row) {
      Value word =
          LLVM::LoadOp::create(builder, location, builder.getI32Type(), advance(a, row * vectorBytes + number * 4), 4);
      factors[row].push_back(vector::BroadcastOp::create(builder, location, wordType, word));
    }
  if (layout.flipsRows())
    factors.push_back(SmallVector<Value>(count, getFlippedZeros(builder, location)));
  return factors;
}

/// The steps of words from the first on.
SmallVector<Value> InPlaceEmitter::getRowsOfB(const Update &update, Value first, int64_t count) {
  Value step = multiply(first, stepsOfWord());
  SmallVector<Value> rowsOfB;
  for (int64_t number = 0; number < count * stepsOfWord(); ++number) {
    Value at = arith::MulIOp::create(builder, location, toWord(add(step, constant(number))), update.pitch);
    rowsOfB.push_back(advance(update.b, at));
  }
  return rowsOfB;
}

/// Updates columns from `begin` to `end`; those of several words are whole vectors, and whole words.
void InPlaceEmitter::emitWords(const Update &update, int64_t count, Value first, Value begin, Value end) {
  SmallVector<SmallVector<Value>> factors = getFactors(update, first, count);
  SmallVector<Value> rowsOfB = getRowsOfB(update, first, count);
  Value steps = count == 1 ? subtract(update.depth, multiply(first, stepsOfWord())) : Value();
  forRange(begin, end, groupSteps(), [&](Value column) {
    emitColumns(update, factors, rowsOfB, steps, column, count == 1 ? subtract(end, column) : Value());
  });
}

/// By part of the columns of a vector of elements, their words. `left` of them exist, and the last word has some steps;
/// all where these are null.
SmallVector<SmallVector<Value>> InPlaceEmitter::getWords(ArrayRef<Value> rowsOfB, Value stepsOfLast, Value column,
                                                         Value left) {
  int64_t lanes = groupSteps(), each = stepsOfWord();
  Value mask = left ? getMask(lanes, left) : Value();
  SmallVector<SmallVector<Value>> right(each);
  for (size_t number = 0; number < rowsOfB.size(); number += each) {
    SmallVector<Value> rows;
    for (int64_t step = 0; step < each; ++step) {
      Value ofStep = mask;
      if (stepsOfLast && step > 0)
        ofStep = getMask(
            lanes, arith::SelectOp::create(builder, location, isLess(constant(step), stepsOfLast), left, constant(0)));
      rows.push_back(load(elementsType, advance(rowsOfB[number + step], multiply(column, elementBytes())), ofStep));
    }
    for (auto [part, values] : llvm::enumerate(interleaveLanes(builder, location, rows)))
      right[part].push_back(vector::BitCastOp::create(builder, location, wordType, values));
  }
  return right;
}

void InPlaceEmitter::emitColumns(const Update &update, ArrayRef<SmallVector<Value>> factors, ArrayRef<Value> rowsOfB,
                                 Value stepsOfLast, Value column, Value left) {
  SmallVector<SmallVector<Value>> right = getWords(rowsOfB, stepsOfLast, column, left);
  for (auto [part, ofPart] : llvm::enumerate(right)) {
    int64_t before = static_cast<int64_t>(part) * words;
    Value at = add(column, constant(before)), some;
    if (left)
      some = getMask(words, arith::MaxSIOp::create(builder, location, subtract(left, constant(before)), constant(0)));
    for (auto [row, ofRow] : llvm::enumerate(factors))
      addTo(getSums(update, at, static_cast<int64_t>(row)), ofRow, ofPart, some);
  }
}

void InPlaceEmitter::addTo(Value address, ArrayRef<Value> factors, ArrayRef<Value> right, Value mask) {
  Value sum = load(sumType, address, mask);
  for (auto [factor, values] : llvm::zip_equal(factors, right))
    sum = addProducts(sum, factor, values);
  store(sum, address, mask);
}

/// As many as `most`, then by half of it at a time.
void InPlaceEmitter::forParts(Value count, int64_t most, llvm::function_ref<void(Value first, int64_t count)> body) {
  Value first = constant(0);
  for (int64_t size = most; size > 0; size /= 2) {
    Value end = multiply(divide(count, size), size);
    forRange(first, end, size, [&](Value at) { body(at, size); });
    first = end;
  }
}

/// The first block of rows, if they are flipped, computes what each column's sums have too much.
void InPlaceEmitter::emitInnerProducts() {
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
func::FuncOp InPlaceEmitter::emitBlock(int64_t rows, int64_t columns, bool hasExcess) {
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
void InPlaceEmitter::storeBlock(int64_t rows, int64_t columns, ValueRange state, ValueRange arguments) {
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

SmallVector<Value> InPlaceEmitter::addGroup(SmallVector<Value> state, ArrayRef<Value> a, ArrayRef<Value> b,
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

static std::string getName(const InPlaceKernel &kernel) {
  std::string name = kernel.kind == InPlaceKind::updates ? "dot_updates_" : "inner_products_";
  return name + kernel.layout.factors.getName() + getResultSuffix(kernel.result);
}

func::FuncOp freestone::codegen::declareInPlace(ModuleOp module, const InPlaceKernel &kernel) {
  std::string name = "freestone_" + getName(kernel);
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Type i64 = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  SmallVector<Type> types = {i64, i64, i64, pointer, pointer, i64, pointer, i64, pointer};
  if (kernel.kind == InPlaceKind::innerProducts)
    types = {i64, i64, i64, pointer, i64, pointer, i64, i64, pointer, i64, pointer};
  else
    types.push_back(i64);
  if (kernel.result)
    types.append({pointer, i64});
  auto declaration = func::FuncOp::create(builder, module.getLoc(), name, builder.getFunctionType(types, {}));
  declaration.setPrivate();
  return declaration;
}

void freestone::codegen::emitInPlaceKernel(ModuleOp module, const InPlaceKernel &kernel) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  InPlaceEmitter emitter(ModuleOp::create(builder, module.getLoc(), getName(kernel)), kernel);
  if (kernel.kind == InPlaceKind::updates)
    emitter.emitUpdates();
  else
    emitter.emitInnerProducts();
}
