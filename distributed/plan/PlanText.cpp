#include "distributed/plan/PipelinePlan.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace freestone::distributed {

/// More ranks or stages than these are left out of the middle.
static constexpr size_t mostLines = 16;
/// Columns of the drawing.
static constexpr int columns = 96;

static std::string printTime(double seconds) {
  return seconds >= 1      ? fmt::format("{:.2f} s", seconds)
         : seconds >= 1e-3 ? fmt::format("{:.2f} ms", seconds * 1e3)
                           : fmt::format("{:.1f} µs", seconds * 1e6);
}

std::string printBytes(double bytes) { return fmt::format("{:.2f} MiB", bytes / (1 << 20)); }

/// "0", "0 4", "0-12" for consecutive ranks.
static std::string printRanks(const std::vector<int> &ranks) {
  if (ranks.size() < 3)
    return fmt::format("{}", fmt::join(ranks, " "));
  return fmt::format("{}-{}", ranks.front(), ranks.back());
}

/// Calls `print` with the numbers of the first and the last ones.
static void forLines(size_t count, std::string &text, const auto &print) {
  for (size_t number = 0; number < count; ++number) {
    if (count > mostLines && number == mostLines / 2) {
      text += fmt::format("  … {} more\n", count - mostLines);
      number = count - mostLines / 2;
    }
    print(number);
  }
}

/// What a rank does until a time: the letter of the pass that takes the most of each column, '.' for none.
static std::string drawRank(const std::vector<Event> &events, double until) {
  std::string drawing;
  for (int column = 0; column < columns; ++column) {
    double begin = until * column / columns, end = until * (column + 1) / columns, most = (end - begin) / 2;
    char letter = '.';
    for (const Event &event : events) {
      char own = event.action.kind == ActionKind::Forward          ? 'F'
                 : event.action.kind == ActionKind::Backward       ? 'B'
                 : event.action.kind == ActionKind::InputGradient  ? 'I'
                 : event.action.kind == ActionKind::WeightGradient ? 'W'
                 : event.action.kind == ActionKind::Recompute      ? 'R'
                                                                   : 0;
      double part = std::min(end, event.end) - std::max(begin, event.begin);
      if (own && part > most) {
        most = part;
        letter = own;
      }
    }
    drawing += letter;
  }
  return drawing;
}

/// What was compared, if there was a choice.
static std::string printCandidates(const PipelinePlan &plan) {
  if (plan.candidates.size() < 2)
    return "";
  std::string text = "schedule      a step      bubble   memory of a rank\n";
  for (size_t number = 0; number < plan.candidates.size(); ++number) {
    const PlanCandidate &candidate = plan.candidates[number];
    text += fmt::format(
        "{:<12}  {:<10}  {:<7}  {}{}\n", nameOf(candidate.schedule), candidate.fits ? printTime(candidate.time) : "-",
        candidate.fits ? fmt::format("{:.1f} %", 100 * candidate.bubble) : "-", printBytes(candidate.memory),
        static_cast<int>(number) == plan.taken ? "  taken"
        : candidate.fits                       ? ""
                                               : "  too much");
  }
  return text + "\n";
}

/// The stages of every level, as PipeDream's optimizer prints them.
static std::string printPartition(const Partition &partition) {
  std::string text;
  for (size_t level = partition.stages.size(); level-- > 0;) {
    std::vector<std::string> stages;
    for (const PlannedStage &stage : partition.stages[level])
      stages.push_back(fmt::format("({}, {}) x {}", stage.begin, stage.end, stage.replicas));
    text += fmt::format("states of level {}: {}\n", level + 1, fmt::join(stages, ", "));
  }
  return text + fmt::format("the slowest stage takes {:.12g} s: {:.6f} times faster than one rank\n\n",
                            partition.stageTime, partition.oneDevice / partition.stageTime);
}

std::string describePlan(const PipelinePlan &plan) {
  return fmt::format("schedule {}, {} stage{}: a step of {}, a bubble of {:.1f} % and at most {} a rank are expected",
                     nameOf(plan.schedule.kind), plan.stages.size(), plan.stages.size() == 1 ? "" : "s",
                     printTime(plan.step.seconds), 100 * plan.step.bubble, printBytes(plan.largestMemory()));
}

std::string printPlan(const PipelinePlan &plan) {
  std::string text = printCandidates(plan);
  if (plan.assignment.partition)
    text += printPartition(*plan.assignment.partition);
  text += "stage  ranks     forward     backward    parameters  kept          receives      operations\n";
  forLines(plan.stages.size(), text, [&](size_t number) {
    const StagePlan &stage = plan.stages[number];
    text += fmt::format("{:<5}  {:<8}  {:<10}  {:<10}  {:<10}  {:<12}  {:<12}  {}: {} to {}\n", number,
                        printRanks(stage.ranks), printTime(stage.forward), printTime(stage.backward),
                        printBytes(stage.parameters), printBytes(stage.kept), printBytes(stage.received), stage.nodes,
                        stage.firstNode, stage.lastNode);
  });
  text += fmt::format(
      "\nschedule {}, {} micro-batch{}: a step takes {}, {:.2f} times faster than one rank; bubble {:.1f} %\n",
      nameOf(plan.schedule.kind), plan.schedule.microBatches, plan.schedule.microBatches == 1 ? "" : "es",
      printTime(plan.step.seconds), plan.oneRank / plan.step.seconds, plan.step.bubble * 100);
  const Simulation &whole = plan.simulation;
  double drawn = whole.makespan;
  if (isDelayed(plan.schedule.kind)) {
    drawn /= 4; // the steps that fill the pipeline
    text += fmt::format("the first {} steps, from the empty pipeline to the empty one, take {}, of which {} are drawn; "
                        "bubble {:.1f} %\n",
                        plan.schedule.steps, printTime(whole.makespan), printTime(drawn), whole.bubble * 100);
  }
  forLines(whole.ranks.size(), text, [&](size_t rank) {
    text += fmt::format("rank {:<4} {}  busy {:>5.1f} %  {}\n", rank, drawRank(whole.ranks[rank], drawn),
                        100 * whole.busy[rank] / whole.makespan, printBytes(plan.memory[rank]));
  });
  return text;
}

} // namespace freestone::distributed
