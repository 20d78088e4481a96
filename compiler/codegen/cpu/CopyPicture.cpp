#include "compiler/codegen/cpu/CopyPicture.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

class PictureCopier {
public:
  PictureCopier(Emission &emission, const PictureBox &box, Value target);
  void copy();

private:
  /// A row of the box: its offsets in the picture and in the copy, and a condition: whether it is inside the picture
  /// (null: always); the distance of the row that is prefetched.
  struct Row {
    Value source, place, inside, ahead;
  };
  void forRows(unsigned dim, Row row, llvm::function_ref<void(const Row &)> body);
  void copyVector(const Row &row, Value vector, llvm::function_ref<SmallVector<Value>(Value)> load);
  SmallVector<Value> loadWhole(const Row &row, Value source);
  SmallVector<Value> getMasks(Value vector);
  SmallVector<Value> loadPart(Value source, ArrayRef<Value> masks);
  SmallVector<int64_t> getOrder(int64_t run, int64_t number);
  void storeRuns(ArrayRef<Value> elements, Value place);

  Emission &emission;
  OpBuilder &builder;
  Location location;
  const PictureBox &box;
  Value target;
  unsigned rowDim;
  /// The sizes in which the picture lies in memory, and its first element there.
  SmallVector<Expr> stored, origin;
  VectorType vectorType;
  Value nothing;
  /// Whether pairs of vectors are loaded by halves, the first and the third as one vector: AVX2 moves elements between
  /// halves in more cycles than within them.
  bool joinsHalves;
  /// Elements of a row in one vector of every run; elements of a row of the picture.
  Value group, width;
  /// The vectors of a run.
  Value firstVector, endVector;
};

} // namespace

PictureCopier::PictureCopier(Emission &emission, const PictureBox &box, Value target)
    : emission(emission), builder(emission.builder), location(emission.location), box(box), target(target),
      rowDim(box.first.size() - 1), stored(tile::getStorageShape(box.type)),
      origin(tile::getStorageIndex(
          box.type, SmallVector<Expr>(box.first.size(), Expr::constant(emission.builder.getContext(), 0)))),
      vectorType(VectorType::get({box.lanes}, tile::getStorageType(box.type.getElementType()))),
      joinsHalves(box.stride == 2 && box.lanes * vectorType.getElementTypeBitWidth() == 256),
      group(emission.getConstant(box.lanes * box.stride)), width(emission.getSize(box.type.getShape()[rowDim])),
      firstVector(box.firstVector ? box.firstVector : emission.getConstant(0)),
      endVector(box.endVector ? box.endVector : box.vectors) {
  Attribute outside = box.fill ? Attribute(box.fill) : Attribute(builder.getZeroAttr(vectorType.getElementType()));
  nothing = arith::ConstantOp::create(builder, location, DenseElementsAttr::get(vectorType, outside));
}

/// Copies vectors inside the picture row by row, then the border's vectors with masked loads: their masks are equal for
/// all rows, so they are computed once.
void PictureCopier::copy() {
  Value zero = emission.getConstant(0), first = box.first[rowDim];
  Value before = emission.maximum(zero, emission.subtract(zero, first));
  Value firstWhole = emission.maximum(firstVector, emission.minimum(endVector, emission.ceilDivide(before, group)));
  Value after = emission.divide(emission.maximum(zero, emission.subtract(width, first)), group);
  Value endWhole = emission.maximum(firstWhole, emission.minimum(endVector, after));
  Value whole = emission.subtract(endWhole, firstWhole), parts = emission.subtract(endVector, whole);
  Row begin{zero, zero, Value(), Value()};
  Value any = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, whole, zero);
  auto branch = scf::IfOp::create(builder, location, any, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    forRows(0, begin, [&](const Row &row) {
      emission.forRange(firstWhole, endWhole, 1, [&](Value vector) {
        copyVector(row, vector, [&](Value source) { return loadWhole(row, source); });
      });
    });
  }
  emission.forRange(firstVector, parts, 1, [&](Value part) {
    Value isBefore = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, part, firstWhole);
    Value vector = arith::SelectOp::create(builder, location, isBefore, part, emission.add(part, whole));
    SmallVector<Value> masks = getMasks(vector);
    forRows(0, begin,
            [&](const Row &row) { copyVector(row, vector, [&](Value source) { return loadPart(source, masks); }); });
  });
}

/// Loops over the rows in the dimensions from `dim` on; `row` has the offsets of the outer dimensions.
void PictureCopier::forRows(unsigned dim, Row row, llvm::function_ref<void(const Row &)> body) {
  Value size = emission.getSize(box.type.getShape()[dim]);
  row.source = emission.multiply(row.source, emission.getSize(stored[dim]));
  if (!origin[dim].isConstant(0))
    row.source = emission.add(row.source, emission.getSize(origin[dim]));
  if (dim == rowDim)
    return body({emission.add(row.source, box.first[dim]), row.place, row.inside, row.ahead});
  Value zero = emission.getConstant(0), begin = zero, end = box.counts[dim];
  Value step = emission.getConstant(dim == box.rowDim ? box.rowStep : 1);
  if (box.skipsBorder) {
    begin = emission.ceilDivide(emission.maximum(zero, emission.subtract(zero, box.first[dim])), step);
    Value left = emission.maximum(zero, emission.subtract(size, box.first[dim]));
    end = emission.minimum(end, emission.ceilDivide(left, step));
  }
  emission.forRange(begin, end, 1, [&](Value number) {
    Value at = emission.add(box.first[dim], emission.multiply(number, step));
    Value place = emission.add(row.place, emission.multiply(number, box.strides[dim]));
    Value ahead = row.ahead;
    if (box.ahead && dim == box.ahead->dim) {
      Value isWithin = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, number, box.ahead->last);
      ahead = arith::SelectOp::create(builder, location, isWithin, box.ahead->within, box.ahead->beyond);
    }
    if (box.skipsBorder)
      return forRows(dim + 1, {emission.add(row.source, at), place, Value(), ahead}, body);
    // Unsigned: a negative coordinate compares as a large one.
    Value inside = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ult, at, size);
    if (row.inside)
      inside = arith::AndIOp::create(builder, location, row.inside, inside);
    forRows(dim + 1, {emission.add(row.source, at), place, inside, ahead}, body);
  });
}

