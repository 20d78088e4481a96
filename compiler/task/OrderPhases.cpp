#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/sym/Substitute.h"
#include "compiler/task/AssumedSizes.h"
#include "compiler/task/IterationOrder.h"
#include "compiler/task/Passes.h"
#include "compiler/task/Releases.h"

#include "mlir/IR/Builders.h"
#include "runtime/sizes/Plane.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace freestone::task {
#define GEN_PASS_DEF_ORDERPHASES
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// An access to a buffer by a space.
struct SpaceTouch {
  int64_t phase;
  SpaceOp space;
  Value operand;
  /// Those of each tile.
  Attribute elements;
};

/// The spaces whose tiles are dealt alike, as disjoint sets.
class Deals {
public:
  /// Whether the tiles of both spaces can be dealt alike. A space that comes first, `other`, may not be bound to one
  /// that it does not depend on where each has a single tile: two workers could run them.
  bool join(SpaceOp space, SpaceOp other) {
    if (space.getTiles() != other.getTiles())
      return false;
    int64_t own = find(space), before = find(other);
    bool isFresh = sizes[own] == 1;
    if (own == before)
      return true;
    if (!isFresh && space.getTiles().getExpr().isConstant(1))
      return false;
    sizes[before] += sizes[own];
    parents[own] = before;
    return true;
  }
  bool areAlike(SpaceOp one, SpaceOp other) { return find(one) == find(other); }
  /// Numbers the deals in the order of the spaces.
  void number(ProgramOp program) {
    llvm::DenseMap<int64_t, int64_t> numbers;
    Builder builder(program.getContext());
    for (PhaseOp phase : program.getPhases())
      for (SpaceOp space : phase.getSpaces())
        space.setDealAttr(builder.getI64IntegerAttr(numbers.try_emplace(find(space), numbers.size()).first->second));
  }

  int64_t find(SpaceOp space) {
    auto [known, isNew] = indices.try_emplace(space, parents.size());
    if (isNew) {
      parents.push_back(parents.size());
      sizes.push_back(1);
    }
    int64_t root = known->second;
    while (parents[root] != root)
      root = parents[root] = parents[parents[root]];
    return root;
  }

private:
  llvm::DenseMap<Operation *, int64_t> indices;
  SmallVector<int64_t> parents, sizes;
};

/// A phase that is later than another by no more is not late, in nanoseconds.
constexpr double punctual = 1000;

/// The part of the arena's buffers for which phases are awaited that nothing else waits for.
constexpr double leastReleased = 0.001;

/// What symbols are where memory matters.
constexpr int64_t sizeOfRuns = 64;

/// Finds the edges of one program.
class Orderer {
public:
  Orderer(ProgramOp program, size_t workers, bool elide, bool overlap, bool awaitsReaders)
      : program(program), phases(program.getPhases()), elide(elide), overlap(overlap), awaitsReaders(awaitsReaders),
        known(program, [this](SpaceOp one, SpaceOp other) { return deals.areAlike(one, other); }), sizes(program, 1),
        releases(program, AssumedSizes(program, sizeOfRuns)), plane(workers) {
    for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>())
      if (symbol.getSource() == SymbolSource::runtime)
        runtimeSymbols.insert(StringAttr::get(program.getContext(), symbol.getName()));
    sym::addDefined(program.getDefinitionsAttr(), runtimeSymbols);
  }

  void order();
  int64_t waits = 0, elided = 0, awaitedReaders = 0;

