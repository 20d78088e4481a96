#ifndef FREESTONE_RUNTIME_WORKERS_RUNWATCH_H
#define FREESTONE_RUNTIME_WORKERS_RUNWATCH_H

#include "runtime/workers/WaitPoint.h"
#include <memory>
#include <utility>

namespace freestone::runtime {

class Gang;

/// A run of a gang as another thread sees it, the watcher, which waits for phases while the run goes on.
///
/// No wake is lost: workers publish their progress, then look which number is awaited; the watcher says which one, then
/// registers as a sleeper and looks at their progress (see WaitPoint).
class RunWatch {
public:
  enum class Stage { None, Expected, Running, Done, Failed, GivenUp };
  /// As a number of phases: the whole run.
  static constexpr int64_t wholeRun = INT64_MAX;

  /// From now on about the next run; nobody waits.
  void expect() { stage.store(Stage::Expected, std::memory_order_seq_cst); }
  /// By worker 0, before the run's first phase, whose progress numbers count from `base` on.
  void begin(int64_t base);
  /// By a worker that has published this number.
  void published(int64_t number);
  /// Unless the run has ended before.
  void end(bool succeeded) { finish(succeeded ? Stage::Done : Stage::Failed); }
  /// Only if the run has not begun. From any thread.
  void giveUp();

  /// Waits until all workers of the gang have finished so many phases of the run, or it has ended. From one thread at a
  /// time.
  Stage await(int64_t phases, const Gang &gang);

private:
  void finish(Stage end);

  std::atomic<Stage> stage = Stage::None;
  int64_t base = 0; ///< ordered by `stage`
  std::atomic<int64_t> awaited = 0;
  WaitPoint waiters;
};

/// The runtime's end of a watch: its waits end with the run, however that ends.
class WatchedRun {
public:
  WatchedRun() = default;
  explicit WatchedRun(std::shared_ptr<RunWatch> watch) : watch(std::move(watch)) {}
  WatchedRun(WatchedRun &&other) noexcept : watch(std::exchange(other.watch, nullptr)) {}
  WatchedRun &operator=(WatchedRun &&other) noexcept {
    end(/*succeeded=*/false);
    watch = std::exchange(other.watch, nullptr);
    return *this;
  }
  ~WatchedRun() { end(/*succeeded=*/false); }

  /// Null: nobody watches.
  RunWatch *get() const { return watch.get(); }
  void end(bool succeeded) {
    if (std::shared_ptr<RunWatch> ended = std::exchange(watch, nullptr))
      ended->end(succeeded);
  }

private:
  std::shared_ptr<RunWatch> watch;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_WORKERS_RUNWATCH_H
