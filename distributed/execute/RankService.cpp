#include "distributed/execute/RankService.h"

#include "distributed/Error.h"
#include "distributed/execute/RankTrace.h"
#include <algorithm>
#include <cstring>
#include <set>
#include <unistd.h>
#include <utility>

namespace freestone::distributed {

using Json = nlohmann::json;

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
    : seed(static_cast<int64_t>(options.seed)), schedules(pipeline, options),
      executor(rank, schedules, artifacts, pipeline, about, options.execution, courier),
      states(executor.stages(), pipeline) {
  if (schedules.isDelayed() && about.scalesLoss())
    throw Error(fmt::format("'{}' does not scale the loss, since its steps overlap: train in bf16, or with "
                            "--no-loss-scaling",
                            nameOf(options.schedule)));
  executor.setNumber("seed", &seed);
}

static std::set<std::string> inputsOf(const std::vector<StageProgram *> &stages) {
  std::set<std::string> inputs;
  for (const StageProgram *stage : stages)
    inputs.merge(stage->inputs());
  return inputs;
}

RankService::RankService(int rank, const std::vector<std::optional<Artifact>> &artifacts,
                         const PipelineDescription &pipeline, const train::StepDescription &about,
                         const PipelineOptions &options, Courier &courier, OpenData openData)
    : own(rank, artifacts, pipeline, about, options, &courier), courier(courier), line(courier, 0, pipeline.hash),
      model(pipeline.hash), shards(rank, courier, pipeline.hash),
      data(inputsOf(own.executor.stages()), std::move(openData)) {}

void RankService::serve() {
  line.send({{{"states", own.states.names()}}, {}});
  for (;;) {
    const Parcel &command = line.receive();
    const std::string action = command.about.at("do");
    if (action == "end") {
      settleReport();
      return line.settle();
    }
    if (action == "load")
      data.load(command.about);
    else if (action == "train" || action == "feed")
      train(command);
    else if (action == "flush")
      own.executor.flush();
    else if (action == "evaluate")
      evaluate(command);
    else if (action == "restore")
      own.states.restore(
          train::Checkpoint::open(command.about.at("folder"), train::Checkpoint::Verify::WhatIsRestored));
    else if (action == "scale")
      own.states.setLossScale(command.about.at("value"));
    else if (action == "look")
      look(command.about.at("folder"));
    else if (action == "save")
      shards.save(own.states.groups(command.about.at("others_save").get<std::set<std::string>>()),
                  command.about.at("folder"));
    else if (action == "clock")
      line.send({readClock(), {}});
    else if (action == "times")
      line.send({printTimes(own.executor.activity()), {}});
    else if (action == "trace")
      sendTrace(command.about, own.executor.rank(), own.executor.activity(), own.schedules, line);
    else if (action == "report")
      line.send({{{"memory", own.executor.memory().print()}, {"allocations", own.executor.allocations()}}, {}});
  }
}

/// The micro-batches of a command.
StepWork RankService::workOf(const Parcel &command, train::DataUse use) {
  StepWork work;
  work.number = command.about.at("number");
  const Json &sizes = command.about.at("sizes");
  work.microBatches = splitBatch(data.take(use, command.about), command.about.at("samples"), command.about.at("parts"));
  for (size_t part = 0; part < work.microBatches.size(); ++part)
    work.microBatches[part].sizes = sizes.at(part).get<std::vector<int64_t>>();
  return work;
}

void RankService::train(const Parcel &command) {
  StepWork work = workOf(command, train::DataUse::Training);
  // As a tensor, since JSON has no infinity.
  formats::Bytes numbers = command.tensors.front().bytes;
  work.numbers.resize(numbers.size() / sizeof(double));
  std::memcpy(work.numbers.data(), numbers.data(), numbers.size());
  if (command.about.at("do") == "feed") {
    own.executor.feed(work);
  } else {
    work.microBatchesBefore = command.about.at("before");
    bool updates = command.about.at("updates");
    own.executor.train(work, updates);
    if (!updates)
      return;
  }
  settleReport();
  report = own.executor.report();
  reporting = courier.send(0, messageOf(report, model, work.number, own.executor.rank()));
}

/// The report of the step before, which has come long since.
void RankService::settleReport() {
  if (reporting)
    courier.wait(*std::exchange(reporting, std::nullopt));
}

void RankService::evaluate(const Parcel &command) {
  own.executor.evaluate(workOf(command, train::DataUse::Evaluation), command.about.at("results"));
}

/// Tells whether this rank can write to a folder of rank 0's.
void RankService::look(const std::string &folder) {
  bool isSeen = access(folder.c_str(), W_OK | X_OK) == 0;
  line.send({{{"seen", isSeen}, {"machine", machineName()}}, {}});
}

} // namespace freestone::distributed
