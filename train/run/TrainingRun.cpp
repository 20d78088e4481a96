#include "train/run/TrainingRun.h"

#include "train/Error.h"
#include "train/checkpoint/CheckpointWriter.h"
#include "train/report/MetricsLog.h"
#include "train/run/RunFolder.h"
#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace freestone::train {

namespace {

using Clock = std::chrono::steady_clock;

/// One running training.
class Run {
public:
  Run(Trainer &trainer, const OpenSource &open, const Dataset *evaluation, const TrainingOptions &options)
      : trainer(trainer), evaluation(evaluation), options(options), start(begin()),
        following(trainer.stepsUnderWay() + 3),
        checkpoints(options.folder + "/checkpoints", {options.keep}, trainer.otherShards()),
        log(options.folder, result.steps), writer(storing(), recorder),
        source(open(start, trainer.stepsUnderWay() + 1, recorder)), schedule(options.schedule),
        progress(options.report, progressOptions()) {}
  /// The source owns the batches, so the trainer must stop using them.
  ~Run() { trainer.abandon(); }
  Run(const Run &) = delete;

  TrainingResult run();

private:
  LoaderPosition begin();
  CheckpointWriter::Store storing();
  ProgressOptions progressOptions();
  int64_t stepsPerEpoch() const;
  int64_t stepAt(const LoaderPosition &place) const;
  const Batch *takeBatch();
  void tell(const std::optional<StepMetrics> &ended);
  void finishAll();
  bool trainBatch(const Batch &batch);
  void setRates(int64_t step);
  void save(const LoaderPosition &next);
  void write();
  void tellSaved();
  void evaluateNow();
  void finishAfterError();
  void requireTrained() const;

  Trainer &trainer;
  const Recorder recorder = trainer.recorder();
  const Dataset *evaluation;
  const TrainingOptions &options;
  TrainingResult result;
  LoaderPosition start;
  int64_t handed = result.steps;         ///< steps done or running
  std::vector<LoaderPosition> following; ///< the data's positions after the running steps, by step number
  CheckpointFolder checkpoints;
  MetricsLog log;
  CheckpointWriter writer;
  std::unique_ptr<BatchSource> source;
  Schedule schedule;
  int64_t total = 0;
  Progress progress;
  LoaderPosition saved = start;  ///< of the newest checkpoint
  std::optional<int64_t> saving; ///< the step after which the state is copied, until the copy is written
  int64_t skipped = 0;           ///< skipped steps of this run
  std::string firstSkipped;      ///< the reason of the first skip
  Clock::time_point lastEnd = Clock::now();
};

/// Restores the newest checkpoint of a resumed run.
LoaderPosition Run::begin() {
  auto skipped = [&](const std::string &reason) {
    fmt::print(options.report, "passing over a checkpoint: {}\n", reason);
  };
  std::optional<Checkpoint> newest = findBeginning(options.folder, options.resume, options.seed, skipped);
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error)
    throw Error(fmt::format("can't make the folder '{}': {}", options.folder, error.message()));
  if (!newest)
    return {};
  trainer.restore(*newest);
  fmt::print(options.report, "going on from {}\n", newest->folder());
  result.steps = newest->state().step;
  result.checkpoint = newest->folder();
  if (options.reached)
    *options.reached = {result.steps, newest->state().data};
  return newest->state().data;
}

CheckpointWriter::Store Run::storing() {
  return [this](const TrainingState &state, std::span<const TensorGroup> groups) {
    return checkpoints.finish(state, groups);
  };
}

/// More than any epoch has, if the source does not know.
int64_t Run::stepsPerEpoch() const {
  static constexpr int64_t most = int64_t(1) << 40;
  std::optional<int64_t> batches = source->batchesPerEpoch();
  return batches ? (*batches + options.accumulate - 1) / options.accumulate : most;
}

/// The step of the data to which the batch at this position belongs. After a resume with another batch size it differs
/// from the number of steps done.
int64_t Run::stepAt(const LoaderPosition &place) const {
  return place.epoch * stepsPerEpoch() + source->batchInEpoch(place) / options.accumulate;
}

ProgressOptions Run::progressOptions() {
  bool isKnown = source->batchesPerEpoch() || options.steps;
  if (!isKnown && schedule.needsSteps())
    throw Error("the schedule needs the number of steps, which the data do not tell; give it");
  total = options.epochs * stepsPerEpoch();
  if (options.steps)
    total = std::min(total, *options.steps);
  schedule.steps = total;
  ProgressOptions shown;
  shown.steps = isKnown ? total : 0;
  shown.epochs = options.epochs;
  shown.terminal = Progress::isTerminal(options.report);
  shown.showScale = trainer.description().scalesLoss();
  return shown;
}

