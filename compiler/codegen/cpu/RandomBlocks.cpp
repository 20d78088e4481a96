#include "compiler/codegen/cpu/RandomBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "random/Philox.h"

using namespace mlir;
using namespace freestone;

namespace {

/// A block occupies two neighbouring 64-bit lanes, its words 0 and 1, then 2 and 3: a round is one multiplication of
/// words 0 and 2, which are the low halves that the processor's 32-bit multiplication reads, and one shuffle of words.
class RandomBlockEmitter {
public:
  RandomBlockEmitter(ImplicitLocOpBuilder &b, ValueRange key, Type type)
      : b(b), key(key), wordsPerElement(type.getIntOrFloatBitWidth() / 32) {}

  /// Consecutive elements from number `first` (i64) on.
  Value emitConsecutive(Value first, int64_t lanes);
  /// The elements of these numbers, a vector<lanes x i64>.
  Value emitEach(Value numbers);

private:
  VectorType vectorOf(int64_t lanes, unsigned bits) { return VectorType::get({lanes}, b.getIntegerType(bits)); }
  Value spread(int64_t lanes, Value scalar) {
    return vector::BroadcastOp::create(b, VectorType::get({lanes}, scalar.getType()), scalar);
  }
  Value constant(int64_t number) { return arith::ConstantIntOp::create(b, number, 64); }
  /// A vector constant with the value `at(lane)` in each lane.
  Value lanesOf(int64_t lanes, unsigned bits, llvm::function_ref<uint64_t(int64_t)> at) {
    SmallVector<APInt> values;
    for (int64_t lane = 0; lane < lanes; ++lane)
      values.push_back(APInt(bits, at(lane)));
    return arith::ConstantOp::create(b, DenseElementsAttr::get(vectorOf(lanes, bits), values));
  }
  Value shuffle(Value lhs, Value rhs, int64_t lanes, llvm::function_ref<int64_t(int64_t)> at) {
    return vector::ShuffleOp::create(b, lhs, rhs, llvm::map_to_vector(llvm::seq(lanes), at));
  }
  Value lanesAs(Value value, unsigned bits) {
    auto type = cast<VectorType>(value.getType());
    int64_t total = type.getNumElements() * type.getElementTypeBitWidth();
    return vector::BitCastOp::create(b, vectorOf(total / bits, bits), value);
  }
  /// Two words as 64 bits.
  Value join(Value low, Value high) {
    Type i64 = b.getI64Type();
    Value upper = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, i64, high), constant(32));
    return arith::OrIOp::create(b, arith::ExtUIOp::create(b, i64, low), upper);
  }
  /// `even` in even lanes and `odd` in odd lanes, all of 64 bits.
  Value alternate(int64_t lanes, Value even, Value odd) {
    Value isEven = lanesOf(lanes, 1, [](int64_t lane) { return lane % 2 == 0; });
    return arith::SelectOp::create(b, isEven, even, odd);
  }
  Value emitWords(Value counter);
  Value emitWordsFrom(Value block, int64_t words);

  ImplicitLocOpBuilder &b;
  ValueRange key;
  int64_t wordsPerElement;
};

/// The words of blocks, from their counters of two 64-bit lanes each.
Value RandomBlockEmitter::emitWords(Value counter) {
  int64_t lanes = cast<VectorType>(counter.getType()).getNumElements(), words = 2 * lanes;
  Type i64 = b.getI64Type();
  auto spreadKey = [&](Value word) { return spread(lanes, arith::ExtUIOp::create(b, i64, word)); };
  Value roundKey = lanesAs(alternate(lanes, spreadKey(key[0]), spreadKey(key[1])), 32);
  Value increments =
      lanesOf(words, 32, [](int64_t word) { return word % 2 ? 0 : random::philoxIncrements[word / 2 % 2]; });
  Value multipliers = lanesOf(lanes, 64, [](int64_t lane) { return random::philoxMultipliers[lane % 2]; });
  Value lowWord = lanesOf(lanes, 64, [](int64_t) { return 0xFFFFFFFF; });
  Value shift = lanesOf(lanes, 64, [](int64_t) { return 32; });
  Value state = counter;
  for (int round = 0; round < random::philoxRounds; ++round) {
    if (round)
      roundKey = arith::AddIOp::create(b, roundKey, increments);
    Value product = arith::MulIOp::create(b, arith::AndIOp::create(b, state, lowWord), multipliers);
    Value halves = lanesAs(product, 32);
    Value swapped = shuffle(halves, halves, words, [](int64_t word) { return word ^ 3; });
    Value odd = arith::ShRUIOp::create(b, state, shift);
    state = arith::XOrIOp::create(b, arith::XOrIOp::create(b, lanesAs(swapped, 64), odd), lanesAs(roundKey, 64));
  }
  return lanesAs(state, 32);
}

