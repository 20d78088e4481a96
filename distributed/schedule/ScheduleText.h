#ifndef FREESTONE_DISTRIBUTED_SCHEDULE_SCHEDULETEXT_H
#define FREESTONE_DISTRIBUTED_SCHEDULE_SCHEDULETEXT_H

#include "distributed/schedule/Schedule.h"

namespace freestone::distributed {

/// One action: a letter, the stage and the micro-batch, "F0.3".
///
///   F forward                 R recompute            > send, "0>1.3": stage 0 to stage 1
///   B backward                S sum of replicas      < receive, "1<0.3": stage 1 from stage 0
///   I gradients of inputs     X exchange
///   W gradients of weights    U update
///
/// "@2" behind it: with the weights after two updates.
std::string printAction(const Action &action);

/// A schedule as lines, the form that `readSchedule` reads:
///
///   schedule 1f1b micro-batches 2 steps 1
///   stages 0 1
///   rank 0: F0.0 F0.1 B0.0 B0.1 X0.1 U0.1
///   rank 1: F1.0 B1.0 F1.1 B1.1 X0.1 U1.1
///
/// "stages 0,1,2 3": the first stage has the ranks 0 to 2 as replicas.
std::string printSchedule(const Schedule &schedule);

/// Throws Error, which names the line, for text that is no schedule.
Schedule readSchedule(const std::string &text);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_SCHEDULE_SCHEDULETEXT_H
