// The lanes of a row of positions that a tap finds in bounds: loaded and stored by masks.
#include "compiler/codegen/cpu/WordWindowPacker.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

/// Whether a coordinate may be out of bounds: it is no loop over the whole dimension.
static bool isChecked(tile::ContractionForm &form, ArrayRef<Expr> loops, Expr index, Expr extent) {
  auto loop = llvm::find(loops, index);
  return loop == loops.end() || form.compute.getExtents()[loop - loops.begin()] != extent;
}

/// Whether the coordinate along a row moves with no tap but the last one.
bool WordWindowPacker::movesWithLastTap() {
  if (stepSymbols.size() < 2)
    return false;
  return llvm::all_of(indices, [&](Expr index) {
    return !isMoving(index) || llvm::all_of(ArrayRef(stepSymbols).drop_front().drop_back(),
                                            [&](Expr symbol) { return tile::getStride(index, symbol)->isConstant(0); });
  });
}

LoadedLanes WordWindowPacker::getLoaded(const PositionRun &run, const Positions &taps) {
  Positions all = points.outer;
  llvm::append_range(all, run.at);
  llvm::append_range(all, taps);
  Value first = run.first, last = run.last, stride = emission.getConstant(window.stride),
        zero = emission.getConstant(0);
  if (form.compute.getFill(window.input))
    for (auto [index, extent] : llvm::zip_equal(indices, type.getShape())) {
      if (!isChecked(form, loops, index, extent) || !isMoving(index))
        continue;
      // Positions of the run before the first element, and those up to the last one.
      Value at = emission.getIndex(index, all), size = emission.getSize(extent);
      auto countTo = [&](Value end) {
        return emission.ceilDivide(emission.maximum(zero, emission.subtract(end, at)), stride);
      };
      first = emission.maximum(first, emission.add(run.first, countTo(zero)));
      last = emission.minimum(last, emission.add(run.first, countTo(size)));
    }
  // In an empty run, `last` is not above `first`.
  LoadedLanes loaded{emission.minimum(first, last), last, Value()};
  int64_t elements = lanes * window.stride;
  if (hasMaskRegister(elements)) {
    auto [begin, end] = getLoadedElements(loaded.first, loaded.last);
    loaded.bits = getMaskBits(elements, begin, end);
  }
  return loaded;
}

/// Whether the coordinates across rows are within bounds at these taps; null where none is checked.
Value WordWindowPacker::isInside(const PositionRun &run, const Positions &taps) {
  Value inside;
  if (!form.compute.getFill(window.input))
    return inside;
  Positions all = points.outer;
  llvm::append_range(all, run.at);
  llvm::append_range(all, taps);
  for (auto [index, extent] : llvm::zip_equal(indices, type.getShape())) {
    if (!isChecked(form, loops, index, extent) || isMoving(index))
      continue;
    // Unsigned, so that a negative coordinate compares as a large one.
    Value here = compare(arith::CmpIPredicate::ult, emission.getIndex(index, all), emission.getSize(extent));
    inside = inside ? arith::AndIOp::create(builder, location, inside, here).getResult() : here;
  }
  return inside;
}

/// Lanes [begin, end) as bits of an integer. Comparisons of vectors would be made anew for each row that is copied.
Value WordWindowPacker::getMaskBits(int64_t elements, Value begin, Value end) {
  Type i64 = builder.getI64Type(), bitsType = builder.getIntegerType(elements);
  Value one = arith::ConstantIntOp::create(builder, location, 1, 64);
  // 2^count, in two steps of fewer bits than an integer has.
  auto raise = [&](Value count) -> Value {
    Value word = arith::IndexCastOp::create(builder, location, i64, count);
    Value half = arith::ShRUIOp::create(builder, location, word, one);
    Value rest = arith::SubIOp::create(builder, location, word, half);
    return arith::ShLIOp::create(builder, location, arith::ShLIOp::create(builder, location, one, half), rest);
  };
  Value bits = arith::SubIOp::create(builder, location, raise(end), raise(begin));
  return elements < 64 ? arith::TruncIOp::create(builder, location, bitsType, bits).getResult() : bits;
}

Value WordWindowPacker::asMask(int64_t elements, Value bits) {
  Value word = vector::BroadcastOp::create(builder, location, VectorType::get({1}, bits.getType()), bits);
  return vector::BitCastOp::create(builder, location, VectorType::get({elements}, builder.getI1Type()), word);
}

Value WordWindowPacker::getMask(int64_t elements, Value begin, Value end) {
  if (hasMaskRegister(elements))
    return asMask(elements, getMaskBits(elements, begin, end));
  return arith::XOrIOp::create(builder, location, emission.getTailMask(elements, begin),
                               emission.getTailMask(elements, end));
}

/// The elements from the first position to the last one: none after the last position's is read.
std::pair<Value, Value> WordWindowPacker::getLoadedElements(Value first, Value last) {
  Value stride = emission.getConstant(window.stride), gap = emission.getConstant(window.stride - 1);
  Value begin = emission.multiply(first, stride);
  return {begin, emission.maximum(begin, emission.subtract(emission.multiply(last, stride), gap))};
}

/// The elements of all positions; those that are masked, or without a mask all, are in bounds.
Value WordWindowPacker::loadRow(Value source, Value at, Value mask) {
  // Without a mask, two loads of a power of two overlap, so that they end with the last position.
  int64_t count = (lanes - 1) * window.stride + 1, loaded = llvm::bit_floor(static_cast<uint64_t>(count));
  auto elementsType = VectorType::get({mask ? lanes * window.stride : loaded}, storedType);
  Value values;
  if (mask) {
    TypedAttr fill = form.compute.getFill(window.input);
    Attribute number = fill ? Attribute(fill) : Attribute(builder.getZeroAttr(storedType));
    Value outside = arith::ConstantOp::create(builder, location, DenseElementsAttr::get(elementsType, number));
    values = vector::MaskedLoadOp::create(builder, location, elementsType, source, at, mask, outside);
  } else {
    values = vector::LoadOp::create(builder, location, elementsType, source, at);
  }
  if (window.stride > 1) {
    Value last = values;
    if (!mask)
      last = vector::LoadOp::create(builder, location, elementsType, source,
                                    emission.add(at, emission.getConstant(count - loaded)));
    SmallVector<int64_t> everyPosition;
    for (int64_t element = 0; element < count; element += window.stride)
      everyPosition.push_back(mask || element < loaded ? element : element + 2 * loaded - count);
    values = vector::ShuffleOp::create(builder, location, values, last, everyPosition);
  }
  return widenElements(builder, location, form.rhs, values, elementType);
}

void WordWindowPacker::storeRow(Value values, Value at, Value mask) {
  if (mask && !areMasksSlow) {
    vector::MaskedStoreOp::create(builder, location, memory, at, mask, values);
    return;
  }
  if (mask) {
    Value before = vector::LoadOp::create(builder, location, rowType, memory, at);
    values = arith::SelectOp::create(builder, location, mask, values, before);
  }
  vector::StoreOp::create(builder, location, values, memory, at);
}
