#include "distributed/execute/PipelineTrainer.h"

#include "distributed/Error.h"
#include "train/step/StepData.h"
#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace freestone::distributed {

using Json = nlohmann::json;
using train::StepMetrics;

PipelineTrainer::PipelineTrainer(const std::vector<std::optional<Artifact>> &artifacts,
                                 train::StepDescription description, const PipelineOptions &options, Courier *courier)
    : about(std::move(description)), pipeline(PipelineDescription::read(*artifacts.front())), options(options) {
  own = std::make_unique<PipelineRank>(0, artifacts, pipeline, about, this->options, courier);
  states = own->states.names();
  for (int rank = 1; rank < options.ranks; ++rank) {
    Peer &peer = peers.emplace_back(Peer{{*courier, rank, pipeline.hash}, {}});
    const Json &told = peer.line.receive().about;
    for (const std::string state : told.at("states"))
      if (!states.insert(state).second)
        peer.othersSave.push_back(state);
  }
  if (courier)
    shards = std::make_unique<PeerShards>(*courier, pipeline.hash, peers);
}

PipelineTrainer::~PipelineTrainer() {
  try {
    for (Peer &peer : peers)
      peer.line.send({{{"do", "end"}}, {}});
    for (Peer &peer : peers)
      peer.line.settle();
  } catch (const std::exception &) { // the job has ended with an error, which was told
  }
}

std::vector<ValueInfo> PipelineTrainer::dataInputs() const { return train::dataInputs(about, pipeline.inputs); }

void PipelineTrainer::setNumber(const std::string &name, double value) {
  about.requireNumber(name);
  own->numbers.at(name) = value;
}

double PipelineTrainer::number(const std::string &name) const {
  about.requireNumber(name);
  return own->numbers.at(name);
}

void PipelineTrainer::setLossScale(double scale) {
  if (!own->states.setLossScale(scale))
    throw Error("the compiled step does not scale its loss");
  for (Peer &peer : peers)
    peer.line.send({{{"do", "scale"}, {"value", scale}}, {}});
}

std::unique_ptr<train::Loader> PipelineTrainer::load(const train::DataName &name, const train::Dataset &data,
                                                     const train::LoaderOptions &options, train::LoaderPosition start) {
  for (Peer &peer : peers)
    peer.line.send({describeLoad(name, data, options, start), {}});
  train::LoaderOptions ownOptions = options;
  ownOptions.fields.emplace();
  for (const StageProgram *stage : own->executor.stages())
    ownOptions.fields->merge(stage->inputs());
  return std::make_unique<train::Loader>(data, ownOptions, start);
}

std::optional<StepMetrics> PipelineTrainer::accumulate(const train::Batch &) {
  throw Error("a pipeline has micro-batches in place of accumulated batches: choose a larger --batch, and more "
              "--micro-batches");
}

StepWork PipelineTrainer::split(const train::Batch &batch, int count) const {
  StepWork work;
  work.microBatches = splitBatch(batch.fields, batch.samples, count);
  for (MicroBatch &part : work.microBatches)
    part.sizes = pipeline.sizesOf(part.fields);
  return work;
}

/// Gives a command about a batch to the other ranks, which read its fields themselves.
void PipelineTrainer::tell(const train::Batch &batch, const StepWork &work, int count, Json about) {
  values.clear();
  if (about.at("do") == "train")
    for (const auto &[name, value] : own->numbers)
      values.push_back(value);
  about.update(describeBatch(batch));
  about["number"] = work.number;
  about["parts"] = count;
  for (const MicroBatch &part : work.microBatches)
    about["sizes"].push_back(part.sizes);
  for (Peer &peer : peers) {
    Parcel parcel{about, {}};
    if (!values.empty())
      parcel.tensors.push_back({"",
                                FREESTONE_F64,
                                {std::ssize(values)},
                                {reinterpret_cast<const uint8_t *>(values.data()), values.size() * sizeof(double)}});
    peer.line.send(std::move(parcel));
  }
}

std::optional<StepMetrics> PipelineTrainer::submit(const train::Batch &batch) {
  StepWork work = split(batch, options.microBatches);
  work.number = batch.place.step + 1;
  work.schedule = &own->schedules.get(static_cast<int>(work.microBatches.size()));
  tell(batch, work, options.microBatches, {{"do", "train"}});
  own->executor.train(work);
  for (Peer &peer : peers) // the numbers may change then
    peer.line.settle();
  ++counted.steps;
  counted.entered += std::ssize(work.microBatches);
  StepMetrics metrics;
  metrics.step = work.number;
  metrics.epoch = batch.place.epoch + 1;
  metrics.learningRate = number("learning_rate");
  metrics.samples = batch.samples;
  metrics.length = batch.length;
  train::readMetrics(own->executor.stages().front()->find(updateEntry)->entry, about, metrics);
  return std::exchange(ended, metrics);
}

std::optional<StepMetrics> PipelineTrainer::finish() {
  counted.hostReads += ended.has_value();
  return std::exchange(ended, std::nullopt);
}

train::Recorder PipelineTrainer::recorder() const {
  if (!options.execution.timeline)
    return {};
  return [timeline = options.execution.timeline](const char *thread, const char *what, int64_t begin, int64_t end,
                                                 int64_t step) {
    check(freestone_timeline_add(timeline, thread, what, begin, end, step));
  };
}

void PipelineTrainer::evaluate(const train::Batch &batch, EvaluationSums &sums) {
  StepWork work = split(batch, 1);
  work.number = ++evaluations;
  sums.hasClasses = about.classes > 0;
  std::vector<std::string> names = {"loss_sum", "count"};
  if (sums.hasClasses)
    names.insert(names.end(), {"correct", "labels"});
  tell(batch, work, 1, {{"do", "evaluate"}, {"results", names}});
  std::vector<double> results = own->executor.evaluate(work, names);
  for (Peer &peer : peers)
    peer.line.settle();
  sums.loss += results[0];
  sums.count += results[1];
  if (sums.hasClasses) {
    sums.correct += results[2];
    sums.labels += results[3];
  }
}

void PipelineTrainer::restore(const train::Checkpoint &checkpoint) {
  checkpoint.requireNames(states);
  for (Peer &peer : peers)
    peer.line.send({{{"do", "restore"}, {"folder", checkpoint.folder()}}, {}});
  own->states.restore(checkpoint);
}

std::vector<PipelineTrainer::RankMemory> PipelineTrainer::memory() const {
  std::vector<RankMemory> ranks = {{own->executor.keptBytes(), own->executor.allocations()}};
  for (Peer &peer : peers) {
    peer.line.send({{{"do", "report"}}, {}});
    const Json &told = peer.line.receive().about;
    ranks.push_back({told.at("kept_bytes"), told.at("allocations")});
  }
  return ranks;
}

} // namespace freestone::distributed
