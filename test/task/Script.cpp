#include "test/task/Script.h"

#include "compiler/dialect/tile/TileDialect.h"
#include "llvm/ADT/DenseMap.h"
#include <numeric>

using namespace mlir;
using namespace freestone;
using namespace freestone::task;
using namespace freestone::test;

namespace {

class Writer {
public:
  Writer(const AwaitedWorkers &awaited, bool claims, llvm::function_ref<Place(BufferOp)> placeOf,
         Dealing::Valuation valueOf, llvm::function_ref<bool(Operation *)> decide)
      : awaited(awaited), claims(claims), placeOf(placeOf), valueOf(valueOf), decide(decide) {}

  std::vector<Move> write(ProgramOp program);

private:
  int64_t evaluate(sym::Expr expr) { return expr.evaluate(valueOf).value(); }
  void addBlock(Block &block);
  void addPhase(PhaseOp phase);
  void addLoop(LoopOp loop);
  void addBranch(BranchOp branch);
  void awaitAll(Move &move, ArrayRef<int64_t> phases, int64_t from);
  Place resolve(Value value);
  std::vector<Operand> getOperands(OperandRange values, ArrayAttr accesses);

  const AwaitedWorkers &awaited;
  bool claims;
  llvm::function_ref<Place(BufferOp)> placeOf;
  Dealing::Valuation valueOf;
  llvm::function_ref<bool(Operation *)> decide;
  std::vector<Move> moves;
  DenseMap<Operation *, int64_t> numbers;
  /// Iterations of loops, and turns taken, by their numbers.
  DenseMap<int64_t, int64_t> trips;
  /// The number behind which those of the current iterations are counted; where the innermost loop's one began.
  int64_t base = 0, begin = 0;
};

} // namespace

std::vector<Move> Writer::write(ProgramOp program) {
  for (auto [number, phase] : llvm::enumerate(program.getPhases()))
    numbers[phase] = number;
  addBlock(program.getBody().front());
  return std::move(moves);
}

void Writer::addBlock(Block &block) {
  for (Operation &op : block) {
    if (auto phase = dyn_cast<PhaseOp>(op))
      addPhase(phase);
    else if (auto loop = dyn_cast<LoopOp>(op))
      addLoop(loop);
    else if (auto branch = dyn_cast<BranchOp>(op))
      addBranch(branch);
    else if (auto turn = dyn_cast<TurnOp>(op))
      ++trips[turn.getNumber()];
  }
}

void Writer::awaitAll(Move &move, ArrayRef<int64_t> phases, int64_t from) {
  for (int64_t phase : phases)
    move.waits.push_back({Wait::all, from + phase + 1, phase});
}

Place Writer::resolve(Value value) {
  if (auto buffer = value.getDefiningOp<BufferOp>())
    return placeOf(buffer);
  auto view = value.getDefiningOp<ViewOp>();
  std::optional<int64_t> followed = view.getFollowed();
  int64_t slice = view.getSlice(followed ? trips.lookup(*followed) : 0);
  return {resolve(view.getSource()).data + slice * evaluate(view.getStep().getExpr()) / 4,
          evaluate(view.getBytes()) / 4};
}

std::vector<Operand> Writer::getOperands(OperandRange values, ArrayAttr accesses) {
  std::vector<Operand> operands;
  for (auto [value, access] : llvm::zip_equal(values, accesses)) {
    operands.push_back({resolve(value)});
    if (auto chunk = dyn_cast<sym::ExprAttr>(access))
      operands.back().chunk = evaluate(chunk.getExpr());
    if (auto block = dyn_cast<tile::SharedBlockAttr>(access)) {
      operands.back().chunk = evaluate(block.getElements());
      operands.back().sharing = evaluate(block.getTiles());
    }
  }
  return operands;
}

void Writer::addPhase(PhaseOp phase) {
  Move move;
  move.phase = numbers.lookup(phase);
  move.isClaimed = claims && phase.getClaimed();
  awaitAll(move, phase.getAllAfter(), base);
  for (int64_t before : phase.getAwaitedTiles())
    move.waits.push_back({Wait::tiles, base + before + 1, before});
  ArrayRef<int64_t> windows = phase.getAwaitedWindows();
  if (awaited.getWide().test(move.phase))
    awaitAll(move, *llvm::max_element(windows), base);
  else
    for (int64_t before : windows)
      move.waits.push_back({Wait::window, base + before + 1, before});
  auto loop = phase->getParentOfType<LoopOp>();
  if (loop && trips.lookup(loop.getNumber()) > 0) {
    int64_t last = begin - static_cast<int64_t>(loop.getPhases().size());
    awaitAll(move, phase.getAwaitedAgain(), last);
    for (int64_t before : phase.getWindowsAgain())
      move.waits.push_back({Wait::window, last + before + 1, ~before});
  }
  for (SpaceOp space : phase.getSpaces()) {
    int64_t tiles = evaluate(space.getTiles().getExpr());
    std::vector<int64_t> left(move.isClaimed ? tiles : 0);
    std::iota(left.begin(), left.end(), 0);
    move.spaces.push_back({space, tiles, getOperands(space.getInputs(), space.getReads()),
                           getOperands(space.getOutputs(), space.getWrites()), std::move(left)});
  }
  move.published = base + move.phase + 1;
  moves.push_back(std::move(move));
}

/// The last iteration counts as the only one, and none as one.
void Writer::addLoop(LoopOp loop) {
  SmallVector<PhaseOp, 8> phases = loop.getPhases();
  int64_t count = phases.size(), around = begin;
  std::optional<sym::ExprAttr> most = loop.getTrips();
  moves.emplace_back();
  awaitAll(moves.back(), loop.getAwaited(), base);
  begin = base;
  for (int64_t done = 0;; ++done) {
    trips[loop.getNumber()] = done;
    Move test;
    if (done > 0)
      awaitAll(test, loop.getAwaitedAgain(), begin - count);
    bool goesOn = !most || done < evaluate(most->getExpr());
    if (Value condition = loop.getCondition(); condition && goesOn) {
      test.condition = resolve(condition).data;
      goesOn = decide(loop);
    }
    if (!goesOn && done == 0 && count > 0)
      test.published = base + numbers.lookup(phases.back()) + 1;
    moves.push_back(std::move(test));
    if (!goesOn) {
      base -= done > 0 ? count : 0;
      break;
    }
    addBlock(loop.getBody().front());
    base += count;
    begin = base;
  }
  begin = around;
}

void Writer::addBranch(BranchOp branch) {
  Move fork;
  awaitAll(fork, branch.getAllAfter(), base);
  fork.condition = resolve(branch.getCondition()).data;
  moves.push_back(std::move(fork));
  addBlock(decide(branch) ? branch.getThenBody().front() : branch.getElseBody().front());
  if (SmallVector<PhaseOp, 8> phases = branch.getPhases(); !phases.empty())
    moves.emplace_back().published = base + numbers.lookup(phases.back()) + 1;
}

std::vector<Move> test::makeScript(ProgramOp program, const AwaitedWorkers &awaited, bool claims,
                                   llvm::function_ref<Place(BufferOp)> placeOf, Dealing::Valuation valueOf,
                                   llvm::function_ref<bool(Operation *)> decide) {
  return Writer(awaited, claims, placeOf, valueOf, decide).write(program);
}
