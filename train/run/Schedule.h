// Learning rates as pure functions of the step; the semantics are PyTorch's schedulers, stepped once a training step.
#ifndef FREESTONE_TRAIN_RUN_SCHEDULE_H
#define FREESTONE_TRAIN_RUN_SCHEDULE_H

#include "words/NumberRange.h"
#include <cstdint>
#include <map>
#include <span>
#include <variant>
#include <vector>

namespace freestone::train {

enum class ScheduleKind { Constant, Linear, Cosine, Step, OneCycle };

/// Parses "constant", "linear", "cosine", "step", "one-cycle".
std::optional<ScheduleKind> scheduleFromName(std::string_view name);
/// All of them.
std::vector<std::string> scheduleNames();

/// Warm-up is LinearLR(start_factor=warmupStart, total_iters=warmup) before everything else, joined by SequentialLR:
/// the schedule proper has the remaining `steps - warmup` steps, counted from its own 0.
struct Schedule {
  ScheduleKind kind = ScheduleKind::Constant;
  double rate = 1e-3;        ///< the group's lr; OneCycle: max_lr
  int64_t steps = 0;         ///< of the whole training; Constant and Step do not need it
  int64_t warmup = 0;        ///< steps
  double warmupStart = 0.01; ///< fraction of the schedule's first rate

  double lastFraction = 0; ///< Linear: LinearLR(start_factor=1, end_factor)
  double lowest = 0;       ///< Cosine: CosineAnnealingLR's eta_min, reached at the last step and kept
  int64_t every = 0;       ///< Step: StepLR's step_size, in steps
  double factor = 0.1;     ///< Step: StepLR's gamma

  // OneCycle: OneCycleLR with anneal_strategy="cos", two phases.
  double risingPart = 0.3;  ///< pct_start
  double startDivisor = 25; ///< div_factor
  double endDivisor = 1e4;  ///< final_div_factor
  bool cycleMomentum = true;
  double lowestMomentum = 0.85;  ///< base_momentum
  double highestMomentum = 0.95; ///< max_momentum

  /// The learning rate of step `step`, from 0; constant after the last step.
  double learningRate(int64_t step) const;
  /// The value of momentum or the first beta in step `step`; nothing if the schedule does not change it.
  std::optional<double> momentum(int64_t step) const;
  /// Whether the number of steps changes it.
  bool needsSteps() const { return kind != ScheduleKind::Constant && kind != ScheduleKind::Step; }
  bool movesMomentum() const { return kind == ScheduleKind::OneCycle && cycleMomentum; }
};

/// Whether a schedule with momentum changes this number of a step: `momentum` or `beta1`, also of groups.
bool isMomentum(std::string_view number);

/// A user-settable hyperparameter of schedules.
struct ScheduleNumber {
  std::string_view name; ///< PyTorch's
  std::variant<double Schedule::*, int64_t Schedule::*, bool Schedule::*> member;
  std::optional<ScheduleKind> takenBy; ///< nothing: of the warm-up, which precedes every kind
  words::NumberRange range;
  std::string_view meaning; ///< for help texts

  /// The value in a default-constructed Schedule.
  double defaultValue() const;
};
std::span<const ScheduleNumber> scheduleNumbers();

/// The schedule of this name; `numbers`, by PyTorch's names, replace the defaults. Throws Error for an unknown
/// schedule, for a number that it does not have (listing those it has), and for one out of range.
Schedule makeSchedule(const std::string &name, int64_t warmup, const std::map<std::string, double> &numbers);

} // namespace freestone::train

#endif // FREESTONE_TRAIN_RUN_SCHEDULE_H
