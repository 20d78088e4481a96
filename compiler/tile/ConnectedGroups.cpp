#include "compiler/tile/ConnectedGroups.h"

#include "compiler/plan/Classify.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/tile/ConnectedForm.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

ConnectedGroups::ConnectedGroups(std::deque<Members> &groups, Members &last) : last(last) {
  for (Members &group : groups)
    for (ComputeOp member : group)
      groupOf[member] = &group;
}

Members ConnectedGroups::getMembers() const {
  Members members;
  for (ArrayRef<Members *> each : {ArrayRef(before), ArrayRef(behind)})
    for (Members *group : each)
      llvm::append_range(members, *group);
  llvm::sort(members, [](ComputeOp a, ComputeOp b) { return a->isBeforeInBlock(b); });
  return members;
}

/// The dimensions at which an input is read along two loops.
static std::array<std::optional<unsigned>, 2> getSides(ComputeOp compute, unsigned input,
                                                       llvm::function_ref<std::optional<unsigned>(unsigned)> sideOf) {
  std::array<std::optional<unsigned>, 2> dims;
  for (auto [dim, index] : llvm::enumerate(getIndices(compute, input)))
    if (std::optional<unsigned> loop = index.asSymbol() ? asLoop(*index.asSymbol()) : std::nullopt)
      if (std::optional<unsigned> side = sideOf(*loop))
        dims[*side] = dim;
  return dims;
}

void ConnectedGroups::add(Members &group, const Axes &axes, Sides own) {
  before.push_back(&group);
  for (ComputeOp member : group)
    for (Value result : member.getResults()) {
      Sides &dims = sidesOf[result];
      for (auto [dim, axis] : llvm::enumerate(axes.ofResult(member)))
        for (unsigned side : {0, 1})
          if (own[side] == axis)
            dims[side] = dim;
    }
}

/// Whether some input of a group's computes, but for a leading contraction, is computed from a product. Intermediates
/// come first: values of each row are between if they depend on these.
bool ConnectedGroups::collectInputs(Members &group, const Axes &axes, Sides own) {
  SmallVector<std::pair<Value, Sides>> intermediates, others;
  for (ComputeOp member : group) {
    if (member == group.front() && getContractionDims(member))
      continue;
    for (auto [input, source] : llvm::enumerate(member.getInputs())) {
      if (getGroup(source.getDefiningOp()) == &group || member.getFill(input))
        continue;
      Sides dims = getSides(member, input, [&](unsigned loop) -> std::optional<unsigned> {
        unsigned axis = axes.of(member)[loop];
        return own[0] == axis ? std::optional(0u) : own[1] == axis ? std::optional(1u) : std::nullopt;
      });
      (dims[0] && dims[1] ? intermediates : others).emplace_back(source, dims);
    }
  }
  bool isBetween = false;
  for (auto [source, dims] : intermediates)
    isBetween |= collectAbove(source, dims);
  auto isBefore = [&](Operation *op) { return getGroup(op) && llvm::is_contained(before, getGroup(op)); };
  for (auto [source, dims] : others)
    if (reaches({source.getDefiningOp()}, isBefore))
      isBetween |= collectAbove(source, dims);
  return isBetween;
}

/// Whether a tensor is computed from a product, which is found on the way, as is all between.
bool ConnectedGroups::collectAbove(Value tensor, Sides dims) {
  auto producer = tensor.getDefiningOp<ComputeOp>();
  Members *group = producer ? getGroup(producer) : nullptr;
  if (!group || llvm::is_contained(behind, group))
    return false;
  if (llvm::is_contained(before, group))
    return true;
  std::string why;
  FailureOr<Axes> axes = Axes::get(*group, why);
  if (failed(axes))
    return false;
  Sides own;
  for (unsigned side : {0, 1})
    if (dims[side])
      own[side] = axes->of(producer)[*dims[side]];
  if (getContractionDims(group->front())) {
    if (!own[0] || !own[1] || !getConnectible(group->front()))
      return false;
    add(*group, *axes, own);
    collectInputs(*group, *axes, own);
    return true;
  }
  // A value of each row is a reduction of columns.
  for (unsigned side : {0, 1})
    for (ComputeOp member : *group)
      if (!own[side] && own[1 - side] && member.getNumReductions() == 1)
        own[side] = axes->ofReductions(member).front();
  bool isBetween = collectInputs(*group, *axes, own);
  if (isBetween)
    add(*group, *axes, own);
  return isBetween;
}

