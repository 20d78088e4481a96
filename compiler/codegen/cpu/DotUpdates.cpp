#include "compiler/codegen/cpu/InPlaceKernelEmitter.h"
#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/codegen/cpu/TransposeLanes.h"
#include "compiler/plan/MatrixInPlace.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

void InPlaceKernelEmitter::emitUpdates() {
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
void InPlaceKernelEmitter::emitUpdate(const Update &update) {
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
SmallVector<Value> InPlaceKernelEmitter::addHeld(const Update &update, ValueRange sums, Value number,
                                                 Value stepsOfLast) {
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
void InPlaceKernelEmitter::emitHeld(const Update &update) {
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

Value InPlaceKernelEmitter::getSums(const Update &update, Value column, int64_t row) {
  if (row == update.rows)
    return advance(update.excess, multiply(column, 4));
  Value panel = divide(column, panelColumns), inPanel = subtract(column, multiply(panel, panelColumns));
  Value ofPanel = add(multiply(panel, update.rows * panelRow), multiply(inPanel, 4));
  return advance(advance(update.c, ofPanel), row * panelRow);
}

void InPlaceKernelEmitter::emitZeros(const Update &update) {
  int64_t all = update.rows + layout.flipsRows();
  forRange(constant(0), update.columns, words, [&](Value column) {
    Value mask = getMask(words, subtract(update.columns, column));
    for (int64_t row = 0; row < all; ++row)
      store(zerosOf(sumType), getSums(update, column, row), mask);
  });
}

/// Words of each row from the first on, and of flipped zeros, in all lanes.
SmallVector<SmallVector<Value>> InPlaceKernelEmitter::getFactors(const Update &update, Value first, int64_t count) {
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
SmallVector<Value> InPlaceKernelEmitter::getRowsOfB(const Update &update, Value first, int64_t count) {
  Value step = multiply(first, stepsOfWord());
  SmallVector<Value> rowsOfB;
  for (int64_t number = 0; number < count * stepsOfWord(); ++number) {
    Value at = arith::MulIOp::create(builder, location, toWord(add(step, constant(number))), update.pitch);
    rowsOfB.push_back(advance(update.b, at));
  }
  return rowsOfB;
}

/// Updates columns from `begin` to `end`; those of several words are whole vectors, and whole words.
void InPlaceKernelEmitter::emitWords(const Update &update, int64_t count, Value first, Value begin, Value end) {
  SmallVector<SmallVector<Value>> factors = getFactors(update, first, count);
  SmallVector<Value> rowsOfB = getRowsOfB(update, first, count);
  Value steps = count == 1 ? subtract(update.depth, multiply(first, stepsOfWord())) : Value();
  forRange(begin, end, groupSteps(), [&](Value column) {
    emitColumns(update, factors, rowsOfB, steps, column, count == 1 ? subtract(end, column) : Value());
  });
}

/// By part of the columns of a vector of elements, their words. `left` of them exist, and the last word has some steps;
/// all where these are null.
SmallVector<SmallVector<Value>> InPlaceKernelEmitter::getWords(ArrayRef<Value> rowsOfB, Value stepsOfLast, Value column,
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

void InPlaceKernelEmitter::emitColumns(const Update &update, ArrayRef<SmallVector<Value>> factors,
                                       ArrayRef<Value> rowsOfB, Value stepsOfLast, Value column, Value left) {
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

void InPlaceKernelEmitter::addTo(Value address, ArrayRef<Value> factors, ArrayRef<Value> right, Value mask) {
  Value sum = load(sumType, address, mask);
  for (auto [factor, values] : llvm::zip_equal(factors, right))
    sum = addProducts(sum, factor, values);
  store(sum, address, mask);
}
