#ifndef FREESTONE_DISTRIBUTED_EXECUTE_RANKREPORT_H
#define FREESTONE_DISTRIBUTED_EXECUTE_RANKREPORT_H

#include "distributed/transport/Courier.h"

namespace freestone::distributed {

/// What a rank tells rank 0 behind each step, without being waited for.
struct RankReport {
  int64_t busyNs = 0;    ///< of the step, in compute actions
  int64_t bytes = 0;     ///< that the rank holds: states, values of micro-batches under way, intermediates of programs
  int64_t courierNs = 0; ///< CPU time of the communication thread since the first step
  int64_t elapsedNs = 0; ///< since the first step
  // Of gradients that were summed over replicas, since the first step: bytes, and those whose sums began in time.
  int64_t summedBytes = 0, overlappedBytes = 0;

  /// The communication thread's part of one CPU.
  double courierShare() const {
    return elapsedNs > 0 ? static_cast<double>(courierNs) / static_cast<double>(elapsedNs) : 0;
  }
};

/// The message with a report, in place.
inline Message messageOf(RankReport &report, uint64_t model, int64_t step, int rank) {
  return {{MessageKind::Report, model, step, rank, 0, 0}, {{&report, sizeof(report), FREESTONE_I64}}};
}

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_RANKREPORT_H
