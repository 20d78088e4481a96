#include "distributed/execute/RankExecutor.h"

#include "distributed/Error.h"
#include "formats/ElementType.h"
#include <algorithm>
#include <cstring>

namespace freestone::distributed {

RankExecutor::RankExecutor(int rank, RankSchedules &schedules, const std::vector<std::optional<Artifact>> &artifacts,
                           const PipelineDescription &pipeline, const train::StepDescription &about,
                           const train::Execution &execution, Courier *courier)
    : own(rank), schedules(schedules), pipeline(pipeline), courier(courier), numbers(about.hyperparameters),
      done(execution.timeline) {
  if (courier && execution.timeline)
    courier->tell(&done);
  const Schedule &usual = schedules.usual();
  std::vector<StageEntry *> evaluating;
  for (int stage = 0; stage < usual.stages(); ++stage) {
    const std::vector<int> &ranks = usual.ranksOf[stage];
    if (std::ranges::find(ranks, own) == ranks.end())
      continue;
    auto &run = runs[stage] = std::make_unique<StageRun>(artifacts[stage].value(), stage, schedules.usualNeeds()[stage],
                                                         pipeline, about, execution, courier);
    if (ranks.size() > 1)
      sums[stage] = std::make_unique<ReplicaSums>(*run, ranks, own, pipeline, courier,
                                                  (execution.switchedOff & FREESTONE_OVERLAP) == 0);
    if (leads(stage))
      evaluating.push_back(run->program.find(evaluateEntry));
  }
  exchange = std::make_unique<NumberExchange>(runs, pipeline, usual, own, courier);
  shared = std::make_unique<SharedStates>(runs, pipeline, schedules, own, courier);
  evaluation = std::make_unique<ValueMemory>(evaluating, pipeline);
  for (auto &[name, value] : numbers)
    setNumber(name, &value);
  setNumber("micro_batch", &microBatch);
  for (int value = 0; value < static_cast<int>(pipeline.values.size()); ++value) {
    const auto &[name, from, to] = pipeline.values[value];
    if (from.entry == normsEntry)
      continue;
    auto &ways = from.entry == evaluateEntry ? evaluated : crossing;
    for (const StagePort &port : to)
      if (std::vector<int> &values = ways[{from.stage, port.stage}];
          port.stage != from.stage && std::ranges::find(values, value) == values.end())
        values.push_back(value);
  }
}

RankExecutor::~RankExecutor() {
  if (courier)
    courier->tell(nullptr);
}

RankReport RankExecutor::report() const {
  RankReport report = {done.busyNs(), static_cast<int64_t>(memory().total()), 0,
                       freestone_timeline_now() - done.since()};
  if (courier)
    report.courierNs = courier->counters().busyNs - courierNs;
  for (const auto &[stage, sum] : sums) {
    report.summedBytes += sum->counters().bytes;
    report.overlappedBytes += sum->counters().overlapped;
  }
  return report;
}

std::vector<StageProgram *> RankExecutor::stages() {
  std::vector<StageProgram *> programs;
  for (auto &[stage, run] : runs)
    programs.push_back(&run->program);
  return programs;
}

int64_t RankExecutor::allocations() const {
  int64_t count = 0;
  for (const auto &[stage, run] : runs)
    count += run->allocations();
  return count;
}

void RankExecutor::waitAll(std::vector<Ticket> &tickets) {
  for (Ticket ticket : tickets)
    courier->wait(ticket);
  tickets.clear();
}

Message RankExecutor::messageOf(MessageKind kind, int from, int to, int microBatch, const std::vector<int64_t> &sizes,
                                const ValueMemory &memory, int slot, const std::vector<int> &values) const {
  Message message{{kind, pipeline.hash, firstStep, from, to, microBatch, sizes}, {}};
  for (int value : values)
    message.parts.push_back({memory.at(slot)[value].data, memory.bytesOf(slot, value), memory.typeOf(value)});
  return message;
}

/// Nothing is under way.
void RankExecutor::begin(const Schedule &wanted, int64_t number, int before, size_t steps) {
  schedule = &wanted;
  firstStep = number;
  firstVersion = runs.begin()->second->versions.newest();
  microBatchesBefore = before;
  fed.resize(steps);
  fedSteps = 0;
  shared->begin(firstVersion);
}

/// Makes place for the micro-batches of a step.
void RankExecutor::add(const StepWork &work, const std::vector<StageNeeds> &needs, bool isUnderWay) {
  fed[fedSteps % fed.size()] = {work.microBatches, work.numbers};
  ++fedSteps;
  std::vector<std::vector<int64_t>> sizes;
  for (const MicroBatch &part : work.microBatches)
    if (std::ranges::find(sizes, part.sizes) == sizes.end())
      sizes.push_back(part.sizes);
  for (auto &[stage, run] : runs)
    run->reserve(needs[stage], sizes, isUnderWay);
}

void RankExecutor::train(const StepWork &work, bool updates) {
  const Schedule &step = schedules.step(static_cast<int>(work.microBatches.size()), updates);
  begin(step, work.number, work.microBatchesBefore, 1);
  add(work, countNeeds(step), /*isUnderWay=*/false);
  startWatch(work.number);
  execute(step.ranks[own]);
  for (auto &[stage, run] : runs)
    run->settle();
  exchange->settle();
  fedSteps = 0;
  if (updates)
    shared->share();
}

/// What is done from now on belongs to this step.
void RankExecutor::startWatch(int64_t number) {
  if (courier && done.since() == 0)
    courierNs = courier->counters().busyNs;
  done.beginStep(number);
}

void RankExecutor::feed(const StepWork &work) {
  startWatch(work.number);
  bool isUnderWay = fedSteps > 0;
  if (!isUnderWay)
    begin(schedules.usual(), work.number, 0, schedules.depth());
  add(work, schedules.usualNeeds(), isUnderWay);
  execute(schedules.steps().step(own, fedSteps - 1));
}

void RankExecutor::flush() {
  if (fedSteps == 0 || !schedules.isDelayed())
    return;
  execute(schedules.steps().flush(own, fedSteps));
  for (auto &[stage, run] : runs) {
    run->settle();
    run->versions.select(run->versions.newest(), 0);
  }
  exchange->settle();
  shared->flush();
  fedSteps = 0;
}

void RankExecutor::execute(const std::vector<Action> &actions) {
  for (auto rest = std::span(actions); !rest.empty(); rest = rest.subspan(1))
    execute(rest.front(), sums.contains(rest.front().stage) && completesGradients(rest, schedule->microBatches));
}

/// `completes`: the gradients of this replica, for the sum over replicas.
void RankExecutor::execute(const Action &action, bool completes) {
  if (courier)
    courier->enter(action);
  switch (action.kind) {
  case ActionKind::Forward:
    return runPass(action, forwardEntry);
  case ActionKind::Recompute:
    return runPass(action, recomputeEntry);
  case ActionKind::Backward:
    return runPass(action, backwardEntry, completes);
  case ActionKind::InputGradient:
    return runPass(action, inputGradientEntry);
  case ActionKind::WeightGradient:
    return runPass(action, weightGradientEntry, completes);
  case ActionKind::Send:
  case ActionKind::Receive:
    return transfer(action);
  case ActionKind::Reduce:
    return finishSum(action);
  case ActionKind::Exchange:
    return postNumbers(action);
  case ActionKind::Update:
    return update(action);
  }
}

/// Copies the values that a stage of this rank has made for another one of it.
void RankExecutor::copyOwn(int from, int to, int microBatch) {
  const StageRun &source = *runs.at(from), &target = *runs.at(to);
  const std::vector<PlacedValue> &values = source.memory.at(source.numberOf(turnOf(from, microBatch)));
  int slot = target.numberOf(turnOf(to, microBatch));
  for (int value : crossing[{from, to}])
    std::memcpy(target.memory.at(slot)[value].data, values[value].data, target.memory.bytesOf(slot, value));
}

void RankExecutor::runPass(const Action &action, const char *entry, bool completes) {
  StageRun &run = *runs.at(action.stage);
  const MicroBatch &part = partOf(action.microBatch);
  int turn = turnOf(action.stage, action.microBatch);
  bool isForward = action.kind == ActionKind::Forward, isRecomputed = action.kind == ActionKind::Recompute;
  auto computesHere = [&](int stage) { return isOwn(stage) && schedule->rankOf(stage, action.microBatch) == own; };
  StageRun::Slot &slot = run.slotOf(turn);
  if (isForward) {
    run.waitAll(slot.sends);
    run.open(turn, part.sizes);
    for (int from = 0; from < action.stage; ++from)
      if (computesHere(from))
        copyOwn(from, action.stage, action.microBatch);
    run.waitAll(slot.activations);
  } else if (!isRecomputed) {
    run.waitAll(slot.gradients);
  }
  microBatch = microBatchesBefore + action.microBatch;
  bool readsNewest = !isForward && !schedules.stashesWeights();
  run.versions.select(readsNewest ? run.versions.newest() : firstVersion + action.version, stepOf(action.microBatch));
  if (overlapsSteps())
    shared->select(action.stage, action.microBatch);
  if (StageEntry *pass = run.program.find(entry)) {
    if (completes)
      sums.at(action.stage)->begin(numberOf(action), *pass);
    Running running(done, action);
    run.run(entry, turn, part.fields, part.sizes);
    if (completes)
      sums.at(action.stage)->endPass();
  }
  if (!isForward && !isRecomputed)
    for (int to = 0; to < action.stage; ++to)
      if (computesHere(to))
        copyOwn(action.stage, to, action.microBatch);
}

void RankExecutor::finishSum(const Action &action) {
  int64_t begin = freestone_timeline_now();
  StateVersions &versions = runs.at(action.stage)->versions;
  versions.select(versions.newest(), static_cast<int64_t>(stepOf(action.microBatch)));
  sums.at(action.stage)->finish(numberOf(action));
  done.waitedForSum(begin, freestone_timeline_now());
}

/// Posts a message of a micro-batch.
void RankExecutor::transfer(const Action &action) {
  bool isSend = action.kind == ActionKind::Send;
  int from = isSend ? action.stage : action.peer, to = isSend ? action.peer : action.stage;
  StageRun &run = *runs.at(action.stage);
  int turn = turnOf(action.stage, action.microBatch), peer = schedule->rankOf(action.peer, action.microBatch);
  StageRun::Slot &slot = run.slotOf(turn);
  bool isForward = from < to;
  const std::vector<int64_t> &sizes = partOf(action.microBatch).sizes;
  if (!isSend && isForward) // the slot's new micro-batch begins here
    run.open(turn, sizes);
  Message message = messageOf(isForward ? MessageKind::Activations : MessageKind::Gradients, from, to,
                              action.microBatch, sizes, run.memory, run.numberOf(turn), crossing[{from, to}]);
  if (isSend)
    slot.sends.push_back(courier->send(peer, std::move(message)));
  else
    (isForward ? slot.activations : slot.gradients).push_back(courier->receive(peer, std::move(message)));
}

/// Computes the numbers that decide the updates of this rank's stages, and posts them.
void RankExecutor::postNumbers(const Action &action) {
  Running running(done, action);
  auto step = static_cast<int64_t>(stepOf(action.microBatch));
  for (auto &[stage, run] : runs)
    run->versions.select(run->versions.newest(), step);
  exchange->post(firstStep + step);
}

void RankExecutor::update(const Action &action) {
  size_t step = stepOf(action.microBatch);
  auto next = fed[step % fed.size()].numbers.begin();
  for (auto &[name, value] : numbers)
    value = *next++;
  const std::vector<PlacedValue> &known = exchange->await(firstStep + static_cast<int64_t>(step));
  StageRun &run = *runs.at(action.stage);
  if (overlapsSteps())
    shared->release(action.stage);
  run.versions.advance(static_cast<int64_t>(step));
  if (StageEntry *update = run.program.find(updateEntry)) {
    Running running(done, action);
    update->run(known, {}, {});
  }
  if (overlapsSteps())
    shared->send(action.stage);
  if (onUpdate && action.stage == runs.begin()->first)
    onUpdate();
}

std::vector<double> RankExecutor::evaluate(const StepWork &work, const std::vector<std::string> &results) {
  firstStep = work.number;
  const MicroBatch &batch = work.microBatches.front();
  evaluation->reserve(1, {batch.sizes});
  evaluation->open(0, batch.sizes);
  std::vector<Ticket> sends;
  auto message = [&](int from, int to, const std::vector<int> &values) {
    return messageOf(MessageKind::Evaluation, from, to, 0, batch.sizes, *evaluation, 0, values);
  };
  for (auto &[stage, run] : runs) {
    if (!leads(stage))
      continue;
    std::vector<Ticket> receives;
    for (const auto &[way, values] : evaluated)
      if (way.second == stage && !leads(way.first) && !values.empty())
        receives.push_back(courier->receive(leaderOf(way.first), message(way.first, stage, values)));
    waitAll(receives);
    if (StageEntry *evaluate = run->program.find(evaluateEntry))
      evaluate->run(evaluation->at(0), batch.fields, batch.sizes);
    for (const auto &[way, values] : evaluated)
      if (way.first == stage && !leads(way.second) && !values.empty())
        sends.push_back(courier->send(leaderOf(way.second), message(stage, way.second, values)));
  }
  int last = pipeline.stages - 1;
  std::vector<double> found(results.size());
  if (leads(last))
    std::ranges::transform(results, found.begin(), [&](const std::string &name) {
      return runs.at(last)->program.find(evaluateEntry)->entry.scalar(name);
    });
  auto told = [&](int peer) {
    return Message{{MessageKind::Results, pipeline.hash, work.number, last, peer, 0},
                   {{found.data(), found.size() * sizeof(double), FREESTONE_F64}}};
  };
  if (!leads(last))
    sends.push_back(courier->receive(leaderOf(last), told(own)));
  else
    for (int peer = 0; courier && peer < courier->size(); ++peer)
      if (peer != own)
        sends.push_back(courier->send(peer, told(peer)));
  waitAll(sends);
  return found;
}

} // namespace freestone::distributed
