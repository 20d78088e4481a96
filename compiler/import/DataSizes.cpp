#include "compiler/import/DataSizes.h"

#include "compiler/expressions/Expressions.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace llvm;

namespace freestone::importer {

/// The coordinates of an element.
static SmallVector<int64_t> unravel(int64_t element, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> place(dims.size());
  for (size_t axis = dims.size(); axis-- > 0; element /= dims[axis])
    place[axis] = element % dims[axis];
  return place;
}

static int64_t ravel(ArrayRef<int64_t> place, ArrayRef<int64_t> dims) {
  int64_t element = 0;
  for (auto [index, extent] : zip_equal(place, dims))
    element = element * extent + index;
  return element;
}

Expr DataSizes::get(Tensor sizes, int64_t element, StringRef complaint) {
  if (const Content *content = sizes.content())
    return (*content)[element].asExpr();
  return get(sizes.value(), element, complaint);
}

/// Follows the element back through what only moves it.
Expr DataSizes::get(mlir::Value sizes, int64_t element, StringRef complaint) {
  auto dimsOf = [](mlir::Value value) { return llvm::cast<graph::TensorType>(value.getType()).getStaticShape(); };
  std::optional<SmallVector<int64_t>> dims = dimsOf(sizes);
  mlir::Operation *op = sizes.getDefiningOp();
  std::optional<SmallVector<int64_t>> before = op && op->getNumOperands() ? dimsOf(op->getOperand(0)) : std::nullopt;
  if (!dims || !op)
    return bind(sizes, element, complaint);
  SmallVector<int64_t> place = unravel(element, *dims);
  auto follow = [&](mlir::Value operand, ArrayRef<int64_t> from) {
    return get(operand, ravel(from, *dimsOf(operand)), complaint);
  };
  return TypeSwitch<mlir::Operation *, Expr>(op)
      .Case([&](graph::SizesOp known) { return builder.current(known.getSizes()[element]); })
      .Case([&](graph::ConstantOp known) {
        auto values = llvm::cast<mlir::DenseElementsAttr>(known.getValue()).getValues<APInt>();
        return builder.size(values[element].getSExtValue());
      })
      .Case([&](graph::ReshapeOp reshape) {
        return before ? get(reshape.getOperand(), element, complaint) : bind(sizes, element, complaint);
      })
      .Case([&](graph::CastOp cast) {
        mlir::Type from = graph::getElementType(cast.getOperand());
        bool isInteger = isa<mlir::IntegerType>(from) && !from.isInteger(1);
        return before && isInteger ? get(cast.getOperand(), element, complaint) : bind(sizes, element, complaint);
      })
      .Case([&](graph::BinaryOp binary) {
        // Sizes whose difference is known have one symbol.
        bool isAddition = binary.getKind() == graph::BinaryKind::add &&
                          isa_and_nonnull<graph::ConstantOp, graph::SizesOp>(binary.getRhs().getDefiningOp());
        Expr added = isAddition ? get(binary.getRhs(), element, complaint) : Expr();
        return added && builder.bounds().interval(added).lo >= 0 ? get(binary.getLhs(), element, complaint) + added
                                                                 : bind(sizes, element, complaint);
      })
      .Case([&](graph::TransposeOp transpose) {
        SmallVector<int64_t> from(place.size());
        for (auto [axis, source] : enumerate(transpose.getPermutation()))
          from[source] = place[axis];
        return follow(transpose.getOperand(), from);
      })
      .Case([&](graph::SliceOp slice) {
        SmallVector<int64_t> from;
        for (auto [index, start, step] : zip_equal(place, slice.getStarts(), slice.getSteps()))
          if (std::optional<int64_t> first = start.asConstant())
            from.push_back(*first + index * step);
        return before && from.size() == place.size() ? follow(slice.getOperand(), from)
                                                     : bind(sizes, element, complaint);
      })
      .Case([&](graph::ConcatOp concat) {
        int64_t &index = place[concat.getAxis()];
        for (mlir::Value part : concat.getOperands()) {
          std::optional<int64_t> extent = graph::getShape(part)[concat.getAxis()].asConstant();
          if (!extent)
            break;
          if (index < *extent)
            return follow(part, place);
          index -= *extent;
        }
        return bind(sizes, element, complaint);
      })
      .Default([&](mlir::Operation *) { return bind(sizes, element, complaint); });
}

/// Whether elements of a tensor still bind a symbol: a loop's body is built again where its sizes turn out to change.
static bool isBoundBy(mlir::Value sizes, Expr symbol) {
  return llvm::any_of(sizes.getUsers(), [&](mlir::Operation *user) {
    if (auto count = dyn_cast<graph::CountToOp>(user))
      return graph::getShape(count.getResult())[0] == symbol;
    return isa<graph::ReshapeOp, graph::SliceOp, graph::CastOp>(user) && isBoundBy(user->getResult(0), symbol);
  });
}

Expr DataSizes::bind(mlir::Value sizes, int64_t element, StringRef complaint) {
  Expr &symbol = bound[{sizes, element}];
  if (symbol && isBoundBy(sizes, symbol))
    return symbol;
  // Wherever the tensor is known, so is its element.
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(sizes);
  Tensor all = builder.fromValue(sizes);
  if (!all)
    return symbol = builder.size(0);
  Tensor flat = reshape(all, {all.elementCount()});
  return symbol = sizeOf(reshape(slice(flat, 0, builder.size(element), builder.size(1)), {}), complaint);
}

} // namespace freestone::importer
