#ifndef FREESTONE_TRAIN_TRAINER_H
#define FREESTONE_TRAIN_TRAINER_H

#include "freestone/freestone.h"
#include "train/checkpoint/CheckpointFolder.h"
#include "train/report/Metrics.h"
#include "train/report/Recorder.h"
#include "train/step/StepDescription.h"

namespace freestone::train {

/// How steps are run; changes no result.
struct Execution {
  int threads = 0;                        ///< 0: as many as the machine offers
  uint32_t switchedOff = 0;               ///< of the runtime: FREESTONE_OVERLAP and others, added up
  freestone_timeline *timeline = nullptr; ///< where everything is recorded; null: nowhere
};

/// A compiled training step with its state: trains batch after batch, evaluates, saves and restores. Which data come,
/// and when what is saved, is the caller's business. Not thread-safe. Throws Error and freestone::Error.
class Trainer {
public:
  Trainer(const Artifact &artifact, StepDescription description, const Execution &execution, uint64_t seed);
  /// `threads` 0: as many as the machine offers.
  Trainer(const Artifact &artifact, StepDescription description, int threads, uint64_t seed)
      : Trainer(artifact, std::move(description), Execution{threads}, seed) {}

  const StepDescription &description() const { return about; }
  /// The inputs that data fill: those of the model, and the labels.
  std::vector<ValueInfo> dataInputs() const;
  int threads() const { return stepper.instance.threads(); }

  /// A number that the step takes, such as `learning_rate`, holds for all steps from when it is set. Both throw Error
  /// for one that there is not, telling which there are.
  void setNumber(const std::string &name, double value);
  double number(const std::string &name) const;

  /// Of a training that begins: the loss scale of the first step. Throws Error where the step does not scale its loss.
  void setLossScale(double scale);

  /// Whether several batches may make one step.
  bool accumulates() const { return accumulator.has_value(); }

  /// Trains one batch, together with those accumulated before: its loss is the mean over the elements of all. Fields
  /// are matched by name.
  StepMetrics step(const Batch &batch);

  // The same without waiting: what is handed over is trained while the caller prepares the next. A batch must stay as
  // it is until the one after it has been handed over. Each of these returns the metrics of a step that was handed over
  // before and has ended since, so that they arrive one batch later.

  /// Hands a batch over whose gradients are added to those that the next step takes.
  std::optional<StepMetrics> accumulate(const Batch &batch);
  /// Hands over the last batch of a step.
  std::optional<StepMetrics> submit(const Batch &batch);
  /// Waits for what was handed over; states may be looked at only then.
  std::optional<StepMetrics> finish();
  /// The same whatever became of it: then nothing looks at batches any more.
  void abandon() noexcept;
  /// Has `function` called when what was handed over has ended, and before anything that comes later begins.
  void submitCall(void (*function)(void *user), void *user) { stepper.instance.submitCall(function, user); }
  /// Whether something was handed over that was not waited for yet.
  bool isUnderWay() const { return underWay.has_value(); }
  /// False where the runtime's overlap is switched off: then what is handed over ends before the call returns.
  bool overlaps() const { return (execution.switchedOff & FREESTONE_OVERLAP) == 0; }
  /// Records what a thread does on the time line; empty where there is none.
  Recorder recorder() const;

  /// What has happened since the trainer was made.
  struct Counters {
    int64_t steps = 0;     ///< whose metrics were read
    int64_t entered = 0;   ///< programs, by steps and by batches that were accumulated
    int64_t hostReads = 0; ///< of metrics while nothing else was handed over: the workers waited for the host
  };
  const Counters &counters() const { return counted; }

  /// Sums over batches of an evaluation.
  struct EvaluationSums {
    double loss = 0, count = 0;
    double correct = 0, labels = 0; ///< right classes, of so many labels that are not ignored
    bool hasClasses = false;
  };
  void evaluate(const Batch &batch, EvaluationSums &sums);

  /// Steps done, skipped ones not counted.
  int64_t stepsDone() const;

  /// All state in groups, as it is stored, as views in place: valid until the next batch.
  std::vector<TensorGroup> groups() const;
  /// Trained parameters and statistics, row-major, by the names of the model's initializers: valid until the next batch
  /// or call.
  std::vector<formats::TensorView> weights() const;
  void restore(const Checkpoint &checkpoint);

private:
  /// An entry of the artifact on the trainer's state, its values by name.
  struct Entry {
    Entry(const Artifact &artifact, const char *name, const State &state, const Execution &execution);

    std::optional<size_t> findInput(const std::string &name) const;
    /// The only element of an output, as a number.
    double scalar(const std::string &name) const;
    bool hasOutput(const std::string &name) const;
    void setData(const Batch &batch);

    Instance instance;
    std::vector<ValueInfo> inputs, outputs;
  };

  /// A batch that was handed over.
  struct Handed {
    Entry *entry = nullptr;
    int64_t run = 0;
    StepMetrics metrics; ///< as far as they are known before
    bool isStep = false;
  };

  void bindNumbers(Entry &entry);
  std::optional<StepMetrics> hand(Entry &entry, const Batch &batch);
  std::optional<StepMetrics> end(const Handed &ended);
  std::string trainedName(int64_t number) const;
  std::optional<size_t> findState(const std::string &name) const;
  /// Empty for what is 0 between steps, and never saved.
  std::string groupOf(const StateInfo &state) const;
  formats::TensorView viewOf(size_t index) const;

  StepDescription about;
  Execution execution;
  std::vector<StateInfo> states;
  State state;
  Entry stepper, evaluator;
  std::optional<Entry> accumulator;
  std::map<std::string, double> numbers; ///< inputs of the step are bound to these
  int64_t seed;
  std::optional<Handed> underWay;
  int64_t samples = 0; ///< of the batches that the step at hand has had
  Counters counted;
  mutable std::vector<std::vector<uint8_t>> rows; ///< of the weights that were asked for and do not lie so
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_TRAINER_H