/// Sets the schedule's numbers; the first beta counts as momentum.
void Run::setRates(int64_t step) {
  trainer.setNumber("learning_rate", schedule.learningRate(step));
  std::optional<double> momentum = schedule.momentum(step);
  if (!momentum)
    return;
  for (const auto &[name, value] : trainer.description().hyperparameters)
    if (isMomentum(name))
      trainer.setNumber(name, *momentum);
}

/// Queues a copy of the state after all submitted steps; it is written once their metrics are.
void Run::save(const LoaderPosition &next) {
  if (next == saved)
    return;
  TrainingState state;
  state.step = handed;
  state.seed = options.seed;
  state.data = next;
  writer.begin(state, trainer.groups());
  checkpoints.begin(state.step);
  tellSaved();
  saving = state.step;
  saved = next;
  trainer.submitCall([](void *user) { static_cast<CheckpointWriter *>(user)->copy(); }, &writer);
}

/// A checkpoint is written only after the metrics of its steps.
void Run::write() {
  log.flush();
  writer.write();
  saving.reset();
  if (!trainer.overlaps())
    writer.finish();
}

/// Reports a written checkpoint while no step is running, since the callee may read the state.
void Run::tellSaved() {
  std::optional<std::string> folder = writer.takeWritten();
  if (!folder)
    return;
  result.checkpoint = *folder;
  if (!options.onSave)
    return;
  finishAll();
  options.onSave(*folder);
}

void Run::evaluateNow() {
  result.evaluation = evaluate(trainer, *evaluation, options.batch, result.steps);
  log.append(*result.evaluation);
  progress.evaluation(*result.evaluation);
  if (options.onEvaluation)
    options.onEvaluation(*result.evaluation);
  lastEnd = Clock::now(); // evaluations do not count as step time
}

/// Reports the metrics of a step that has ended.
void Run::tell(const std::optional<StepMetrics> &ended) {
  if (!ended)
    return;
  StepMetrics metrics = *ended;
  metrics.step = ++result.steps;
  if (options.reached)
    *options.reached = {result.steps, following[result.steps % following.size()]};
  Recording recording(recorder, "host", "metrics", metrics.step);
  Clock::time_point now = metrics.ended.value_or(Clock::now());
  metrics.samplesPerSecond =
      static_cast<double>(metrics.samples) / std::chrono::duration<double>(now - lastEnd).count();
  lastEnd = now;
  if (metrics.length > 1)
    metrics.tokensPerSecond = metrics.samplesPerSecond * static_cast<double>(metrics.length);
  log.append(metrics);
  progress.step(metrics, now);
  if (metrics.skipped && ++skipped == 1) {
    firstSkipped =
        fmt::format("step {}: the {} is not finite", metrics.step,
                    metrics.notFinite.empty() ? "norm of all gradients" : "gradient of '" + metrics.notFinite + "'");
    progress.note(firstSkipped + (trainer.description().updatesEarly() ? "; such parameters are not updated"
                                                                       : "; the step is skipped"));
  }
  result.lastLoss = metrics.loss;
  if (options.onStep)
    options.onStep(metrics);
  if (saving && result.steps >= *saving)
    write();
  tellSaved();
}

/// Waits for all steps, and reports them.
void Run::finishAll() {
  while (std::optional<StepMetrics> ended = trainer.finish())
    tell(ended);
}

/// Returns whether training continues.
bool Run::trainBatch(const Batch &batch) {
  result.batchSizes.insert(batch.samples);
  result.lengths.insert(batch.length);
  bool endsEpoch = batch.next.epoch != batch.place.epoch;
  if (!endsEpoch && stepAt(batch.next) == stepAt(batch.place)) {
    tell(trainer.accumulate(batch));
    return true;
  }
  setRates(handed);
  std::optional<StepMetrics> ended = trainer.submit(batch);
  ++handed;
  following[handed % following.size()] = batch.next;
  tell(ended);
  if (options.readEachStep || !trainer.overlaps() || !trainer.isUnderWay())
    finishAll();

  bool isLast = handed >= total || batch.next.epoch >= options.epochs;
  result.stopped = options.stop && options.stop->load(std::memory_order_relaxed);
  bool isDue = options.saveEvery > 0 ? handed % options.saveEvery == 0 : endsEpoch;
  bool evaluates = evaluation && (isLast || (options.evalEvery > 0 ? handed % options.evalEvery == 0 : endsEpoch));
  bool flushes = isDue && trainer.stepsUnderWay() > 1; // a checkpoint begins with nothing under way
  if (evaluates || isLast || result.stopped || flushes)
    finishAll();
  if (evaluates)
    evaluateNow();
  if (isDue)
    save(batch.next);
  if (saving && result.steps >= *saving)
    write();
  return !isLast && !result.stopped;
}

