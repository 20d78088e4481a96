#ifndef FREESTONE_TRAIN_STEP_TRAINER_H
#define FREESTONE_TRAIN_STEP_TRAINER_H

#include "freestone/freestone.h"
#include "train/checkpoint/CheckpointFolder.h"
#include "train/data/Loader.h"
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

/// A training step with its state: trains batch by batch, evaluates, saves and restores. The caller chooses the data
/// and the times of saving. Not thread-safe. Throws Error and freestone::Error.
class Trainer {
public:
  virtual ~Trainer() = default;

  virtual const StepDescription &description() const = 0;
  /// The inputs that come from data: those of the model, and the labels.
  virtual std::vector<ValueInfo> dataInputs() const = 0;
  virtual int threads() const = 0;

  /// A number of the step, such as `learning_rate`, for all steps from now on. Both throw Error for an unknown number,
  /// listing the known ones.
  virtual void setNumber(const std::string &name, double value) = 0;
  virtual double number(const std::string &name) const = 0;

  /// Sets the loss scale of the first step of a new training. Throws Error if the step does not scale its loss.
  virtual void setLossScale(double scale) = 0;

  /// Batches of a dataset, with the fields that the states of this process need; other ranks read theirs themselves.
  /// Every batch that is taken must be trained or evaluated next. As Loader's constructor; the trainer must outlive it.
  virtual std::unique_ptr<Loader> load(const DataName &name, const Dataset &data, const LoaderOptions &options,
                                       LoaderPosition start = {}) {
    return std::make_unique<Loader>(data, options, start);
  }

  /// Whether a step may consist of several batches.
  virtual bool accumulates() const = 0;

  /// Trains on one batch, together with the accumulated ones: its loss is the mean over the elements of all. Fields are
  /// matched by name.
  StepMetrics step(const Batch &batch) {
    finish();
    submit(batch);
    return finish().value();
  }

  // Asynchronous variants: a submitted batch is trained while the caller prepares the next one. It must stay unchanged
  // until the next batch has been submitted. Each call returns the metrics of an earlier step that has ended since, so
  // that metrics arrive one batch later.

  /// Submits a batch whose gradients are added to those of the next step.
  virtual std::optional<StepMetrics> accumulate(const Batch &batch) = 0;
  /// Submits the last batch of a step.
  virtual std::optional<StepMetrics> submit(const Batch &batch) = 0;
  /// Waits for all submitted batches; required before any access to states. Returns the metrics of one step; nothing
  /// once all were returned.
  virtual std::optional<StepMetrics> finish() = 0;
  /// Waits as finish does, whatever the outcome: afterwards no batch is in use.
  virtual void abandon() noexcept = 0;
  /// Calls `function` after everything submitted before has ended, and before anything submitted later begins.
  virtual void submitCall(void (*function)(void *user), void *user) = 0;
  /// Whether a submitted batch has not been waited for yet.
  virtual bool isUnderWay() const = 0;
  /// False if nothing goes on beside the caller: submitted batches are waited for, and checkpoints.
  virtual bool overlaps() const = 0;
  /// The most steps whose batches are in use at a time. With more than one, gradients are of older weights than those
  /// that they update, and to finish changes what follows.
  virtual int stepsUnderWay() const { return 1; }
  /// Records activities of threads on the timeline; empty without one.
  virtual Recorder recorder() const = 0;

  /// Counters since construction.
  struct Counters {
    int64_t steps = 0;     ///< steps with metrics read
    int64_t entered = 0;   ///< program runs, for steps and for accumulated batches
    int64_t hostReads = 0; ///< reads of metrics with nothing else submitted: the workers waited for the host
  };
  virtual const Counters &counters() const = 0;

  /// Sums over the batches of an evaluation.
  struct EvaluationSums {
    double loss = 0, count = 0;
    double correct = 0, labels = 0; ///< correct classes, and labels that are not ignored
    bool hasClasses = false;
  };
  virtual void evaluate(const Batch &batch, EvaluationSums &sums) = 0;

  /// Steps done, without skipped ones.
  virtual int64_t stepsDone() const = 0;

  /// The states of this process in groups for storage, as views in place: valid until the next batch.
  virtual std::vector<TensorGroup> groups() const = 0;
  /// Other ranks that keep the rest of the states; null if there are none.
  virtual OtherShards *otherShards() { return nullptr; }
  virtual void restore(const Checkpoint &checkpoint) = 0;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_STEP_TRAINER_H
