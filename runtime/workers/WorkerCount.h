#ifndef FREESTONE_RUNTIME_WORKERS_WORKERCOUNT_H
#define FREESTONE_RUNTIME_WORKERS_WORKERCOUNT_H

#include <string>

namespace freestone::runtime {

/// The number of an instance's workers, with the reason for the log.
struct WorkerCount {
  int workers;
  std::string reason;
};

/// `requested` if positive; else the CPUs that this thread's affinity and the cgroup's quota allow, at most
/// OMP_NUM_THREADS and FREESTONE_NUM_THREADS.
WorkerCount chooseWorkerCount(int requested);

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_WORKERS_WORKERCOUNT_H
