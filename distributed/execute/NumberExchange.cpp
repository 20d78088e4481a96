#include "distributed/execute/NumberExchange.h"

#include <algorithm>
#include <cstring>

namespace freestone::distributed {

NumberExchange::NumberExchange(std::map<int, std::unique_ptr<StageRun>> &stages, const PipelineDescription &pipeline,
                               const Schedule &schedule, int own, Courier *courier)
    : stages(stages), pipeline(pipeline), own(own), courier(courier),
      turns(isDelayed(schedule.kind) ? pipeline.stages + 2 : 2) {
  std::vector<StageEntry *> entries;
  for (auto &[stage, run] : stages)
    entries.insert(entries.end(), {run->program.find(normsEntry), run->program.find(updateEntry)});
  memory = std::make_unique<ValueMemory>(entries, pipeline);
  memory->reserve(static_cast<int>(turns.size()), {{}});
  for (int turn = 0; turn < std::ssize(turns); ++turn) {
    memory->open(turn, {});
    for (int value = 0; value < static_cast<int>(pipeline.values.size()); ++value)
      if (memory->holds(value))
        std::memset(memory->at(turn)[value].data, 0, memory->bytesOf(turn, value));
  }
  for (int value = 0; value < static_cast<int>(pipeline.values.size()); ++value) {
    const PipelineValue &number = pipeline.values[value];
    if (number.from.entry != normsEntry)
      continue;
    int sender = schedule.ranksOf[number.from.stage].front();
    for (const StagePort &port : number.to)
      for (int rank : schedule.ranksOf[port.stage]) {
        const std::vector<int> &replicas = schedule.ranksOf[number.from.stage];
        bool knows = std::ranges::find(replicas, rank) != replicas.end();
        bool comesFirst = schedule.kind != ScheduleKind::PipeDream || number.from.stage > port.stage;
        if (knows || !comesFirst || (sender != own && rank != own))
          continue;
        auto way = std::ranges::find_if(
            ways, [&](const Way &other) { return other.stage == number.from.stage && other.rank == rank; });
        Way &found = way == ways.end() ? ways.emplace_back(Way{number.from.stage, rank, sender, {}}) : *way;
        if (std::ranges::find(found.values, value) == found.values.end())
          found.values.push_back(value);
      }
  }
}

void NumberExchange::waitAll(std::vector<Ticket> &tickets) {
  for (Ticket ticket : tickets)
    courier->wait(ticket);
  tickets.clear();
}

void NumberExchange::post(int64_t number) {
  int turn = static_cast<int>(number % std::ssize(turns));
  waitAll(turns[turn].sends);
  for (auto &[stage, run] : stages)
    if (StageEntry *norms = run->program.find(normsEntry))
      norms->run(memory->at(turn), {}, {});
  for (const Way &way : ways) {
    Message message{{MessageKind::Exchange, pipeline.hash, number, way.stage, way.rank, 0}, {}};
    for (int value : way.values)
      message.parts.push_back({memory->at(turn)[value].data, memory->bytesOf(turn, value), memory->typeOf(value)});
    if (way.sender == own)
      turns[turn].sends.push_back(courier->send(way.rank, std::move(message)));
    else
      turns[turn].receives.push_back(courier->receive(way.sender, std::move(message)));
  }
}

const std::vector<PlacedValue> &NumberExchange::await(int64_t number) {
  int turn = static_cast<int>(number % std::ssize(turns));
  waitAll(turns[turn].receives);
  return memory->at(turn);
}

void NumberExchange::settle() {
  for (Turn &turn : turns)
    waitAll(turn.sends);
}

} // namespace freestone::distributed
