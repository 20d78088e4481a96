#include "compiler/tile/Connect.h"

#include "compiler/plan/BodyDependences.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/RunningReductions.h"
#include "compiler/tile/ConnectedForm.h"
#include "compiler/tile/ConnectedGroups.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/Recompute.h"
#include "compiler/tile/RewriteLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

namespace {

/// Decides whether the groups around a sum are connected, and joins them.
class Connection {
public:
  Connection(std::deque<Members> &groups, Members &last) : all(groups), groups(groups, last), last(last) {}

  /// The number of connections made.
  int64_t connect();

private:
  bool isWorthIt();
  bool hasTiles();
  bool findScaled(const Axes &axes);
  int64_t recompute(const Axes &axes);
  void moveBehind();
  void endSums(const Axes &axes);
  void join();

  std::deque<Members> &all;
  ConnectedGroups groups;
  Members &last;
  std::optional<ConnectedForm> form;
  /// The compute that makes the rows of a single sum, and its operand to which they are proportional.
  ComputeOp rows;
  std::optional<unsigned> scaled;
  /// Further computes of the connection, and those that are none of it any more.
  Members added, erased;
};

} // namespace

/// Whether a member can be evaluated in vectors along rows, at blocks of columns.
static bool canEvaluate(ComputeOp member) {
  bool areFloats = llvm::all_of(member.getResultTypes(),
                                [](Type type) { return cast<graph::TensorType>(type).getElementType().isF32(); });
  // Random numbers are drawn for neighbouring elements; checks hold for every element.
  return areFloats && llvm::none_of(*member.getBody(), [](Operation &op) { return isa<RandomBitsOp, CheckOp>(op); });
}

