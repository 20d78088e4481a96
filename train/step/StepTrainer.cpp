#include "train/step/StepTrainer.h"

#include "train/Error.h"
#include "train/step/StepData.h"
#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace freestone::train {

StepTrainer::StepTrainer(const Artifact &artifact, StepDescription description, const Execution &execution,
                         uint64_t seed)
    : about(std::move(description)), execution(execution), trained(artifact, about),
      stepper(artifact, "main", trained.state(), execution),
      evaluator(artifact, "evaluate", trained.state(), execution), numbers(about.hyperparameters),
      seed(static_cast<int64_t>(seed)) {
  for (const auto &[name, value] : numbers)
    if (!stepper.findInput(name))
      throw Error("the compiled step has no input '" + name + "', which its description names");
  bindNumbers(stepper);
  std::vector<std::string> entries = artifact.entries();
  if (std::ranges::find(entries, "accumulate") != entries.end())
    bindNumbers(accumulator.emplace(artifact, "accumulate", trained.state(), execution));
}

/// Binds the inputs that do not come from data.
void StepTrainer::bindNumbers(StepEntry &entry) {
  for (auto &[name, value] : numbers)
    entry.setNumber(name, &value);
  if (about.takesSeed)
    entry.setNumber("seed", &seed);
}

std::vector<ValueInfo> StepTrainer::dataInputs() const { return train::dataInputs(about, stepper.inputs); }

void StepTrainer::setNumber(const std::string &name, double value) {
  about.requireNumber(name);
  numbers.at(name) = value;
}

double StepTrainer::number(const std::string &name) const {
  about.requireNumber(name);
  return numbers.at(name);
}

void StepTrainer::setLossScale(double scale) {
  std::optional<size_t> index = trained.find("loss_scale");
  if (!index)
    throw Error("the compiled step does not scale its loss");
  *trained.state().data<float>(*index) = static_cast<float>(scale);
}

/// Submits a batch and ends the previous one.
std::optional<StepMetrics> StepTrainer::hand(StepEntry &entry, const Batch &batch) {
  entry.setData(batch.fields);
  Handed handed{&entry, entry.instance.submit(), {}, &entry == &stepper};
  ++counted.entered;
  samples += batch.samples;
  handed.metrics.step = batch.place.step + 1;
  handed.metrics.epoch = batch.place.epoch + 1;
  handed.metrics.learningRate = number("learning_rate");
  handed.metrics.samples = samples;
  handed.metrics.length = batch.length;
  if (handed.isStep)
    samples = 0;
  std::optional<Handed> before = std::exchange(underWay, handed);
  return before ? end(*before) : std::nullopt;
}

/// Waits for a batch, and reads the metrics of the step if it was the step's last batch.
std::optional<StepMetrics> StepTrainer::end(const Handed &ended) {
  ended.entry->instance.wait(ended.run);
  if (!ended.isStep)
    return std::nullopt;
  ++counted.steps;
  StepMetrics metrics = ended.metrics;
  readMetrics(stepper, about, metrics);
  return metrics;
}

std::optional<StepMetrics> StepTrainer::accumulate(const Batch &batch) { return hand(accumulator.value(), batch); }

std::optional<StepMetrics> StepTrainer::submit(const Batch &batch) { return hand(stepper, batch); }

std::optional<StepMetrics> StepTrainer::finish() {
  std::optional<Handed> last = std::exchange(underWay, std::nullopt);
  if (!last)
    return std::nullopt;
  counted.hostReads += last->isStep;
  return end(*last);
}

void StepTrainer::abandon() noexcept {
  underWay.reset();
  samples = 0;
  // A failure here was reported already, or is of no interest any more.
  freestone_instance_wait(stepper.instance.get(), 0);
  if (accumulator)
    freestone_instance_wait(accumulator->instance.get(), 0);
}

Recorder StepTrainer::recorder() const {
  if (!execution.timeline)
    return {};
  return
      [timeline = execution.timeline](const char *thread, const char *what, int64_t begin, int64_t end, int64_t step) {
        check(freestone_timeline_add(timeline, thread, what, begin, end, step));
      };
}

void StepTrainer::evaluate(const Batch &batch, EvaluationSums &sums) {
  evaluator.setData(batch.fields);
  evaluator.instance.run();
  sums.loss += evaluator.scalar("loss_sum");
  sums.count += evaluator.scalar("count");
  sums.hasClasses = evaluator.hasOutput("correct");
  if (!sums.hasClasses)
    return;
  sums.correct += evaluator.scalar("correct");
  sums.labels += evaluator.scalar("labels");
}

int64_t StepTrainer::stepsDone() const {
  std::optional<size_t> index = trained.find(stepCountState);
  return index ? *trained.state().data<int64_t>(*index) : 0;
}

std::vector<TensorGroup> StepTrainer::groups() const { return trained.groups(); }

void StepTrainer::restore(const Checkpoint &checkpoint) {
  std::map<std::string, std::vector<TensorTarget>> targets;
  trained.addTargets(targets);
  for (const auto &[group, list] : targets)
    checkpoint.restore(group, list);
}

} // namespace freestone::train
