#ifndef FREESTONE_TRAIN_STEP_STEPTRAINER_H
#define FREESTONE_TRAIN_STEP_STEPTRAINER_H

#include "train/step/StepEntry.h"
#include "train/step/TrainedState.h"
#include "train/step/Trainer.h"

namespace freestone::train {

/// Trains by one artifact, which is the whole step.
class StepTrainer final : public Trainer {
public:
  StepTrainer(const Artifact &artifact, StepDescription description, const Execution &execution, uint64_t seed);
  /// `threads` 0: as many as the machine offers.
  StepTrainer(const Artifact &artifact, StepDescription description, int threads, uint64_t seed)
      : StepTrainer(artifact, std::move(description), Execution{threads}, seed) {}

  const StepDescription &description() const override { return about; }
  std::vector<ValueInfo> dataInputs() const override;
  int threads() const override { return stepper.instance.threads(); }
  void setNumber(const std::string &name, double value) override;
  double number(const std::string &name) const override;
  void setLossScale(double scale) override;
  bool accumulates() const override { return accumulator.has_value(); }
  std::optional<StepMetrics> accumulate(const Batch &batch) override;
  std::optional<StepMetrics> submit(const Batch &batch) override;
  std::optional<StepMetrics> finish() override;
  void abandon() noexcept override;
  void submitCall(void (*function)(void *user), void *user) override { stepper.instance.submitCall(function, user); }
  bool isUnderWay() const override { return underWay.has_value(); }
  bool overlaps() const override { return (execution.switchedOff & FREESTONE_OVERLAP) == 0; }
  Recorder recorder() const override;
  const Counters &counters() const override { return counted; }
  void evaluate(const Batch &batch, EvaluationSums &sums) override;
  int64_t stepsDone() const override;
  std::vector<TensorGroup> groups() const override;
  /// Trained parameters and statistics, row-major, by the names of the model's initializers: valid until the next batch
  /// or call.
  std::vector<formats::TensorView> weights() const { return trained.weights(); }
  void restore(const Checkpoint &checkpoint) override;

private:
  /// A submitted batch.
  struct Handed {
    StepEntry *entry = nullptr;
    int64_t run = 0;
    StepMetrics metrics; ///< as far as they are known before its end
    bool isStep = false;
  };

  void bindNumbers(StepEntry &entry);
  std::optional<StepMetrics> hand(StepEntry &entry, const Batch &batch);
  std::optional<StepMetrics> end(const Handed &ended);

  StepDescription about;
  Execution execution;
  TrainedState trained;
  StepEntry stepper, evaluator;
  std::optional<StepEntry> accumulator;
  std::map<std::string, double> numbers; ///< bound to inputs of the step
  int64_t seed;
  std::optional<Handed> underWay;
  int64_t samples = 0; ///< of the current step's batches so far
  Counters counted;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_STEP_STEPTRAINER_H
