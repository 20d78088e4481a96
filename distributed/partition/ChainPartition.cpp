#include "distributed/partition/ChainPartition.h"

#include "distributed/partition/NothingFits.h"
#include "distributed/partition/StageValues.h"
#include <algorithm>
#include <fmt/format.h>

namespace freestone::distributed {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// The best way to cut the first nodes into some stages.
struct Choice {
  double slowest = infinite;
  double tie = 0; ///< less is better
  int begin = 0;  ///< of the last stage

  bool isBetterThan(const Choice &other) const {
    return slowest != other.slowest ? slowest < other.slowest : tie < other.tie;
  }
};

class ChainSolver {
public:
  ChainSolver(const Profile &profile, const ChainOptions &options)
      : options(options), count(static_cast<int>(profile.nodes.size())), values(profile) {
    auto hasWork = [](const ProfileNode &node) { return node.time() > 0; };
    if (auto working = std::ranges::count_if(profile.nodes, hasWork); working < options.stages)
      throw Error(fmt::format("the model's forward pass has {} operations with work, too few for {} stages: choose "
                              "fewer --ranks",
                              working, options.stages));
    for (const ProfileNode &node : profile.nodes)
      before.push_back(before.back() + node.time());
  }

  /// The time of a stage; `infinite` where it has no work, or too little memory.
  double timeOf(int stage, int begin, int end) const {
    double time = before[end] - before[begin];
    if (time <= 0 || (options.memory < infinite && memoryOf(stage, begin, end) > options.memory))
      return infinite;
    // What goes forward comes back as gradients.
    return std::max(
        {time, 2 * values.crossing(begin) / options.bytesPerSecond, 2 * values.crossing(end) / options.bytesPerSecond});
  }
  double tieOf(int begin, int end) const {
    double time = before[end] - before[begin];
    return options.ties == ChainTies::MostEven ? time * time : values.crossing(begin);
  }
  double memoryOf(int stage, int begin, int end) const {
    if (before[end] - before[begin] <= 0)
      return infinite;
    int slots = options.slots.empty() ? 0 : options.slots[stage];
    int kept = options.kept.empty() ? slots : options.kept[stage];
    return options.statesPerParameter * values.parameters(begin, end) + kept * values.kept(begin, end) +
           slots * values.exchanged(begin, end);
  }

  /// Minimizes the largest `cost` of a stage.
  void solve(double (ChainSolver::*cost)(int, int, int) const);
  double slowest() const { return best[options.stages][count].slowest; }
  std::vector<int> stageOf() const;

private:
  const ChainOptions &options;
  int count;
  StageValues values;
  std::vector<double> before = {0};
  std::vector<std::vector<Choice>> best; ///< by stages and nodes
};

void ChainSolver::solve(double (ChainSolver::*cost)(int, int, int) const) {
  best.assign(options.stages + 1, std::vector<Choice>(count + 1));
  best[0][0] = {0, 0, 0};
  for (int stage = 1; stage <= options.stages; ++stage)
    for (int end = 1; end <= count; ++end)
      for (int begin = 0; begin < end; ++begin) {
        const Choice &head = best[stage - 1][begin];
        Choice &known = best[stage][end];
        if (head.slowest == infinite || head.slowest > known.slowest)
          continue;
        Choice choice{std::max(head.slowest, (this->*cost)(stage - 1, begin, end)), head.tie + tieOf(begin, end),
                      begin};
        if (choice.isBetterThan(known))
          known = choice;
      }
}

std::vector<int> ChainSolver::stageOf() const {
  std::vector<int> stages(count);
  for (int stage = options.stages, end = count; stage > 0; --stage) {
    int begin = best[stage][end].begin;
    std::fill(stages.begin() + begin, stages.begin() + end, stage - 1);
    end = begin;
  }
  return stages;
}

} // namespace

std::vector<int> partitionChain(const Profile &profile, const ChainOptions &options) {
  ChainSolver solver(profile, options);
  solver.solve(&ChainSolver::timeOf);
  if (solver.slowest() == infinite)
    throw NothingFits();
  return solver.stageOf();
}

double findLeastMemory(const Profile &profile, const ChainOptions &options) {
  ChainSolver solver(profile, options);
  solver.solve(&ChainSolver::memoryOf);
  return solver.slowest();
}

} // namespace freestone::distributed