private:
  /// By buffers; null: the sizes that are determined at run time.
  using Touches = DenseMap<Operation *, SmallVector<SpaceTouch>>;

  void order(Block &block);
  void order(PhaseOp phase);
  void order(LoopOp loop);
  void order(BranchOp branch);
  void visitTouches(int64_t index, PhaseOp phase, llvm::function_ref<void(const SpaceTouch &, bool isWrite)> visit);
  bool readsRuntimeSizes(SpaceOp space);
  bool staysOnWorker(SpaceOp later, Attribute touched, SpaceOp earlier, Attribute before);
  void wait(PhaseOp phase, llvm::SmallSetVector<int64_t, 8> needed);
  void awaitReaders(PhaseOp phase, int64_t latest, double begin, SmallVectorImpl<int64_t> &awaited);
  void lay(PhaseOp phase);
  static Touches getAdded(const Touches &all, const Touches &before);

  ProgramOp program;
  SmallVector<PhaseOp, 8> phases;
  bool elide, overlap, awaitsReaders;
  Deals deals;
  Touches reads, writes;
  llvm::SmallDenseSet<StringAttr> runtimeSymbols;
  KnownPhases known;
  /// Estimated times at small sizes, by phases: when its tiles are done. And where each deal has its tiles.
  AssumedSizes sizes;
  Releases releases;
  runtime::Plane plane;
  SmallVector<double> doneAt;
  DenseMap<int64_t, SmallVector<int64_t>> firsts;
};

void Orderer::order() {
  order(program.getBody().front());
  deals.number(program);
}

/// Whether tile t of both accesses to one operand touches the same elements, and belongs to one worker. A single tile
/// may touch any elements.
bool Orderer::staysOnWorker(SpaceOp later, Attribute touched, SpaceOp earlier, Attribute before) {
  bool isOnly = earlier.getTiles().getExpr().isConstant(1);
  return elide && (areAligned(touched, before) || isOnly) && deals.join(later, earlier);
}

bool Orderer::readsRuntimeSizes(SpaceOp space) {
  if (runtimeSymbols.empty())
    return false;
  llvm::SetVector<StringAttr> symbols;
  for (auto size : space.getSizes().getAsRange<sym::ExprAttr>())
    size.getExpr().collectSymbols(symbols);
  space.getTiles().getExpr().collectSymbols(symbols);
  return llvm::any_of(symbols, [&](StringAttr symbol) { return runtimeSymbols.contains(symbol); });
}

void Orderer::visitTouches(int64_t index, PhaseOp phase,
                           llvm::function_ref<void(const SpaceTouch &, bool isWrite)> visit) {
  Attribute any = UnitAttr::get(program.getContext());
  for (SpaceOp space : phase.getSpaces()) {
    for (auto [operands, accesses, isWrite] : {std::tuple(space.getInputs(), space.getReads(), false),
                                               std::tuple(space.getOutputs(), space.getWrites(), true)})
      for (auto [operand, elements] : llvm::zip_equal(operands, accesses))
        visit({index, space, operand, elements}, isWrite);
    if (phase.getBinds())
      visit({index, space, Value(), any}, /*isWrite=*/true);
    else if (readsRuntimeSizes(space))
      visit({index, space, Value(), any}, /*isWrite=*/false);
  }
}

/// Writes the waits for phases that must be done, if they are not known to be. Waiting for all workers tells that all
/// earlier phases are done too; but where one of these may take longer, only the workers with tiles are awaited.
void Orderer::wait(PhaseOp phase, llvm::SmallSetVector<int64_t, 8> needed) {
  needed.remove_if([&](int64_t before) { return known.isKnown(before); });
  if (needed.empty())
    return;
  ++waits;
  SmallVector<int64_t> latestFirst = needed.takeVector();
  llvm::sort(latestFirst, std::greater<>());
  int64_t latest = latestFirst.front();
  double begin = 0;
  for (int64_t before : latestFirst)
    begin = std::max(begin, doneAt[before]);
  plane.await(begin);
  bool isLate = llvm::any_of(
      llvm::seq(latest), [&](int64_t before) { return !known.isKnown(before) && doneAt[before] > begin + punctual; });
  if (!isLate) {
    known.awaitAll(latest);
    return phase.setAllAfter(latest);
  }
  SmallVector<int64_t> awaited;
  for (int64_t before : latestFirst) {
    if (known.isKnown(before))
      continue;
    awaited.push_back(before);
    known.awaitTiles(phase, before);
  }
  awaitReaders(phase, latest, begin, awaited);
  llvm::sort(awaited);
  phase.setTilesAfter(awaited);
}

