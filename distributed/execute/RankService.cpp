#include "distributed/execute/RankService.h"

#include "distributed/Error.h"
#include "distributed/schedule/VerifySchedule.h"
#include "distributed/simulate/Simulation.h"
#include <algorithm>
#include <cstring>
#include <set>

namespace freestone::distributed {

using Json = nlohmann::json;

const Schedule &PlannedSchedules::get(int microBatches) {
  if (auto found = schedules.find(microBatches); found != schedules.end())
    return found->second;
  ScheduleOptions wanted = ScheduleOptions::straight(options.schedule, options.ranks, microBatches);
  wanted.chunks = pipeline.stages / options.ranks;
  Schedule schedule = generate(wanted);
  verifySchedule(schedule);
  std::vector<StageEdge> edges = pipeline.edges();
  addTransfers(schedule, edges);
  Costs costs;
  costs.stages.resize(pipeline.stages);
  if (Simulation simulated = simulate(schedule, edges, costs); !simulated.deadlock.empty())
    throw Error("the schedule's ranks would wait for each other for ever:\n" + simulated.deadlock);
  return schedules.emplace(microBatches, std::move(schedule)).first->second;
}

std::vector<MicroBatch> splitBatch(const std::vector<formats::TensorView> &fields, int64_t samples, int count) {
  int64_t each = (samples + count - 1) / count;
  std::vector<MicroBatch> parts;
  for (int64_t first = 0; first < samples; first += each) {
    MicroBatch &part = parts.emplace_back();
    for (formats::TensorView field : fields) {
      size_t sampleBytes = field.bytes.size() / static_cast<size_t>(samples);
      field.shape.front() = std::min(each, samples - first);
      field.bytes = field.bytes.subspan(first * sampleBytes, field.shape.front() * sampleBytes);
      part.fields.push_back(std::move(field));
    }
  }
  return parts;
}

PipelineRank::PipelineRank(int rank, const std::vector<std::optional<Artifact>> &artifacts,
                           const PipelineDescription &pipeline, const train::StepDescription &about,
                           const PipelineOptions &options, Courier *courier)
    : numbers(about.hyperparameters), seed(static_cast<int64_t>(options.seed)), schedules(pipeline, options),
      executor(rank, schedules.get(options.microBatches), artifacts, pipeline, about, options.execution, courier),
      states(executor.stages(), pipeline) {
  for (auto &[name, value] : numbers)
    executor.setNumber(name, &value);
  executor.setNumber("seed", &seed);
}

RankService::RankService(int rank, const std::vector<std::optional<Artifact>> &artifacts,
                         const PipelineDescription &pipeline, const train::StepDescription &about,
                         const PipelineOptions &options, Courier &courier)
    : own(rank, artifacts, pipeline, about, options, &courier), line(courier, 0, pipeline.hash) {}

void RankService::serve() {
  std::set<std::string> fields;
  for (const StageProgram *stage : own.executor.stages())
    fields.merge(stage->inputs());
  line.send({{{"fields", fields}}, {}});
  for (;;) {
    const Parcel &command = line.receive();
    const std::string action = command.about.at("do");
    if (action == "end")
      return line.settle();
    if (action == "train")
      train(command);
    else if (action == "evaluate")
      evaluate(command);
    else if (action == "restore")
      own.states.restore(train::Checkpoint::open(command.about.at("folder")));
    else if (action == "scale")
      own.states.setLossScale(command.about.at("value"));
    else if (action == "gather")
      gather();
    else if (action == "report")
      line.send({{{"memory", own.executor.memory().print()}, {"allocations", own.executor.allocations()}}, {}});
  }
}

/// The micro-batches of a command.
static StepWork workOf(const Parcel &command) {
  StepWork work;
  work.number = command.about.at("number");
  const Json &sizes = command.about.at("sizes");
  std::vector<formats::TensorView> fields = command.tensors;
  std::erase_if(fields, [](const formats::TensorView &field) { return field.name.empty(); });
  work.microBatches = splitBatch(fields, command.about.at("samples"), command.about.at("parts"));
  for (size_t part = 0; part < work.microBatches.size(); ++part)
    work.microBatches[part].sizes = sizes.at(part).get<std::vector<int64_t>>();
  return work;
}

void RankService::train(const Parcel &command) {
  // Behind the fields, since JSON has no infinity.
  const uint8_t *next = command.tensors.back().bytes.data();
  for (auto &[name, value] : own.numbers) {
    std::memcpy(&value, next, sizeof(value));
    next += sizeof(value);
  }
  StepWork work = workOf(command);
  work.schedule = &own.schedules.get(static_cast<int>(work.microBatches.size()));
  own.executor.train(work);
}

void RankService::evaluate(const Parcel &command) {
  own.executor.evaluate(workOf(command), command.about.at("results"));
}

/// Sends the states to rank 0, from where they are.
void RankService::gather() {
  Parcel parcel{{{"groups", Json::array()}, {"panels", Json::object()}}, {}};
  for (train::TensorGroup &group : own.states.groups()) {
    parcel.about["groups"].push_back({group.name, group.tensors.size()});
    for (const auto &[name, panels] : group.panels)
      parcel.about["panels"][name] = {panels.axis, panels.width};
    std::ranges::move(group.tensors, std::back_inserter(parcel.tensors));
  }
  line.send(std::move(parcel));
  line.settle();
}

} // namespace freestone::distributed
