#include "distributed/schedule/Generate.h"

#include "distributed/Error.h"
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace freestone::distributed {

namespace {

using Actions = std::vector<Action>;

/// Builds the lists of all ranks of one schedule.
class Generator {
public:
  explicit Generator(const ScheduleOptions &options);
  Schedule take();

private:
  bool isInterleaved() const { return options.kind == ScheduleKind::Interleaved; }
  void placeStages();
  void checkOverlap() const;
  std::vector<int> microBatchesOf(int stage, int replica) const;
  size_t warmUpOf(int stage) const;
  bool recomputes(int stage) const;
  void buildStage(int stage, int replica);
  void buildInterleaved(int rank);
  void buildZeroBubble(int stage, const std::vector<int> &own, Actions &list) const;
  void addRecompute(Actions &list, int stage, int microBatch) const;
  void addBackward(Actions &list, int stage, int microBatch) const;
  void addExchange(Actions &list, int stage, int microBatch) const;
  void chooseVersions();

  const ScheduleOptions &options;
  Schedule schedule;
};

Generator::Generator(const ScheduleOptions &options) : options(options) {
  schedule.kind = options.kind;
  schedule.microBatches = options.microBatches;
  schedule.steps = options.steps;
  if (options.replicas.empty() || std::ranges::min(options.replicas) < 1 || options.microBatches < 1 ||
      options.steps < 1 || options.chunks < 1)
    throw Error("a pipeline needs at least one stage, one micro-batch and one step");
  if (options.steps > 1 && !isDelayed(options.kind))
    throw Error(
        fmt::format("'{}' ends each step before the next one begins: its schedule is one step", nameOf(options.kind)));
  if (!isInterleaved() && options.chunks > 1)
    throw Error("only an interleaved schedule has several stages on a rank");
  bool isReplicated = std::ranges::max(options.replicas) > 1;
  if (isReplicated && (isInterleaved() || options.kind == ScheduleKind::ZeroBubble))
    throw Error(fmt::format("'{}' has no replicas of stages: choose gpipe, 1f1b or eager-1f1b", nameOf(options.kind)));
  placeStages();
  if (isDelayed(options.kind))
    checkOverlap();
}

/// Steps that overlap deal their micro-batches alike. With two versions of the weights, they overlap by less than one.
void Generator::checkOverlap() const {
  int64_t even = 1, most = 1;
  for (int stage = 0; stage < schedule.stages(); ++stage) {
    even = std::lcm(even, int64_t(options.replicas[stage]));
    most = std::max(most, static_cast<int64_t>(warmUpOf(stage)) * options.replicas[stage]);
  }
  auto roundUp = [&](int64_t count) { return (count + even - 1) / even * even; };
  int64_t least = options.kind == ScheduleKind::DoubleBuffered ? roundUp(most) : even;
  if (options.microBatches % even != 0)
    throw Error(fmt::format("'{}' deals the micro-batches of each step evenly to the replicas of a stage, but {} are no "
                            "multiple of {}: choose --micro-batches {}",
                            nameOf(options.kind), options.microBatches, even,
                            std::max(least, roundUp(options.microBatches))));
  if (options.microBatches < least)
    throw Error(fmt::format("'{}' needs as many micro-batches a step as are under way: {} are fewer than {}; choose "
                            "--micro-batches {}",
                            nameOf(options.kind), options.microBatches, least, least));
}

void Generator::placeStages() {
  int ranks = std::accumulate(options.replicas.begin(), options.replicas.end(), 0), next = 0;
  schedule.ranks.resize(ranks);
  for (int chunk = 0; chunk < options.chunks; ++chunk)
    for (int replicas : options.replicas) {
      std::vector<int> &own = schedule.ranksOf.emplace_back(replicas);
      for (int &rank : own)
        rank = next++ % ranks;
    }
}

std::vector<int> Generator::microBatchesOf(int stage, int replica) const {
  std::vector<int> own;
  int count = static_cast<int>(schedule.ranksOf[stage].size());
  for (int microBatch = replica; microBatch < schedule.total(); microBatch += count)
    own.push_back(microBatch);
  return own;
}

/// Forward passes before the first backward pass.
size_t Generator::warmUpOf(int stage) const {
  int before = std::accumulate(options.replicas.begin(), options.replicas.begin() + stage, 0);
  int depth = (static_cast<int>(schedule.ranks.size()) - 1 - before) / options.replicas[stage];
  return options.kind == ScheduleKind::Eager ? 2 * depth + 1 : depth + 1;
}

bool Generator::recomputes(int stage) const {
  bool isFollowed = options.kind != ScheduleKind::GPipe && !isInterleaved() && warmUpOf(stage) == 1;
  return options.recompute && !isFollowed;
}

void Generator::addRecompute(Actions &list, int stage, int microBatch) const {
  if (recomputes(stage))
    list.push_back({ActionKind::Recompute, stage, microBatch});
}

void Generator::addBackward(Actions &list, int stage, int microBatch) const {
  addRecompute(list, stage, microBatch);
  list.push_back({ActionKind::Backward, stage, microBatch});
}

/// A rank posts the numbers of all its stages at once.
void Generator::addExchange(Actions &list, int stage, int microBatch) const {
  if (schedule.ranksOf[stage].size() > 1)
    list.push_back({ActionKind::Reduce, stage, microBatch});
  if (stage < static_cast<int>(options.replicas.size()))
    list.push_back({ActionKind::Exchange, isDelayed(options.kind) ? stage : 0, microBatch});
}

/// ZB-H1: the gradients of weights come `stage` micro-batches later, so that every stage keeps the same number.
void Generator::buildZeroBubble(int stage, const std::vector<int> &own, Actions &list) const {
  size_t forward = 0, weights = 0, warmUp = warmUpOf(stage);
  auto addForward = [&] {
    if (forward < own.size())
      list.push_back({ActionKind::Forward, stage, own[forward++]});
  };
  while (forward < std::min(warmUp, own.size()))
    addForward();
  for (size_t backward = 0; backward < own.size(); ++backward) {
    addRecompute(list, stage, own[backward]);
    list.push_back({ActionKind::InputGradient, stage, own[backward]});
    if (backward >= static_cast<size_t>(stage))
      list.push_back({ActionKind::WeightGradient, stage, own[weights++]});
    addForward();
  }
  while (weights < own.size())
    list.push_back({ActionKind::WeightGradient, stage, own[weights++]});
}

/// Forward passes up to the warm-up, then one backward and one forward pass in turns.
void Generator::buildStage(int stage, int replica) {
  Actions &list = schedule.ranks[schedule.ranksOf[stage][replica]];
  std::vector<int> own = microBatchesOf(stage, replica);
  if (options.kind == ScheduleKind::ZeroBubble) {
    buildZeroBubble(stage, own, list);
    addExchange(list, stage, schedule.total() - 1);
    list.push_back({ActionKind::Update, stage, schedule.total() - 1});
    return;
  }
  size_t warmUp = options.kind == ScheduleKind::GPipe ? own.size() : std::min(warmUpOf(stage), own.size());
  for (size_t forward = 0; forward < warmUp; ++forward)
    list.push_back({ActionKind::Forward, stage, own[forward]});
  int round = schedule.microBatches, exchanged = 0, updated = 0; // micro-batches
  auto updateUpTo = [&](int microBatch) {
    for (; updated < schedule.total() && updated + round <= microBatch; updated += round)
      list.push_back({ActionKind::Update, stage, updated + round - 1});
  };
  auto exchangeUpTo = [&](int microBatch) {
    for (; exchanged < schedule.total() && exchanged + round <= microBatch; exchanged += round) {
      updateUpTo(exchanged);
      addExchange(list, stage, exchanged + round - 1);
    }
  };
  // Double-buffered weights are replaced when they are needed, one step later, so that nothing waits for the exchange.
  bool isLate = options.kind == ScheduleKind::DoubleBuffered;
  for (size_t backward = 0; backward < own.size(); ++backward) {
    addBackward(list, stage, own[backward]);
    exchangeUpTo(backward + 1 < own.size() ? own[backward + 1] : schedule.total());
    if (!isLate)
      updateUpTo(exchanged);
    // The updates of the last steps stand where those of other steps do.
    int forward = replica + static_cast<int>((backward + warmUp) * schedule.ranksOf[stage].size());
    if (isLate)
      updateUpTo(forward - round);
    if (forward < schedule.total())
      list.push_back({ActionKind::Forward, stage, forward});
  }
  exchangeUpTo(schedule.total() + round);
  updateUpTo(schedule.total() + round);
}

/// Groups of as many micro-batches as ranks go through all stages of a rank one after another. What the last group
/// lacks is left out, which no other micro-batch depends on.
void Generator::buildInterleaved(int rank) {
  int ranks = static_cast<int>(schedule.ranks.size()), chunks = options.chunks;
  std::vector<std::pair<int, int>> forwards, backwards; // chunk, micro-batch
  for (int begin = 0; begin < options.microBatches; begin += ranks)
    for (int chunk = 0; chunk < chunks; ++chunk)
      for (int microBatch = begin; microBatch < begin + ranks; ++microBatch) {
        forwards.emplace_back(chunk, microBatch);
        backwards.emplace_back(chunks - 1 - chunk, microBatch);
      }
  Actions &list = schedule.ranks[rank];
  size_t warmUp = std::min<size_t>(2 * (ranks - 1 - rank) + (chunks - 1) * ranks + 1, forwards.size());
  auto addForward = [&](size_t number) {
    auto [chunk, microBatch] = forwards[number];
    if (microBatch < options.microBatches)
      list.push_back({ActionKind::Forward, chunk * ranks + rank, microBatch});
  };
  for (size_t number = 0; number < warmUp; ++number)
    addForward(number);
  for (size_t number = 0; number < backwards.size(); ++number) {
    auto [chunk, microBatch] = backwards[number];
    if (microBatch < options.microBatches)
      addBackward(list, chunk * ranks + rank, microBatch);
    if (number + warmUp < forwards.size())
      addForward(number + warmUp);
  }
  for (int chunk = 0; chunk < chunks; ++chunk)
    addExchange(list, chunk * ranks + rank, schedule.total() - 1);
  for (int chunk = 0; chunk < chunks; ++chunk)
    list.push_back({ActionKind::Update, chunk * ranks + rank, schedule.total() - 1});
}

/// A forward pass uses the newest weights at its place in the list, or those that the schedule prescribes; all passes
/// of a micro-batch on a stage use the same.
void Generator::chooseVersions() {
  if (!isDelayed(options.kind))
    return;
  std::vector<std::vector<int>> versionOf(schedule.stages(), std::vector<int>(schedule.total()));
  for (const Actions &list : schedule.ranks) {
    int updates = 0;
    for (const Action &action : list) {
      updates += action.kind == ActionKind::Update;
      if (action.kind == ActionKind::Forward)
        versionOf[action.stage][action.microBatch] = updates;
    }
  }
  for (Actions &list : schedule.ranks)
    for (Action &action : list) {
      if (action.kind == ActionKind::Update || action.kind == ActionKind::Exchange || action.kind == ActionKind::Reduce)
        continue;
      if (options.kind == ScheduleKind::DoubleBuffered)
        action.version = std::max(0, action.microBatch / options.microBatches - 1);
      else
        action.version = versionOf[options.verticalSync ? 0 : action.stage][action.microBatch];
    }
}

Schedule Generator::take() {
  if (isInterleaved()) {
    for (int rank = 0; rank < static_cast<int>(schedule.ranks.size()); ++rank)
      buildInterleaved(rank);
  } else {
    for (int stage = 0; stage < schedule.stages(); ++stage)
      for (int replica = 0; replica < options.replicas[stage]; ++replica)
        buildStage(stage, replica);
  }
  chooseVersions();
  return std::move(schedule);
}

} // namespace

Schedule generate(const ScheduleOptions &options) { return Generator(options).take(); }

} // namespace freestone::distributed
