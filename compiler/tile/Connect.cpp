#include "compiler/tile/Connect.h"

#include "compiler/plan/BodyDependences.h"
#include "compiler/plan/ContractionForm.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/RunningReductions.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/RewriteLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

namespace {

/// Two contractions and the groups that they stand in, with what is between them.
class Connection {
public:
  Connection(MutableArrayRef<Members> groups, Members &last) : groups(groups), last(last) {}

  bool connect();

private:
  bool collect();
  bool collect(Value tensor);
  bool isConnectible();
  bool areRolesEqual(const Axes &axes);
  std::optional<unsigned> findScaled(const Axes &axes);
  void moveBehind(unsigned scaled);
  Members *getGroup(Value tensor);
  Members getMembers();

  MutableArrayRef<Members> groups;
  Members &last;
  /// The groups of the first contraction, and of the computes between.
  SmallVector<Members *> before;
  std::optional<ContractionForm> first, second;
  /// The compute that makes the rows of the second contraction.
  ComputeOp rows;
};

/// A contraction of matrices of f32 whose factors are its operands.
std::optional<ContractionForm> getContraction(ComputeOp compute) {
  std::optional<ContractionForm> form = ContractionForm::getOfMatrices(compute);
  if (!form || !form->elementType.isF32())
    return std::nullopt;
  for (Value factor : {form->lhs, form->rhs}) {
    std::optional<unsigned> input = form->getInput(factor);
    if (!input || !compute.getInputType(*input).getElementType().isF32() || compute.getInputType(*input).getLayout() ||
        compute.getFill(*input))
      return std::nullopt;
  }
  return form;
}

} // namespace

Members *Connection::getGroup(Value tensor) {
  auto producer = tensor.getDefiningOp<ComputeOp>();
  auto found = llvm::find_if(groups, [&](Members &group) { return producer && llvm::is_contained(group, producer); });
  return found == groups.end() ? nullptr : found;
}

Members Connection::getMembers() {
  Members members;
  for (Members *group : before)
    llvm::append_range(members, *group);
  llvm::append_range(members, last);
  llvm::sort(members, [](ComputeOp a, ComputeOp b) { return a->isBeforeInBlock(b); });
  return members;
}

/// Whether a tensor is computed from the first contraction, which is found on the way, as is all between.
bool Connection::collect(Value tensor) {
  Members *group = getGroup(tensor);
  if (!group || group == &last)
    return false;
  if (llvm::is_contained(before, group))
    return true;
  if (getContractionDims(group->front())) {
    std::optional<ContractionForm> form = first ? std::nullopt : getContraction(group->front());
    if (!form)
      return false;
    first = form;
    before.push_back(group);
    return true;
  }
  bool isBetween = false;
  for (ComputeOp member : *group)
    for (auto [input, source] : llvm::enumerate(member.getInputs()))
      isBetween |= getGroup(source) != group && !member.getFill(input) && collect(source);
  if (isBetween)
    before.push_back(group);
  return isBetween;
}

bool Connection::collect() {
  second = getContraction(last.front());
  if (!second)
    return false;
  Value tensor = last.front().getInputs()[*second->getInput(second->lhs)];
  rows = tensor.getDefiningOp<ComputeOp>();
  return rows && collect(tensor) && first;
}

/// Whether rows and columns of the first contraction are rows and the reduced axis of the second, and nothing else has
/// further axes.
bool Connection::areRolesEqual(const Axes &axes) {
  ArrayRef<unsigned> a = axes.of(first->compute), b = axes.of(second->compute);
  unsigned row = b[second->m.front()], reduced = b[second->k.front()], column = b[second->n.front()];
  auto outerOf = [](const ContractionForm &form, ArrayRef<unsigned> axesOf) {
    SmallVector<unsigned> outer = llvm::map_to_vector(form.outer, [&](unsigned loop) { return axesOf[loop]; });
    llvm::sort(outer);
    return outer;
  };
  SmallVector<unsigned> outer = outerOf(*first, a);
  if (a[first->m.front()] != row || a[first->n.front()] != reduced || outer != outerOf(*second, b))
    return false;
  for (ComputeOp member : getMembers()) {
    if (member == first->compute || member == second->compute)
      continue;
    bool isBehind = llvm::is_contained(last, member);
    for (unsigned axis : axes.of(member))
      if (axis != row && axis != (isBehind ? column : reduced) && !llvm::is_contained(outer, axis))
        return false;
    for (unsigned axis : axes.ofReductions(member))
      if (axis != reduced || isBehind)
        return false;
    if (!llvm::is_contained(axes.ofResult(member), row) || !member.getReads().empty())
      return false;
  }
  return true;
}

