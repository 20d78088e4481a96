#include "compiler/codegen/cpu/CopyPicture.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

class PictureCopier {
public:
  PictureCopier(Emission &emission, const PictureBox &box, Value target)
      : emission(emission), builder(emission.builder), location(emission.location), box(box), target(target),
        rowDim(box.first.size() - 1) {
    vectorType = VectorType::get({box.lanes}, tile::getStorageType(box.type.getElementType()));
    Attribute outside = box.fill ? Attribute(box.fill) : Attribute(builder.getZeroAttr(vectorType.getElementType()));
    nothing = arith::ConstantOp::create(builder, location, DenseElementsAttr::get(vectorType, outside));
  }

  /// Copies the dimensions of the box from `dim` on. `source` and `place` are their offsets in the input and in the
  /// copy; they are inside the input where `inside` holds (null: always).
  void copy(unsigned dim, Value source, Value place, Value inside);

private:
  void copyRow(Value source, Value place, Value inside);
  SmallVector<Value> loadWhole(Value source);
  SmallVector<Value> loadPart(Value source, Value column, Value width);
  void storeRuns(ArrayRef<Value> elements, Value place);
  Value conjoin(Value lhs, Value rhs) { return lhs ? arith::AndIOp::create(builder, location, lhs, rhs) : rhs; }
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, location, predicate, lhs, rhs);
  }

  Emission &emission;
  OpBuilder &builder;
  Location location;
  const PictureBox &box;
  Value target;
  unsigned rowDim;
  VectorType vectorType;
  Value nothing;
};

} // namespace

void PictureCopier::copy(unsigned dim, Value source, Value place, Value inside) {
  Value size = emission.getSize(box.type.getShape()[dim]);
  source = emission.multiply(source, size);
  if (dim == rowDim)
    return copyRow(emission.add(source, box.first[dim]), place, inside);
  emission.forRange(emission.getConstant(0), box.counts[dim], 1, [&](Value number) {
    Value at = emission.add(box.first[dim], number);
    // Unsigned: a negative coordinate compares as a large one.
    Value here = conjoin(inside, compare(arith::CmpIPredicate::ult, at, size));
    copy(dim + 1, emission.add(source, at), emission.add(place, emission.multiply(number, box.strides[dim])), here);
  });
}

/// Writes all runs vector by vector, with full vector loads where the input has them.
void PictureCopier::copyRow(Value source, Value place, Value inside) {
  Value zero = emission.getConstant(0), group = emission.getConstant(box.lanes * box.stride);
  Value width = emission.getSize(box.type.getShape()[rowDim]);
  if (inside)
    width = arith::SelectOp::create(builder, location, inside, width, zero);
  emission.forRange(zero, box.vectors, 1, [&](Value vector) {
    Value distance = emission.multiply(vector, group), column = emission.add(box.first[rowDim], distance);
    Value from = emission.add(source, distance);
    Value begins = compare(arith::CmpIPredicate::sge, column, zero);
    Value ends = compare(arith::CmpIPredicate::sle, emission.add(column, group), width);
    SmallVector<Type> types(box.stride, vectorType);
    auto branch = scf::IfOp::create(builder, location, types, conjoin(begins, ends), /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(builder, location, loadWhole(from));
      builder.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(builder, location, loadPart(from, column, width));
    }
    storeRuns(llvm::to_vector_of<Value>(branch.getResults()),
              emission.add(place, emission.multiply(vector, emission.getConstant(box.lanes))));
  });
}

SmallVector<Value> PictureCopier::loadWhole(Value source) {
  SmallVector<Value> elements;
  for (int64_t number = 0; number < box.stride; ++number)
    elements.push_back(vector::LoadOp::create(builder, location, vectorType, box.memory,
                                              emission.add(source, emission.getConstant(number * box.lanes))));
  return elements;
}

/// Masked load of the columns in [0, width).
SmallVector<Value> PictureCopier::loadPart(Value source, Value column, Value width) {
  SmallVector<Value> elements;
  Value zero = emission.getConstant(0);
  for (int64_t number = 0; number < box.stride; ++number) {
    Value distance = emission.getConstant(number * box.lanes), at = emission.add(column, distance);
    Value last = emission.maximum(zero, emission.subtract(width, at));
    Value first = emission.minimum(last, emission.maximum(zero, emission.subtract(zero, at)));
    Value mask = arith::XOrIOp::create(builder, location, emission.getTailMask(box.lanes, first),
                                       emission.getTailMask(box.lanes, last));
    elements.push_back(vector::MaskedLoadOp::create(builder, location, vectorType, box.memory,
                                                    emission.add(source, distance), mask, nothing));
  }
  return elements;
}

/// Deinterleaves consecutive vectors: their element e belongs to run e mod stride.
void PictureCopier::storeRuns(ArrayRef<Value> elements, Value place) {
  Value pitch = emission.multiply(box.vectors, emission.getConstant(box.lanes));
  for (int64_t run = 0; run < box.stride; ++run) {
    Value values = elements.front();
    for (int64_t number = 1; number < box.stride; ++number) {
      SmallVector<int64_t> order;
      for (int64_t lane = 0; lane < box.lanes; ++lane) {
        int64_t element = lane * box.stride + run, vector = element / box.lanes, at = element % box.lanes;
        // The first shuffle also takes the first vector's elements; the others keep the lanes filled before.
        order.push_back(vector == number ? box.lanes + at : number == 1 ? at : lane);
      }
      values = vector::ShuffleOp::create(builder, location, values, elements[number], order);
    }
    if (box.convert)
      values = box.convert(values);
    Value at = emission.add(place, emission.multiply(emission.getConstant(run), pitch));
    vector::StoreOp::create(builder, location, values, target, at);
  }
}

void freestone::codegen::copyPicture(Emission &emission, const PictureBox &box, Value target) {
  Value zero = emission.getConstant(0);
  PictureCopier(emission, box, target).copy(0, zero, zero, Value());
}
