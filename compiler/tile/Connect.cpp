#include "compiler/tile/Connect.h"

#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/RunningReductions.h"
#include "compiler/tile/ConnectedForm.h"
#include "compiler/tile/ConnectedGroups.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/NeighbourLoops.h"
#include "compiler/tile/Recompute.h"
#include "compiler/tile/RewriteLoops.h"
#include "compiler/tile/RowFactors.h"
#include "compiler/tile/SplitProducts.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

namespace {

/// Decides whether the groups around a sum are connected, and joins them.
class Connection {
public:
  Connection(Grouping &grouping, Members &last, const ConnectLimits &limits)
      : grouping(grouping), groups(grouping, last), last(last), limits(limits) {}

  /// The number of connections made.
  int64_t connect();

private:
  bool isWorthIt(const Axes &axes);
  bool isWidePassage(ArrayRef<ComputeOp> members, const Axes &axes);
  bool areSmall();
  bool hasTiles();
  int64_t recompute(const Axes &axes);
  void endSums(const Axes &axes);
  void join();

  Grouping &grouping;
  ConnectedGroups groups;
  Members &last;
  const ConnectLimits &limits;
  std::optional<ConnectedForm> form;
  /// Of the rows of a single sum, between which and the products something is reduced.
  std::optional<RowFactors> factors;
  /// Further computes of the connection, and those that are none of it any more.
  Members added, erased;
};

} // namespace

/// Whether a member can be evaluated in vectors along rows, at blocks of columns.
static bool canEvaluate(ComputeOp member) {
  bool areKept = llvm::all_of(member.getResultTypes(), [&](Type type) {
    Type element = cast<graph::TensorType>(type).getElementType();
    return element.isF32() || (element.isInteger(1) && !member.getNumReductions());
  });
  // Checks hold for every element.
  return areKept && member.getBody()->getOps<CheckOp>().empty();
}

/// What sizes are where nothing is known of them, in the runs in which connecting products saves least.
static constexpr int64_t leastSize = 1;

/// The rows that a product's factor of columns serves, which are one loop as soon as loops are merged; 0 if they remain
/// several.
static int64_t countRows(ContractionForm &product, ArrayRef<ComputeOp> members, const TypicalSizes &sizes) {
  llvm::SmallBitVector ofColumns = getUsedLoops(product.compute, *product.getInput(product.rhs));
  Expr rows = Expr::constant(product.compute.getContext(), 1);
  std::optional<unsigned> before;
  for (unsigned loop = 0; loop < product.compute.getNumParallel(); ++loop) {
    if (ofColumns[loop])
      continue;
    if (before && (*before + 1 != loop || !canMerge(members, *before)))
      return 0;
    before = loop;
    rows = rows * product.compute.getExtents()[loop];
  }
  return sizes.evaluate(rows, leastSize).value_or(0);
}

/// Whether the results of a single product, which are stored once and read once otherwise, tell beside the products:
/// they are more than operand and result together, come from few steps, and leave the cache in every likely run; and
/// whether what a tile packs serves many rows. Pictures, whose rows lie along memory, are multiplied in place
/// otherwise.
bool Connection::isWidePassage(ArrayRef<ComputeOp> members, const Axes &axes) {
  constexpr int64_t mostSteps = 128, fewestRows = 256;
  ContractionForm &product = form->products.front(), &sum = form->sums.front().form;
  if (axes.of(product.compute)[product.n.front()] != form->column)
    return false;
  TypicalSizes sizes(last.front());
  auto evaluate = [&](ContractionForm &of, ArrayRef<unsigned> loops) {
    return sizes.evaluate(of.getExtent(loops)).value_or(0);
  };
  int64_t depth = evaluate(product, product.k), width = evaluate(product, product.n),
          results = evaluate(sum, axes.of(sum.compute)[sum.m.front()] == form->row ? sum.n : sum.m);
  // A product and a sum are short along their steps or their columns.
  int64_t steps = std::max(std::min(depth, width), std::min(width, results));
  if (steps > mostSteps || (limits.splits && steps >= fewestSplitSteps))
    return false;
  Expr elements = getNumPoints(graph::getShape(product.compute.getResult(0)), product.compute.getContext());
  int64_t bytes = sizes.evaluate(elements, leastSize).value_or(0) * static_cast<int64_t>(sizeof(float));
  return width >= depth + results && countRows(product, members, sizes) >= fewestRows && bytes > limits.cacheBytes;
}

