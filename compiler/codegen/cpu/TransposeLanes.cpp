#include "compiler/codegen/cpu/TransposeLanes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;

static int64_t getNumLanes(Value vector) { return cast<VectorType>(vector.getType()).getNumElements(); }

/// Unpack-low and unpack-high within parts of `part` lanes: interleaves the low halves of both vectors' parts, and the
/// high halves.
static std::pair<Value, Value> interleaveParts(OpBuilder &builder, Location location, Value first, Value second,
                                               int64_t part) {
  int64_t lanes = getNumLanes(first);
  SmallVector<int64_t> low, high;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    int64_t inPart = lane % part, source = lane - inPart + inPart / 2 + (inPart % 2) * lanes;
    low.push_back(source);
    high.push_back(source + part / 2);
  }
  return {vector::ShuffleOp::create(builder, location, first, second, low),
          vector::ShuffleOp::create(builder, location, first, second, high)};
}

/// Deinterleaves two vectors by parts of `part` lanes: the parts of even number, and those of odd number.
static std::pair<Value, Value> separateParts(OpBuilder &builder, Location location, Value first, Value second,
                                             int64_t part) {
  int64_t lanes = getNumLanes(first);
  SmallVector<int64_t> even, odd;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    even.push_back(lane / part * 2 * part + lane % part);
    odd.push_back(even.back() + part);
  }
  return {vector::ShuffleOp::create(builder, location, first, second, even),
          vector::ShuffleOp::create(builder, location, first, second, odd)};
}

/// Transposes vectors by parts of `part` lanes, as many vectors as each has parts.
static SmallVector<Value> transposeParts(OpBuilder &builder, Location location, ArrayRef<Value> vectors, int64_t part) {
  if (vectors.size() == 1)
    return {vectors.front()};
  SmallVector<Value> even, odd, transposed;
  for (size_t pair = 0; pair < vectors.size(); pair += 2) {
    auto [first, second] = separateParts(builder, location, vectors[pair], vectors[pair + 1], part);
    even.push_back(first);
    odd.push_back(second);
  }
  even = transposeParts(builder, location, even, part);
  odd = transposeParts(builder, location, odd, part);
  for (auto [first, second] : llvm::zip_equal(even, odd))
    transposed.append({first, second});
  return transposed;
}

SmallVector<Value> codegen::transposeLanes(OpBuilder &builder, Location location, ValueRange vectors) {
  auto type = cast<VectorType>(vectors.front().getType());
  if (type.getElementType().isInteger(1)) {
    // Bits are shuffled as bytes: processors have no shuffles of bits.
    VectorType bytes = VectorType::get(type.getShape(), builder.getI8Type());
    SmallVector<Value> wide;
    for (Value vector : vectors)
      wide.push_back(arith::ExtUIOp::create(builder, location, bytes, vector));
    wide = transposeLanes(builder, location, wide);
    for (Value &vector : wide)
      vector = arith::TruncIOp::create(builder, location, type, vector);
    return wide;
  }
  int64_t lanes = type.getNumElements(), part = std::min<int64_t>(lanes, 128 / type.getElementTypeBitWidth());
  SmallVector<Value> transposed(lanes);
  // Groups of as many neighbouring vectors as a part has lanes are transposed within their parts first.
  SmallVector<SmallVector<Value>> groups;
  for (int64_t begin = 0; begin < lanes; begin += part) {
    SmallVector<Value> group = llvm::to_vector_of<Value>(vectors.slice(begin, part));
    for (int64_t done = 1; done < part; done *= 2) {
      SmallVector<Value> next;
      for (int64_t i = 0; i < part / 2; ++i) {
        auto [low, high] = interleaveParts(builder, location, group[i], group[i + part / 2], part);
        next.append({low, high});
      }
      group = std::move(next);
    }
    groups.push_back(std::move(group));
  }
  for (int64_t i = 0; i < part; ++i) {
    SmallVector<Value> parts;
    for (const SmallVector<Value> &group : groups)
      parts.push_back(group[i]);
    for (auto [number, vector] : llvm::enumerate(transposeParts(builder, location, parts, part)))
      transposed[number * part + i] = vector;
  }
  return transposed;
}

