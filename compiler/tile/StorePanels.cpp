#include "compiler/tile/StorePanels.h"

#include "compiler/dialect/tile/WinogradTransforms.h"
#include "compiler/plan/IndexMaps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

static Value widen(ComputeBody &body, Value value, Type element) {
  return value.getType() == element ? value : arith::ExtFOp::create(body.builder, element, value).getResult();
}

FailureOr<ComputeOp> storePanels(OpBuilder &builder, Location location, Value source, ArrayRef<Expr> indices,
                                 ArrayRef<Expr> shape, PanelsAttr layout, Type element) {
  unsigned batch = layout.getBatch(), axis = layout.getAxis(), next = batch + 1;
  bool isFull = Expr::mod(shape[axis], layout.getWidth()).isConstant(0);
  auto isAxis = [&](auto dim) {
    return std::get<0>(dim) == getLoopSymbol(builder.getContext(), axis) && std::get<1>(dim) == shape[axis];
  };
  if (!isFull && llvm::none_of(llvm::zip_equal(indices, graph::getShape(source)), isAxis))
    return failure();
  ComputeBuilder compute(builder, location, layout.getStorageShape(shape));
  SmallVector<Expr> stored = compute.parallelLoops(), dims(shape.size());
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    if (dim < batch)
      dims[dim] = stored[dim];
    else if (dim == axis)
      dims[dim] = stored[batch] * layout.getWidth() + stored.back();
    else
      dims[dim] = stored[next++];
  }
  auto read = llvm::map_to_vector(indices, [&](Expr index) { return substituteLoops(index, dims); });
  Type from = graph::getElementType(source), to = element ? element : from;
  unsigned operand =
      compute.read(source, read, isFull ? TypedAttr() : cast<TypedAttr>(builder.getZeroAttr(getScalarType(from))));
  return compute.create(to, [&](ComputeBody &body) { return widen(body, body.input(operand), getScalarType(to)); });
}

FailureOr<ComputeOp> storeWords(OpBuilder &builder, Location location, Value source, ArrayRef<Expr> indices,
                                ArrayRef<Expr> shape, WordsAttr layout) {
  int64_t stepsOfGroup = WordsAttr::words * layout.getOf();
  bool isFull = Expr::mod(shape[0], stepsOfGroup).isConstant(0) && Expr::mod(shape[1], WordsAttr::width).isConstant(0);
  ComputeBuilder compute(builder, location, layout.getStorageShape(shape));
  SmallVector<Expr> loops = compute.parallelLoops();
  Expr dims[] = {loops[1] * stepsOfGroup + loops[2] * layout.getOf() + loops[4],
                 loops[0] * WordsAttr::width + loops[3]};
  auto read = llvm::map_to_vector(indices, [&](Expr index) { return substituteLoops(index, dims); });
  Type element = graph::getElementType(source);
  unsigned operand =
      compute.read(source, read, isFull ? TypedAttr() : cast<TypedAttr>(builder.getZeroAttr(getScalarType(element))));
  return compute.create(element, [&](ComputeBody &body) { return body.input(operand); });
}

FailureOr<ComputeOp> storeStrips(OpBuilder &builder, Location location, Value source, StripsAttr layout) {
  ArrayRef<Expr> shape = graph::getShape(source);
  Expr steps = Expr::constant(builder.getContext(), 1);
  for (Expr extent : shape.drop_front())
    steps = steps * extent;
  SmallVector<Expr> matrix = {shape.front(), steps}, storage = layout.getStorageShape(matrix);
  Type element = graph::getElementType(source);
  if (shape != ArrayRef(matrix)) {
    auto type = graph::TensorType::get(builder.getContext(), matrix, element, /*layout=*/Attribute());
    source = graph::ReshapeOp::create(builder, location, type, source);
  }
  bool isFull = Expr::mod(matrix[0], StripsAttr::height).isConstant(0) &&
                Expr::mod(matrix[1], layout.getStepsOfGroup()).isConstant(0);
  ComputeBuilder compute(builder, location, storage);
  SmallVector<Expr> loops = compute.parallelLoops();
  Expr indices[] = {loops[0] * StripsAttr::height + loops[2], loops[1] * layout.getStepsOfGroup() + loops[3]};
  unsigned operand = compute.read(source, indices,
                                  isFull ? TypedAttr() : cast<TypedAttr>(builder.getZeroAttr(getScalarType(element))));
  return compute.create(element, [&](ComputeBody &body) { return body.input(operand); });
}

/// The matrix that transforms filters, in one dimension.
static Value getFilterMatrix(OpBuilder &builder, Location location, int64_t outputs, Type element) {
  SmallVector<float> values;
  for (ArrayRef<double> row : WinogradTransforms::get(outputs).filter)
    values.append(row.begin(), row.end());
  int64_t points = WinogradTransforms::getNumPoints(outputs);
  auto type = RankedTensorType::get({points, WinogradTransforms::taps}, element);
  return graph::ConstantOp::create(builder, location, DenseElementsAttr::get(type, ArrayRef<float>(values)));
}

