#include "distributed/schedule/VerifySchedule.h"

#include "distributed/Error.h"
#include "distributed/schedule/ScheduleText.h"
#include <fmt/format.h>

namespace freestone::distributed {

namespace {

/// How far a micro-batch is on a stage.
enum class Progress { None, Forward, Recomputed, InputGradient, Done };

/// Follows the list of one rank.
class RankVerifier {
public:
  RankVerifier(const Schedule &schedule, int rank)
      : schedule(schedule), rank(rank), stages(static_cast<size_t>(schedule.stages())) {
    for (StageState &stage : stages)
      stage.progress.resize(schedule.total());
  }
  void follow(const Action &action);
  void end() const;

private:
  struct StageState {
    std::vector<Progress> progress; ///< of each micro-batch
    std::vector<int> versions = {};
    int lastForward = -1, lastBackward = -1, lastWeights = -1;
    int updates = 0;
    int updatedUpTo = 0; ///< micro-batches
  };

  [[noreturn]] void refuse(const Action &action, const std::string &why) const {
    throw Error(fmt::format("rank {} of the schedule: {}: {}", rank, printAction(action), why));
  }
  bool isOwn(int stage, int microBatch) const { return schedule.rankOf(stage, microBatch) == rank; }
  void begin(const Action &action, StageState &stage);
  void change(const Action &action, StageState &stage, Progress from, Progress to);
  void ascend(const Action &action, int &last);
  void update(const Action &action, StageState &stage);

  const Schedule &schedule;
  int rank;
  std::vector<StageState> stages;
};

void RankVerifier::ascend(const Action &action, int &last) {
  if (action.microBatch <= last)
    refuse(action, "micro-batches of a stage are not in ascending order");
  last = action.microBatch;
}

void RankVerifier::begin(const Action &action, StageState &stage) {
  if (!isOwn(action.stage, action.microBatch))
    refuse(action, fmt::format("rank {} computes it", schedule.rankOf(action.stage, action.microBatch)));
  stage.versions.resize(schedule.total());
  if (action.kind == ActionKind::Forward)
    stage.versions[action.microBatch] = action.version;
  else if (stage.versions[action.microBatch] != action.version)
    refuse(action, "another version of the weights than that of the forward pass");
  if (action.version > stage.updates)
    refuse(action, fmt::format("only {} updates were done before", stage.updates));
}

void RankVerifier::change(const Action &action, StageState &stage, Progress from, Progress to) {
  Progress &progress = stage.progress[action.microBatch];
  bool wasRecomputed = progress == Progress::Recomputed && from == Progress::Forward && to != Progress::Recomputed;
  if (progress != from && !wasRecomputed)
    refuse(action, progress == Progress::None   ? "its forward pass does not come before"
                   : progress == Progress::Done ? "its gradients were computed before"
                                                : "it comes twice, or out of order");
  progress = to;
}

void RankVerifier::update(const Action &action, StageState &stage) {
  for (int microBatch = stage.updatedUpTo; microBatch <= action.microBatch; ++microBatch)
    if (isOwn(action.stage, microBatch) && stage.progress[microBatch] != Progress::Done)
      refuse(action, fmt::format("the gradients of micro-batch {} do not come before", microBatch));
  if (action.microBatch < stage.updatedUpTo)
    refuse(action, "its gradients were used by an update before");
  stage.updatedUpTo = action.microBatch + 1;
  ++stage.updates;
}

void RankVerifier::follow(const Action &action) {
  if (action.kind == ActionKind::Exchange)
    return;
  StageState &stage = stages[action.stage];
  switch (action.kind) {
  case ActionKind::Forward:
    begin(action, stage);
    ascend(action, stage.lastForward);
    return change(action, stage, Progress::None, Progress::Forward);
  case ActionKind::Recompute:
    begin(action, stage);
    return change(action, stage, Progress::Forward, Progress::Recomputed);
  case ActionKind::Backward:
    begin(action, stage);
    ascend(action, stage.lastBackward);
    return change(action, stage, Progress::Forward, Progress::Done);
  case ActionKind::InputGradient:
    begin(action, stage);
    ascend(action, stage.lastBackward);
    return change(action, stage, Progress::Forward, Progress::InputGradient);
  case ActionKind::WeightGradient:
    begin(action, stage);
    ascend(action, stage.lastWeights);
    return change(action, stage, Progress::InputGradient, Progress::Done);
  case ActionKind::Update:
    return update(action, stage);
  case ActionKind::Reduce:
    return;
  default:
    refuse(action, "transfers are added later");
  }
}

void RankVerifier::end() const {
  for (int stage = 0; stage < schedule.stages(); ++stage) {
    bool isHere = false;
    for (int replica : schedule.ranksOf[stage])
      isHere |= replica == rank;
    if (isHere && stages[stage].updatedUpTo < schedule.total())
      throw Error(
          fmt::format("rank {} of the schedule: stage {} is not updated at the end of the last step", rank, stage));
  }
}

} // namespace

void verifySchedule(const Schedule &schedule) {
  for (const std::vector<int> &ranks : schedule.ranksOf)
    for (int rank : ranks)
      if (rank >= static_cast<int>(schedule.ranks.size()))
        throw Error(fmt::format("the schedule has a stage on rank {}, but no list for it", rank));
  for (int rank = 0; rank < static_cast<int>(schedule.ranks.size()); ++rank) {
    RankVerifier verifier(schedule, rank);
    for (const Action &action : schedule.ranks[rank])
      verifier.follow(action);
    verifier.end();
  }
}

} // namespace freestone::distributed
