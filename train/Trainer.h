#ifndef FREESTONE_TRAIN_TRAINER_H
#define FREESTONE_TRAIN_TRAINER_H

#include "freestone/freestone.h"
#include "train/CheckpointFolder.h"
#include "train/Metrics.h"
#include "train/StepDescription.h"

namespace freestone::train {

/// A compiled training step with its state: trains batch after batch, evaluates, saves and restores. Which data come,
/// and when what is saved, is the caller's business. Not thread-safe. Throws Error and freestone::Error.
class Trainer {
public:
  /// `threads` 0: as many as the machine offers.
  Trainer(const Artifact &artifact, StepDescription description, int threads, uint64_t seed);

  const StepDescription &description() const { return about; }
  /// The inputs that data fill: those of the model, and the labels.
  std::vector<ValueInfo> dataInputs() const;
  int threads() const { return stepper.instance.threads(); }

  /// A number that the step takes, such as `learning_rate`, holds for all steps from when it is set. Both throw Error for
  /// one that there is not, telling which there are.
  void setNumber(const std::string &name, double value);
  double number(const std::string &name) const;

  /// Of a training that begins: the loss scale of the first step. Throws Error where the step does not scale its loss.
  void setLossScale(double scale);

  /// Whether several batches may make one step.
  bool accumulates() const { return accumulator.has_value(); }
  /// Adds the gradients of a batch to those that the next step takes: its loss is the mean over the elements of all.
  void accumulate(const Batch &batch);
  /// Trains one batch, together with those accumulated before. Its fields are matched by name. Step and loss, gradient
  /// norm, loss scale and `skipped` are filled in.
  StepMetrics step(const Batch &batch);

  /// Sums over batches of an evaluation.
  struct EvaluationSums {
    double loss = 0, count = 0;
    double correct = 0;
    bool hasClasses = false;
  };
  void evaluate(const Batch &batch, EvaluationSums &sums);

  /// Steps done, skipped ones not counted.
  int64_t stepsDone() const;

  /// All state in groups, as views in place: valid until the next step.
  std::vector<TensorGroup> groups() const;
  /// Trained parameters and statistics, by the names of the model's initializers.
  std::vector<formats::TensorView> weights() const;
  void restore(const Checkpoint &checkpoint);

private:
  /// An entry of the artifact on the trainer's state, its values by name.
  struct Entry {
    Entry(const Artifact &artifact, const char *name, const State &state, int threads);

    std::optional<size_t> findInput(const std::string &name) const;
    /// The only element of an output, as a number.
    double scalar(const std::string &name) const;
    bool hasOutput(const std::string &name) const;
    void setData(const Batch &batch);

    Instance instance;
    std::vector<ValueInfo> inputs, outputs;
  };

  void bindNumbers(Entry &entry);
  std::optional<size_t> findState(const std::string &name) const;
  /// Empty for what is 0 between steps, and never saved.
  std::string groupOf(const StateInfo &state) const;
  formats::TensorView viewOf(size_t index) const;
  [[noreturn]] void refuseNumber(const std::string &name) const;

  StepDescription about;
  std::vector<StateInfo> states;
  State state;
  Entry stepper, evaluator;
  std::optional<Entry> accumulator;
  std::map<std::string, double> numbers; ///< inputs of the step are bound to these
  int64_t seed;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_TRAINER_H
