#ifndef FREESTONE_DISTRIBUTED_SCHEDULE_GENERATE_H
#define FREESTONE_DISTRIBUTED_SCHEDULE_GENERATE_H

#include "distributed/schedule/Schedule.h"

namespace freestone::distributed {

struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::OneFOneB;
  int microBatches = 1; ///< of a step
  int steps = 1;        ///< of a delayed schedule; others have one
  /// The number of replicas of each stage; ranks are numbered through the stages. Of an interleaved schedule, stages go
  /// round the ranks instead.
  std::vector<int> replicas;
  int chunks = 1;            ///< of an interleaved schedule: stages of a rank
  /// Backward passes compute the forward pass anew, on all stages where something else may come between the two.
  bool recompute = false;
  bool verticalSync = false; ///< of PipeDream: all stages use the version of weights that the first stage has used

  static ScheduleOptions straight(ScheduleKind kind, int stages, int microBatches) {
    ScheduleOptions options;
    options.kind = kind;
    options.microBatches = microBatches;
    options.replicas.assign(stages, 1);
    return options;
  }
};

/// The list of every rank, without transfers. The backward passes of a stage are in ascending order of micro-batches,
/// so that sums of gradients have the same bits in all schedules without delay.
///
/// - GPipe (Huang et al., NeurIPS 2019): all forward passes, then all backward passes.
/// - 1F1B (PipeDream-Flush; DAPPLE, Fan et al., PPoPP 2021): stage s keeps at most p - s micro-batches; eager: at most
///   2 (p - s) - 1, which hides transfers.
/// - Interleaved (Narayanan et al., SC 2021): each rank has `chunks` stages, which shortens the bubble as many times.
/// - ZB-H1 (Qi et al., "Zero Bubble Pipeline Parallelism", ICLR 2024): gradients of weights fill the bubble.
/// - PipeDream (Narayanan et al., SOSP 2019): an update after the micro-batches of each step, of which the paper has one
///   for each replica of a stage, without a flush; a backward pass uses the weights of its forward pass (weight
///   stashing).
/// - PipeDream-2BW (Narayanan et al., ICML 2021): an update a step, of gradients one step older; two versions.
///
/// Throws Error for options that do not fit each other.
Schedule generate(const ScheduleOptions &options);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_SCHEDULE_GENERATE_H