/// Where nothing waits for the readers of much memory, such as gradients of weights beside a chain of other gradients,
/// the memory stays taken: those that are done by then are awaited as well, if no later phase touches it.
void Orderer::awaitReaders(PhaseOp phase, int64_t latest, double begin, SmallVectorImpl<int64_t> &awaited) {
  if (!awaitsReaders || !isa<ProgramOp>(phase->getParentOp()))
    return;
  for (int64_t before = 0; before < latest; ++before)
    if (!known.isKnown(before) && doneAt[before] <= begin + punctual &&
        releases.getPart(before, known.getNext()) >= leastReleased) {
      awaited.push_back(before);
      known.awaitTiles(phase, before);
      ++awaitedReaders;
    }
}

/// Lays the phase on the plane as the runtime will.
void Orderer::lay(PhaseOp phase) {
  double done = 0;
  for (SpaceOp space : phase.getSpaces()) {
    int64_t tiles = std::max<int64_t>(0, sizes.evaluate(space.getTiles().getExpr()));
    double time = tiles ? double(sizes.evaluate(space.getTime().getExpr())) / double(tiles) : 0;
    SmallVector<int64_t> &dealt = firsts[deals.find(space)];
    bool isNew = dealt.empty();
    dealt.resize(plane.workers() + 1);
    done = std::max(done, isNew ? plane.lay(tiles, time, 0, dealt) : plane.layAgain(time, dealt));
  }
  doneAt.push_back(done);
}

void Orderer::order(PhaseOp phase) {
  int64_t index = known.getNext();
  llvm::SmallSetVector<int64_t, 8> all, same;
  auto comeAfter = [&](ArrayRef<SpaceTouch> touches, const SpaceTouch &touch) {
    for (const SpaceTouch &before : touches) {
      // Sizes are no operand; of those, one touch is a write here.
      if (touch.operand && !OperandTouch{touch.space, touch.operand, touch.elements, /*isWrite=*/true}.conflictsWith(
                               {before.space, before.operand, before.elements, /*isWrite=*/true}))
        continue;
      bool stays = touch.operand && touch.operand == before.operand &&
                   staysOnWorker(touch.space, touch.elements, before.space, before.elements);
      (stays ? same : all).insert(before.phase);
    }
  };
  visitTouches(index, phase, [&](const SpaceTouch &touch, bool isWrite) {
    Operation *buffer = touch.operand ? findBuffer(touch.operand).getOperation() : nullptr;
    comeAfter(writes.lookup(buffer), touch);
    if (isWrite)
      comeAfter(reads.lookup(buffer), touch);
  });
  // Whoever binds a size also deals the tiles of all later phases.
  if (auto bindings = writes.find(nullptr); bindings != writes.end())
    for (const SpaceTouch &binding : bindings->second)
      all.insert(binding.phase);
  visitTouches(index, phase, [&](const SpaceTouch &touch, bool isWrite) {
    Operation *buffer = touch.operand ? findBuffer(touch.operand).getOperation() : nullptr;
    (isWrite ? writes : reads)[buffer].push_back(touch);
  });

  OpBuilder builder(phase);
  elided += same.size();
  wait(phase, std::move(all));
  phase.setSameAfterAttr(builder.getDenseI64ArrayAttr(same.takeVector()));
  known.enter(phase);
  lay(phase);
}

