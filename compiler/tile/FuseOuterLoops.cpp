#include "compiler/tile/Passes.h"

#include "compiler/device/DeviceDescription.h"
#include "compiler/plan/Axes.h"
#include "compiler/plan/Classify.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/OuterLoopForm.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/Counters.h"
#include "compiler/tile/MakeGroup.h"
#include "compiler/tile/Reachability.h"
#include "compiler/tile/RewriteLoops.h"

namespace freestone::tile {
#define GEN_PASS_DEF_FUSEOUTERLOOPS
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

namespace {

/// The most programs under one outer loop: what they hold of a point shares a cache.
constexpr size_t mostStages = 12;

using OuterLoops = DenseMap<Operation *, unsigned>;

/// A group, or a compute alone, that may be a stage.
struct Unit {
  Operation *op = nullptr;
  SmallVector<ComputeOp> computes;
  /// The unit itself, and all reshapes of its results.
  SmallVector<Operation *> ops;
  /// The outer loop of each compute, where the unit shares it with others.
  OuterLoops loops;
};

/// An operand that a compute reads of another unit's compute, reshaped or not.
struct Edge {
  ComputeOp producer, consumer;
  unsigned input;
  int64_t bytes;
};

class FuseOuterLoops : public tile::impl::FuseOuterLoopsBase<FuseOuterLoops> {
public:
  using FuseOuterLoopsBase::FuseOuterLoopsBase;

  void runOnOperation() override;

private:
  void findUnits();
  void findEdges();
  bool mayBeStage(Unit &unit, const OuterLoops &loops);
  std::optional<OuterLoops> follow(Unit &unit, ComputeOp from, unsigned loop);
  std::optional<unsigned> getLoopAcross(const Edge &edge, ComputeOp known, unsigned loop);
  SmallVector<unsigned> grow(unsigned seed);
  bool sharesOperand(ComputeOp a, ComputeOp b);
  bool join(unsigned seed, SmallVectorImpl<unsigned> &members, const Edge &edge);
  SmallVector<Operation *> dissolve(ArrayRef<unsigned> members);