/// Sizes at which intermediates are better kept in the cache than stored.
bool Connection::isWorthIt() {
  Members members = groups.getMembers();
  if (!llvm::all_of(members, canEvaluate))
    return false;
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

/// Where rows are summed, only outer axes are dealt to workers.
bool Connection::hasTiles() {
  if (llvm::all_of(form->sums, [&](const ConnectedForm::Sum &sum) { return sum.reduced == form->column; }))
    return true;
  constexpr int64_t fewestTiles = 2;
  ContractionForm &first = form->products.front();
  return TypicalSizes(last.front()).evaluate(first.getExtent(first.outer)).value_or(0) >= fewestTiles;
}

/// Whether the rows of the sum are proportional to one operand, by one factor a row: the sum over k of
/// (f[m] * a[m, k]) * b[k, n] is f[m] times the sum of a[m, k] * b[k, n].
bool Connection::findScaled(const Axes &axes) {
  rows = form->sums.front().intermediate.getDefiningOp<ComputeOp>();
  if (rows.getNumReductions() || rows.getNumResults() != 1 || !rows.getReads().empty())
    return false;
  unsigned reduced = llvm::find(axes.of(rows), form->column) - axes.of(rows).begin();
  if (llvm::any_of(rows.getBody()->getOps<IndexOp>(), [&](IndexOp index) { return index.getLoop() == reduced; }))
    return false;
  BodyDependences body;
  for (unsigned input = 0; input < rows.getInputs().size(); ++input) {
    if (llvm::none_of(getIndices(rows, input),
                      [&](Expr index) { return llvm::is_contained(getLoops(index), reduced); }))
      continue;
    auto producer = rows.getInputs()[input].getDefiningOp<ComputeOp>();
    if (scaled || rows.getFill(input) || !isReadAtParallelLoops(rows, input) ||
        !llvm::is_contained(form->inside, producer))
      return false;
    scaled = input;
    body.set(rows.getInputArgs()[input], Dependence::factor);
  }
  return scaled && body.isProportional(rows.getBody()->getTerminator()->getOperand(0));
}

void Connection::moveBehind() {
  ContractionForm &sum = form->sums.front().form;
  ComputeOp contraction = sum.compute;
  unsigned left = llvm::find(contraction.getInputs(), rows.getResult(0)) - contraction.getInputs().begin();
  OpBuilder builder(contraction->getContext());
  builder.setInsertionPointAfter(contraction);
  SmallVector<Expr> at = getIndices(contraction, left), extents = contraction.getExtents();
  ComputeBuilder scaling(builder, rows.getLoc(), ArrayRef(extents).take_front(contraction.getNumParallel()));
  SmallVector<unsigned> inputs;
  for (auto [input, tensor] : llvm::enumerate(rows.getInputs()))
    inputs.push_back(input == *scaled ? scaling.read(contraction.getResult(0))
                                      : scaling.read(tensor, getIndices(rows, input, at), rows.getFill(input)));
  Expr depth = sum.getExtent(sum.k);
  FailureOr<ComputeOp> behind = scaling.create(sum.elementType, [&](ComputeBody &body) -> Value {
    ImplicitLocOpBuilder &inner = body.builder;
    SmallVector<Value> elements = llvm::map_to_vector(inputs, [&](unsigned input) { return body.input(input); });
    Value result = cloneBody(body, rows, elements, {}, {}, at).front();
    if (depth.isConstant())
      return result;
    // The sum of nothing is 0, even where the factor is no number.
    Value none = arith::CmpIOp::create(inner, arith::CmpIPredicate::eq, body.size(depth),
                                       arith::ConstantIndexOp::create(inner, 0));
    Value zero = arith::ConstantOp::create(inner, inner.getZeroAttr(sum.elementType));
    return arith::SelectOp::create(inner, none, zero, result);
  });
  assert(succeeded(behind) && "indices that were affine stay so");
  contraction.getResult(0).replaceAllUsesExcept(behind->getResult(0), *behind);
  contraction->setOperand(left, rows.getInputs()[*scaled]);
  added.push_back(*behind);
  erased.push_back(rows);
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
  all.push_back(recomputation.copies);
  for (size_t number = 0, last = all.size() - 1; number < last; ++number) {
    if (all[number].empty() || !llvm::is_contained(readers, all[number].front()))
      continue;
    if (int64_t connected = Connection(all, all[number]).connect()) {
      llvm::append_range(added, recomputation.exported);
      return connected;
    }
  }
  all.pop_back();
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

/// What a sum makes leaves the connection through a compute, whose vectors run along the sum's columns.
void Connection::endSums(const Axes &axes) {
  for (ConnectedForm::Sum &sum : form->sums) {
    ComputeOp compute = sum.form.compute, end = compute;
    if (!sum.epilogue.empty()) {
      end = sum.epilogue.back();
    } else if (!scaled) {
      OpBuilder builder(compute);
      end = makeIdentity(builder, compute.getResult(0));
      compute.getResult(0).replaceAllUsesExcept(end.getResult(0), end);
      added.push_back(end);
    }
    if (end == compute)
      continue;
    // An epilogue has the sum's parallel loops.
    unsigned column = llvm::find(axes.of(compute), sum.column) - axes.of(compute).begin();
    ComputeOp permuted = makeInnermost(end, column);
    if (permuted == end)
      continue;
    erased.push_back(end);
    added.push_back(permuted);
  }
}

void Connection::join() {
  Members members = groups.getMembers();
  llvm::append_range(members, added);
  for (ComputeOp compute : llvm::reverse(erased)) {
    llvm::erase(members, compute);
    compute->erase();
  }
  llvm::sort(members, [](ComputeOp a, ComputeOp b) { return a->isBeforeInBlock(b); });
  for (ArrayRef<Members *> each : {ArrayRef(groups.before), ArrayRef(groups.behind)})
    for (Members *group : each)
      group->clear();
  last = std::move(members);
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
  if (!form || !isWorthIt())
    return 0;
  bool reduces = llvm::any_of(form->inside, [](ComputeOp compute) { return compute.getNumReductions() > 0; });
  if (reduces && (form->sums.size() > 1 || !findScaled(*axes)))
    return 0;
  SmallVector<ComputeOp> inside(form->inside);
  if (reduces)
    llvm::erase(inside, rows);
  if (failed(RunningReductions::get(inside, *axes, form->column, why)))
    return 0;
  int64_t connected = 1;
  if (!groups.later.empty()) {
    int64_t further = recompute(*axes);
    if (!further)
      return 0;
    connected += further;
  }
  if (reduces)
    moveBehind();
  endSums(*axes);
  join();
  return connected;
}

int64_t tile::connectGroups(std::deque<Members> &groups) {
  int64_t connected = 0;
  for (size_t number = 0; number < groups.size(); ++number)
    connected += Connection(groups, groups[number]).connect();
  return connected;
}