/// Before the first iteration, all that comes before the loop is done.
void Orderer::order(LoopOp loop) {
  SmallVector<PhaseOp, 8> within = loop.getPhases();
  int64_t first = known.getNext(), last = first - 1;
  while (last >= 0 && (known.isKnown(last) || (!within.empty() && within.front().isAlternativeTo(phases[last]))))
    --last;
  if (last >= 0 && !within.empty()) {
    ++waits;
    known.awaitAll(last);
    loop.setAllAfter(last);
  }
  IterationOrder iterations(loop, first, [this](const OperandTouch &later, const OperandTouch &earlier) {
    return staysOnWorker(later.space, later.elements, earlier.space, earlier.elements);
  });
  bool mayOverlap = overlap && IterationOrder::mayOverlap(loop);
  auto orderWithin = [&] {
    order(loop.getBody().front());
    if (mayOverlap)
      iterations.awaitConditions();
    else
      iterations.meet();
  };
  auto orderAgain = [&] {
    if (mayOverlap)
      iterations.order(known);
    else
      known.pass(loop.getBody().front(), [](PhaseOp) {});
  };
  plane.meet();
  known.passLoop(loop, orderWithin, orderAgain);
  plane.meet();
  waits += !loop.getAwaitedAgain().empty() + llvm::count_if(within, [&](PhaseOp phase) {
    return mayOverlap && phase->getParentOfType<LoopOp>() == loop && !phase.getAwaitedAgain().empty();
  });
}

/// The touches since `before`.
Orderer::Touches Orderer::getAdded(const Touches &all, const Touches &before) {
  Touches added;
  for (const auto &[buffer, touches] : all) {
    auto found = before.find(buffer);
    size_t count = found == before.end() ? 0 : found->second.size();
    if (touches.size() > count)
      added[buffer].append(touches.begin() + count, touches.end());
  }
  return added;
}

/// What one side did is no wait of the other, and no wait behind the branch.
void Orderer::order(BranchOp branch) {
  llvm::SmallSetVector<int64_t, 8> all;
  for (Operation *buffer : {findBuffer(branch.getCondition()).getOperation(), static_cast<Operation *>(nullptr)})
    if (auto found = writes.find(buffer); found != writes.end())
      for (const SpaceTouch &touch : found->second)
        all.insert(touch.phase);
  int64_t latest = all.empty() ? -1 : *llvm::max_element(all);
  if (latest >= 0 && !known.isKnown(latest)) {
    ++waits;
    known.awaitAll(latest);
    branch.setAllAfter(latest);
  }
  plane.meet();
  KnownPhases::Known knownBefore = known.get();
  Touches readsBefore = reads, writesBefore = writes;
  order(branch.getThenBody().front());
  // What follows comes after the touches of either side.
  Touches readsThen = getAdded(reads, readsBefore), writesThen = getAdded(writes, writesBefore);
  reads = std::move(readsBefore);
  writes = std::move(writesBefore);
  known.forget(knownBefore);
  order(branch.getElseBody().front());
  known.forget(std::move(knownBefore));
  for (auto [all, added] : {std::pair(&reads, &readsThen), std::pair(&writes, &writesThen)})
    for (auto &[buffer, touches] : *added)
      llvm::append_range((*all)[buffer], touches);
}

void Orderer::order(Block &block) {
  for (Operation &op : block)
    llvm::TypeSwitch<Operation *>(&op).Case<PhaseOp, LoopOp, BranchOp>([&](auto inner) { order(inner); });
}

class OrderPhases : public task::impl::OrderPhasesBase<OrderPhases> {
public:
  using OrderPhasesBase::OrderPhasesBase;

  void runOnOperation() override {
    FailureOr<DeviceDescription> device = DeviceDescription::getFor(getOperation(), target);
    if (failed(device))
      return signalPassFailure();
    Orderer orderer(getOperation(), std::max(2u, device->units), elide, overlap, awaitReaders);
    orderer.order();
    if (orderer.awaitedReaders)
      getOperation()->setAttr("task.awaited_readers", Builder(&getContext()).getI64IntegerAttr(orderer.awaitedReaders));
    waits += orderer.waits;
    elided += orderer.elided;
  }
};

} // namespace