/// Sizes at which intermediates are better kept in the cache than stored.
bool Connection::isWorthIt(const Axes &axes) {
  Members members = groups.getMembers();
  if (!llvm::all_of(members, canEvaluate))
    return false;
  bool reduces = llvm::any_of(form->inside, [](ComputeOp compute) { return compute.getNumReductions() > 0; });
  if (!reduces && form->products.size() == 1)
    return form->sums.size() == 1 && groups.later.empty() && isWidePassage(members, axes);
  SmallVector<ContractionForm, 4> contractions(form->products.begin(), form->products.end());
  for (const ConnectedForm::Sum &sum : form->sums)
    contractions.push_back(sum.form);
  TypicalSizes sizes(last.front());
  // Operands of a block of columns stay in L2, and little is computed again.
  constexpr int64_t mostSteps = 256;
  for (ContractionForm &contraction : contractions) {
    if (llvm::any_of(contraction.compute->getOperands(), [](Value operand) { return isWeightOnly(operand); }))
      return false;
    bool isProduct =
        llvm::any_of(form->products, [&](ContractionForm &each) { return each.compute == contraction.compute; });
    if (isProduct && sizes.evaluate(contraction.getExtent(contraction.k)).value_or(mostSteps + 1) > mostSteps)
      return false;
  }
  // Vectors run along rows of intermediates.
  constexpr int64_t fewestRows = 8;
  ContractionForm &first = form->products.front();
  return sizes.evaluate(first.getExtent(first.m)).value_or(0) >= fewestRows && hasTiles();
}

/// Whether intermediates are so small that reading them later costs less than computing them again. Sizes of which
/// nothing is known may be large.
bool Connection::areSmall() {
  constexpr int64_t mostElements = 1 << 15, unknown = 1024;
  TypicalSizes sizes(last.front());
  ContractionForm &first = form->products.front();
  std::optional<int64_t> rows = sizes.evaluate(first.getExtent(first.m), unknown),
                         columns = sizes.evaluate(first.getExtent(first.n), unknown);
  return rows && columns && *rows < mostElements && *rows * *columns <= mostElements;
}

/// Where rows are summed, only outer axes are dealt to workers.
bool Connection::hasTiles() {
  if (llvm::all_of(form->sums, [&](const ConnectedForm::Sum &sum) { return sum.reduced == form->column; }))
    return true;
  constexpr int64_t fewestTiles = 2;
  ContractionForm &first = form->products.front();
  return TypicalSizes(last.front()).evaluate(first.getExtent(first.outer)).value_or(0) >= fewestTiles;
}

/// Lets later readers of intermediates compute them again, if they can be connected as well: the number of connections
/// made; 0 leaves all as it was.
int64_t Connection::recompute(const Axes &axes) {
  Members members = groups.getMembers();
  Recomputation recomputation(members, *form, axes);
  recomputation.replace(groups.later);
  SmallVector<ComputeOp> readers;
  for (Value copy : recomputation.getCopies())
    for (Operation *user : copy.getUsers())
      readers.push_back(cast<ComputeOp>(user));
  grouping.add(recomputation.copies);
  for (size_t number = 0, end = grouping.size() - 1; number < end; ++number) {
    Members &group = grouping[number];
    if (group.empty() || !llvm::is_contained(readers, group.front()))
      continue;
    if (int64_t connected = Connection(grouping, group, limits).connect()) {
      llvm::append_range(added, recomputation.exported);
      return connected;
    }
  }
  grouping.removeLast();
  recomputation.undo();
  return 0;
}