/// The next batch. An error in the data names the step that it would have been in.
const Batch *Run::takeBatch() {
  try {
    return source->take();
  } catch (const Error &error) {
    throw Error(fmt::format("step {}: {}", handed + 1, error.what()));
  }
}

/// Reports steps submitted before an error, if they ended successfully.
void Run::finishAfterError() {
  try {
    finishAll();
  } catch (const freestone::Error &) {
  }
  log.flush();
}

/// A training whose every step was skipped is an error.
void Run::requireTrained() const {
  if (skipped == 0 || skipped < result.counters.steps || result.stopped)
    return;
  const char *advice = trainer.description().scalesLoss()
                           ? "; a smaller learning rate, or a smaller scale to begin with (--init-scale), may help"
                           : "; a smaller learning rate, or data of smaller magnitude, may help";
  std::string what =
      trainer.description().updatesEarly()
          ? fmt::format("some parameters were not trained: in all {} steps, a gradient was not finite", skipped)
          : fmt::format("nothing was trained: all {} steps were skipped", skipped);
  throw Error(fmt::format("{}. {}{}", what, firstSkipped, advice));
}

TrainingResult Run::run() {
  for (const std::string &sentence : trainer.description().describeKept())
    progress.note(sentence);
  lastEnd = Clock::now();
  Trainer::Counters before = trainer.counters();
  try {
    if (result.steps < total)
      while (const Batch *batch = takeBatch())
        if (!trainBatch(*batch))
          break;
    finishAll(); // the data may end before `steps` are done
    save(source->position());
    if (saving)
      write();
  } catch (const freestone::Error &error) {
    finishAfterError();
    throw Error(fmt::format("step {}: {}", result.steps + 1, error.what()));
  } catch (const Error &) {
    finishAfterError();
    throw;
  }
  progress.finish();
  log.flush();
  writer.finish();
  tellSaved();
  const Trainer::Counters &after = trainer.counters();
  result.counters = {after.steps - before.steps, after.entered - before.entered, after.hostReads - before.hostReads};
  requireTrained();
  return result;
}

} // namespace

static void addUp(Trainer &trainer, size_t part, const Dataset &data, int64_t batch, Trainer::EvaluationSums &sums) {
  LoaderOptions once{std::min(batch, data.samples()), 0, /*shuffle=*/false, /*epochs=*/1};
  std::unique_ptr<Loader> loader = trainer.load({DataUse::Evaluation, part}, data, once);
  while (const Batch *next = loader->take())
    trainer.evaluate(*next, sums);
}

EvaluationMetrics evaluate(Trainer &trainer, const Dataset &data, int64_t batch, int64_t step) {
  Trainer::EvaluationSums sums;
  std::vector<std::unique_ptr<Dataset>> parts = data.evaluationParts();
  for (size_t part = 0; part < parts.size(); ++part)
    addUp(trainer, part, *parts[part], batch, sums);
  if (parts.empty())
    addUp(trainer, 0, data, batch, sums);
  EvaluationMetrics metrics;
  metrics.step = step;
  metrics.loss = sums.loss / sums.count;
  metrics.counted = sums.count;
  if (sums.hasClasses)
    metrics.accuracy = sums.correct / sums.labels;
  if (data.longest() > 1)
    metrics.perplexity = std::exp(metrics.loss);
  return metrics;
}

TrainingResult train(Trainer &trainer, const Dataset &data, const Dataset *evaluation, const TrainingOptions &options) {
  if (data.samples() < options.batch)
    fmt::print(options.report,
               "note: the data have {} samples, fewer than a batch of {}: each step takes all of them\n",
               data.samples(), options.batch);
  auto open = [&](LoaderPosition start, int held, const Recorder &recorder) -> std::unique_ptr<BatchSource> {
    LoaderOptions loading{options.batch, options.seed, options.shuffle, options.epochs};
    loading.held = held;
    loading.recorder = recorder;
    return trainer.load({DataUse::Training}, data, loading, start);
  };
  return train(trainer, open, evaluation, options);
}

TrainingResult train(Trainer &trainer, const OpenSource &open, const Dataset *evaluation,
                     const TrainingOptions &options) {
  return Run(trainer, open, evaluation, options).run();
}

} // namespace freestone::train