bool ConnectedGroups::reaches(SmallVector<Operation *> from, llvm::function_ref<bool(Operation *)> isEnd) {
  llvm::SmallPtrSet<Operation *, 32> seen;
  while (!from.empty()) {
    Operation *op = from.pop_back_val();
    if (!op || !seen.insert(op).second)
      continue;
    if (isEnd(op))
      return true;
    // Groups become one operation.
    auto pushOperands = [&](Operation *member) {
      for (Value operand : member->getOperands())
        from.push_back(operand.getDefiningOp());
    };
    if (Members *group = getGroup(op))
      for (ComputeOp member : *group)
        pushOperands(member);
    else
      pushOperands(op);
  }
  return false;
}

/// Whether a reader of intermediates runs after the sums: it depends on them; or reductions of columns, which are
/// complete only then, are among what is between, unless it is between itself.
bool ConnectedGroups::isLater(Members &group) {
  bool isBetween = reaches(SmallVector<Operation *>(last.begin(), last.end()),
                           [&](Operation *op) { return getGroup(op) == &group; });
  if (isBetween)
    return false;
  for (Members *each : before)
    if (llvm::any_of(*each, [](ComputeOp member) { return member.getNumReductions() && !getContractionDims(member); }))
      return true;
  return reaches(SmallVector<Operation *>(group.begin(), group.end()),
                 [&](Operation *op) { return llvm::is_contained(behind, getGroup(op)) && getGroup(op); });
}

/// Whether a group of the connection depends on another one through what is not in it.
bool ConnectedGroups::hasDetour() {
  SmallVector<Operation *> outside;
  for (ComputeOp member : getMembers())
    for (Value operand : member->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && !isIn(getGroup(op)))
        outside.push_back(op);
  return reaches(outside, [&](Operation *op) { return getGroup(op) && isIn(getGroup(op)); });
}

bool ConnectedGroups::collectUse(OpOperand &use, Sides dims) {
  auto user = dyn_cast<ComputeOp>(use.getOwner());
  Members *group = user ? getGroup(user) : nullptr;
  // What is stored in any case saves nothing.
  if (!group || use.getOperandNumber() >= user.getInputs().size())
    return false;
  if (isIn(group))
    return true;
  if (isLater(*group)) {
    later.push_back(&use);
    return true;
  }
  if (user == group->front() && getContractionDims(user)) {
    behind.push_back(group);
    return getConnectible(user).has_value();
  }
  std::string why;
  FailureOr<Axes> axes = Axes::get(*group, why);
  if (failed(axes) || user.getFill(use.getOperandNumber()))
    return false;
  SmallVector<Expr> indices = getIndices(user, use.getOperandNumber());
  Sides own;
  for (unsigned side : {0, 1})
    if (dims[side])
      if (std::optional<StringRef> symbol = indices[*dims[side]].asSymbol())
        if (std::optional<unsigned> loop = asLoop(*symbol))
          own[side] = axes->of(user)[*loop];
  add(*group, *axes, own);
  collectInputs(*group, *axes, own);
  return true;
}

bool ConnectedGroups::collectBelow() {
  for (size_t number = 0; number < before.size(); ++number)
    for (ComputeOp member : *before[number])
      for (Value result : member.getResults())
        for (OpOperand &use : result.getUses())
          if (!collectUse(use, sidesOf.lookup(result)))
            return false;
  return true;
}

bool ConnectedGroups::collect() {
  std::optional<ContractionForm> form = getConnectible(last.front());
  if (!form)
    return false;
  behind.push_back(&last);
  bool isFound = false;
  for (auto [factor, free] : {std::pair(form->lhs, form->m.front()), std::pair(form->rhs, form->n.front())}) {
    unsigned input = *form->getInput(factor), reduced = form->k.front();
    isFound = isFound || collectAbove(last.front().getInputs()[input],
                                      getSides(last.front(), input, [&](unsigned loop) -> std::optional<unsigned> {
                                        return loop == free      ? std::optional(0u)
                                               : loop == reduced ? std::optional(1u)
                                                                 : std::nullopt;
                                      }));
  }
  return isFound && collectBelow() && !hasDetour();
}
