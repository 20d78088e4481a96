#include "distributed/execute/PipelineTrainer.h"

#include "distributed/Error.h"
#include "distributed/schedule/VerifySchedule.h"
#include "distributed/simulate/Simulation.h"
#include "formats/ElementType.h"
#include "train/step/StepData.h"
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <thread>
#include <utility>

namespace freestone::distributed {

using train::StepMetrics;

std::vector<MicroBatch> splitBatch(const train::Batch &batch, int count, const PipelineDescription &pipeline) {
  int64_t each = (batch.samples + count - 1) / count;
  std::vector<MicroBatch> parts;
  for (int64_t first = 0; first < batch.samples; first += each) {
    MicroBatch &part = parts.emplace_back();
    for (formats::TensorView field : batch.fields) {
      size_t sampleBytes = field.bytes.size() / static_cast<size_t>(batch.samples);
      field.shape.front() = std::min(each, batch.samples - first);
      field.bytes = field.bytes.subspan(first * sampleBytes, field.shape.front() * sampleBytes);
      part.fields.push_back(std::move(field));
    }
    part.sizes = pipeline.sizesOf(part.fields);
  }
  return parts;
}

Schedule planSchedule(ScheduleKind kind, const PipelineDescription &pipeline, int ranks, int microBatches) {
  ScheduleOptions options = ScheduleOptions::straight(kind, ranks, microBatches);
  options.chunks = pipeline.stages / ranks;
  Schedule schedule = generate(options);
  verifySchedule(schedule);
  std::vector<StageEdge> edges = pipeline.edges();
  addTransfers(schedule, edges);
  Costs costs;
  costs.stages.resize(pipeline.stages);
  if (Simulation simulated = simulate(schedule, edges, costs); !simulated.deadlock.empty())
    throw Error("the schedule's ranks would wait for each other for ever:\n" + simulated.deadlock);
  return schedule;
}

PipelineTrainer::PipelineTrainer(const std::vector<Artifact> &artifacts, train::StepDescription description,
                                 const PipelineOptions &options, std::span<const std::unique_ptr<Transport>> transports)
    : about(std::move(description)), stages(PipelineDescription::parse(artifacts.front().attachment("pipeline.json"))),
      options(options), perRank(options.execution), numbers(about.hyperparameters),
      seed(static_cast<int64_t>(options.seed)) {
  if (stages.stages != std::ssize(artifacts) || stages.stages % options.ranks != 0)
    throw Error(fmt::format("{} stages can't be given to {} ranks", stages.stages, options.ranks));
  int threads = perRank.threads > 0 ? perRank.threads : static_cast<int>(std::thread::hardware_concurrency());
  perRank.threads = std::max(1, threads / options.ranks);
  const Schedule &schedule = scheduleFor(options.microBatches);
  std::vector<std::optional<Artifact>> all(artifacts.begin(), artifacts.end());
  for (int rank = 0; rank < options.ranks; ++rank) {
    Rank &added = ranks.emplace_back();
    if (options.ranks > 1)
      added.courier = std::make_unique<Courier>(*transports[rank], options.courier);
    added.executor = std::make_unique<RankExecutor>(rank, schedule, all, stages, about, perRank, added.courier.get());
    for (auto &[name, value] : numbers)
      added.executor->setNumber(name, &value);
    added.executor->setNumber("seed", &seed);
  }
  programs.resize(stages.stages);
  for (Rank &rank : ranks)
    for (StageProgram *program : rank.executor->stages())
      programs[program->stage()] = program;
}

PipelineTrainer::~PipelineTrainer() = default;

const Schedule &PipelineTrainer::scheduleFor(int microBatches) {
  auto found = schedules.find(microBatches);
  if (found == schedules.end())
    found = schedules.emplace(microBatches, planSchedule(options.schedule, stages, options.ranks, microBatches)).first;
  return found->second;
}

/// Does the work of all ranks, each on a thread of its own; throws the first rank's error.
void PipelineTrainer::onAllRanks(const std::function<void(RankExecutor &)> &work) {
  if (ranks.size() == 1)
    return work(*ranks.front().executor);
  std::mutex mutex;
  std::exception_ptr first;
  auto run = [&](Rank &rank) {
    try {
      work(*rank.executor);
    } catch (const std::exception &error) {
      {
        std::lock_guard lock(mutex);
        if (!first)
          first = std::current_exception();
      }
      rank.courier->abort(fmt::format("rank {}: {}", rank.executor->rank(), error.what()));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (Rank &rank : std::span(ranks).subspan(1))
      threads.emplace_back([&] { run(rank); });
    run(ranks.front());
  }
  if (first)
    std::rethrow_exception(first);
}

std::vector<ValueInfo> PipelineTrainer::dataInputs() const { return train::dataInputs(about, stages.inputs); }

void PipelineTrainer::setNumber(const std::string &name, double value) {
  about.requireNumber(name);
  numbers.at(name) = value;
}

double PipelineTrainer::number(const std::string &name) const {
  about.requireNumber(name);
  return numbers.at(name);
}

void PipelineTrainer::setLossScale(double scale) {
  bool isSet = false;
  for (StageProgram *program : programs)
    if (std::optional<size_t> index = program->state().find("loss_scale")) {
      *program->state().state().data<float>(*index) = static_cast<float>(scale);
      isSet = true;
    }
  if (!isSet)
    throw Error("the compiled step does not scale its loss");
}

std::optional<StepMetrics> PipelineTrainer::accumulate(const train::Batch &) {
  throw Error("a pipeline has micro-batches in place of accumulated batches: choose a larger --batch, and more "
              "--micro-batches");
}

std::optional<StepMetrics> PipelineTrainer::submit(const train::Batch &batch) {
  StepWork work;
  work.number = batch.place.step + 1;
  work.microBatches = splitBatch(batch, options.microBatches, stages);
  work.schedule = &scheduleFor(static_cast<int>(work.microBatches.size()));
  onAllRanks([&](RankExecutor &rank) { rank.train(work); });
  ++counted.steps;
  counted.entered += std::ssize(work.microBatches);
  StepMetrics metrics;
  metrics.step = work.number;
  metrics.epoch = batch.place.epoch + 1;
  metrics.learningRate = number("learning_rate");
  metrics.samples = batch.samples;
  metrics.length = batch.length;
  train::readMetrics(programs.front()->find(updateEntry)->entry, about, metrics);
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
  StepWork work;
  work.number = ++evaluations;
  work.microBatches = splitBatch(batch, 1, stages);
  const train::StepEntry &last = programs.back()->find(evaluateEntry)->entry;
  sums.hasClasses = last.hasOutput("correct");
  std::vector<std::string> names = {"loss_sum", "count"};
  if (sums.hasClasses)
    names.insert(names.end(), {"correct", "labels"});
  std::vector<double> results;
  onAllRanks([&](RankExecutor &rank) {
    std::vector<double> told = rank.evaluate(work, names);
    if (rank.rank() == 0)
      results = std::move(told);
  });
  sums.loss += results[0];
  sums.count += results[1];
  if (sums.hasClasses) {
    sums.correct += results[2];
    sums.labels += results[3];
  }
}

int64_t PipelineTrainer::stepsDone() const {
  for (const StageProgram *program : programs)
    if (std::optional<size_t> index = program->state().find("optimizer/step"))
      return *program->state().state().data<int64_t>(*index);
  return 0;
}

/// Whether a stage's copy of a state is the one to save: that of the stage which updates it, or the first.
bool PipelineTrainer::isHome(const std::string &state, int stage) const {
  if (auto shared = std::ranges::find(stages.shared, state, &SharedState::name); shared != stages.shared.end())
    return shared->home == stage;
  return std::ranges::none_of(std::span(programs).first(stage),
                              [&](const StageProgram *before) { return before->state().find(state).has_value(); });
}

std::vector<train::TensorGroup> PipelineTrainer::groups() const {
  std::vector<train::TensorGroup> all = {{"parameters", {}}, {"statistics", {}}, {"optimizer", {}}};
  for (const StageProgram *program : programs)
    for (train::TensorGroup &part : program->state().groups()) {
      train::TensorGroup &group = *std::ranges::find(all, part.name, &train::TensorGroup::name);
      for (formats::TensorView &tensor : part.tensors) {
        if (!isHome(tensor.name, program->stage()))
          continue;
        if (auto panels = part.panels.find(tensor.name); panels != part.panels.end())
          group.panels.insert(*panels);
        group.tensors.push_back(std::move(tensor));
      }
    }
  // The order of states depends on the cut; that of a file must not.
  for (train::TensorGroup &group : all)
    std::ranges::sort(group.tensors, {}, &formats::TensorView::name);
  std::erase_if(all, [](const train::TensorGroup &group) { return group.tensors.empty(); });
  return all;
}

std::vector<formats::TensorView> PipelineTrainer::weights() const {
  std::vector<formats::TensorView> all;
  for (const StageProgram *program : programs)
    for (formats::TensorView &tensor : program->state().weights())
      if (isHome(tensor.name, program->stage()))
        all.push_back(std::move(tensor));
  return all;
}

void PipelineTrainer::restore(const train::Checkpoint &checkpoint) {
  std::map<std::string, std::vector<train::TensorTarget>> homes;
  for (StageProgram *program : programs) {
    std::map<std::string, std::vector<train::TensorTarget>> targets;
    program->state().addTargets(targets);
    for (auto &[group, list] : targets)
      for (train::TensorTarget &target : list)
        if (isHome(target.name, program->stage()))
          homes[group].push_back(std::move(target));
  }
  for (const auto &[group, targets] : homes)
    checkpoint.restore(group, targets);
  // Copies on other stages have the same layout.
  for (const auto &[group, targets] : homes)
    for (const train::TensorTarget &home : targets)
      for (StageProgram *program : programs)
        if (std::optional<size_t> index = program->state().find(home.name))
          if (void *copy = program->state().state().tensor(*index).data; copy != home.data)
            std::memcpy(copy, home.data, formats::countBytes(home.dtype, home.shape));
  for (StageProgram *program : programs)
    program->state().completeRestored();
}

std::vector<size_t> PipelineTrainer::keptBytes() const {
  std::vector<size_t> bytes;
  for (const Rank &rank : ranks)
    bytes.push_back(rank.executor->keptBytes());
  return bytes;
}

int64_t PipelineTrainer::allocations() const {
  int64_t count = 0;
  for (const Rank &rank : ranks)
    count += rank.executor->allocations();
  return count;
}

} // namespace freestone::distributed
