#include "compiler/tile/StorePanels.h"

#include "compiler/plan/IndexMaps.h"

using namespace mlir;
using freestone::sym::Expr;

namespace freestone::tile {

FailureOr<ComputeOp> storePanels(OpBuilder &builder, Location location, Value source, ArrayRef<Expr> indices,
                                 ArrayRef<Expr> shape, PanelsAttr layout) {
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
  Type element = graph::getElementType(source);
  unsigned operand =
      compute.read(source, read, isFull ? TypedAttr() : cast<TypedAttr>(builder.getZeroAttr(getScalarType(element))));
  return compute.create(element, [&](ComputeBody &body) { return body.input(operand); });
}

} // namespace freestone::tile
