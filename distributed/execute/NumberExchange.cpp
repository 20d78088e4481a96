#include "distributed/execute/NumberExchange.h"

#include <algorithm>
#include <cstring>

namespace freestone::distributed {

NumberExchange::NumberExchange(std::map<int, std::unique_ptr<StageRun>> &stages, const PipelineDescription &pipeline,
                               const Schedule &schedule, int own, Courier *courier)
    : stages(stages), pipeline(pipeline), own(own), courier(courier) {
  std::vector<StageEntry *> entries;
  for (auto &[stage, run] : stages)
    entries.insert(entries.end(), {run->program.find(normsEntry), run->program.find(updateEntry)});
  memory = std::make_unique<ValueMemory>(entries, pipeline);
  memory->reserve(turns, {{}});
  for (int turn = 0; turn < turns; ++turn) {
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

void NumberExchange::post(int64_t number) {
  int turn = static_cast<int>(number % turns);
  for (auto &[stage, run] : stages)
    if (StageEntry *norms = run->program.find(normsEntry))
      norms->run(memory->at(turn), {}, {});
  for (const Way &way : ways) {
    Message message{{MessageKind::Exchange, pipeline.hash, number, way.stage, way.rank, 0}, {}};
    for (int value : way.values)
      message.parts.push_back(
          {memory->at(turn)[value].data, memory->bytesOf(turn, value), memory->typeOf(value)});
    tickets[turn].push_back(way.sender == own ? courier->send(way.rank, std::move(message))
                                              : courier->receive(way.sender, std::move(message)));
  }
}

const std::vector<PlacedValue> &NumberExchange::await(int64_t number) {
  int turn = static_cast<int>(number % turns);
  for (Ticket ticket : tickets[turn])
    courier->wait(ticket);
  tickets[turn].clear();
  return memory->at(turn);
}

} // namespace freestone::distributed
