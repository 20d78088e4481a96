#include "compiler/dialect/tile/TileDialect.h"

#include "compiler/dialect/tile/WinogradTransforms.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "compiler/dialect/tile/TileDialect.cpp.inc"
#include "compiler/dialect/tile/TileEnums.cpp.inc"

using namespace mlir;

/// That of multiply-adds without its name, or any other.
static FailureOr<Attribute> parseKernel(AsmParser &parser) {
  Attribute kernel;
  OptionalParseResult named = parser.parseOptionalAttribute(kernel);
  if (named.has_value())
    return failed(*named) ? FailureOr<Attribute>(failure()) : kernel;
  return FieldParser<freestone::tile::MicroKernelAttr>::parse(parser);
}

static void printKernel(AsmPrinter &printer, Attribute kernel) {
  if (auto ofMultiplyAdds = dyn_cast<freestone::tile::MicroKernelAttr>(kernel))
    printer.printStrippedAttrOrType(ofMultiplyAdds);
  else
    printer << kernel;
}

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/tile/TileAttributes.cpp.inc"

namespace freestone::tile {

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/dialect/tile/TileAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/tile/TileOps.cpp.inc"
      >();
}

Type getScalarType(Type elementType) {
  if (graph::isStorageOnly(elementType))
    return IntegerType::get(elementType.getContext(), 8);
  if (elementType.isUnsignedInteger())
    return IntegerType::get(elementType.getContext(), elementType.getIntOrFloatBitWidth());
  return elementType;
}

Type getStorageType(Type elementType) {
  if (elementType.isInteger(1))
    return IntegerType::get(elementType.getContext(), 8);
  return getScalarType(elementType);
}

llvm::APInt getStoredScalar(Type elementType, const llvm::APInt &bits) {
  return elementType.isSignlessInteger() ? bits.sext(8) : bits.zext(8);
}

static sym::Expr product(MLIRContext *context, ArrayRef<sym::Expr> factors) {
  sym::Expr result = sym::Expr::constant(context, 1);
  for (sym::Expr factor : factors)
    result = result * factor;
  return result;
}

SmallVector<sym::Expr> getStorageShape(graph::TensorType type) {
  if (auto panels = dyn_cast_or_null<PanelsAttr>(type.getLayout()))
    return panels.getStorageShape(type.getShape());
  if (auto filters = dyn_cast_or_null<WinogradAttr>(type.getLayout()))
    return filters.getStorageShape(type.getShape());
  if (auto parts = dyn_cast_or_null<PartsAttr>(type.getLayout()))
    return parts.getStorageShape(type.getShape());
  if (auto words = dyn_cast_or_null<WordsAttr>(type.getLayout()))
    return words.getStorageShape(type.getShape());
  if (auto strips = dyn_cast_or_null<StripsAttr>(type.getLayout()))
    return strips.getStorageShape(type.getShape());
  if (auto box = dyn_cast_or_null<BoxAttr>(type.getLayout()))
    return SmallVector<sym::Expr>(box.getShape());
  return SmallVector<sym::Expr>(type.getShape());
}

SmallVector<sym::Expr> getStorageIndex(graph::TensorType type, ArrayRef<sym::Expr> indices) {
  assert((!isa_and_nonnull<WinogradAttr, PartsAttr>(type.getLayout())) && "single elements are not in memory");
  if (auto panels = dyn_cast_or_null<PanelsAttr>(type.getLayout()))
    return panels.getStorageIndex(indices);
  if (auto words = dyn_cast_or_null<WordsAttr>(type.getLayout()))
    return words.getStorageIndex(indices);
  if (auto strips = dyn_cast_or_null<StripsAttr>(type.getLayout()))
    return strips.getStorageIndex(type.getShape(), indices);
  SmallVector<sym::Expr> position(indices);
  if (auto box = dyn_cast_or_null<BoxAttr>(type.getLayout()))
    for (auto [index, first] : llvm::zip_equal(position, box.getFirst()))
      index = index + first;
  return position;
}

bool hasStrides(graph::TensorType type) { return !type.getLayout() || isa<BoxAttr>(type.getLayout()); }

sym::Expr getStorageElements(graph::TensorType type) {
  if (isa_and_nonnull<graph::PackedAttr>(type.getLayout()))
    return graph::PackedAttr::getStorageSize(type);
  return product(type.getContext(), getStorageShape(type));
}

sym::Expr getLinearIndex(graph::TensorType type, ArrayRef<sym::Expr> indices) {
  SmallVector<sym::Expr> shape = getStorageShape(type), position = getStorageIndex(type, indices);
  sym::Expr result = sym::Expr::constant(type.getContext(), 0);
  for (auto [extent, index] : llvm::zip_equal(shape, position))
    result = result * extent + index;
  return result;
}

bool isAlias(Operation *op) { return isa_and_nonnull<graph::ReshapeOp, ViewOp>(op); }

Value getReshapeSource(Value tensor) {
  while (auto reshape = tensor.getDefiningOp<graph::ReshapeOp>())
    tensor = reshape.getOperand();
  return tensor;
}