  std::vector<Unit> units;
  DenseMap<Operation *, unsigned> unitOf; ///< of computes
  std::vector<Edge> edges;
  std::optional<Reachability> paths;
  TypicalSizes sizes;
  int64_t leastBytes = 0;
};

} // namespace

/// The compute's result that a tensor of the function is, before all reshapes.
static ComputeOp getComputeOf(Value tensor) {
  Value source = getReshapeSource(tensor);
  if (auto group = source.getDefiningOp<GroupOp>())
    source = group.getBody()->getTerminator()->getOperand(cast<OpResult>(source).getResultNumber());
  return source.getDefiningOp<ComputeOp>();
}

void FuseOuterLoops::findUnits() {
  units.clear();
  unitOf.clear();
  for (Operation &op : getOperation().getBody().front()) {
    Unit unit;
    unit.op = &op;
    if (auto group = dyn_cast<GroupOp>(op))
      unit.computes = llvm::to_vector(group.getBody()->getOps<ComputeOp>());
    else if (auto compute = dyn_cast<ComputeOp>(op))
      unit.computes = {compute};
    // What places units in a pipeline is kept with them.
    if (unit.computes.empty() || !op.getDiscardableAttrs().empty())
      continue;
    for (ComputeOp compute : unit.computes)
      unitOf[compute] = units.size();
    unit.ops = {&op};
    for (size_t at = 0; at < unit.ops.size(); ++at)
      for (Operation *user : unit.ops[at]->getUsers())
        if (isa<graph::ReshapeOp>(user) && !llvm::is_contained(unit.ops, user)) {
          unit.ops.push_back(user);
          paths->unite(&op, user);
        }
    units.push_back(std::move(unit));
  }
}

void FuseOuterLoops::findEdges() {
  edges.clear();
  for (Unit &unit : units)
    for (ComputeOp consumer : unit.computes)
      for (auto [input, tensor] : llvm::enumerate(consumer.getInputs())) {
        ComputeOp producer = getComputeOf(tensor);
        if (producer && unitOf.contains(producer) && unitOf[producer] != unitOf[consumer])
          edges.push_back({producer, consumer, static_cast<unsigned>(input),
                           sizes.getBytes(cast<graph::TensorType>(tensor.getType()))});
      }
}

/// The outer loop of the other compute at an edge.
std::optional<unsigned> FuseOuterLoops::getLoopAcross(const Edge &edge, ComputeOp known, unsigned loop) {
  Value tensor = ComputeOp(edge.consumer).getInputs()[edge.input];
  if (known == edge.producer) {
    std::optional<unsigned> dim = getReshapedDim(tensor, loop);
    return dim ? getLoopOfDim(edge.consumer, edge.input, *dim) : std::nullopt;
  }
  std::optional<unsigned> dim = getDimOfLoop(edge.consumer, edge.input, loop);
  return dim ? getReshapedDim(tensor, *dim) : std::nullopt;
}

/// The outer loops of all computes of a unit, if that of one is `loop`; nothing where they do not share it.
std::optional<OuterLoops> FuseOuterLoops::follow(Unit &unit, ComputeOp from, unsigned loop) {
  OuterLoops loops = {{from, loop}};
  sym::Expr extent = from.getExtents()[loop];
  auto set = [&](ComputeOp compute, std::optional<unsigned> other) {
    if (!other || *other >= compute.getNumParallel() || compute.getExtents()[*other] != extent)
      return false;
    return loops.try_emplace(compute, *other).first->second == *other;
  };
  for (bool changed = true; changed;) {
    size_t before = loops.size();
    for (ComputeOp consumer : unit.computes)
      for (auto [input, tensor] : llvm::enumerate(consumer.getInputs())) {
        auto producer = tensor.getDefiningOp<ComputeOp>();
        if (!producer || !llvm::is_contained(unit.computes, producer))
          continue;
        Edge edge{producer, consumer, static_cast<unsigned>(input), 0};
        if (auto known = loops.find(producer); known != loops.end()) {
          if (!set(consumer, getLoopAcross(edge, producer, known->second)))
            return std::nullopt;
        } else if (auto known = loops.find(consumer); known != loops.end()) {
          if (!set(producer, getLoopAcross(edge, consumer, known->second)))
            return std::nullopt;
        }
      }
    // Passes over the same rows that do not read each other.
    for (ComputeOp compute : unit.computes)
      if (loops.size() == before && !loops.contains(compute) && !set(compute, loop))
        return std::nullopt;
    changed = loops.size() > before;
  }
  return loops;
}

/// Whether a unit can be computed in blocks of its outer loop without loss: it packs nothing for all of them, and has no
/// stages of its own.
bool FuseOuterLoops::mayBeStage(Unit &unit, const OuterLoops &loops) {
  if (auto group = dyn_cast<GroupOp>(unit.op); group && !group.getBody()->getOps<OpaqueOp>().empty())
    return false;
  return !areConnected(unit.computes) && llvm::all_of(unit.computes, [&](ComputeOp compute) {
    unsigned loop = loops.lookup(compute);
    if (!mayBeCut(compute, loop))
      return false;
    // Neighbours in memory belong to other points: a block of few would read and write parts of lines.
    auto isInnermost = [&](Type type, std::optional<unsigned> dim) {
      auto tensor = cast<graph::TensorType>(type);
      return dim && tensor.getRank() > 1 && *dim + 1 == tensor.getRank() && sizes.getBytes(tensor) >= leastBytes;
    };
    for (unsigned input = 0; input < compute.getInputs().size(); ++input)
      if (isInnermost(compute.getInputType(input), getDimOfLoop(compute, input, loop)))
        return false;
    if (llvm::any_of(compute->getResultTypes(), [&](Type type) { return isInnermost(type, loop); }))
      return false;
    std::optional<ContractionDims> dims = getContractionDims(compute);
    bool isPerPoint = dims && llvm::is_contained(dims->batch, loop);
    return !dims || (isPerPoint && (dims->m.empty() || dims->n.empty()));
  });
}

/// Whether the units of two computes read one large tensor, which the second then finds in a cache.
bool FuseOuterLoops::sharesOperand(ComputeOp a, ComputeOp b) {
  auto getLarge = [&](ComputeOp compute) {
    llvm::SmallPtrSet<Value, 8> large;
    for (ComputeOp each : units[unitOf.lookup(compute)].computes)
      for (Value tensor : each.getInputs())
        if (sizes.getBytes(cast<graph::TensorType>(tensor.getType())) >= leastBytes)
          large.insert(getReshapeSource(tensor));
    return large;
  };
  llvm::SmallPtrSet<Value, 8> ofB = getLarge(b);
  return llvm::any_of(getLarge(a), [&](Value tensor) { return ofB.contains(tensor); });
}

/// Adds the unit at the other end of an edge to the units that share a loop with the seed.
bool FuseOuterLoops::join(unsigned seed, SmallVectorImpl<unsigned> &members, const Edge &edge) {
  auto isMember = [&](ComputeOp compute) { return llvm::is_contained(members, unitOf.lookup(compute)); };
  bool reads = isMember(edge.producer);
  if (reads == isMember(edge.consumer) || members.size() == mostStages ||
      (edge.bytes < leastBytes && !sharesOperand(edge.producer, edge.consumer)))
    return false;
  ComputeOp known = reads ? edge.producer : edge.consumer, other = reads ? edge.consumer : edge.producer;
  unsigned number = unitOf.lookup(other);
  Unit &unit = units[number];
  if (!unit.loops.empty())
    return false;
  std::optional<unsigned> loop = getLoopAcross(edge, known, units[unitOf.lookup(known)].loops.lookup(known));
  std::optional<OuterLoops> loops = loop && *loop < other.getNumParallel() ? follow(unit, other, *loop) : std::nullopt;
  if (!loops || !mayBeStage(unit, *loops) ||
      other.getExtents()[*loop] != known.getExtents()[units[unitOf.lookup(known)].loops.lookup(known)])
    return false;
  // What else passes between the unit and the members stays at the same points as well.
  for (const Edge &each : edges) {
    bool from = unitOf.lookup(each.producer) == number && isMember(each.consumer);
    bool to = unitOf.lookup(each.consumer) == number && isMember(each.producer);
    if (!from && !to)
      continue;
    ComputeOp inside = from ? each.producer : each.consumer, outside = from ? each.consumer : each.producer;
    if (getLoopAcross(each, inside, loops->lookup(inside)) != units[unitOf.lookup(outside)].loops.lookup(outside))
      return false;
  }
  SmallVector<Operation *> ops;
  for (unsigned member : members)
    llvm::append_range(ops, units[member].ops);
  if (paths->hasDetour(ops, units[seed].op, unit.op) || paths->hasDetour(unit.ops, unit.op, units[seed].op))
    return false;
  paths->unite(units[seed].op, unit.op);
  unit.loops = std::move(*loops);
  members.push_back(number);
  return true;
}

/// Fewer points than this leave workers idle: their reductions are split instead.
static constexpr int64_t fewestPoints = 32;

/// Collects what shares the outer loop of a unit that reduces the points of a single one, such as a normalization of
/// channels.
SmallVector<unsigned> FuseOuterLoops::grow(unsigned seed) {
  Unit &unit = units[seed];
  auto reduction = llvm::find_if(unit.computes, [](ComputeOp compute) { return compute.getNumReductions() > 0; });
  if (reduction == unit.computes.end() || getContractionDims(*reduction) || reduction->getNumParallel() != 1)
    return {};
  std::optional<OuterLoops> loops = follow(unit, *reduction, 0);
  if (!loops || !mayBeStage(unit, *loops) ||
      reduction->getExtents()[0].asConstant().value_or(fewestPoints) < fewestPoints)
    return {};
  unit.loops = std::move(*loops);
  SmallVector<unsigned> members = {seed};
  for (bool changed = true; changed;) {
    changed = false;
    for (const Edge &edge : edges)
      changed |= join(seed, members, edge);
  }
  if (members.size() == 1)
    unit.loops.clear();
  llvm::sort(members);
  return members;
}

/// The computes of units that become one group, marked with their stages, and the reshapes between them.
SmallVector<Operation *> FuseOuterLoops::dissolve(ArrayRef<unsigned> members) {
  SmallVector<ComputeOp> computes;
  for (auto [number, member] : llvm::enumerate(members)) {
    Unit &unit = units[member];
    for (ComputeOp compute : unit.computes) {
      compute->setAttr(StageAttr::getAttributeName(),
                       StageAttr::get(&getContext(), number, unit.loops.lookup(compute)));
      computes.push_back(compute);
    }
    auto group = dyn_cast<GroupOp>(unit.op);
    if (!group)
      continue;
    for (ComputeOp compute : unit.computes)
      compute->moveBefore(group);
    group.replaceAllUsesWith(group.getBody()->getTerminator()->getOperands());
    group.erase();
  }
  OpBuilder builder(&getContext());
  SmallVector<Operation *> all;
  for (ComputeOp compute : computes) {
    builder.setInsertionPoint(compute);
    for (OpOperand &operand : compute->getOpOperands()) {
      Value source = getReshapeSource(operand.get());
      if (source == operand.get() || !llvm::is_contained(computes, source.getDefiningOp<ComputeOp>()))
        continue;
      auto same = llvm::find_if(all, [&](Operation *other) {
        return isa<graph::ReshapeOp>(other) && other->getOperand(0) == source &&
               other->getResult(0).getType() == operand.get().getType();
      });
      if (same == all.end()) {
        Value reshaped = reshapeTo(builder, compute.getLoc(), source, graph::getShape(operand.get()));
        same = all.insert(all.end(), reshaped.getDefiningOp());
      }
      operand.set((*same)->getResult(0));
    }
    all.push_back(compute);
  }
  return all;
}

void FuseOuterLoops::runOnOperation() {
  if (!enable)
    return;
  FailureOr<DeviceDescription> device = DeviceDescription::getFor(getOperation(), target);
  if (failed(device))
    return signalPassFailure();
  leastBytes = device->getL2Bytes();
  sizes = TypicalSizes(getOperation());
  Block &block = getOperation().getBody().front();
  paths.emplace(block, SizeOrder(block));
  findUnits();
  findEdges();
  SmallVector<SmallVector<unsigned>> shared;
  for (unsigned seed = 0; seed < units.size(); ++seed)
    if (units[seed].loops.empty())
      if (SmallVector<unsigned> members = grow(seed); members.size() > 1)
        shared.push_back(std::move(members));
  if (shared.empty())
    return;
  SmallVector<SmallVector<Operation *>> groups;
  for (ArrayRef<unsigned> members : shared) {
    groups.push_back(dissolve(members));
    count(getOperation(), "outer_loops", members.size() - 1);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<graph::ReshapeOp>(op) && op.use_empty())
      op.erase();
  SizeOrder order(block);
  for (SmallVector<Operation *> &members : groups)
    makeGroup(std::move(members));
  if (!order.sort(block))
    return signalPassFailure();
}
