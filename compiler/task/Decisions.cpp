#include "compiler/task/Decisions.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

Decisions::Decisions(ProgramOp program, int64_t run) : run(run) {
  program.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto loop = dyn_cast<LoopOp>(op);
    std::optional<sym::ExprAttr> trips = loop ? loop.getTrips() : std::nullopt;
    if (isa<BranchOp>(op) || (loop && (loop.getCondition() || !trips || !trips->getExpr().asConstant())))
      deciders.try_emplace(op, deciders.size());
  });
}

int64_t Decisions::getKey(Operation *op, ArrayRef<int64_t> trips) const {
  // More than the iterations that are looked at. Odd, as the number of deciders, so that decisions that alternate also do
  // from iteration to iteration of any loop.
  constexpr int64_t base = 5;
  int64_t iteration = 0;
  for (auto loop = op->getParentOfType<LoopOp>(); loop; loop = loop->getParentOfType<LoopOp>())
    iteration = iteration * base + trips[loop.getNumber()];
  return 2 * (deciders.lookup(op) + iteration * static_cast<int64_t>(deciders.size() | 1));
}

bool Decisions::take(int64_t key) const {
  if (auto found = given.find(key); found != given.end())
    return found->second;
  bool isEnd = key % 2 != 0;
  if (run < 2 || (run < 4 && isEnd))
    return isEnd ? run % 2 != 0 : (key / 2 + run) % 2 == 0;
  uint64_t mixed = (static_cast<uint64_t>(key) * 0x9e3779b97f4a7c15 ^ run) * 0xbf58476d1ce4e5b9;
  return run < 4 ? run == 2 : mixed >> 63;
}

namespace freestone::task {

/// Runs that together have every two outcomes of decisions that one run may have.
class PairCover {
public:
  explicit PairCover(ProgramOp program) : program(program), decisions(program) {
    int64_t loops = 0;
    program.walk([&](LoopOp loop) { loops = std::max<int64_t>(loops, loop.getNumber() + 1); });
    trips.assign(loops, 0);
    collect(program.getBody().front());
    covered.assign(outcomes.size(), llvm::BitVector(outcomes.size()));
  }

  std::vector<Decisions> make();

private:
  /// With the decisions that lead to it.
  using Outcome = SmallVector<std::pair<int64_t, bool>, 4>;

  void collect(Block &block);
  void collect(LoopOp loop);
  void decide(int64_t key, llvm::function_ref<void(bool)> within);
  void add(Decisions run);

  ProgramOp program;
  Decisions decisions;
  SmallVector<int64_t> trips;
  Outcome path;
  std::vector<Outcome> outcomes;
  std::vector<llvm::BitVector> covered;
  std::vector<Decisions> runs;
};

} // namespace freestone::task

void PairCover::decide(int64_t key, llvm::function_ref<void(bool)> within) {
  for (bool taken : {true, false}) {
    path.push_back({key, taken});
    outcomes.push_back(path);
    within(taken);
    path.pop_back();
  }
}

void PairCover::collect(Block &block) {
  for (Operation &op : block) {
    if (auto loop = dyn_cast<LoopOp>(op))
      collect(loop);
    else if (auto branch = dyn_cast<BranchOp>(op))
      decide(decisions.getKey(branch, trips),
             [&](bool taken) { collect((taken ? branch.getThenBody() : branch.getElseBody()).front()); });
  }
}

void PairCover::collect(LoopOp loop) {
  std::optional<int64_t> known = loop.getTrips() ? loop.getTrips()->getExpr().asConstant() : std::nullopt;
  int64_t most = known ? Decisions::countIterations(*known) : Decisions::unknownTrips;
  auto iterate = [&](int64_t count) {
    for (int64_t &trip = trips[loop.getNumber()] = 0; trip < count; ++trip)
      collect(loop.getBody().front());
  };
  if (!decisions.isDecided(loop))
    return iterate(most);
  int64_t key = decisions.getKey(loop, trips);
  decide(key, [&](bool begins) {
    if (begins)
      decide(key + 1, [&](bool endsEarly) { iterate(std::max<int64_t>(0, most - endsEarly)); });
  });
}

void PairCover::add(Decisions run) {
  llvm::BitVector reached(outcomes.size());
  for (auto [number, outcome] : llvm::enumerate(outcomes))
    if (llvm::all_of(outcome, [&](auto decision) { return run.take(decision.first) == decision.second; }))
      reached.set(number);
  for (unsigned number : reached.set_bits())
    covered[number] |= reached;
  runs.push_back(std::move(run));
}

std::vector<Decisions> PairCover::make() {
  for (int64_t run = 0; run < (outcomes.empty() ? 1 : 4); ++run)
    add(Decisions(program, run));
  for (size_t one = 0; one < outcomes.size(); ++one)
    for (size_t other = 0; other <= one; ++other) {
      if (covered[one].test(other))
        continue;
      Decisions run(program, runs.size());
      bool isPossible = true;
      for (const Outcome *outcome : {&outcomes[one], &outcomes[other]})
        for (auto [key, taken] : *outcome)
          isPossible &= run.given.try_emplace(key, taken).first->second == taken;
      if (isPossible)
        add(std::move(run));
    }
  return std::move(runs);
}

std::vector<Decisions> Decisions::cover(ProgramOp program) { return PairCover(program).make(); }
