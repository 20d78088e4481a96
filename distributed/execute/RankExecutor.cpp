#include "distributed/execute/RankExecutor.h"

#include "distributed/Error.h"
#include "formats/ElementType.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace freestone::distributed {

RankExecutor::StageRun::StageRun(const Artifact &artifact, int stage, const PipelineDescription &pipeline,
                                 const train::StepDescription &about, const train::Execution &execution)
    : program(artifact, stage, pipeline, about, execution),
      memory({program.find(forwardEntry), program.find(backwardEntry), program.find(inputGradientEntry),
              program.find(weightGradientEntry)},
             pipeline) {}

RankExecutor::RankExecutor(int rank, const Schedule &schedule, const std::vector<std::optional<Artifact>> &artifacts,
                           const PipelineDescription &pipeline, const train::StepDescription &about,
                           const train::Execution &execution, Courier *courier)
    : own(rank), pipeline(pipeline), courier(courier) {
  std::vector<StageEntry *> exchanging, evaluating;
  for (int stage = 0; stage < schedule.stages(); ++stage) {
    places.push_back(schedule.ranksOf[stage].front());
    if (places.back() != own)
      continue;
    auto &run = runs[stage] = std::make_unique<StageRun>(artifacts[stage].value(), stage, pipeline, about, execution);
    exchanging.insert(exchanging.end(), {run->program.find(normsEntry), run->program.find(updateEntry)});
    evaluating.push_back(run->program.find(evaluateEntry));
  }
  exchanged = std::make_unique<ValueMemory>(exchanging, pipeline);
  exchanged->reserve(1, {{}});
  exchanged->open(0, {});
  evaluation = std::make_unique<ValueMemory>(evaluating, pipeline);
  setNumber("micro_batch", &microBatch);
  for (int value = 0; value < static_cast<int>(pipeline.values.size()); ++value) {
    const auto &[name, from, to] = pipeline.values[value];
    bool isExchanged = from.entry == normsEntry;
    auto &ways = isExchanged ? norms : from.entry == evaluateEntry ? evaluated : crossing;
    for (const StagePort &port : to)
      if (std::vector<int> &values = ways[{from.stage, isExchanged ? rankOf(port.stage) : port.stage}];
          (isExchanged || port.stage != from.stage) && std::ranges::find(values, value) == values.end())
        values.push_back(value);
  }
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
    count += run->memory.allocations();
  return count;
}

void RankExecutor::waitAll(std::vector<Ticket> &tickets) {
  for (Ticket ticket : tickets)
    courier->wait(ticket);
  tickets.clear();
}

int RankExecutor::numberOf(int stage, int microBatch) const {
  int turn = microBatch / static_cast<int>(work->schedule->ranksOf[stage].size());
  return turn % static_cast<int>(runs.at(stage)->slots.size());
}

Message RankExecutor::messageOf(MessageKind kind, int from, int to, int microBatch, ValueMemory &memory, int slot,
                                const std::vector<int> &values) {
  bool isOfData = kind == MessageKind::Activations || kind == MessageKind::Gradients || kind == MessageKind::Evaluation;
  Message message{{kind, pipeline.hash, work->number, from, to, microBatch}, {}};
  if (isOfData)
    message.label.sizes = work->microBatches[microBatch].sizes;
  for (int value : values)
    message.parts.push_back({memory.at(slot)[value].data, memory.bytesOf(slot, value), memory.typeOf(value)});
  return message;
}

/// Makes place for the micro-batches of a step. Nothing is under way.
void RankExecutor::prepare(const StepWork &work) {
  this->work = &work;
  std::vector<std::vector<int64_t>> sizes;
  for (const MicroBatch &part : work.microBatches)
    if (std::ranges::find(sizes, part.sizes) == sizes.end())
      sizes.push_back(part.sizes);
  std::vector<int> kept = countKept(*work.schedule);
  for (auto &[stage, run] : runs) {
    run->slots.resize(kept[stage] + 1);
    run->memory.reserve(kept[stage] + 1, sizes);
  }
}