/// Copies one vector of every run; rows outside of the picture are fill.
void PictureCopier::copyVector(const Row &row, Value vector, llvm::function_ref<SmallVector<Value>(Value)> load) {
  Value source = emission.add(row.source, emission.multiply(vector, group));
  SmallVector<Value> elements;
  if (row.inside) {
    SmallVector<Type> types(box.stride, vectorType);
    auto branch = scf::IfOp::create(builder, location, types, row.inside, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(builder, location, load(source));
    builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(builder, location, SmallVector<Value>(box.stride, nothing));
    elements = llvm::to_vector_of<Value>(branch.getResults());
  } else {
    elements = load(source);
  }
  storeRuns(elements, emission.add(row.place, emission.multiply(vector, emission.getConstant(box.lanes))));
}

SmallVector<Value> PictureCopier::loadWhole(const Row &row, Value source) {
  if (row.ahead)
    LLVM::Prefetch::create(builder, location, emission.getPointer(box.memory, emission.add(source, row.ahead)),
                           /*rw=*/0, /*hint=*/3, /*cache=*/1);
  auto load = [&](VectorType type, int64_t distance) -> Value {
    return vector::LoadOp::create(builder, location, type, box.memory,
                                  emission.add(source, emission.getConstant(distance)));
  };
  SmallVector<Value> elements;
  if (!joinsHalves) {
    for (int64_t number = 0; number < box.stride; ++number)
      elements.push_back(load(vectorType, number * box.lanes));
    return elements;
  }
  int64_t half = box.lanes / 2;
  auto ofHalf = VectorType::get({half}, vectorType.getElementType());
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq(box.lanes));
  for (int64_t number : {0, 1})
    elements.push_back(vector::ShuffleOp::create(builder, location, load(ofHalf, number * half),
                                                 load(ofHalf, box.lanes + number * half), all));
  return elements;
}

/// The masks of the columns in [0, width), one for each load of `loadPart`.
SmallVector<Value> PictureCopier::getMasks(Value vector) {
  SmallVector<Value> masks;
  Value column = emission.add(box.first[rowDim], emission.multiply(vector, group));
  for (int64_t number = 0; number < box.stride; ++number)
    masks.push_back(
        emission.getRangeMask(box.lanes, emission.add(column, emission.getConstant(number * box.lanes)), width));
  return masks;
}

SmallVector<Value> PictureCopier::loadPart(Value source, ArrayRef<Value> masks) {
  SmallVector<Value> elements;
  for (auto [number, mask] : llvm::enumerate(masks))
    elements.push_back(vector::MaskedLoadOp::create(builder, location, vectorType, box.memory,
                                                    emission.add(source, emission.getConstant(number * box.lanes)),
                                                    mask, nothing));
  if (!joinsHalves)
    return elements;
  SmallVector<int64_t> low, high;
  for (int64_t lane = 0; lane < box.lanes; ++lane) {
    low.push_back(lane < box.lanes / 2 ? lane : lane + box.lanes / 2);
    high.push_back(low.back() + box.lanes / 2);
  }
  return {vector::ShuffleOp::create(builder, location, elements[0], elements[1], low),
          vector::ShuffleOp::create(builder, location, elements[0], elements[1], high)};
}

/// The lanes of a run that vector `number` adds to those of the vectors before it, which the first shuffle brings
/// along.
SmallVector<int64_t> PictureCopier::getOrder(int64_t run, int64_t number) {
  SmallVector<int64_t> order;
  for (int64_t lane = 0; lane < box.lanes; ++lane) {
    if (joinsHalves) {
      int64_t half = box.lanes / 2, element = lane % half * 2 + run;
      order.push_back(element / half * box.lanes + lane / half * half + element % half);
      continue;
    }
    int64_t element = lane * box.stride + run, at = element % box.lanes;
    order.push_back(element / box.lanes == number ? box.lanes + at : number == 1 ? at : lane);
  }
  return order;
}

/// Deinterleaves consecutive vectors: their element e belongs to run e mod stride. Of two whose halves are joined, the
/// first has both first halves, so that no element leaves its half.
void PictureCopier::storeRuns(ArrayRef<Value> elements, Value place) {
  Value pitch = emission.multiply(box.vectors, emission.getConstant(box.lanes));
  for (int64_t run = 0; run < box.stride; ++run) {
    Value values = elements.front();
    for (int64_t number = 1; number < box.stride; ++number)
      values = vector::ShuffleOp::create(builder, location, values, elements[number], getOrder(run, number));
    if (box.convert)
      values = box.convert(values);
    Value at = emission.add(place, emission.multiply(emission.getConstant(run), pitch));
    vector::StoreOp::create(builder, location, values, target, at);
  }
}

void freestone::codegen::copyPicture(Emission &emission, const PictureBox &box, Value target) {
  PictureCopier(emission, box, target).copy();
}