/// `words` words from the beginning of a block on.
Value RandomBlockEmitter::emitWordsFrom(Value block, int64_t words) {
  int64_t lanes = words / 2;
  Value steps = lanesOf(lanes, 64, [](int64_t lane) { return lane / 2; });
  Value numbers = arith::AddIOp::create(b, spread(lanes, block), steps);
  return emitWords(alternate(lanes, numbers, spread(lanes, join(key[2], key[3]))));
}

Value RandomBlockEmitter::emitConsecutive(Value first, int64_t lanes) {
  int64_t words = lanes * wordsPerElement;
  Value word = arith::MulIOp::create(b, first, constant(wordsPerElement));
  Value block = arith::ShRUIOp::create(b, word, constant(2)), offset = arith::AndIOp::create(b, word, constant(3));
  Value isAligned = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, offset, constant(0));
  auto branch = scf::IfOp::create(b, vectorOf(words, 32), isAligned, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, emitWordsFrom(block, words));

  // With an offset: loads one more vector of words and shifts all of them down.
  b.setInsertionPointToStart(branch.elseBlock());
  Value here = emitWordsFrom(block, words);
  Value behind = emitWordsFrom(arith::AddIOp::create(b, block, constant(words / 4)), words);
  for (int64_t distance = wordsPerElement; distance < 4; distance *= 2) {
    Value bit = arith::AndIOp::create(b, offset, constant(distance));
    Value moves = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bit, constant(0));
    auto from = [&](int64_t word) { return word + distance; };
    auto fromLast = [&](int64_t word) { return std::min(word + distance, words - 1); };
    here = arith::SelectOp::create(b, moves, shuffle(here, behind, words, from), here);
    behind = arith::SelectOp::create(b, moves, shuffle(behind, behind, words, fromLast), behind);
  }
  scf::YieldOp::create(b, here);
  b.setInsertionPointAfter(branch);
  return lanesAs(branch.getResult(0), 32 * wordsPerElement);
}

Value RandomBlockEmitter::emitEach(Value numbers) {
  int64_t lanes = cast<VectorType>(numbers.getType()).getNumElements(), perBlock = 4 / wordsPerElement;
  Value blocks = arith::DivUIOp::create(b, numbers, spread(lanes, constant(perBlock)));
  Value places = arith::RemUIOp::create(b, numbers, spread(lanes, constant(perBlock)));
  Value upper = spread(lanes, join(key[2], key[3]));
  Value counter = shuffle(blocks, upper, 2 * lanes, [&](int64_t lane) { return lane / 2 + lane % 2 * lanes; });
  Value elements = lanesAs(emitWords(counter), 32 * wordsPerElement);
  Value result = shuffle(elements, elements, lanes, [&](int64_t lane) { return lane * perBlock; });
  for (int64_t place = 1; place < perBlock; ++place) {
    Value isHere = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, places, spread(lanes, constant(place)));
    Value there = shuffle(elements, elements, lanes, [&](int64_t lane) { return lane * perBlock + place; });
    result = arith::SelectOp::create(b, isHere, there, result);
  }
  return result;
}

} // namespace

Value codegen::emitRandomBits(OpBuilder &builder, Location location, ValueRange key, Value index, Type type) {
  ImplicitLocOpBuilder b(location, builder);
  RandomBlockEmitter blocks(b, key, type);
  auto vectorType = dyn_cast<VectorType>(index.getType());
  if (!vectorType) {
    Value number = arith::IndexCastOp::create(b, b.getI64Type(), index);
    Value one = blocks.emitEach(vector::BroadcastOp::create(b, VectorType::get({1}, b.getI64Type()), number));
    return vector::ExtractOp::create(b, one, 0);
  }
  Value numbers = arith::IndexCastOp::create(b, vectorType.clone(b.getI64Type()), index);
  int64_t lanes = vectorType.getNumElements();
  if (lanes % 4)
    return blocks.emitEach(numbers);
  Value first = vector::ExtractOp::create(b, numbers, 0);
  SmallVector<int64_t> steps = llvm::to_vector(llvm::seq(lanes));
  Value step =
      arith::ConstantOp::create(b, DenseElementsAttr::get(vectorType.clone(b.getI64Type()), ArrayRef<int64_t>(steps)));
  Value expected =
      arith::AddIOp::create(b, vector::BroadcastOp::create(b, vectorType.clone(b.getI64Type()), first), step);
  Value same = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, numbers, expected);
  Value isConsecutive = vector::ReductionOp::create(b, vector::CombiningKind::AND, same);
  auto branch = scf::IfOp::create(b, vectorType.clone(type), isConsecutive, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, blocks.emitConsecutive(first, lanes));
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, blocks.emitEach(numbers));
  b.setInsertionPointAfter(branch);
  return branch.getResult(0);
}