void RankExecutor::train(const StepWork &work) {
  prepare(work);
  for (const Action &action : work.schedule->ranks[own])
    execute(action);
  for (auto &[stage, run] : runs)
    for (Slot &slot : run->slots)
      waitAll(slot.sends);
  shareStates();
}

void RankExecutor::execute(const Action &action) {
  switch (action.kind) {
  case ActionKind::Forward:
    return runPass(action, forwardEntry);
  case ActionKind::Backward:
    return runPass(action, backwardEntry);
  case ActionKind::InputGradient:
    return runPass(action, inputGradientEntry);
  case ActionKind::WeightGradient:
    return runPass(action, weightGradientEntry);
  case ActionKind::Send:
  case ActionKind::Receive:
    return transfer(action);
  case ActionKind::Exchange:
    return exchange();
  case ActionKind::Update:
    return update(action.stage);
  case ActionKind::Recompute:
  case ActionKind::Reduce:
    throw Error("this schedule has actions that can't be executed yet");
  }
}

/// Copies the values that a stage of this rank has made for another one of it.
void RankExecutor::copyOwn(int from, int to, int microBatch) {
  const std::vector<PlacedValue> &sources = runs.at(from)->memory.at(numberOf(from, microBatch));
  ValueMemory &memory = runs.at(to)->memory;
  int slot = numberOf(to, microBatch);
  for (int value : crossing[{from, to}])
    std::memcpy(memory.at(slot)[value].data, sources[value].data, memory.bytesOf(slot, value));
}

void RankExecutor::runPass(const Action &action, const char *entry) {
  StageRun &run = *runs.at(action.stage);
  const MicroBatch &part = work->microBatches[action.microBatch];
  Slot &slot = slotOf(action.stage, action.microBatch);
  bool isForward = action.kind == ActionKind::Forward;
  int number = numberOf(action.stage, action.microBatch);
  if (isForward) {
    waitAll(slot.sends);
    run.memory.open(number, part.sizes);
    for (int from = 0; from < action.stage; ++from)
      if (isOwn(from))
        copyOwn(from, action.stage, action.microBatch);
    waitAll(slot.activations);
  } else {
    waitAll(slot.gradients);
  }
  microBatch = action.microBatch;
  if (StageEntry *pass = run.program.find(entry))
    pass->run(run.memory.at(number), part.fields, part.sizes);
  if (!isForward)
    for (int to = 0; to < action.stage; ++to)
      if (isOwn(to))
        copyOwn(action.stage, to, action.microBatch);
}

/// Posts a message of a micro-batch.
void RankExecutor::transfer(const Action &action) {
  bool isSend = action.kind == ActionKind::Send;
  int from = isSend ? action.stage : action.peer, to = isSend ? action.peer : action.stage;
  StageRun &run = *runs.at(action.stage);
  Slot &slot = slotOf(action.stage, action.microBatch);
  int number = numberOf(action.stage, action.microBatch);
  bool isForward = from < to;
  if (!isSend && isForward) // the slot's new micro-batch begins here
    run.memory.open(number, work->microBatches[action.microBatch].sizes);
  Message message = messageOf(isForward ? MessageKind::Activations : MessageKind::Gradients, from, to,
                              action.microBatch, run.memory, number, crossing[{from, to}]);
  if (isSend)
    slot.sends.push_back(courier->send(rankOf(to), std::move(message)));
  else
    (isForward ? slot.activations : slot.gradients).push_back(courier->receive(rankOf(from), std::move(message)));
}

