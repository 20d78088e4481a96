#include "compiler/expressions/Expressions.h"
#include "compiler/plan/ContractionForm.h"
#include "compiler/tile/Counters.h"
#include "compiler/tile/Passes.h"

namespace freestone::tile {
#define GEN_PASS_DEF_UNFOLDCONVOLUTIONS
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::expressions;

namespace {

bool isByte(Value tensor) {
  Type type = graph::getElementType(tensor);
  return isa<IntegerType>(type) && type.getIntOrFloatBitWidth() == 8;
}

/// The sizes of the filters' places; nothing where they are known only at run time or many.
std::optional<SmallVector<int64_t>> getPlaces(graph::ConvolveOp op) {
  constexpr int64_t mostTaps = tile::WordWindow::mostTaps;
  SmallVector<int64_t> places;
  int64_t taps = 1;
  for (Expr size : graph::getShape(op.getKernel()).drop_front(2)) {
    std::optional<int64_t> number = size.asConstant();
    if (!number || *number < 1 || (taps *= *number) > mostTaps)
      return std::nullopt;
    places.push_back(*number);
  }
  return places;
}

/// Whether a product of matrices reads the picture as it is.
bool isProduct(graph::ConvolveOp op, ArrayRef<int64_t> places) {
  auto isOne = [](int64_t number) { return number == 1; };
  auto isNone = [](Expr size) { return size.isConstant(0); };
  return llvm::all_of(places, isOne) && llvm::all_of(op.getStrides(), isOne) && llvm::all_of(op.getLow(), isNone) &&
         llvm::all_of(op.getHigh(), isNone);
}

/// The elements under each place of the filters: [taps · C, N · positions].
Tensor getColumns(Tensor x, graph::ConvolveOp op, ArrayRef<int64_t> places) {
  GraphBuilder &builder = x.builder();
  SmallVector<int64_t> channelsFirst = llvm::to_vector(llvm::seq<int64_t>(x.rank()));
  std::swap(channelsFirst[0], channelsFirst[1]);
  Shape low(2, builder.size(0)), high(low);
  llvm::append_range(low, op.getLow());
  llvm::append_range(high, op.getHigh());
  Tensor padded = pad(transpose(x, channelsFirst), low, high, 0.0);
  ArrayRef<Expr> positions = graph::getShape(op.getResult()).drop_front(2);
  Expr columns = x.dim(0);
  int64_t taps = 1;
  for (auto [count, size] : llvm::zip_equal(positions, places)) {
    columns = columns * count;
    taps *= size;
  }
  SmallVector<Tensor> parts;
  for (int64_t tap = 0; tap < taps; ++tap) {
    Tensor part = padded;
    int64_t rest = tap, inner = taps;
    for (auto [axis, size] : llvm::enumerate(places)) {
      inner /= size;
      Expr first = builder.size(rest / inner * op.getDilations()[axis]);
      rest %= inner;
      part = slice(part, axis + 2, first, positions[axis], op.getStrides()[axis]);
    }
    parts.push_back(reshape(part, {x.dim(1), columns}));
  }
  return parts.size() == 1 ? parts.front() : concat(parts, 0);
}

class UnfoldConvolutions : public tile::impl::UnfoldConvolutionsBase<UnfoldConvolutions> {
public:
  using UnfoldConvolutionsBase::UnfoldConvolutionsBase;

  void runOnOperation() override {
    int64_t unfolded = 0;
    for (auto op : llvm::make_early_inc_range(getOperation().getBody().front().getOps<graph::ConvolveOp>())) {
      auto isOne = [](int64_t dilation) { return dilation == 1; };
      if (!isByte(op.getOperand()) || !isByte(op.getKernel()) || op.getGroups() != 1 ||
          !llvm::all_of(op.getOperandDilation(), isOne))
        continue;
      std::optional<SmallVector<int64_t>> places = getPlaces(op);
      if (!places || isProduct(op, *places) || op.getStrides().back() <= tile::WordWindow::mostStride)
        continue;
      unfold(op, *places);
      ++unfolded;
    }
    tile::count(getOperation(), "unfolded", unfolded);
  }

private:
  void unfold(graph::ConvolveOp op, ArrayRef<int64_t> places) {
    GraphBuilder builder(op.getLoc(), op);
    Tensor x(builder, op.getOperand()), w(builder, op.getKernel());
    // The filters' places before their channels, as the columns have them.
    SmallVector<int64_t> order = {0};
    llvm::append_range(order, llvm::seq<int64_t>(2, w.rank()));
    order.push_back(1);
    Expr depth = builder.size(1);
    for (Expr size : w.shape().drop_front())
      depth = depth * size;
    ContractAxes axes;
    axes.lhsContract = {1};
    axes.rhsContract = {0};
    Tensor sums = contract(reshape(transpose(w, order), {w.dim(0), depth}), getColumns(x, op, places), axes,
                           graph::getElementType(op.getResult()));
    Shape shape = {w.dim(0), x.dim(0)};
    llvm::append_range(shape, graph::getShape(op.getResult()).drop_front(2));
    SmallVector<int64_t> batchFirst = llvm::to_vector(llvm::seq<int64_t>(x.rank()));
    std::swap(batchFirst[0], batchFirst[1]);
    op.replaceAllUsesWith(transpose(reshape(sums, shape), batchFirst).value());
    op.erase();
  }
};

} // namespace
