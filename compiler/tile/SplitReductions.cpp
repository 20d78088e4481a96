#include "compiler/tile/Passes.h"

#include "compiler/plan/Axes.h"
#include "compiler/plan/ContractionForm.h"
#include "compiler/plan/RowGrid.h"
#include "compiler/tile/Counters.h"
#include "compiler/tile/MakeGroup.h"
#include "compiler/tile/PartialReductions.h"

namespace freestone::tile {
#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

namespace {

using Program = SmallVector<ComputeOp>;

/// The programs that replace a group, or a compute alone, whose reductions are split, in stages: a stage reads totals
/// of earlier stages.
class SplitUnit {
public:
  SplitUnit(Operation *unit, ArrayRef<ComputeOp> members) : unit(unit), members(members), builder(unit) {}

  /// Replaces the unit; `chosen` has the splits of its reductions.
  LogicalResult replace(const DenseMap<Operation *, ReductionParts> &chosen);

private:
  struct Stage {
    Program computes;
    /// Partial results, grouped by their loops, and totals that are not fused.
    SmallVector<Program> alone;
    SmallVector<Program> partials;
  };

  void dissolve();
  LogicalResult split(ComputeOp op, const ReductionParts &parts);
  unsigned getStage(ComputeOp op);
  Stage &at(unsigned stage) {
    stages.resize(std::max<size_t>(stages.size(), stage + 1));
    return stages[stage];
  }
  void arrange();

  Operation *unit;
  SmallVector<ComputeOp> members;
  OpBuilder builder;
  SmallVector<Stage> stages;
  DenseMap<Operation *, unsigned> stageOf;
};

/// Ungroups the members, in place.
void SplitUnit::dissolve() {
  auto group = dyn_cast<GroupOp>(unit);
  if (!group)
    return;
  for (ComputeOp member : members)
    member->moveBefore(group);
  group.replaceAllUsesWith(group.getBody()->getTerminator()->getOperands());
  builder.setInsertionPoint(members.front());
  unit = members.back();
  group.erase();
}

/// The first stage that has all inputs of a compute.
unsigned SplitUnit::getStage(ComputeOp op) {
  unsigned stage = 0;
  for (Value operand : op->getOperands())
    if (auto known = stageOf.find(operand.getDefiningOp()); known != stageOf.end())
      stage = std::max(stage, known->second);
  return stage;
}

LogicalResult SplitUnit::split(ComputeOp op, const ReductionParts &parts) {
  PartialReductions reductions(op, parts);
  FailureOr<ComputeOp> partials = reductions.makePartials(builder), rest = reductions.makeRest(builder);
  if (failed(partials) || failed(rest))
    return op.emitError("can't be reduced in parts: an operand is read at no affine map of the loops");
  FailureOr<ComputeOp> total = reductions.makeTotal(builder, *partials), result = total;
  if (*rest)
    result = reductions.makeSum(builder, *rest, *total);
  assert(succeeded(total) && succeeded(result) && "partial results are read at the loops themselves");

  unsigned stage = getStage(op);
  SmallVector<Program> &alike = at(stage).partials;
  auto same = llvm::find_if(alike, [&](const Program &program) {
    ComputeOp other = program.front();
    return other.getExtents() == partials->getExtents() && other.getNumParallel() == partials->getNumParallel();
  });
  (same == alike.end() ? alike.emplace_back() : *same).push_back(*partials);
  Stage &next = at(stage + 1);
  if (*rest)
    next.computes.push_back(*rest);
  // Only epilogues are fused behind a contraction.
  if (*rest && getContractionDims(op))
    next.alone.push_back({*total});
  else
    next.computes.push_back(*total);
  if (*rest)
    next.computes.push_back(*result);
  stageOf[*result] = stage + 1;
  op.replaceAllUsesWith(result->getResults());
  return success();
}

/// Inserts the programs in the unit's place, in the order of their stages.
void SplitUnit::arrange() {
  SmallVector<Program> programs;
  for (Stage &stage : stages) {
    llvm::append_range(programs, stage.alone);
    programs.push_back(stage.computes);
    llvm::append_range(programs, stage.partials);
  }
  Operation *behind = unit->getNextNode();
  for (const Program &program : programs)
    for (ComputeOp compute : program)
      compute->moveBefore(behind);
  for (const Program &program : programs)
    if (program.size() > 1)
      makeGroup(program);
}

LogicalResult SplitUnit::replace(const DenseMap<Operation *, ReductionParts> &chosen) {
  dissolve();
  SmallVector<ComputeOp> replaced;
  for (ComputeOp member : members) {
    auto parts = chosen.find(member);
    if (parts != chosen.end()) {
      if (failed(split(member, parts->second)))
        return failure();
      replaced.push_back(member);
      continue;
    }
    unsigned stage = getStage(member);
    at(stage).computes.push_back(member);
    stageOf[member] = stage;
  }
  arrange();
  for (ComputeOp op : replaced)
    op.erase();
  return success();
}

struct SplitReductions : tile::impl::SplitReductionsBase<SplitReductions> {
  using SplitReductionsBase::SplitReductionsBase;

  void runOnOperation() override {
    if (!enable)
      return;
    FailureOr<DeviceDescription> device = DeviceDescription::getFor(getOperation(), target);
    if (failed(device))
      return signalPassFailure();
    TypicalSizes sizes(getOperation());
    SmallVector<Operation *> units;
    for (Operation &op : getOperation().getBody().front())
      if (isa<ComputeOp, GroupOp>(op))
        units.push_back(&op);
    for (Operation *unit : units)
      if (failed(split(unit, sizes, *device)))
        return signalPassFailure();
  }

  LogicalResult split(Operation *unit, const TypicalSizes &sizes, const DeviceDescription &device) {
    SmallVector<ComputeOp> members;
    if (auto group = dyn_cast<GroupOp>(unit))
      members = llvm::to_vector(group.getBody()->getOps<ComputeOp>());
    else
      members.push_back(cast<ComputeOp>(unit));
    // Not split: fused computes over the same rows read a row from the cache.
    if (!shareParallelLoops(members) || areConnected(members))
      return success();
    DenseMap<Operation *, ReductionParts> chosen;
    for (ComputeOp member : members)
      if (std::optional<ReductionParts> parts = chooseReductionParts(member, sizes, device))
        chosen.try_emplace(member, *parts);
    if (chosen.empty())
      return success();
    count(getOperation(), "split_reductions", chosen.size());
    return SplitUnit(unit, members).replace(chosen);
  }
};

} // namespace
