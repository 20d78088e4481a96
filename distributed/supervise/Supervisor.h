#ifndef FREESTONE_DISTRIBUTED_SUPERVISE_SUPERVISOR_H
#define FREESTONE_DISTRIBUTED_SUPERVISE_SUPERVISOR_H

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace freestone::distributed {

/// A job of several processes that is started again when one of them dies.
struct SupervisedJob {
  int ranks = 1;
  std::string hosts;                ///< comma-separated; empty: this machine
  std::vector<std::string> command; ///< of every rank
  int mostRestarts = 3;             ///< without a step of progress between them
  /// How far the job is, such as the step of its newest checkpoint; must not throw.
  std::function<int64_t()> progress;
  /// Polled: if true, the ranks are told to stop after the current step.
  const std::atomic<bool> *stop = nullptr;
};

/// Set in the environment of a job that was started again.
inline constexpr const char *restartedVariable = "FREESTONE_RESTARTED";

/// Whether there is an `mpirun` among the folders of PATH.
bool hasLauncher();

/// Runs the job by `mpirun` until it ends, and returns its exit code; it is started again when a signal has ended a
/// rank, or by `passingFault`. What happens is printed to stderr. Throws Error where mpirun can't be started.
int supervise(const SupervisedJob &job);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_SUPERVISE_SUPERVISOR_H
