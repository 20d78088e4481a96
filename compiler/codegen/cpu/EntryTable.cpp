#include "compiler/codegen/cpu/EntryTable.h"

#include "runtime/artifact/abi.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using namespace freestone::task;

EntryTable::EntryTable(ProgramOp program, const SizeSlots &slots)
    : program(program), slots(slots), views(program.getViews()) {
  for (BufferOp buffer : program.getBuffers())
    bufferIndex[buffer.getBuffer()] = numBuffers++;
  for (auto [index, view] : llvm::enumerate(views))
    bufferIndex[view.getView()] = numBuffers + index;
  SmallVector<PhaseOp, 8> phases = program.getPhases();
  findAwaited();
  // The last phases that touch a state, for whoever watches the run.
  llvm::DenseMap<Operation *, int64_t> lastUses;
  for (auto [number, phase] : llvm::enumerate(phases))
    for (SpaceOp space : PhaseOp(phase).getSpaces())
      for (Value operand : space->getOperands())
        if (BufferOp buffer = findBuffer(operand); buffer.getKind() == BufferKind::state)
          lastUses[buffer] = number;
  for (auto [buffer, phase] : lastUses)
    awaitedPhases.set(phase);
  if (!phases.empty())
    awaitedPhases.set(phases.size() - 1);
  for (int64_t phase : publishedBehind)
    awaitedPhases.reset(phase);
  for (ViewOp view : views)
    if (!view.getLoop())
      addView(view, fixedViews);
  program.walk([&](LoopOp loop) {
    int64_t around = 1;
    for (auto outer = loop->getParentOfType<LoopOp>(); outer; outer = outer->getParentOfType<LoopOp>())
      ++around;
    depth = std::max(depth, around);
  });
  addBlock(program.getBody().front(), 0);
}

void EntryTable::awaitAll(ArrayRef<int64_t> phases) {
  for (int64_t phase : phases)
    awaitedPhases.set(phase);
}

