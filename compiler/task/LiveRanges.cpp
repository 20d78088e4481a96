#include "compiler/task/LiveRanges.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

LiveRanges::LiveRanges(ProgramOp program)
    : numPhases(program.getPhases().size()),
      known(program, [](SpaceOp one, SpaceOp other) { return one.isDealtAs(other); }), noted(numPhases),
      knownFrom(numPhases, numPhases) {
  collect(program.getBody().front());
}

void LiveRanges::touch(Value operand) {
  BufferOp buffer = findBuffer(operand);
  touchedBy[buffer].touch(known.getNext());
  for (auto view = operand.getDefiningOp<ViewOp>(); view; view = view.getSource().getDefiningOp<ViewOp>())
    if (std::optional<int64_t> loop = view.getLoop())
      loopsOf[buffer].insert(*loop);
}

/// Notes what has become known, and what is known no more.
void LiveRanges::note() {
  for (int64_t phase = 0; phase < numPhases; ++phase)
    if (known.isKnown(phase) != noted.test(phase))
      knownFrom[phase] = known.isKnown(phase) ? known.getNext() : numPhases;
  noted = known.get().here;
}

void LiveRanges::await(ArrayRef<int64_t> phases) {
  for (int64_t phase : phases)
    known.awaitAll(phase);
  note();
}

void LiveRanges::collect(PhaseOp phase) {
  known.await(phase);
  note();
  for (SpaceOp space : phase.getSpaces())
    llvm::for_each(space->getOperands(), [&](Value operand) { touch(operand); });
  known.enter(phase);
}

void LiveRanges::collect(LoopOp loop) {
  await(loop.getAwaited());
  int64_t first = known.getNext();
  Block &body = loop.getBody().front();
  known.passLoop(loop, [&] { known.pass(body, [](PhaseOp) {}); }, [&] { collect(body); });
  note();
  llvm::BitVector open(numPhases);
  open.set(first, known.getNext());
  open.reset(known.getBeforeBody(loop));
  ranges.push_back({first, known.getNext(), static_cast<int64_t>(loop.getNumber()), std::move(open)});
  if (Value condition = loop.getCondition())
    conditions.insert(findBuffer(condition));
}

void LiveRanges::collect(Block &block) {
  for (Operation &op : block) {
    if (auto phase = dyn_cast<PhaseOp>(op)) {
      collect(phase);
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      collect(loop);
    } else if (auto branch = dyn_cast<BranchOp>(op)) {
      await(branch.getAllAfter());
      KnownPhases::Known before = known.get();
      for (Region *region : {&branch.getThenBody(), &branch.getElseBody()}) {
        collect(region->front());
        known.forget(before);
        note();
      }
      conditions.insert(findBuffer(branch.getCondition()));
    }
  }
}

std::optional<std::pair<int64_t, int64_t>> LiveRanges::get(BufferOp buffer) const {
  auto found = touchedBy.find(buffer);
  if (found == touchedBy.end())
    return std::nullopt;
  Touched touched = found->second;
  if (conditions.contains(buffer))
    touched.last = numPhases - 1;
  auto loops = loopsOf.lookup(buffer);
  // Inner ranges come first.
  for (const Range &range : ranges) {
    // What another iteration reads, or what is around the loop, lives as long as the loop; so does what an iteration may
    // still touch when the next one begins.
    bool isOpen = llvm::any_of(touched.phases, [&](int64_t phase) { return range.open.test(phase); });
    if (!range.meets(touched) || (range.contains(touched) && !loops.contains(range.loop) && !isOpen))
      continue;
    touched.first = std::min(touched.first, range.first);
    touched.last = std::max(touched.last, range.end - 1);
  }
  int64_t freed = touched.last + 1;
  for (int64_t phase : touched.phases)
    freed = std::max(freed, knownFrom[phase]);
  return std::pair(touched.first, freed);
}
