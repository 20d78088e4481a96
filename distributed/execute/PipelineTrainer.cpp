#include "distributed/execute/PipelineTrainer.h"

#include "distributed/Error.h"
#include "formats/ElementType.h"
#include "train/step/StepData.h"
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <utility>

namespace freestone::distributed {

using Json = nlohmann::json;
using train::StepMetrics;

PipelineTrainer::PipelineTrainer(const std::vector<std::optional<Artifact>> &artifacts,
                                 train::StepDescription description, const PipelineOptions &options, Courier *courier)
    : about(std::move(description)), pipeline(PipelineDescription::read(*artifacts.front())), options(options) {
  own = std::make_unique<PipelineRank>(0, artifacts, pipeline, about, this->options, courier);
  for (int rank = 1; rank < options.ranks; ++rank) {
    Peer &peer = peers.emplace_back(Peer{{*courier, rank, pipeline.hash}, {}});
    peer.fields = peer.line.receive().about.at("fields").get<std::set<std::string>>();
  }
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

/// Gives a command with a batch to the other ranks: to each, the fields that it takes.
void PipelineTrainer::tell(const train::Batch &batch, const StepWork &work, int count, Json about) {
  values.clear();
  if (about.at("do") == "train")
    for (const auto &[name, value] : own->numbers)
      values.push_back(value);
  about["number"] = work.number;
  about["samples"] = batch.samples;
  about["parts"] = count;
  for (const MicroBatch &part : work.microBatches)
    about["sizes"].push_back(part.sizes);
  for (Peer &peer : peers) {
    Parcel parcel{about, {}};
    std::ranges::copy_if(batch.fields, std::back_inserter(parcel.tensors),
                         [&](const formats::TensorView &field) { return peer.fields.contains(field.name); });
    if (!values.empty())
      parcel.tensors.push_back({"",
                                FREESTONE_F64,
                                {std::ssize(values)},
                                {reinterpret_cast<const uint8_t *>(values.data()), values.size() * sizeof(double)}});
    peer.line.send(std::move(parcel));
  }
}

std::optional<StepMetrics> PipelineTrainer::submit(const train::Batch &batch) {
  auto begin = std::chrono::steady_clock::now();
  StepWork work = split(batch, options.microBatches);
  work.number = batch.place.step + 1;
  work.schedule = &own->schedules.get(static_cast<int>(work.microBatches.size()));
  tell(batch, work, options.microBatches, {{"do", "train"}});
  own->executor.train(work);
  for (Peer &peer : peers) // the batch may change then
    peer.line.settle();
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  seconds[counted.steps++ % seconds.size()] = took.count();
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

std::vector<train::TensorGroup> PipelineTrainer::groups() const {
  std::vector<std::vector<train::TensorGroup>> ranks = {own->states.groups()};
  for (Peer &peer : peers)
    peer.line.send({{{"do", "gather"}}, {}});
  size_t count = 0;
  for (Peer &peer : peers) {
    const Parcel &states = peer.line.receive();
    std::vector<train::TensorGroup> &groups = ranks.emplace_back();
    auto next = states.tensors.begin();
    for (const Json &part : states.about.at("groups")) {
      train::TensorGroup &group = groups.emplace_back(train::TensorGroup{part.at(0), {}});
      for (int64_t left = part.at(1); left > 0; --left) {
        if (gathered.size() == count)
          gathered.emplace_back();
        std::vector<uint8_t> &copy = gathered[count++];
        copy.assign(next->bytes.begin(), next->bytes.end());
        formats::TensorView &tensor = group.tensors.emplace_back(*next++);
        tensor.bytes = {copy.data(), copy.size()};
        if (const Json &panels = states.about.at("panels"); panels.contains(tensor.name))
          group.panels[tensor.name] = {panels.at(tensor.name).at(0), panels.at(tensor.name).at(1)};
      }
    }
  }
  return mergeGroups(std::move(ranks));
}

std::vector<formats::TensorView> PipelineTrainer::weights() const {
  rows.clear();
  std::vector<formats::TensorView> all;
  for (train::TensorGroup &group : groups())
    for (formats::TensorView &tensor : group.tensors) {
      if (group.name != "parameters" && group.name != "statistics")
        continue;
      if (auto panels = group.panels.find(tensor.name); panels != group.panels.end()) {
        std::vector<uint8_t> &copy = rows.emplace_back(tensor.bytes.size());
        panels->second.unpack(tensor.bytes.data(), copy.data(), tensor.shape, formats::countBytes(tensor.dtype, {}));
        tensor.bytes = {copy.data(), copy.size()};
      }
      all.push_back(std::move(tensor));
    }
  return all;
}

void PipelineTrainer::restore(const train::Checkpoint &checkpoint) {
  for (Peer &peer : peers)
    peer.line.send({{{"do", "restore"}, {"folder", checkpoint.folder()}}, {}});
  own->states.restore(checkpoint);
}

double PipelineTrainer::stepSeconds() const {
  std::vector<double> last(seconds.begin(), seconds.begin() + std::min<int64_t>(counted.steps, seconds.size()));
  if (last.empty())
    return 0;
  std::ranges::nth_element(last, last.begin() + last.size() / 2);
  return last[last.size() / 2];
}

std::vector<PipelineTrainer::RankReport> PipelineTrainer::report() const {
  std::vector<RankReport> ranks = {{own->executor.memory(), own->executor.allocations()}};
  for (Peer &peer : peers) {
    peer.line.send({{{"do", "report"}}, {}});
    const Json &told = peer.line.receive().about;
    ranks.push_back({RankMemory::read(told.at("memory")), told.at("allocations")});
  }
  return ranks;
}

} // namespace freestone::distributed
