#include "compiler/tile/ColumnOrder.h"

#include "compiler/plan/Classify.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/ResultOrder.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

namespace {

/// The order of a product's loops in which its rows come before all columns.
struct ProductOrder {
  /// Of parallel loops; the columns are the last ones.
  SmallVector<unsigned> order;
  /// Loops of columns, of which so many were outside the rows.
  SmallVector<unsigned> columns;
  unsigned outside;
};

/// Goes through a function, producers first.
class ColumnOrder {
public:
  ColumnOrder(func::FuncOp function, int64_t width) : function(function), width(width) {}
  int64_t run();

private:
  void orderMap(ComputeOp map);
  void follow(ComputeOp map);
  void reorder(ComputeOp compute, ArrayRef<unsigned> order);

  func::FuncOp function;
  /// Of a panel.
  int64_t width;
  int64_t count = 0;
  /// Results in a new order.
  llvm::SmallPtrSet<Operation *, 16> ordered;
};

} // namespace

/// Whether an operand is read along these loops as along a single one.
static bool goesOn(ComputeOp op, unsigned input, ArrayRef<unsigned> loops) {
  std::optional<LinearIndex> linear = getStrides(op, input);
  if (!linear || op.getFill(input))
    return false;
  SmallVector<Expr> extents = op.getExtents();
  return llvm::all_of(llvm::zip(loops, loops.drop_front()), [&](auto pair) {
    auto [outer, inner] = pair;
    return linear->strides[outer] == linear->strides[inner] * extents[inner];
  });
}

/// Whether an operand has one element for each picture.
static bool isOfPictures(ComputeOp op, unsigned input, const ProductOrder &product) {
  std::optional<LinearIndex> linear = getStrides(op, input);
  return linear && !op.getFill(input) &&
         llvm::all_of(ArrayRef(product.columns).drop_front(product.outside),
                      [&](unsigned loop) { return linear->strides[loop].isConstant(0); });
}

/// Whether panels of each picture's columns have so many places without a column that one product of all pictures is
/// faster: otherwise the panels of a picture stay in a nearer cache than those of all.
static bool leavesPlaces(Expr columns, int64_t width) {
  constexpr int64_t fewestOf = 20;
  std::optional<int64_t> count = columns.asConstant();
  return count && (int64_t(llvm::alignTo(*count, width)) - *count) * fewestOf >= *count;
}

static std::optional<ProductOrder> getProductOrder(ComputeOp op, int64_t width) {
  std::optional<ContractionDims> dims = getContractionDims(op);
  if (!dims || dims->m.empty() || dims->n.empty() || op.getNumResults() != 1 || op.getResultType(0).getLayout() ||
      isWeightOnly(op))
    return std::nullopt;
  SmallVector<bool> ofRows(op.getNumLoops());
  for (Expr index : getIndices(op, dims->lhs))
    for (unsigned loop : getLoops(index))
      ofRows[loop] = true;
  Expr columns = Expr::constant(op.getContext(), 1);
  for (unsigned loop : dims->n)
    columns = columns * op.getExtents()[loop];
  if (!leavesPlaces(columns, width))
    return std::nullopt;
  ProductOrder product;
  for (unsigned loop : dims->batch)
    (ofRows[loop] ? product.order : product.columns).push_back(loop);
  product.outside = product.columns.size();
  llvm::append_range(product.columns, dims->n);
  llvm::append_range(product.order, dims->m);
  llvm::append_range(product.order, product.columns);
  std::optional<LinearIndex> linear = getStrides(op, dims->rhs);
  if (!product.outside || !linear || !linear->strides[product.columns.back()].isConstant(1) ||
      !goesOn(op, dims->rhs, product.columns))
    return std::nullopt;
  return product;
}

/// The order of a product's loops in which pictures come first, where their columns are read as they lie, and fill
/// panels: each picture's then stay in a near cache.
static std::optional<SmallVector<unsigned>> getPictureOrder(ComputeOp op, int64_t width) {
  constexpr unsigned pictureLoops = 3;
  std::optional<ContractionDims> dims = getContractionDims(op);
  if (!dims || !dims->batch.empty() || dims->m.empty() || dims->n.size() < pictureLoops ||
      op.getResultType(0).getLayout() || isWeightOnly(op))
    return std::nullopt;
  ArrayRef<unsigned> pixels = ArrayRef(dims->n).drop_front();
  std::optional<LinearIndex> linear = getStrides(op, dims->rhs);
  Expr columns = Expr::constant(op.getContext(), 1);
  for (unsigned loop : pixels)
    columns = columns * op.getExtents()[loop];
  bool isPicture = linear && linear->strides[pixels.back()].isConstant(1) && goesOn(op, dims->rhs, pixels);
  if (!isPicture || op.getExtents()[dims->n.front()].isConstant(1) || leavesPlaces(columns, width))
    return std::nullopt;
  SmallVector<unsigned> order = {dims->n.front()};
  llvm::append_range(order, dims->m);
  llvm::append_range(order, pixels);
  return order;
}

