#ifndef FREESTONE_DISTRIBUTED_SCHEDULE_VERIFYSCHEDULE_H
#define FREESTONE_DISTRIBUTED_SCHEDULE_VERIFYSCHEDULE_H

#include "distributed/schedule/Schedule.h"

namespace freestone::distributed {

/// Checks what a schedule without transfers promises, whoever made it:
///
/// - Every stage has the passes of every micro-batch exactly once, on the right rank: forward, an optional
/// recomputation,
///   then a whole backward pass, or one split into gradients of inputs and of weights, in this order.
/// - Forward and backward passes of a stage are in ascending order of micro-batches on each rank.
/// - Every stage ends each step with an update on all of its ranks, behind the gradients of all micro-batches before.
/// - All passes of a micro-batch on a stage use one version of the weights, which exists by then.
///
/// Throws Error, which names the action. That no rank waits for ever is shown by a simulation.
void verifySchedule(const Schedule &schedule);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_SCHEDULE_VERIFYSCHEDULE_H
