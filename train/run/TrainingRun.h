#ifndef FREESTONE_TRAIN_TRAININGRUN_H
#define FREESTONE_TRAIN_TRAININGRUN_H

#include "train/report/Progress.h"
#include "train/run/Schedule.h"
#include "train/step/Trainer.h"
#include <atomic>
#include <functional>
#include <set>

namespace freestone::train {

/// Where a training is between two steps.
struct Place {
  int64_t step = 0;    ///< steps done
  LoaderPosition next; ///< of the data
};

struct TrainingOptions {
  std::string folder; ///< of the run: checkpoints/, metrics.jsonl, loss.svg
  Schedule schedule;  ///< its `steps` are filled in
  int64_t batch = 32;
  int64_t accumulate = 1; ///< batches of a step; the last step of an epoch takes what is left
  int64_t epochs = 1;
  std::optional<int64_t> steps; ///< ends earlier
  uint64_t seed = 0;
  bool shuffle = true;
  int64_t saveEvery = 0; ///< steps between checkpoints; 0: one an epoch
  int64_t evalEvery = 0; ///< steps between evaluations; 0: one an epoch
  int keep = 3;
  bool resume = false;       ///< go on from the newest checkpoint of the folder
  bool readEachStep = false; ///< waits for the metrics of a step before the next one is handed over
  std::FILE *report = stderr;
  const std::atomic<bool> *stop = nullptr; ///< looked at between steps: save, and end
  // Called, where there are any, when what they are named after is done: `onStep` while the next step is under way,
  // unless each is read; the others while none is.
  std::function<void(const StepMetrics &)> onStep = {};
  std::function<void(const EvaluationMetrics &)> onEvaluation = {};
  std::function<void(const std::string &folder)> onSave = {};
  Place *reached = nullptr; ///< where the training is: kept up to date, also when it throws
};

/// What is left to say when a training has ended.
struct TrainingResult {
  int64_t steps = 0; ///< done in all
  bool stopped = false;
  double lastLoss = 0;
  Trainer::Counters counters;                  ///< of this run
  std::set<int64_t> batchSizes, lengths;       ///< of all its batches
  std::optional<EvaluationMetrics> evaluation; ///< the last one
};

/// Trains epoch after epoch: batches from a loader's thread, evaluations, checkpoints and metrics on the way. Data,
/// checkpoints and metrics go on beside the steps, which changes no result. `evaluation` may be null. A run that is
/// resumed gives the same bits as one that was never stopped. Throws Error; also where every step was skipped, so that
/// nothing was trained.
TrainingResult train(Trainer &trainer, const Dataset &data, const Dataset *evaluation, const TrainingOptions &options);

/// One pass over a dataset in its order, each element once: other batches change the loss by rounding alone.
EvaluationMetrics evaluate(Trainer &trainer, const Dataset &data, int64_t batch, int64_t step);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_TRAININGRUN_H