/// Whether a map reads the elements of a product that nothing else reads.
static bool isEpilogue(ComputeOp map, unsigned input) {
  Value tensor = map.getInputs()[input];
  auto product = tensor.getDefiningOp<ComputeOp>();
  return product && tensor.hasOneUse() && getContractionDims(product) &&
         product.getNumParallel() == map.getNumParallel() && isReadAtParallelLoops(map, input);
}

/// The loops of an operand's dimensions, if it is read at all loops, one for each dimension.
static std::optional<SmallVector<unsigned>> getLoopsOfDims(ComputeOp op, unsigned input) {
  SmallVector<unsigned> loops;
  for (Expr index : getIndices(op, input)) {
    SmallVector<unsigned> here = getLoops(index);
    if (here.size() != 1 || llvm::is_contained(loops, here.front()))
      return std::nullopt;
    loops.push_back(here.front());
  }
  return loops.size() == op.getNumParallel() ? std::optional(loops) : std::nullopt;
}

void ColumnOrder::reorder(ComputeOp compute, ArrayRef<unsigned> order) {
  FailureOr<ComputeOp> permuted = reorderResult(compute, order);
  assert(succeeded(permuted) && "an index that was affine stays so");
  ordered.insert(*permuted);
}

/// A map goes along what it reads, if this has a new order.
void ColumnOrder::follow(ComputeOp map) {
  std::optional<SmallVector<unsigned>> order;
  bool isNew = false;
  for (auto [input, tensor] : llvm::enumerate(map.getInputs()))
    if (std::optional<SmallVector<unsigned>> loops = getLoopsOfDims(map, input)) {
      if (order && order != loops)
        return;
      order = loops;
      isNew |= ordered.contains(tensor.getDefiningOp());
    }
  if (isNew && !llvm::is_sorted(*order))
    reorder(map, *order);
}

/// A map of products' elements, with the products if all that it reads suits their order.
void ColumnOrder::orderMap(ComputeOp map) {
  std::optional<ProductOrder> product;
  SmallVector<ComputeOp> products;
  for (unsigned input = 0; input < map.getInputs().size(); ++input)
    if (isEpilogue(map, input)) {
      auto op = map.getInputs()[input].getDefiningOp<ComputeOp>();
      std::optional<ProductOrder> another = getProductOrder(op, width);
      if (!another || (product && product->order != another->order))
        return;
      product = another;
      products.push_back(op);
    }
  if (!product)
    return follow(map);
  for (unsigned input = 0; input < map.getInputs().size(); ++input)
    if (!isEpilogue(map, input) && !goesOn(map, input, product->columns) && !isOfPictures(map, input, *product))
      return;
  reorder(map, product->order);
  for (ComputeOp op : products)
    reorder(op, product->order);
  count += products.size();
}

int64_t ColumnOrder::run() {
  for (auto op : llvm::make_early_inc_range(function.getBody().front().getOps<ComputeOp>())) {
    if (op.getNumResults() != 1 || op.getResultType(0).getLayout() || !isReadByLoops(op.getResult(0)))
      continue;
    if (isMap(op)) {
      orderMap(op);
      continue;
    }
    // Products whose elements a map alone reads go with it.
    auto *reader = op->hasOneUse() ? *op->user_begin() : nullptr;
    auto map = dyn_cast_or_null<ComputeOp>(reader);
    bool isOfMap = map && isMap(map) && isEpilogue(map, op->use_begin()->getOperandNumber());
    if (isOfMap)
      continue;
    if (std::optional<ProductOrder> product = getProductOrder(op, width)) {
      reorder(op, product->order);
      ++count;
    } else if (std::optional<SmallVector<unsigned>> order = getPictureOrder(op, width)) {
      // Maps stay with the rows that they read.
      [[maybe_unused]] FailureOr<ComputeOp> permuted = reorderResult(op, *order);
      assert(succeeded(permuted) && "an index that was affine stays so");
    }
  }
  return count;
}

int64_t tile::orderProductsByColumns(func::FuncOp function, int64_t width) {
  return ColumnOrder(function, width).run();
}