LogicalResult PanelsAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t axis, int64_t width,
                                 int64_t batch) {
  if (width < 1)
    return emitError() << "panels have a width of at least 1, not " << width;
  if (batch < 0 || axis < batch)
    return emitError() << "the axis of panels comes after the " << batch << " batch dimensions, not at " << axis;
  return success();
}

/// Panel number, then the other dimensions, then the position within the panel.
static SmallVector<sym::Expr> split(ArrayRef<sym::Expr> dims, int64_t axis, int64_t batch, sym::Expr panel,
                                    sym::Expr within) {
  SmallVector<sym::Expr> result(dims.take_front(batch));
  result.push_back(panel);
  for (int64_t dim = batch, rank = dims.size(); dim < rank; ++dim)
    if (dim != axis)
      result.push_back(dims[dim]);
  result.push_back(within);
  return result;
}

SmallVector<sym::Expr> PanelsAttr::getStorageShape(ArrayRef<sym::Expr> shape) const {
  return split(shape, getAxis(), getBatch(), sym::Expr::ceilDiv(shape[getAxis()], getWidth()),
               sym::Expr::constant(getContext(), getWidth()));
}

SmallVector<sym::Expr> PanelsAttr::getStorageIndex(ArrayRef<sym::Expr> indices) const {
  sym::Expr index = indices[getAxis()];
  return split(indices, getAxis(), getBatch(), sym::Expr::floorDiv(index, getWidth()),
               sym::Expr::mod(index, getWidth()));
}

LogicalResult WinogradAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t outputs, int64_t width) {
  if (!WinogradTransforms::isSupported(outputs))
    return emitError() << "filters are transformed for squares of 2 or 4 pixels, not " << outputs;
  if (width < 1)
    return emitError() << "panels have a width of at least 1, not " << width;
  return success();
}

SmallVector<sym::Expr> WinogradAttr::getStorageShape(ArrayRef<sym::Expr> shape) const {
  auto constant = [&](int64_t value) { return sym::Expr::constant(getContext(), value); };
  SmallVector<sym::Expr> stored = {sym::Expr::ceilDiv(shape.back(), getWidth()), constant(getPoints()),
                                   constant(getPoints())};
  llvm::append_range(stored, shape.drop_back(3));
  stored.push_back(constant(getWidth()));
  return stored;
}

SmallVector<sym::Expr> PartsAttr::getStorageShape(ArrayRef<sym::Expr> shape) const {
  auto constant = [&](int64_t value) { return sym::Expr::constant(getContext(), value); };
  return {sym::Expr::ceilDiv(shape[1], width), sym::Expr::ceilDiv(shape[0], stepsOfGroup), constant(getCount()),
          constant(words), constant(width)};
}

LogicalResult WordsAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t of) {
  return of == 2 || of == 4 ? success() : emitError() << "words have 2 or 4 steps, not " << of;
}

SmallVector<sym::Expr> WordsAttr::getStorageShape(ArrayRef<sym::Expr> shape) const {
  auto constant = [&](int64_t value) { return sym::Expr::constant(getContext(), value); };
  return {sym::Expr::ceilDiv(shape[1], width), sym::Expr::ceilDiv(shape[0], words * getOf()), constant(words),
          constant(width), constant(getOf())};
}

SmallVector<sym::Expr> WordsAttr::getStorageIndex(ArrayRef<sym::Expr> indices) const {
  sym::Expr step = indices[0], column = indices[1];
  return {sym::Expr::floorDiv(column, width), sym::Expr::floorDiv(step, words * getOf()),
          sym::Expr::mod(sym::Expr::floorDiv(step, getOf()), words), sym::Expr::mod(column, width),
          sym::Expr::mod(step, getOf())};
}

LogicalResult StripsAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t of) {
  return of == 2 || of == 4 ? success() : emitError() << "words have 2 or 4 steps, not " << of;
}

SmallVector<sym::Expr> StripsAttr::getStorageShape(ArrayRef<sym::Expr> shape) const {
  auto constant = [&](int64_t value) { return sym::Expr::constant(getContext(), value); };
  return {sym::Expr::ceilDiv(shape[0], height),
          sym::Expr::ceilDiv(product(getContext(), shape.drop_front()), getStepsOfGroup()), constant(height),
          constant(getStepsOfGroup())};
}

SmallVector<sym::Expr> StripsAttr::getStorageIndex(ArrayRef<sym::Expr> shape, ArrayRef<sym::Expr> indices) const {
  sym::Expr row = indices[0], step = sym::Expr::constant(getContext(), 0);
  for (auto [extent, index] : llvm::zip_equal(shape.drop_front(), indices.drop_front()))
    step = step * extent + index;
  return {sym::Expr::floorDiv(row, height), sym::Expr::floorDiv(step, getStepsOfGroup()), sym::Expr::mod(row, height),
          sym::Expr::mod(step, getStepsOfGroup())};
}

} // namespace freestone::tile
