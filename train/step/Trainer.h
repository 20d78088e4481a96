#ifndef FREESTONE_TRAIN_STEP_TRAINER_H
#define FREESTONE_TRAIN_STEP_TRAINER_H

#include "freestone/freestone.h"
#include "train/checkpoint/CheckpointFolder.h"
#include "train/report/Metrics.h"
#include "train/report/Recorder.h"
#include "train/step/StepDescription.h"

namespace freestone::train {

/// The execution of steps; changes no result.
struct Execution {
  int threads = 0;                        ///< 0: as many as the machine offers
  uint32_t switchedOff = 0;               ///< the runtime's switches (FREESTONE_OVERLAP and others), combined
  freestone_timeline *timeline = nullptr; ///< records everything; may be null
};

/// A compiled training step with its state: trains batch by batch, evaluates, saves and restores. The caller chooses
/// the data and the times of saving. Not thread-safe. Throws Error and freestone::Error.
class Trainer {
public:
  Trainer(const Artifact &artifact, StepDescription description, const Execution &execution, uint64_t seed);
  /// `threads` 0: as many as the machine offers.
  Trainer(const Artifact &artifact, StepDescription description, int threads, uint64_t seed)
      : Trainer(artifact, std::move(description), Execution{threads}, seed) {}

  const StepDescription &description() const { return about; }
  /// The inputs that come from data: those of the model, and the labels.
  std::vector<ValueInfo> dataInputs() const;
  int threads() const { return stepper.instance.threads(); }

  /// A number of the step, such as `learning_rate`, for all steps from now on. Both throw Error for an unknown number,
  /// listing the known ones.
  void setNumber(const std::string &name, double value);
  double number(const std::string &name) const;

  /// Sets the loss scale of the first step of a new training. Throws Error if the step does not scale its loss.
  void setLossScale(double scale);

  /// Whether a step may consist of several batches.
  bool accumulates() const { return accumulator.has_value(); }

  /// Trains on one batch, together with the accumulated ones: its loss is the mean over the elements of all. Fields are
  /// matched by name.
  StepMetrics step(const Batch &batch);

  // Asynchronous variants: a submitted batch is trained while the caller prepares the next one. It must stay unchanged
  // until the next batch has been submitted. Each call returns the metrics of an earlier step that has ended since, so
  // that metrics arrive one batch later.

  /// Submits a batch whose gradients are added to those of the next step.
  std::optional<StepMetrics> accumulate(const Batch &batch);
  /// Submits the last batch of a step.
  std::optional<StepMetrics> submit(const Batch &batch);
  /// Waits for all submitted batches; required before any access to states.
  std::optional<StepMetrics> finish();
  /// Waits as finish does, whatever the outcome: afterwards no batch is in use.
  void abandon() noexcept;
  /// Calls `function` after everything submitted before has ended, and before anything submitted later begins.
  void submitCall(void (*function)(void *user), void *user) { stepper.instance.submitCall(function, user); }
  /// Whether a submitted batch has not been waited for yet.
  bool isUnderWay() const { return underWay.has_value(); }
  /// False if the runtime's overlap is switched off: submitted batches then end before the call returns.
  bool overlaps() const { return (execution.switchedOff & FREESTONE_OVERLAP) == 0; }
  /// Records activities of threads on the timeline; empty without one.
  Recorder recorder() const;

  /// Counters since construction.
  struct Counters {
    int64_t steps = 0;     ///< steps with metrics read
    int64_t entered = 0;   ///< program runs, for steps and for accumulated batches
    int64_t hostReads = 0; ///< reads of metrics with nothing else submitted: the workers waited for the host
  };
  const Counters &counters() const { return counted; }

  /// Sums over the batches of an evaluation.
  struct EvaluationSums {
    double loss = 0, count = 0;
    double correct = 0, labels = 0; ///< correct classes, and labels that are not ignored
    bool hasClasses = false;
  };
  void evaluate(const Batch &batch, EvaluationSums &sums);

  /// Steps done, without skipped ones.
  int64_t stepsDone() const;

  /// All states in groups for storage, as views in place: valid until the next batch.
  std::vector<TensorGroup> groups() const;
  /// Trained parameters and statistics, row-major, by the names of the model's initializers: valid until the next batch
  /// or call.
  std::vector<formats::TensorView> weights() const;
  void restore(const Checkpoint &checkpoint);

private:
  /// An entry of the artifact, instantiated on the trainer's state, with its values by name.
  struct Entry {
    Entry(const Artifact &artifact, const char *name, const State &state, const Execution &execution);

    std::optional<size_t> findInput(const std::string &name) const;
    /// The value of an output with one element.
    double scalar(const std::string &name) const;
    bool hasOutput(const std::string &name) const;
    void setData(const Batch &batch);

    Instance instance;
    std::vector<ValueInfo> inputs, outputs;
  };

  /// A submitted batch.
  struct Handed {
    Entry *entry = nullptr;
    int64_t run = 0;
    StepMetrics metrics; ///< as far as they are known before its end
    bool isStep = false;
  };

  void bindNumbers(Entry &entry);
  std::optional<StepMetrics> hand(Entry &entry, const Batch &batch);
  std::optional<StepMetrics> end(const Handed &ended);
  std::string trainedName(int64_t number) const;
  std::optional<size_t> findState(const std::string &name) const;
  /// Empty for states that are 0 between steps and never saved.
  std::string groupOf(const StateInfo &state) const;
  formats::TensorView viewOf(size_t index) const;

  StepDescription about;
  Execution execution;
  std::vector<StateInfo> states;
  State state;
  Entry stepper, evaluator;
  std::optional<Entry> accumulator;
  std::map<std::string, double> numbers; ///< bound to inputs of the step
  int64_t seed;
  std::optional<Handed> underWay;
  int64_t samples = 0; ///< of the current step's batches so far
  Counters counted;
  mutable std::vector<std::vector<uint8_t>> rows; ///< row-major copies of packed weights
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_STEP_TRAINER_H