/// Whether workers wait for each other in its iterations, or between them.
static bool hasWaits(LoopOp loop) {
  WalkResult found = loop.walk([&](Operation *op) {
    bool waits = false;
    if (auto phase = dyn_cast<PhaseOp>(op))
      waits = !phase.getAllAfter().empty() || !phase.getAwaitedTiles().empty() || !phase.getAwaitedWindows().empty() ||
              !phase.getAwaitedAgain().empty() || !phase.getWindowsAgain().empty();
    else if (auto branch = dyn_cast<BranchOp>(op))
      waits = !branch.getAllAfter().empty();
    else if (auto inner = dyn_cast<LoopOp>(op))
      waits = !inner.getAwaitedAgain().empty() || (inner != loop && !inner.getAwaited().empty());
    return waits ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// A number without waiters need not be published: the next one implies it. Numbers that come with further iterations
/// may lie between others: that of the last phase of each is published, but behind the loop where nobody waits within.
void EntryTable::findAwaited() {
  llvm::DenseMap<Operation *, int64_t> numbers;
  for (PhaseOp phase : program.getPhases())
    numbers.try_emplace(phase, numbers.size());
  awaitedPhases.resize(numbers.size());
  program.walk([&](Operation *op) {
    if (auto phase = dyn_cast<PhaseOp>(op)) {
      awaitAll(phase.getAllAfter());
      awaitAll(phase.getAwaitedTiles());
      awaitAll(phase.getAwaitedWindows());
      awaitAll(phase.getAwaitedAgain());
      awaitAll(phase.getWindowsAgain());
    } else if (auto branch = dyn_cast<BranchOp>(op)) {
      awaitAll(branch.getAllAfter());
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      awaitAll(loop.getAwaited());
      awaitAll(loop.getAwaitedAgain());
      if (SmallVector<PhaseOp, 8> phases = loop.getPhases(); !phases.empty()) {
        int64_t last = numbers.lookup(phases.back());
        if (hasWaits(loop))
          awaitAll(last);
        else
          publishedBehind.push_back(last);
      }
    }
  });
}

void EntryTable::addBlock(Block &block, int64_t loops) {
  for (Operation &op : block) {
    if (auto phase = dyn_cast<PhaseOp>(op))
      addPhase(phase, loops);
    else if (auto loop = dyn_cast<LoopOp>(op))
      addLoop(loop, loops);
    else if (auto branch = dyn_cast<BranchOp>(op))
      addBranch(branch, loops);
    else if (auto turn = dyn_cast<TurnOp>(op))
      addTurn(turn);
  }
}

void EntryTable::addView(ViewOp view, SmallVectorImpl<int64_t> &to) {
  int64_t row[viewColumns] = {};
  row[viewIndex] = bufferIndex.lookup(view.getView()) - numBuffers;
  row[viewSource] = bufferIndex.lookup(view.getSource());
  row[viewStep] = slots.of(view.getStep().getExpr());
  row[viewShift] = view.getShift();
  int64_t rotation = view.getRotate();
  row[viewMask] = rotation - 1; // all bits without a rotation
  llvm::append_range(to, row);
}

/// Returns the position of the row.
size_t EntryTable::addControl(Kind of, int64_t loops, ArrayRef<int64_t> awaits) {
  int64_t row[controlColumns] = {};
  row[kind] = of;
  row[loop] = loops;
  row[waits] = awaits.size();
  size_t position = words.size();
  llvm::append_range(words, row);
  llvm::append_range(words, getWaits(awaits, {}, {}));
  return position;
}

void EntryTable::addLoop(LoopOp op, int64_t loops) {
  size_t begin = addControl(enter, loops, op.getAwaited());
  int64_t numPhases = op.getPhases().size(), last = nextPhase + numPhases;
  words[begin + phases] = numPhases;
  size_t body = words.size();
  addBlock(op.getBody().front(), loops + 1);
  size_t end = addControl(test, loops);
  words[begin + target] = end;
  words[end + target] = body;
  for (int64_t phase : op.getAwaitedAgain())
    words[end + awaited] = std::max(words[end + awaited], phase + 1);
  words[end + phases] = numPhases;
  words[end + published] = last;
  if (std::optional<sym::ExprAttr> count = op.getTrips())
    words[end + trips] = slots.of(count->getExpr()) + 1;
  if (Value read = op.getCondition())
    words[end + condition] = bufferIndex.lookup(read) + 1;
  size_t count = addViews([&](ViewOp view) { return view.getLoop() == op.getNumber(); });
  words[end + viewCount] = count;
}

/// Returns their number.
size_t EntryTable::addViews(llvm::function_ref<bool(ViewOp)> areOf) {
  size_t count = 0;
  for (ViewOp view : views)
    if (areOf(view)) {
      addView(view, words);
      ++count;
    }
  return count;
}

void EntryTable::addTurn(TurnOp op) {
  int64_t number = op.getNumber(), index = turns.try_emplace(number, turns.size()).first->second;
  size_t begin = addControl(turn, depth + index);
  size_t count = addViews([&](ViewOp view) { return view.getTurn() == number; });
  words[begin + viewCount] = count;
}

void EntryTable::addBranch(BranchOp op, int64_t loops) {
  ++forks;
  size_t begin = addControl(fork, loops, op.getAllAfter());
  words[begin + condition] = bufferIndex.lookup(op.getCondition()) + 1;
  addBlock(op.getThenBody().front(), loops);
  size_t left = addControl(join, loops);
  words[begin + target] = words.size();
  addBlock(op.getElseBody().front(), loops);
  size_t right = addControl(join, loops);
  for (size_t end : {left, right}) {
    words[end + published] = nextPhase;
    words[end + target] = words.size();
  }
}

/// As `wait_for` of the run context takes them.
SmallVector<int64_t> EntryTable::getWaits(ArrayRef<int64_t> all, ArrayRef<int64_t> tiles, ArrayRef<int64_t> windows) {
  SmallVector<int64_t> waits(tiles);
  for (int64_t phase : windows)
    waits.push_back(phase + FREESTONE_WINDOW * ++numWindows);
  for (int64_t phase : all)
    waits.push_back(~phase);
  return waits;
}

/// Those for the iteration before come last.
SmallVector<int64_t> EntryTable::getWaits(PhaseOp phase) {
  SmallVector<int64_t> waits = getWaits(phase.getAllAfter(), phase.getAwaitedTiles(), phase.getAwaitedWindows());
  llvm::append_range(waits, getWaits({}, {}, phase.getWindowsAgain()));
  return waits;
}

void EntryTable::addPhase(PhaseOp phase, int64_t loops) {
  int64_t index = nextPhase++;
  SmallVector<SpaceOp, 8> spaces = phase.getSpaces();
  assert(!spaces.empty() && "a phase computes something");
  claims += phase.getClaimed();
  size_t first = words.size(), last = first;
  for (SpaceOp space : spaces) {
    last = words.size();
    addRow(space, last == first ? getWaits(phase) : SmallVector<int64_t>());
    words[last + phaseIndex] = index;
    words[last + isClaimed] = phase.getClaimed();
    words[last + alternates] = space.getAlternate() ? loops : 0;
  }
  for (int64_t before : phase.getAwaitedAgain())
    words[first + awaitedAgain] = std::max(words[first + awaitedAgain], before + 1);
  words[first + againCount] = phase.getWindowsAgain().size();
  if (words[first + awaitedAgain] || words[first + againCount]) {
    words[first + aroundLoop] = loops - 1;
    words[first + iteration] = phase->getParentOfType<LoopOp>().getPhases().size();
  }
  if (awaitedPhases[index])
    words[last + publishAs] = index + 1;
  for (auto [slot, symbol] : llvm::enumerate(program.getSymbols().getAsRange<SymbolAttr>())) {
    if (symbol.getName() != phase.getBinds())
      continue;
    words[last + bindsSlot] = slot + 1;
    words[last + bindsBuffer] = symbol.getTensor();
    words[last + bindsLower] = symbol.getLower();
  }
  if (words[first + waitCount] || words[first + awaitedAgain])
    words[first + kind] = meeting;
  if (words[last + publishAs] || words[last + bindsSlot])
    words[last + kind] = meeting;
}

void EntryTable::addRow(SpaceOp space, ArrayRef<int64_t> waits) {
  int64_t row[columns] = {};
  // The runtime takes the operands of services from the descriptor, which lists the calls in the order of the program.
  if (space.getService()) {
    row[kind] = meeting;
    row[callee] = ~serviceCalls++;
  } else {
    auto [known, isNew] = programIndex.try_emplace(space.getProgram(), programs.size());
    if (isNew)
      programs.push_back(space.getProgram());
    row[callee] = known->second;
  }
  row[tileCount] = slots.of(space.getTiles().getExpr());
  row[deal] = space.getDeal().value_or(0);
  row[waitCount] = waits.size();
  row[bufferCount] = space->getNumOperands();
  row[sizeCount] = space.getSizes().size();
  row[siteCount] = space.getSites().size();
  row[next] = columns + row[waitCount] + row[bufferCount] + row[sizeCount] + row[siteCount];
  llvm::append_range(words, row);
  llvm::append_range(words, waits);
  for (Value operand : space->getOperands())
    words.push_back(bufferIndex.lookup(operand));
  for (auto size : space.getSizes().getAsRange<sym::ExprAttr>())
    words.push_back(slots.of(size.getExpr()));
  llvm::append_range(words, space.getSites());
  mostBuffers = std::max(mostBuffers, row[bufferCount]);
  mostSizes = std::max(mostSizes, row[sizeCount] + row[siteCount]);
}