/// The operand to which the rows are proportional, if the factor is one value a row: the sum over k of
/// (f[m] * a[m, k]) * b[k, n] is f[m] times the sum of a[m, k] * b[k, n].
std::optional<unsigned> Connection::findScaled(const Axes &axes) {
  if (rows.getNumReductions() || rows.getNumResults() != 1 || !rows.getReads().empty())
    return std::nullopt;
  ArrayRef<unsigned> loops = axes.of(rows);
  unsigned reduced = llvm::find(loops, axes.of(second->compute)[second->k.front()]) - loops.begin();
  if (llvm::any_of(rows.getBody()->getOps<IndexOp>(), [&](IndexOp index) { return index.getLoop() == reduced; }))
    return std::nullopt;
  std::optional<unsigned> scaled;
  BodyDependences body;
  for (unsigned input = 0; input < rows.getInputs().size(); ++input) {
    if (llvm::none_of(getIndices(rows, input),
                      [&](Expr index) { return llvm::is_contained(getLoops(index), reduced); }))
      continue;
    if (scaled || rows.getFill(input) || !isReadAtParallelLoops(rows, input) || !getGroup(rows.getInputs()[input]))
      return std::nullopt;
    scaled = input;
    body.set(rows.getInputArgs()[input], Dependence::factor);
  }
  return scaled && body.isProportional(rows.getBody()->getTerminator()->getOperand(0)) ? scaled : std::nullopt;
}

/// Whether a member can be evaluated in vectors along rows, at blocks of columns.
static bool canEvaluate(ComputeOp member) {
  bool areFloats = llvm::all_of(member.getResultTypes(),
                                [](Type type) { return cast<graph::TensorType>(type).getElementType().isF32(); });
  // Random numbers are drawn for neighbouring elements; checks hold for every element.
  return areFloats && llvm::none_of(*member.getBody(), [](Operation &op) { return isa<RandomBitsOp, CheckOp>(op); });
}

bool Connection::isConnectible() {
  Members members = getMembers();
  if (!llvm::all_of(members, canEvaluate))
    return false;
  // What is stored in any case saves nothing.
  for (Members *group : before)
    for (ComputeOp member : *group)
      for (Operation *user : member->getUsers())
        if (!llvm::is_contained(members, dyn_cast<ComputeOp>(user)))
          return false;
  for (const ContractionForm &form : {*first, *second})
    if (llvm::any_of(form.compute->getOperands(), [](Value operand) { return isWeightOnly(operand); }))
      return false;
  // Vectors run along rows of the first contraction.
  constexpr int64_t fewestRows = 8;
  Expr rows = first->getExtent(first->m);
  return TypicalSizes(first->compute).evaluate(rows).value_or(0) >= fewestRows;
}

void Connection::moveBehind(unsigned scaled) {
  ComputeOp contraction = second->compute;
  unsigned left = *second->getInput(second->lhs);
  OpBuilder builder(contraction->getContext());
  builder.setInsertionPointAfter(contraction);
  SmallVector<Expr> at = getIndices(contraction, left), extents = contraction.getExtents();
  ComputeBuilder scaling(builder, rows.getLoc(), ArrayRef(extents).take_front(contraction.getNumParallel()));
  SmallVector<unsigned> inputs;
  for (auto [input, tensor] : llvm::enumerate(rows.getInputs()))
    inputs.push_back(input == scaled ? scaling.read(contraction.getResult(0))
                                     : scaling.read(tensor, getIndices(rows, input, at), rows.getFill(input)));
  Expr depth = second->getExtent(second->k);
  FailureOr<ComputeOp> behind = scaling.create(second->elementType, [&](ComputeBody &body) -> Value {
    ImplicitLocOpBuilder &inner = body.builder;
    SmallVector<Value> elements = llvm::map_to_vector(inputs, [&](unsigned input) { return body.input(input); });
    Value result = cloneBody(body, rows, elements, {}, {}, at).front();
    if (depth.isConstant())
      return result;
    // The sum of nothing is 0, even where the factor is no number.
    Value none = arith::CmpIOp::create(inner, arith::CmpIPredicate::eq, body.size(depth),
                                       arith::ConstantIndexOp::create(inner, 0));
    Value zero = arith::ConstantOp::create(inner, inner.getZeroAttr(second->elementType));
    return arith::SelectOp::create(inner, none, zero, result);
  });
  assert(succeeded(behind) && "indices that were affine stay so");
  contraction.getResult(0).replaceAllUsesExcept(behind->getResult(0), *behind);
  contraction->setOperand(left, rows.getInputs()[scaled]);
  last.insert(last.begin() + 1, *behind);
  llvm::erase(*getGroup(rows.getResult(0)), rows);
  rows->erase();
}

bool Connection::connect() {
  if (last.empty() || !collect() || !isConnectible())
    return false;
  std::string why;
  FailureOr<Axes> axes = Axes::get(getMembers(), why);
  if (failed(axes) || !areRolesEqual(*axes))
    return false;
  std::optional<unsigned> scaled = findScaled(*axes);
  if (!scaled || !rows->hasOneUse())
    return false;
  Members inside;
  unsigned reduced = axes->of(second->compute)[second->k.front()];
  for (ComputeOp member : getMembers())
    if (member != rows && member != second->compute && llvm::is_contained(axes->of(member), reduced))
      inside.push_back(member);
  if (failed(RunningReductions::get(inside, *axes, reduced, why)))
    return false;
  moveBehind(*scaled);
  Members members = getMembers();
  for (Members *group : before)
    group->clear();
  last = std::move(members);
  return true;
}

int64_t tile::connectGroups(MutableArrayRef<Members> groups) {
  int64_t connected = 0;
  for (Members &group : groups)
    connected += Connection(groups, group).connect();
  return connected;
}
