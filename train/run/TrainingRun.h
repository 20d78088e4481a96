#ifndef FREESTONE_TRAIN_RUN_TRAININGRUN_H
#define FREESTONE_TRAIN_RUN_TRAININGRUN_H

#include "train/report/Progress.h"
#include "train/run/Schedule.h"
#include "train/step/Trainer.h"
#include <atomic>
#include <functional>
#include <set>

namespace freestone::train {

/// The position of a training between two steps.
struct Place {
  int64_t step = 0;    ///< steps done
  LoaderPosition next; ///< of the data
};

struct TrainingOptions {
  std::string folder; ///< of the run: checkpoints/, metrics.jsonl, loss.svg
  Schedule schedule;  ///< its `steps` are set by `train`
  int64_t batch = 32;
  int64_t accumulate = 1; ///< batches of a step; the last step of an epoch takes the remaining ones
  int64_t epochs = 1;
  std::optional<int64_t> steps; ///< ends the training after this number of steps, if that is earlier
  uint64_t seed = 0;
  bool shuffle = true;
  int64_t saveEvery = 0; ///< steps between checkpoints; 0: one an epoch
  int64_t evalEvery = 0; ///< steps between evaluations; 0: one an epoch
  int keep = 3;
  bool resume = false;       ///< resumes from the newest checkpoint of the folder
  bool readEachStep = false; ///< waits for the metrics of a step before the next one is submitted
  std::FILE *report = stderr;
  const std::atomic<bool> *stop = nullptr; ///< polled between steps: if true, saves and ends
  // Called after the events that they are named after, if set: `onStep` while the next step is running (unless
  // `readEachStep`), the others while none is.
  std::function<void(const StepMetrics &)> onStep = {};
  std::function<void(const EvaluationMetrics &)> onEvaluation = {};
  std::function<void(const std::string &folder)> onSave = {};
  Place *reached = nullptr; ///< updated to the current position, even on an exception
};

/// The summary of a training.
struct TrainingResult {
  int64_t steps = 0; ///< total number of steps done
  bool stopped = false;
  double lastLoss = 0;
  Trainer::Counters counters;                  ///< of this run
  std::set<int64_t> batchSizes, lengths;       ///< of all its batches
  std::optional<EvaluationMetrics> evaluation; ///< the last one
  std::string checkpoint;                      ///< folder of the newest one, with the state at the end
};

/// Trains epoch by epoch: batches from the loader's thread, evaluations, checkpoints and metrics. Data, checkpoints and
/// metrics overlap with the steps, which changes no result. `evaluation` may be null. A resumed run is bit-identical to
/// an uninterrupted one. Throws Error, also if every step was skipped and so nothing was trained.
TrainingResult train(Trainer &trainer, const Dataset &data, const Dataset *evaluation, const TrainingOptions &options);

/// Opens the batches from a position on; taken ones stay valid until `held` more were taken.
using OpenSource =
    std::function<std::unique_ptr<BatchSource>(LoaderPosition start, int held, const Recorder &recorder)>;

/// The same from any source of batches. `batch` and `shuffle` of the options only serve the evaluations.
TrainingResult train(Trainer &trainer, const OpenSource &open, const Dataset *evaluation,
                     const TrainingOptions &options);

/// One pass over a dataset in order, each element once: the batch size changes the loss only by rounding.
EvaluationMetrics evaluate(Trainer &trainer, const Dataset &data, int64_t batch, int64_t step);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_RUN_TRAININGRUN_H