/// From panels of taps, whose rows are contiguous.
FailureOr<ComputeOp> storeTransformed(OpBuilder &builder, Location location, Value source, ArrayRef<Expr> indices,
                                      ArrayRef<Expr> shape, WinogradAttr layout, Type element) {
  constexpr int64_t taps = WinogradTransforms::taps;
  auto panels = PanelsAttr::get(builder.getContext(), shape.size() - 1, layout.getWidth(), /*batch=*/0);
  FailureOr<ComputeOp> stored = storePanels(builder, location, source, indices, shape, panels);
  if (failed(stored))
    return failure();
  if (!element)
    element = graph::getElementType(source);
  Value matrix = getFilterMatrix(builder, location, layout.getOutputs(), element);
  ComputeBuilder compute(builder, location, layout.getStorageShape(shape));
  SmallVector<Expr> loops = compute.parallelLoops();
  SmallVector<unsigned> values, downs, alongs;
  for (int64_t tap = 0; tap < taps; ++tap) {
    downs.push_back(compute.read(matrix, {compute.loop(1), compute.constant(tap)}));
    alongs.push_back(compute.read(matrix, {compute.loop(2), compute.constant(tap)}));
    for (int64_t along = 0; along < taps; ++along) {
      SmallVector<Expr> at = {loops.front()};
      llvm::append_range(at, ArrayRef(loops).drop_front(3).drop_back());
      llvm::append_values(at, compute.constant(tap), compute.constant(along), loops.back());
      values.push_back(compute.read(stored->getResult(0), at));
    }
  }
  return compute.create(element, [&](ComputeBody &body) {
    auto addProduct = [&](Value sum, Value factor, Value value) -> Value {
      Value product = arith::MulFOp::create(body.builder, factor, value);
      return sum ? Value(arith::AddFOp::create(body.builder, sum, product)) : product;
    };
    Value sum;
    for (int64_t tap = 0; tap < taps; ++tap) {
      Value row;
      for (int64_t along = 0; along < taps; ++along)
        row = addProduct(row, body.input(alongs[along]), widen(body, body.input(values[tap * taps + along]), element));
      sum = addProduct(sum, body.input(downs[tap]), row);
    }
    return sum;
  });
}

/// Every part but the last is rounded to bf16, and what is left goes on to the next, as in codegen's packing.
FailureOr<ComputeOp> storeParts(OpBuilder &builder, Location location, Value panels, ArrayRef<Expr> shape,
                                PartsAttr layout) {
  ComputeBuilder compute(builder, location, layout.getStorageShape(shape));
  SmallVector<Expr> loops = compute.parallelLoops();
  bool isFull = Expr::mod(shape[0], PartsAttr::stepsOfGroup).isConstant(0);
  TypedAttr fill = isFull ? TypedAttr() : builder.getF32FloatAttr(0);
  Expr step = loops[1] * PartsAttr::stepsOfGroup + loops[3];
  unsigned lower = compute.read(panels, {loops[0], step, loops[4]}, fill),
           upper = compute.read(panels, {loops[0], step + PartsAttr::words, loops[4]}, fill);
  return compute.create(builder.getF32Type(), [&](ComputeBody &body) -> Value {
    ImplicitLocOpBuilder &b = body.builder;
    Type wordType = b.getI32Type(), floatType = b.getF32Type();
    auto constant = [&](uint32_t value) -> Value {
      return arith::ConstantIntOp::create(b, wordType, static_cast<int32_t>(value));
    };
    Value mask = constant(0xffff0000), half = constant(0x8000), sixteen = constant(16);
    auto takePart = [&](Value rest) {
      SmallVector<Value> parts;
      for (int64_t part = 0; part < layout.getCount(); ++part) {
        Value bits = arith::BitcastOp::create(b, wordType, rest);
        if (part + 1 < layout.getCount()) {
          bits = arith::AndIOp::create(b, arith::AddIOp::create(b, bits, half), mask);
          rest = arith::SubFOp::create(b, rest, arith::BitcastOp::create(b, floatType, bits));
        }
        parts.push_back(bits);
      }
      Value chosen = parts.back();
      for (int64_t part = layout.getCount() - 1; part-- > 0;) {
        Value isThis =
            arith::CmpIOp::create(b, arith::CmpIPredicate::eq, body.loop(2), arith::ConstantIndexOp::create(b, part));
        chosen = arith::SelectOp::create(b, isThis, parts[part], chosen);
      }
      return chosen;
    };
    Value low = arith::ShRUIOp::create(b, takePart(body.input(lower)), sixteen);
    Value word = arith::OrIOp::create(b, low, arith::AndIOp::create(b, takePart(body.input(upper)), mask));
    return arith::BitcastOp::create(b, floatType, word);
  });
}

} // namespace freestone::tile
