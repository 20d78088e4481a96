#include "distributed/execute/RankMemory.h"

#include "distributed/execute/RankExecutor.h"
#include "formats/ElementType.h"
#include <nlohmann/json.hpp>
#include <set>

namespace freestone::distributed {

nlohmann::json RankMemory::print() const {
  return {{"states", states},
          {"slots", slots},
          {"exchanged", exchanged},
          {"evaluation", evaluation},
          {"intermediates", intermediates}};
}

RankMemory RankMemory::read(const nlohmann::json &json) {
  return {json.at("states"), json.at("slots"), json.at("exchanged"), json.at("evaluation"), json.at("intermediates")};
}

uint64_t RankExecutor::countStates() const {
  uint64_t bytes = 0;
  for (const auto &[stage, run] : runs)
    for (const StateInfo &state : run->program.state().states())
      bytes += formats::countBytes(state.dtype, state.shape);
  return bytes;
}

RankMemory RankExecutor::planMemory(const std::vector<StageNeeds> &needs,
                                    const std::vector<std::vector<int64_t>> &microBatches,
                                    const std::vector<std::vector<int64_t>> &evaluated) {
  std::set<std::vector<int64_t>> sizes(microBatches.begin(), microBatches.end());
  RankMemory memory;
  memory.states = countStates();
  memory.exchanged = exchange->bytes();
  if (!evaluated.empty())
    memory.evaluation = evaluation->plan(evaluated);
  for (auto &[stage, run] : runs) {
    memory.slots += run->plan(needs[stage], {sizes.begin(), sizes.end()});
    const std::vector<int> &replicas = schedules.places()[stage];
    std::set<std::vector<int64_t>> ownSizes;
    for (size_t number = 0; number < microBatches.size(); ++number)
      if (replicas[number % replicas.size()] == own)
        ownSizes.insert(microBatches[number]);
    for (const auto &[name, entry] : run->program.all()) {
      bool isEvaluation = name == evaluateEntry, isUpdate = name == normsEntry || name == updateEntry;
      uint64_t most = 0;
      auto add = [&](const std::vector<int64_t> &at) { most = std::max(most, entry->countIntermediates(at)); };
      if (isUpdate)
        add({});
      else if (isEvaluation && leads(stage))
        std::ranges::for_each(evaluated, add);
      else if (!isEvaluation)
        std::ranges::for_each(ownSizes, add);
      memory.intermediates += most;
    }
  }
  for (const auto &[stage, sum] : sums)
    memory.slots += sum->bytes();
  memory.slots += shared->bytes();
  return memory;
}

RankMemory RankExecutor::memory() const {
  RankMemory memory;
  memory.states = countStates();
  memory.exchanged = exchange->bytes();
  memory.evaluation = evaluation->bytes();
  for (const auto &[stage, run] : runs) {
    memory.slots += run->bytes();
    for (const auto &[name, entry] : run->program.all()) {
      freestone_counters counters = {};
      counters.struct_size = sizeof(counters);
      check(freestone_instance_counters(entry->entry.instance.get(), &counters));
      memory.intermediates += counters.arena_bytes;
    }
  }
  for (const auto &[stage, sum] : sums)
    memory.slots += sum->bytes();
  memory.slots += shared->bytes();
  return memory;
}

} // namespace freestone::distributed
