#include "compiler/dialect/graph/RecomputeRequest.h"
#include "compiler/expressions/Expressions.h"
#include "compiler/simplify/Counters.h"
#include "compiler/simplify/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace freestone::graph {

#define GEN_PASS_DEF_HOISTFROMSCANS
#include "compiler/simplify/Passes.h.inc"

namespace {

/// Of what a value of a scan's body is made.
enum class Source { invariants, slices, state };

/// Builds values of a scan's body before the scan, for all slices at once: along a new first dimension.
class AllSlices {
public:
  explicit AllSlices(ScanOp scan);

  Source getSource(Value value);
  /// A value made of slices, for all of them.
  Value get(Value value);

private:
  Source findSource(Operation *op);
  /// An invariant value, before the scan.
  Value getInvariant(Value value);
  /// A value as an operand at all slices: an invariant one is repeated.
  Value getRepeated(Value value);
  Value build(Operation *op);
  Value buildContract(ContractOp op);
  bool hasKnownSizes(Type type);

  ScanOp scan;
  OpBuilder builder;
  sym::Expr steps;
  llvm::SetVector<StringAttr> known;
  DenseMap<Operation *, Source> sources;
  DenseMap<Value, Value> built;
};

void collectSymbols(Type type, llvm::SetVector<StringAttr> &symbols) {
  for (sym::Expr size : cast<TensorType>(type).getShape())
    size.collectSymbols(symbols);
}

AllSlices::AllSlices(ScanOp scan)
    : scan(scan), builder(scan), steps(cast<TensorType>(scan.getScanned().front().getType()).getDim(0)) {
  for (Value scanned : scan.getScanned())
    collectSymbols(scanned.getType(), known);
  scan.getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!scan.getBody().isAncestor(operand.getParentRegion()))
        collectSymbols(operand.getType(), known);
  });
  scan.getBody().walk([&](AssertSizesOp assertion) {
    for (StringAttr symbol : assertion.getSymbols())
      known.remove(symbol);
  });
  for (auto [argument, scanned] : llvm::zip_equal(scan.getSliceArgs(), scan.getScanned()))
    built[argument] = scanned;
}

/// Sizes that the body binds have no value before the scan, and those that it asserts are not known to be equal.
bool AllSlices::hasKnownSizes(Type type) {
  llvm::SetVector<StringAttr> symbols;
  collectSymbols(type, symbols);
  return llvm::all_of(symbols, [&](StringAttr symbol) { return known.contains(symbol); });
}

Source AllSlices::getSource(Value value) {
  if (!scan.getBody().isAncestor(value.getParentRegion()))
    return Source::invariants;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() == &scan.getBody().front() && argument.getArgNumber() >= scan.getCarried().size()
               ? Source::slices
               : Source::state;
  auto [found, isNew] = sources.try_emplace(value.getDefiningOp(), Source::state);
  if (!isNew)
    return found->second;
  Source source = findSource(value.getDefiningOp());
  return sources[value.getDefiningOp()] = source;
}

Source AllSlices::findSource(Operation *op) {
  if (!isPure(op) || op->getNumRegions() || op->getNumResults() != 1 || isa<SymbolBinderInterface>(op) ||
      !hasKnownSizes(op->getResult(0).getType()))
    return Source::state;
  Source source = Source::invariants;
  for (Value operand : op->getOperands())
    source = std::max(source, getSource(operand));
  bool canBuild = isa<UnaryOp, BinaryOp, CompareOp, SelectOp, CastOp, BitcastOp, TransposeOp, ReshapeOp, BroadcastOp,
                      SliceOp, ContractOp>(op);
  return source == Source::slices && !canBuild ? Source::state : source;
}

Value AllSlices::getInvariant(Value value) {
  if (!scan.getBody().isAncestor(value.getParentRegion()))
    return value;
  if (Value found = built.lookup(value))
    return found;
  IRMapping mapping;
  for (Value operand : value.getDefiningOp()->getOperands())
    mapping.map(operand, getInvariant(operand));
  return built[value] = builder.clone(*value.getDefiningOp(), mapping)->getResult(0);
}

static SmallVector<sym::Expr> withSteps(sym::Expr steps, ArrayRef<sym::Expr> shape) {
  SmallVector<sym::Expr> all = {steps};
  all.append(shape.begin(), shape.end());
  return all;
}

Value AllSlices::getRepeated(Value value) {
  if (getSource(value) == Source::slices)
    return get(value);
  ArrayRef<sym::Expr> shape = getShape(value);
  auto dims = llvm::to_vector(llvm::seq<int64_t>(1, shape.size() + 1));
  return BroadcastOp::create(builder, value.getLoc(), getInvariant(value), withSteps(steps, shape), dims);
}

Value AllSlices::get(Value value) {
  if (Value found = built.lookup(value))
    return found;
  Value all = build(value.getDefiningOp());
  return built[value] = all;
}

/// The dimensions of a slice as those of all slices, where these come first.
static SmallVector<int64_t> shifted(ArrayRef<int64_t> dims) {
  return llvm::map_to_vector(dims, [](int64_t dim) { return dim + 1; });
}

static SmallVector<int64_t> behindFirst(ArrayRef<int64_t> dims) {
  SmallVector<int64_t> all = {0};
  llvm::append_range(all, shifted(dims));
  return all;
}