SmallVector<Value> codegen::interleaveLanes(OpBuilder &builder, Location location, ValueRange vectors) {
  int64_t count = vectors.size(), lanes = getNumLanes(vectors.front());
  if (count == 1)
    return {vectors.front()};
  SmallVector<Value> interleaved;
  if (count % 2 == 0) {
    SmallVector<Value> even, odd;
    for (auto [number, vector] : llvm::enumerate(vectors))
      (number % 2 ? odd : even).push_back(vector);
    even = interleaveLanes(builder, location, even);
    odd = interleaveLanes(builder, location, odd);
    for (auto [first, second] : llvm::zip_equal(even, odd)) {
      auto [low, high] = interleaveParts(builder, location, first, second, lanes);
      interleaved.append({low, high});
    }
    return interleaved;
  }
  for (int64_t number = 0; number < count; ++number) {
    Value sum = vectors.front();
    for (int64_t source = 1; source < count; ++source) {
      SmallVector<int64_t> order;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        int64_t element = number * lanes + lane, place = element / count;
        // Lanes of later vectors are placeholders until their shuffle.
        if (element % count == source)
          order.push_back(lanes + place);
        else
          order.push_back(source == 1 ? place : lane);
      }
      sum = vector::ShuffleOp::create(builder, location, sum, vectors[source], order);
    }
    interleaved.push_back(sum);
  }
  return interleaved;
}

Value codegen::reduceEach(OpBuilder &builder, Location location, SmallVector<Value> vectors,
                          llvm::function_ref<Value(Value, Value)> combine) {
  /// A vector of equal segments, each of what is left of one of the given vectors.
  struct Segments {
    Value vector;
    SmallVector<int64_t> numbers;
  };
  SmallVector<Segments> parts;
  for (auto [number, vector] : llvm::enumerate(vectors))
    parts.push_back({vector, {static_cast<int64_t>(number)}});
  int64_t lanes = getNumLanes(vectors.front()), count = vectors.size();
  auto bits = cast<VectorType>(vectors.front().getType()).getElementTypeBitWidth();
  int64_t inRegisterPart = std::clamp<int64_t>(128 / bits, 1, lanes);
  int64_t half = lanes / 2;
  for (; parts.size() > 1; half /= 2) {
    SmallVector<Segments> next;
    for (size_t pair = 0; pair < parts.size(); pair += 2) {
      const Segments *both[] = {&parts[pair], &parts[pair + 1]};
      // Shuffles within 128 bits where segments are that short, else of whole 128-bit parts.
      int64_t part = half >= inRegisterPart ? lanes : inRegisterPart, ofPart = part / (2 * half);
      SmallVector<int64_t> low, high;
      Segments joined;
      for (int64_t from = 0; from < lanes; from += part)
        for (int64_t side : {0, 1})
          for (int64_t segment = 0; segment < ofPart; ++segment) {
            joined.numbers.push_back(both[side]->numbers[from / (2 * half) + segment]);
            for (int64_t lane = 0; lane < half; ++lane) {
              low.push_back(side * lanes + from + segment * 2 * half + lane);
              high.push_back(low.back() + half);
            }
          }
      Value lower = vector::ShuffleOp::create(builder, location, both[0]->vector, both[1]->vector, low);
      Value upper = vector::ShuffleOp::create(builder, location, both[0]->vector, both[1]->vector, high);
      joined.vector = combine(lower, upper);
      next.push_back(std::move(joined));
    }
    parts = std::move(next);
  }
  Segments &last = parts.front();
  for (; half >= 1; half /= 2) {
    SmallVector<int64_t> other;
    for (int64_t lane = 0; lane < lanes; ++lane)
      other.push_back(lane ^ half);
    last.vector = combine(last.vector, vector::ShuffleOp::create(builder, location, last.vector, last.vector, other));
  }
  SmallVector<int64_t> places(count);
  for (auto [segment, number] : llvm::enumerate(last.numbers))
    places[number] = static_cast<int64_t>(segment) * (lanes / count);
  return vector::ShuffleOp::create(builder, location, last.vector, last.vector, places);
}