/// Gives the numbers of all ranks' stages to all ranks.
void RankExecutor::exchange() {
  std::vector<Ticket> tickets;
  for (auto &[stage, run] : runs)
    if (StageEntry *norms = run->program.find(normsEntry))
      norms->run(exchanged->at(0), {}, {});
  for (const auto &[way, values] : norms) {
    auto [stage, rank] = way;
    if (isOwn(stage) == (rank == own))
      continue;
    Message message = messageOf(MessageKind::Exchange, stage, rank, 0, *exchanged, 0, values);
    tickets.push_back(isOwn(stage) ? courier->send(rank, std::move(message))
                                   : courier->receive(rankOf(stage), std::move(message)));
  }
  waitAll(tickets);
}

void RankExecutor::update(int stage) {
  if (StageEntry *update = runs.at(stage)->program.find(updateEntry))
    update->run(exchanged->at(0), {}, {});
}

/// Gives updated parameters to the other stages that read them.
void RankExecutor::shareStates() {
  std::vector<Ticket> tickets;
  int64_t number = 0;
  auto partOf = [&](int stage, const std::string &name) -> MessagePart {
    train::TrainedState &state = runs.at(stage)->program.state();
    size_t index = state.find(name).value();
    const StateInfo &info = state.states()[index];
    return {state.state().tensor(index).data, formats::countBytes(info.dtype, info.shape), info.dtype};
  };
  for (const SharedState &shared : pipeline.shared) {
    for (int stage : shared.stages) {
      Message message{{MessageKind::State, pipeline.hash, work->number, shared.home, stage, number}, {}};
      if (stage == shared.home || (!isOwn(stage) && !isOwn(shared.home)))
        continue;
      message.parts = {partOf(isOwn(stage) ? stage : shared.home, shared.name)};
      if (isOwn(stage) && isOwn(shared.home))
        std::memcpy(message.parts[0].data, partOf(shared.home, shared.name).data, message.parts[0].bytes);
      else if (isOwn(stage))
        tickets.push_back(courier->receive(rankOf(shared.home), std::move(message)));
      else
        tickets.push_back(courier->send(rankOf(stage), std::move(message)));
    }
    ++number;
  }
  waitAll(tickets);
}

std::vector<double> RankExecutor::evaluate(const StepWork &work, const std::vector<std::string> &results) {
  this->work = &work;
  const MicroBatch &batch = work.microBatches.front();
  evaluation->reserve(1, {batch.sizes});
  evaluation->open(0, batch.sizes);
  std::vector<Ticket> sends;
  auto message = [&](int from, int to, const std::vector<int> &values) {
    return messageOf(MessageKind::Evaluation, from, to, 0, *evaluation, 0, values);
  };
  for (auto &[stage, run] : runs) {
    std::vector<Ticket> receives;
    for (const auto &[way, values] : evaluated)
      if (way.second == stage && !isOwn(way.first) && !values.empty())
        receives.push_back(courier->receive(rankOf(way.first), message(way.first, stage, values)));
    waitAll(receives);
    if (StageEntry *evaluate = run->program.find(evaluateEntry))
      evaluate->run(evaluation->at(0), batch.fields, batch.sizes);
    for (const auto &[way, values] : evaluated)
      if (way.first == stage && !isOwn(way.second) && !values.empty())
        sends.push_back(courier->send(rankOf(way.second), message(stage, way.second, values)));
  }
  int last = pipeline.stages - 1;
  std::vector<double> numbers(results.size());
  if (isOwn(last))
    std::ranges::transform(results, numbers.begin(), [&](const std::string &name) {
      return runs.at(last)->program.find(evaluateEntry)->entry.scalar(name);
    });
  auto told = [&](int peer) {
    return Message{{MessageKind::Results, pipeline.hash, work.number, last, peer, 0},
                   {{numbers.data(), numbers.size() * sizeof(double), FREESTONE_F64}}};
  };
  if (!isOwn(last))
    sends.push_back(courier->receive(rankOf(last), told(own)));
  else
    for (int peer = 0; courier && peer < courier->size(); ++peer)
      if (peer != own)
        sends.push_back(courier->send(peer, told(peer)));
  waitAll(sends);
  return numbers;
}

} // namespace freestone::distributed
