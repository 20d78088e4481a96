#ifndef FREESTONE_RUNTIME_WORKERS_GANG_H
#define FREESTONE_RUNTIME_WORKERS_GANG_H

#include "runtime/Status.h"
#include "runtime/artifact/abi.h"
#include "runtime/platform/Cpus.h"
#include "runtime/workers/RunWatch.h"
#include "runtime/workers/SpinPolicy.h"
#include "runtime/workers/Switches.h"
#include "runtime/workers/Trace.h"
#include "runtime/workers/WaitPoint.h"
#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <vector>

namespace freestone::runtime {

/// Runs `body(data, worker)` on so many threads at the same time, worker 0 on the caller's, and returns when all have
/// returned; false, without a call, where there are not as many.
using Crew = std::function<bool(int workers, void (*body)(void *data, int32_t worker), void *data)>;

/// W workers that run one compiled program together: worker 0 is the thread that calls `run`, the others are threads of
/// the gang, asleep between runs, or borrowed from a crew for a run.
///
/// Each worker owns a cache line with its progress: the number of the last phase that it has finished, counted since
/// the gang started. Progress only grows, so nothing is reset between runs. A worker that fails publishes infinity, so
/// that no worker waits for it.
class Gang {
public:
  /// Starts `workers` - 1 threads. Worker 0 polls `cancelled`, which may be empty, as `crew` may be.
  static Result<std::unique_ptr<Gang>> start(int workers, Switches switches, std::function<bool()> cancelled,
                                             Crew crew = {});
  ~Gang();

  /// Calls `entry.run(context, w)` on every worker w and returns when all have returned. Sets the gang's fields of
  /// `context`: workers, base, wait_all, wait_for, publish, runtime. `watch` may be null; a failure ends it, a success
  /// is left to the caller.
  enum class Outcome { Done, Failed, Cancelled };
  Outcome run(freestone_run_context &context, const freestone_entry &entry, RunWatch *watch = nullptr);
  /// Of the last failed run: the phase in which the first worker failed.
  int64_t failedPhase() const { return stoppedIn; }

  // From any thread, for RunWatch.
  bool havePublished(int64_t number) const;
  bool hasFailed() const { return failed.load(std::memory_order_seq_cst); }

  /// Wakes the threads of the gang ahead of a run, so that it need not wait for them. May be called by worker 0's
  /// thread (`isWorker0`), or by any other thread at any time.
  void alert(bool isWorker0);

  int size() const { return lines.size(); }

  /// Whether the counter `preemptions` counts in the next runs, which takes two calls of the kernel per worker and run.
  void countPreemptions(bool counts) { countsPreemptions = counts; }

  /// From now on every worker records its spans of runs of up to `phases` phases, and then calls `ended`, which may be
  /// empty, with its number and these spans.
  void startTracing(int64_t phases, std::function<void(int worker, const Trace &trace)> ended);
  /// The spans of the last run; call between runs.
  const Trace &trace(int worker) const { return lines[worker].trace; }

  /// The spin policy for a thread, with `others` threads awake besides the workers.
  static SpinPolicy::Spin chooseSpin(int workers, int others, Switches switches);

  /// Sums over all workers.
  struct Counters {
    uint64_t waits = 0;    ///< waits whose condition did not hold at once
    uint64_t sleeps = 0;   ///< waits that slept
    uint64_t moves = 0;    ///< times that a worker left a CPU that it shared with another
    uint64_t parks = 0;    ///< times that a worker went to sleep between runs away from the others' CPUs
    uint64_t alerts = 0;   ///< times that sleepers were woken ahead of their run
    uint64_t borrowed = 0; ///< runs on threads of the crew
    uint64_t entries = 0;  ///< times that worker 0 entered a program
    uint64_t preemptions = 0; ///< times that a worker lost its CPU to another thread in a run
  };
  Counters counters() const;

private:
  /// A worker's state that the others read. Two cache lines, since hardware prefetches them in pairs.
  struct alignas(128) Line {
    std::atomic<int64_t> progress = 0;
    std::atomic<int64_t> finishedRun = 0;
    std::atomic<int> cpu = -1; ///< CPU where its worker was last seen
    WaitPoint waiters;
    platform::SleepMask mask;                                          ///< between runs
    std::atomic<uint64_t> waits = 0, sleeps = 0, moves = 0, parks = 0; ///< written by its worker
    std::atomic<uint64_t> preemptions = 0;                             ///< so too
    SpinPolicy policy{SpinPolicy::Spin::Never};                        ///< within a run
    SpinPolicy parking{SpinPolicy::Spin::Never};                       ///< between runs
    Trace trace;                                                       ///< written by its worker
  };

  Gang(int workers, Switches switches, std::function<bool()> cancelled, Crew crew);
  Status startThreads();
  bool borrow();
  void workOnOwnThreads();
  void serve(int worker);
  void work(int worker);
  void settle(int worker);
  void keepSleepersAway();
  std::span<const int> cpusOfOthers(int worker, std::span<int> cpus) const;
  bool isStopped(int worker);
  void fail(int worker, int64_t phase);

  bool await(int worker, int other, int64_t number);
  bool awaitAll(int worker, int64_t number);

  static int32_t waitAll(freestone_run_context *context, int64_t worker, int64_t number, int64_t phase);
  static int32_t waitFor(freestone_run_context *context, int64_t worker, int64_t base, const int64_t *phases,
                         int64_t count);
  static void publish(freestone_run_context *context, int64_t worker, int64_t number);
  static void traceTask(freestone_run_context *context, int64_t worker, int64_t phase, int64_t begin, int64_t end,
                        int64_t tiles);

  std::vector<Line> lines;
  std::vector<std::thread> threads;
  std::function<bool()> cancelled;
  Crew crew;
  bool mayMove;
  bool isBorrowing = false;  ///< the current run is on threads of the crew
  bool mayAlert = false;     ///< threads that are awake can spin until their run begins
  std::vector<int> seenCpus; ///< used by worker 0, for `cpusOfOthers`
  bool tracing = false, countsPreemptions = false;
  std::function<void(int worker, const Trace &trace)> traceEnded;
  int64_t base = 0;
  int64_t runs = 0;

  // The current job: written by worker 0 before it announces a run.
  freestone_run_context *context = nullptr;
  const freestone_entry *entry = nullptr;
  RunWatch *watch = nullptr;

  alignas(128) std::atomic<int64_t> announcedRun = 0;
  std::atomic<uint64_t> alerts = 0, borrowed = 0, entries = 0;
  WaitPoint parked;
  alignas(128) std::atomic<bool> failed = false;
  bool wasCancelled = false; ///< used by worker 0
  int64_t stoppedIn = 0;     ///< the phase in which the last failed run failed
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_WORKERS_GANG_H