/// Orders the loops of a compute so that `last` is the innermost one, if readers of the result can follow.
static ComputeOp makeInnermost(ComputeOp compute, unsigned last) {
  bool areReads = llvm::all_of(compute->getUses(), [](OpOperand &use) {
    auto user = dyn_cast<ComputeOp>(use.getOwner());
    return user && use.getOperandNumber() < user.getInputs().size();
  });
  if (last + 1 == compute.getNumLoops() || compute.getNumResults() != 1 || !areReads)
    return compute;
  SmallVector<unsigned> order;
  for (unsigned loop = 0; loop < compute.getNumLoops(); ++loop)
    if (loop != last)
      order.push_back(loop);
  order.push_back(last);
  OpBuilder builder(compute);
  FailureOr<ComputeOp> permuted = permuteLoops(builder, compute, order);
  if (failed(permuted))
    return compute;
  for (OpOperand &use : llvm::make_early_inc_range(compute->getUses())) {
    auto reader = cast<ComputeOp>(use.getOwner());
    SmallVector<Attribute> maps(reader.getIndexMaps().getValue());
    AffineMap map = reader.getMap(use.getOperandNumber());
    SmallVector<AffineExpr> indices = llvm::map_to_vector(order, [&](unsigned dim) { return map.getResult(dim); });
    maps[use.getOperandNumber()] =
        AffineMapAttr::get(AffineMap::get(map.getNumDims(), map.getNumSymbols(), indices, builder.getContext()));
    reader.setIndexMapsAttr(builder.getArrayAttr(maps));
    use.set(permuted->getResult(0));
  }
  return *permuted;
}

/// What a sum makes leaves the connection through computes whose vectors run along the sum's columns, also where some
/// of its readers are computes of the connection.
void Connection::endSums(const Axes &axes) {
  Members members = groups.getMembers();
  llvm::append_range(members, added);
  auto leaves = [&](OpOperand &use) { return !llvm::is_contained(members, dyn_cast<ComputeOp>(use.getOwner())); };
  for (ConnectedForm::Sum &sum : form->sums) {
    ComputeOp compute = sum.form.compute;
    Members ends(sum.epilogue);
    if (llvm::any_of(compute->getUses(), leaves)) {
      OpBuilder builder(compute);
      ComputeOp end = makeIdentity(builder, compute.getResult(0));
      compute.getResult(0).replaceUsesWithIf(end.getResult(0),
                                             [&](OpOperand &use) { return use.getOwner() != end && leaves(use); });
      added.push_back(end);
      ends.push_back(end);
    }
    // An epilogue has the sum's parallel loops.
    unsigned column = llvm::find(axes.of(compute), sum.column) - axes.of(compute).begin();
    for (ComputeOp end : ends) {
      ComputeOp permuted = llvm::any_of(end->getUses(), leaves) ? makeInnermost(end, column) : end;
      if (permuted == end)
        continue;
      erased.push_back(end);
      added.push_back(permuted);
    }
  }
}

void Connection::join() {
  Members members = groups.getMembers();
  llvm::append_range(members, added);
  for (ComputeOp compute : llvm::reverse(erased)) {
    llvm::erase(members, compute);
    grouping.forget(compute);
    compute->erase();
  }
  llvm::sort(members, [](ComputeOp a, ComputeOp b) { return a->isBeforeInBlock(b); });
  SmallVector<Members *> joined(groups.before);
  llvm::append_range(joined, groups.behind);
  grouping.join(last, joined, std::move(members));
}

int64_t Connection::connect() {
  if (last.empty() || !groups.collect())
    return 0;
  std::string why;
  Members members = groups.getMembers();
  FailureOr<Axes> axes = Axes::get(members, why);
  if (failed(axes))
    return 0;
  form = ConnectedForm::get(members, *axes);
  if (!form || !isWorthIt(*axes))
    return 0;
  bool reduces = llvm::any_of(form->inside, [](ComputeOp compute) { return compute.getNumReductions() > 0; });
  if (reduces && (form->sums.size() > 1 || !(factors = RowFactors::find(*form))))
    return 0;
  SmallVector<ComputeOp> inside(form->inside);
  if (reduces)
    llvm::erase(inside, factors->rows);
  if (failed(RunningReductions::get(inside, *axes, form->column, why)))
    return 0;
  int64_t connected = 1;
  if (!groups.later.empty()) {
    int64_t further = areSmall() ? 0 : recompute(*axes);
    if (!further)
      return 0;
    connected += further;
  }
  if (reduces) {
    llvm::append_range(added, factors->moveBehind(*form));
    erased.push_back(factors->rows);
  }
  endSums(*axes);
  join();
  return connected;
}

int64_t tile::connectGroups(std::deque<Members> &groups, const ConnectLimits &limits) {
  Grouping grouping(groups);
  int64_t connected = 0;
  for (size_t number = 0; number < grouping.size(); ++number)
    connected += Connection(grouping, grouping[number], limits).connect();
  return connected;
}
