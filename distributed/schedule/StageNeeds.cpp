#include "distributed/schedule/StageNeeds.h"

#include <algorithm>

namespace freestone::distributed {

namespace {

/// What a stage holds at one place of a rank's list.
struct Held {
  int kept = 0, recomputed = 0, updates = 0, steps = 0;
};

} // namespace

/// Follows one action of a stage on a rank.
static void follow(const Action &action, int microBatches, Held &held, StageNeeds &needs) {
  bool isPass = action.kind == ActionKind::Forward || action.kind == ActionKind::Backward ||
                action.kind == ActionKind::InputGradient || action.kind == ActionKind::WeightGradient;
  bool isEnd = action.kind == ActionKind::Backward || action.kind == ActionKind::WeightGradient;
  held.kept += action.kind == ActionKind::Forward;
  held.recomputed += action.kind == ActionKind::Recompute;
  needs.kept = std::max(needs.kept, held.kept);
  needs.recomputed = std::max(needs.recomputed, held.recomputed);
  if (isPass) {
    needs.versions = std::max(needs.versions, held.updates - action.version + 1);
    held.steps = std::max(held.steps, action.microBatch / microBatches + 1);
  }
  if (action.kind == ActionKind::Update)
    // Every micro-batch of the update has ended; those of later steps that have begun add to sums of their own.
    needs.sums = std::max(needs.sums, held.steps - action.microBatch / microBatches);
  held.kept -= isEnd;
  held.recomputed -= isEnd && held.recomputed > 0;
  held.updates += action.kind == ActionKind::Update;
}

std::vector<StageNeeds> countNeeds(const Schedule &schedule) {
  std::vector<StageNeeds> needs(schedule.stages());
  for (const std::vector<Action> &list : schedule.ranks) {
    std::vector<Held> held(schedule.stages());
    for (const Action &action : list)
      follow(action, schedule.microBatches, held[action.stage], needs[action.stage]);
  }
  // Only a late update meets gradients of later steps.
  if (schedule.kind != ScheduleKind::DoubleBuffered)
    for (StageNeeds &need : needs)
      need.sums = 1;
  return needs;
}

} // namespace freestone::distributed