Value AllSlices::build(Operation *op) {
  Location loc = op->getLoc();
  if (auto contract = dyn_cast<ContractOp>(op))
    return buildContract(contract);
  if (auto transposed = dyn_cast<TransposeOp>(op))
    return TransposeOp::create(builder, loc, get(transposed.getOperand()), behindFirst(transposed.getPermutation()));
  if (auto reshaped = dyn_cast<ReshapeOp>(op))
    return ReshapeOp::create(builder, loc, get(reshaped.getOperand()), withSteps(steps, getShape(reshaped)));
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return BroadcastOp::create(builder, loc, get(broadcast.getOperand()), withSteps(steps, getShape(broadcast)),
                               behindFirst(broadcast.getDims()));
  if (auto slice = dyn_cast<SliceOp>(op)) {
    SmallVector<int64_t> strides = {1};
    llvm::append_range(strides, slice.getSteps());
    return SliceOp::create(builder, loc, get(slice.getOperand()),
                           withSteps(sym::Expr::constant(op->getContext(), 0), slice.getStarts()),
                           withSteps(steps, slice.getSizes()), strides);
  }
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, getRepeated(operand));
  Value all = builder.clone(*op, mapping)->getResult(0);
  auto type = cast<TensorType>(all.getType());
  all.setType(type.withShape(withSteps(steps, type.getShape())));
  return all;
}

/// Steps are a batch dimension where both factors are of slices, else a free one of the factor that is.
Value AllSlices::buildContract(ContractOp op) {
  bool ofLhs = getSource(op.getLhs()) == Source::slices, ofRhs = getSource(op.getRhs()) == Source::slices;
  auto place = [](bool isOfSlices, ArrayRef<int64_t> dims) {
    return isOfSlices ? shifted(dims) : SmallVector<int64_t>(dims);
  };
  SmallVector<int64_t> lhsBatch = place(ofLhs, op.getLhsBatch()), rhsBatch = place(ofRhs, op.getRhsBatch());
  if (ofLhs && ofRhs) {
    lhsBatch.insert(lhsBatch.begin(), 0);
    rhsBatch.insert(rhsBatch.begin(), 0);
  }
  Value product =
      ContractOp::create(builder, op.getLoc(), ofLhs ? get(op.getLhs()) : getInvariant(op.getLhs()),
                         ofRhs ? get(op.getRhs()) : getInvariant(op.getRhs()), lhsBatch, rhsBatch,
                         place(ofLhs, op.getLhsContract()), place(ofRhs, op.getRhsContract()), op.getElementTypeAttr());
  // The free dimensions of a factor ascend, so that the steps are the first of them.
  int64_t before = ofLhs && ofRhs ? 0 : op.getLhsBatch().size() + (ofLhs ? 0 : op.getLhsFree().size());
  if (before == 0)
    return product;
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, getShape(product).size()));
  std::rotate(order.begin(), order.begin() + before, order.begin() + before + 1);
  return TransposeOp::create(builder, op.getLoc(), product, order);
}

/// Scans the products of all slices instead of those slices that nothing else needs. Returns how many there are.
int64_t hoistProducts(ScanOp scan) {
  Block &body = scan.getBody().front();
  AllSlices slices(scan);
  SmallVector<ContractOp> products;
  for (ContractOp op : body.getOps<ContractOp>())
    if (slices.getSource(op) == Source::slices)
      products.push_back(op);
  if (products.empty())
    return 0;
  SmallVector<Value> scanned(scan.getScanned());
  for (ContractOp product : products)
    scanned.push_back(slices.get(product));
  for (ContractOp product : products)
    product.getResult().replaceAllUsesWith(body.addArgument(product.getType(), product.getLoc()));
  auto within = llvm::map_to_vector(body.without_terminator(), [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(within))
    if (isOpTriviallyDead(op))
      op->erase();
  size_t carried = scan.getCarried().size();
  for (size_t index = scanned.size(); index-- > 0;)
    if (body.getArgument(carried + index).use_empty() && scanned.size() > 1) {
      body.eraseArgument(carried + index);
      scanned.erase(scanned.begin() + index);
    }
  OpBuilder builder(scan);
  auto hoisted = ScanOp::create(builder, scan.getLoc(), scan.getResultTypes(), scan.getCarried(), scanned);
  hoisted->setDiscardableAttrs(scan->getDiscardableAttrDictionary());
  hoisted.getBody().takeBody(scan.getBody());
  scan->replaceAllUsesWith(hoisted);
  scan.erase();
  return products.size();
}

struct HoistFromScans : impl::HoistFromScansBase<HoistFromScans> {
  using HoistFromScansBase::HoistFromScansBase;

  void runOnOperation() override {
    // What is computed again in an iteration takes its memory alone, and has the bits that it had.
    if (!enable || recomputesLoops(getOperation()))
      return;
    // Inner scans first: what depends on the slices of the outer one alone leaves both.
    SmallVector<ScanOp> scans;
    getOperation().walk([&](ScanOp scan) { scans.push_back(scan); });
    int64_t count = 0;
    for (ScanOp scan : scans)
      count += hoistProducts(scan);
    graph::count(getOperation(), "scan_products", count);
  }
};

} // namespace

} // namespace freestone::graph
