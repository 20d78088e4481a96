#include "distributed/execute/PipelineTrainer.h"

#include "distributed/Error.h"
#include "train/step/StepData.h"
#include <algorithm>
#include <fmt/format.h>

namespace freestone::distributed {

using Json = nlohmann::json;
using train::StepMetrics;

PipelineTrainer::PipelineTrainer(const std::vector<std::optional<Artifact>> &artifacts,
                                 train::StepDescription description, const PipelineOptions &options, Courier *courier)
    : about(std::move(description)), pipeline(PipelineDescription::read(*artifacts.front())), options(options),
      numbers(about.hyperparameters), courier(courier) {
  own = std::make_unique<PipelineRank>(0, artifacts, pipeline, about, this->options, courier);
  own->executor.setOnUpdate([this] { readUpdate(); });
  if (options.execution.timeline) {
    trace = std::make_unique<TraceGatherer>(own->executor.activity(), own->schedules, pipeline.stages);
    trace->begin(options.ranks);
  }
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
    for (StepReports &reports : told)
      for (Ticket ticket : reports.tickets)
        courier->wait(ticket);
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
  numbers.at(name) = value;
}

double PipelineTrainer::number(const std::string &name) const {
  about.requireNumber(name);
  return numbers.at(name);
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

StepWork PipelineTrainer::split(const train::Batch &batch, int count) const {
  StepWork work;
  work.microBatches = splitBatch(batch.fields, batch.samples, count);
  for (MicroBatch &part : work.microBatches)
    part.sizes = pipeline.sizesOf(part.fields);
  return work;
}

StepWork PipelineTrainer::workOf(const train::Batch &batch) const {
  StepWork work = split(batch, options.microBatches);
  work.number = batch.place.step + 1;
  work.microBatchesBefore = microBatchesBefore;
  for (const auto &[name, value] : numbers)
    work.numbers.push_back(value);
  return work;
}

/// Gives a command about a batch to the other ranks, which read its fields themselves.
void PipelineTrainer::tell(const train::Batch &batch, const StepWork &work, int count, Json about) {
  about.update(describeBatch(batch));
  about["number"] = work.number;
  about["before"] = work.microBatchesBefore;
  about["parts"] = count;
  for (const MicroBatch &part : work.microBatches)
    about["sizes"].push_back(part.sizes);
  for (Peer &peer : peers) {
    Parcel parcel{about, {}};
    if (!work.numbers.empty())
      parcel.tensors.push_back(
          {"",
           FREESTONE_F64,
           {std::ssize(work.numbers)},
           {reinterpret_cast<const uint8_t *>(work.numbers.data()), work.numbers.size() * sizeof(double)}});
    peer.line.send(std::move(parcel));
  }
}

StepMetrics PipelineTrainer::metricsOf(const train::Batch &batch) const {
  StepMetrics metrics;
  metrics.step = batch.place.step + 1;
  metrics.epoch = batch.place.epoch + 1;
  metrics.learningRate = number("learning_rate");
  metrics.samples = samples + batch.samples;
  metrics.length = batch.length;
  return metrics;
}

/// The oldest step under way has been updated.
void PipelineTrainer::readUpdate() {
  ++counted.steps;
  StepMetrics metrics = fed.front();
  fed.pop_front();
  train::readMetrics(own->executor.stages().front()->find(updateEntry)->entry, about, metrics);
  metrics.ended = std::chrono::steady_clock::now();
  ended.push_back(metrics);
}

/// Posts the receives of what the other ranks will tell about a step.
PipelineTrainer::StepReports &PipelineTrainer::expectReports(int64_t step) {
  StepReports &expected = told.emplace_back();
  expected.ranks.resize(options.ranks);
  for (int rank = 1; rank < options.ranks; ++rank)
    expected.tickets.push_back(courier->receive(rank, messageOf(expected.ranks[rank], pipeline.hash, step, rank)));
  return expected;
}

/// The metrics of the oldest step that has ended, with what the ranks have told about it.
std::optional<StepMetrics> PipelineTrainer::takeEnded() {
  if (ended.empty())
    return std::nullopt;
  StepMetrics metrics = ended.front();
  ended.pop_front();
  for (Ticket ticket : std::exchange(told.front().tickets, {}))
    courier->wait(ticket);
  last = std::move(told.front().ranks);
  seconds[timed++ % seconds.size()] = static_cast<double>(told.front().ns) * 1e-9;
  if (options.ranks > 1) {
    train::RanksMetrics &ranks = metrics.ranks.emplace();
    double busy = 0;
    for (const RankReport &report : last) {
      busy += static_cast<double>(report.busyNs);
      ranks.bytes.push_back(static_cast<uint64_t>(report.bytes));
    }
    ranks.bubble = std::max(0.0, 1 - busy / (static_cast<double>(told.front().ns) * options.ranks));
  }
  told.pop_front();
  return metrics;
}

/// Runs the passes of a step on this rank, with what all ranks tell about it.
template <typename Run> void PipelineTrainer::watch(int64_t step, Run run) {
  StepReports &reports = expectReports(step);
  // Steps that overlap take the time from the end of one to the end of the next one.
  int64_t begin = told.size() > 1 ? watched : Timeline::now();
  run();
  watched = Timeline::now();
  reports.ns = watched - begin;
  reports.ranks.front() = own->executor.report();
}

/// Trains on a batch while nothing else is under way.
void PipelineTrainer::trainNow(const train::Batch &batch, const StepWork &work, bool updates) {
  flush();
  counted.entered += std::ssize(work.microBatches);
  tell(batch, work, options.microBatches, {{"do", "train"}, {"updates", updates}});
  if (updates) {
    fed.push_back(metricsOf(batch));
    if (trace)
      trace->addStep({work.number, Timeline::now(), static_cast<int>(work.microBatches.size())});
    watch(work.number, [&] { own->executor.train(work, /*updates=*/true); });
  } else {
    own->executor.train(work, /*updates=*/false);
  }
  for (Peer &peer : peers) // the batch may change then
    peer.line.settle();
}

std::optional<StepMetrics> PipelineTrainer::accumulate(const train::Batch &batch) {
  StepWork work = workOf(batch);
  trainNow(batch, work, /*updates=*/false);
  microBatchesBefore += static_cast<int>(work.microBatches.size());
  samples += batch.samples;
  return takeEnded();
}

std::optional<StepMetrics> PipelineTrainer::submit(const train::Batch &batch) {
  StepWork work = workOf(batch);
  bool isUsual = std::ssize(work.microBatches) == options.microBatches;
  if (!own->schedules.isDelayed() || !isUsual) {
    trainNow(batch, work, /*updates=*/true);
    microBatchesBefore = 0;
    samples = 0;
    return takeEnded();
  }
  counted.entered += std::ssize(work.microBatches);
  tell(batch, work, options.microBatches, {{"do", "feed"}});
  fed.push_back(metricsOf(batch));
  watch(work.number, [&] { own->executor.feed(work); });
  for (Peer &peer : peers)
    peer.line.settle();
  return takeEnded();
}

/// Ends all steps under way.
void PipelineTrainer::flush() {
  if (fed.empty())
    return;
  for (Peer &peer : peers)
    peer.line.send({{{"do", "flush"}}, {}});
  own->executor.flush();
}

std::optional<StepMetrics> PipelineTrainer::finish() {
  flush();
  counted.hostReads += !ended.empty();
  return takeEnded();
}

void PipelineTrainer::abandon() noexcept {
  fed.clear();
  ended.clear();
}

void PipelineTrainer::submitCall(void (*function)(void *user), void *user) {
  flush();
  function(user);
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
  flush();
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

double PipelineTrainer::stepSeconds() const {
  std::vector<double> last(seconds.begin(), seconds.begin() + std::min<int64_t>(timed, seconds.size()));
  if (last.empty())
    return 0;
  std::ranges::nth_element(last, last.begin() + last.size() / 2);
  return last[last.size() / 2];
}

std::vector<PipelineTrainer::MemoryReport> PipelineTrainer::memory() const {
  std::vector<MemoryReport> ranks = {{own->executor.memory(), own->executor.allocations()}};
  for (Peer &peer : peers) {
    peer.line.send({{{"do", "report"}}, {}});
    const Json &told = peer.line.receive().about;
    ranks.push_back({RankMemory::read(told.at("memory")), told.at("allocations")});
  }
  return ranks;
}

void PipelineTrainer::gatherTrace() {
  std::vector<ParcelLine *> lines;
  for (Peer &peer : peers)
    lines.push_back(&peer.line);
  if (trace)
    trace->gather(lines);
}

} // namespace freestone::distributed
