#include "runtime/workers/Gang.h"

#include "runtime/platform/Cpus.h"
#include "runtime/workers/FloatingPoint.h"
#include "runtime/workers/SignalsBlocked.h"
#include <algorithm>
#include <cstdint>
#include <system_error>

using namespace freestone::runtime;

namespace {

constexpr int64_t infinity = INT64_MAX;

/// Interval at which a sleeping worker 0 polls the cancel callback.
constexpr std::chrono::milliseconds pollInterval(5);

/// Increments a counter that only this thread writes.
void count(std::atomic<uint64_t> &counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

} // namespace

SpinPolicy::Spin Gang::chooseSpin(int workers, int others, Switches switches) {
  // Spinning uses up the cgroup's quota that the other threads need.
  int cpus = platform::affinityCpus();
  if (workers + others > std::min(cpus, platform::quotaCpus().value_or(cpus)))
    return SpinPolicy::Spin::Never;
  return switches.spin ? SpinPolicy::Spin::Adaptively : SpinPolicy::Spin::Shortly;
}

Gang::Gang(int workers, Switches switches, std::function<bool()> cancelled, Crew lent)
    : lines(workers), cancelled(std::move(cancelled)), crew(switches.crew && workers > 1 ? std::move(lent) : Crew()),
      mayMove(switches.moves && workers <= platform::affinityCpus()), seenCpus(workers) {
  SpinPolicy::Spin spin = chooseSpin(workers, 0, switches);
  mayAlert = switches.alerts && spin != SpinPolicy::Spin::Never && !crew;
  SpinPolicy policy(spin);
  for (Line &line : lines)
    line.policy = line.parking = policy;
}

Result<std::unique_ptr<Gang>> Gang::start(int workers, Switches switches, std::function<bool()> cancelled, Crew crew) {
  std::unique_ptr<Gang> gang(new Gang(workers, switches, std::move(cancelled), std::move(crew)));
  if (Status status = gang->startThreads(); !status.ok())
    return status;
  return gang;
}

Status Gang::startThreads() {
  SignalsBlocked blocked;
  try {
    threads.reserve(size() - 1);
    for (int worker = 1; worker < size(); ++worker)
      threads.emplace_back([this, worker] { serve(worker); });
  } catch (const std::system_error &error) {
    return {Code::Internal, "can't start worker " + std::to_string(threads.size() + 1) + ": " + error.what()};
  }
  return {};
}

Gang::~Gang() {
  announcedRun.store(infinity, std::memory_order_seq_cst);
  parked.wake();
  for (std::thread &thread : threads)
    thread.join();
}

Gang::Outcome Gang::run(freestone_run_context &job, const freestone_entry &program, RunWatch *watcher) {
  job.workers = size();
  job.base = base;
  job.wait_all = waitAll;
  job.wait_for = waitFor;
  job.publish = publish;
  job.runtime = this;
  job.trace = tracing ? traceTask : nullptr;
  context = &job;
  entry = &program;
  watch = watcher;
  wasCancelled = false;
  ++runs;
  if (watch)
    watch->begin(base);
  if (!borrow())
    workOnOwnThreads();
  if (!failed.load(std::memory_order_relaxed)) {
    base = job.end;
    return Outcome::Done;
  }
  // All workers have returned: infinity can be reset, once the watcher needs none of it.
  if (watch)
    watch->end(/*succeeded=*/false);
  failed.store(false, std::memory_order_seq_cst);
  for (Line &line : lines)
    line.progress.store(base, std::memory_order_relaxed);
  return wasCancelled ? Outcome::Cancelled : Outcome::Failed;
}

/// Runs the current job on threads of the crew; false where these are too few.
bool Gang::borrow() {
  isBorrowing = crew != nullptr;
  if (!isBorrowing)
    return false;
  isBorrowing = crew(size(), [](void *gang, int32_t worker) { static_cast<Gang *>(gang)->work(worker); }, this);
  if (isBorrowing)
    count(borrowed);
  return isBorrowing;
}

void Gang::workOnOwnThreads() {
  if (size() == 1)
    return work(0);
  keepSleepersAway();
  announcedRun.store(runs, std::memory_order_seq_cst);
  parked.wake();
  work(0);
  for (int worker = 1; worker < size(); ++worker) {
    Line &line = lines[worker];
    auto isDone = [&] { return line.finishedRun.load(std::memory_order_seq_cst) == runs; };
    line.waiters.await(lines[0].policy, isDone);
  }
  // For the workers that go to sleep now.
  lines[0].cpu.store(platform::currentCpu(), std::memory_order_relaxed);
}

void Gang::alert(bool isWorker0) {
  if (!mayAlert || !parked.hasSleepers())
    return;
  if (isWorker0)
    keepSleepersAway();
  alerts.fetch_add(1, std::memory_order_seq_cst);
  parked.wake();
}

/// The main function of a worker's thread.
void Gang::serve(int worker) {
  int64_t served = 0;
  uint64_t heard = 0;
  platform::SleepMask &mask = lines[worker].mask;
  std::vector<int> others(size());
  auto park = [&](auto isReady) {
    if (lines[worker].parking.spin(isReady))
      return;
    // otherwise the waker may keep computing on the CPU where this thread wakes
    if (mayMove && mask.avoid(cpusOfOthers(worker, others)))
      count(lines[worker].parks);
    while (!isReady())
      parked.sleep({}, isReady);
  };
  for (;;) {
    auto isAnnounced = [&] { return announcedRun.load(std::memory_order_seq_cst) != served; };
    park([&] { return isAnnounced() || alerts.load(std::memory_order_seq_cst) != heard; });
    heard = alerts.load(std::memory_order_relaxed);
    park(isAnnounced);
    served = announcedRun.load(std::memory_order_acquire);
    if (served == infinity)
      return;
    work(worker);
    lines[worker].finishedRun.store(served, std::memory_order_seq_cst);
    lines[worker].waiters.wake();
    mask.restore(); // last, since it takes 20 µs with cold caches
  }
}

/// Called by worker 0 before it wakes the others: it may have moved since they went to sleep.
void Gang::keepSleepersAway() {
  int cpu = platform::currentCpu();
  lines[0].cpu.store(cpu, std::memory_order_relaxed);
  if (!mayMove || !parked.hasSleepers())
    return;
  for (int worker = 1; worker < size(); ++worker)
    if (lines[worker].mask.allows(cpu))
      lines[worker].mask.avoidInstead(cpusOfOthers(worker, seenCpus));
}

/// The CPUs where the others were last seen; `cpus` must have room for all workers.
std::span<const int> Gang::cpusOfOthers(int worker, std::span<int> cpus) const {
  for (int other = 0; other < size(); ++other)
    cpus[other] = other == worker ? -1 : lines[other].cpu.load(std::memory_order_relaxed);
  return cpus;
}

void Gang::work(int worker) {
  FloatingPointState state;
  if (size() > 1)
    settle(worker);
  if (tracing)
    lines[worker].trace.beginRun();
  if (worker == 0)
    count(entries);
  uint64_t before = countsPreemptions ? platform::preemptions() : 0;
  if (int32_t stopped = entry->run(context, worker))
    fail(worker, stopped - 1);
  if (countsPreemptions)
    lines[worker].preemptions.fetch_add(platform::preemptions() - before, std::memory_order_relaxed);
  if (traceEnded)
    traceEnded(worker, lines[worker].trace);
}

/// The scheduler often wakes a thread on the CPU of its waker; two workers that wait for each other may then share a
/// CPU forever. The one with the higher number leaves; worker 0, the caller's thread, is never moved, nor are threads
/// that are borrowed.
void Gang::settle(int worker) {
  int cpu = platform::currentCpu();
  lines[worker].cpu.store(cpu, std::memory_order_relaxed);
  if (!mayMove || isBorrowing)
    return;
  for (int other = 0; other < worker; ++other) {
    if (lines[other].cpu.load(std::memory_order_relaxed) != cpu)
      continue;
    platform::leaveCpu(cpu);
    lines[worker].cpu.store(platform::currentCpu(), std::memory_order_relaxed);
    count(lines[worker].moves);
    return;
  }
}

void Gang::fail(int worker, int64_t phase) {
  // Later failures are consequences of the first.
  if (!failed.exchange(true, std::memory_order_seq_cst))
    stoppedIn = phase;
  lines[worker].progress.store(infinity, std::memory_order_seq_cst);
  lines[worker].waiters.wake();
  if (watch)
    watch->published(infinity);
}

bool Gang::havePublished(int64_t number) const {
  return std::ranges::all_of(lines,
                             [&](const Line &line) { return line.progress.load(std::memory_order_seq_cst) >= number; });
}

/// Whether the run has ended for `worker`, whatever it waits for.
bool Gang::isStopped(int worker) {
  if (worker == 0 && cancelled && !wasCancelled && cancelled()) {
    wasCancelled = true;
    fail(0, 0);
  }
  return failed.load(std::memory_order_acquire);
}

/// Waits until another worker has published `number`; false if the run has ended.
bool Gang::await(int worker, int other, int64_t number) {
  Line &own = lines[worker], &line = lines[other];
  if (other == worker || line.progress.load(std::memory_order_acquire) >= number)
    return true;
  count(own.waits);
  auto hasArrived = [&] { return line.progress.load(std::memory_order_seq_cst) >= number; };
  if (own.policy.spin(hasArrived))
    return true;
  count(own.sleeps);
  settle(worker);
  auto timeout = worker == 0 && cancelled ? pollInterval : std::chrono::milliseconds(0);
  while (!hasArrived()) {
    line.waiters.sleep(timeout, hasArrived);
    if (worker == 0 && isStopped(0))
      return false;
  }
  settle(worker);
  return true;
}

/// Waits until every worker has published `number`; false if the run has ended.
bool Gang::awaitAll(int worker, int64_t number) {
  for (int other = 0; other < size(); ++other)
    if (!await(worker, other, number))
      return false;
  return !isStopped(worker);
}

int32_t Gang::waitAll(freestone_run_context *context, int64_t worker, int64_t number, int64_t phase) {
  auto &gang = *static_cast<Gang *>(context->runtime);
  bool goesOn = gang.awaitAll(worker, number);
  if (gang.tracing && phase >= 0)
    gang.lines[worker].trace.waited(phase);
  return goesOn ? 0 : 1;
}

int32_t Gang::waitFor(freestone_run_context *context, int64_t worker, int64_t base, const int64_t *phases,
                      int64_t count) {
  auto &gang = *static_cast<Gang *>(context->runtime);
  bool goesOn = true;
  int64_t last = 0;
  for (int64_t awaited : std::span(phases, count)) {
    int64_t phase = awaited < 0 ? ~awaited : awaited % FREESTONE_WINDOW;
    int64_t window = awaited < 0 ? 0 : awaited / FREESTONE_WINDOW;
    int begin = 0, end = gang.size();
    if (window > 0) {
      const int32_t *range = context->windows + 2 * ((window - 1) * gang.size() + worker);
      begin = range[0];
      end = range[1];
    }
    const char *isComputing = awaited < 0 || window > 0 ? nullptr : context->computing + phase * gang.size();
    for (int other = begin; goesOn && other < end; ++other)
      if (!isComputing || isComputing[other])
        goesOn = gang.await(worker, other, base + phase + 1);
    last = phase;
  }
  goesOn = goesOn && !gang.isStopped(worker);
  if (gang.tracing)
    gang.lines[worker].trace.waited(last);
  return goesOn ? 0 : 1;
}

void Gang::publish(freestone_run_context *context, int64_t worker, int64_t number) {
  auto &gang = *static_cast<Gang *>(context->runtime);
  Line &line = gang.lines[worker];
  if (gang.size() == 1 && !gang.watch)
    return line.progress.store(number, std::memory_order_relaxed);
  line.progress.store(number, std::memory_order_seq_cst);
  line.waiters.wake();
  if (gang.watch)
    gang.watch->published(number);
}

void Gang::traceTask(freestone_run_context *context, int64_t worker, int64_t phase, int64_t begin, int64_t end,
                     int64_t tiles) {
  static_cast<Gang *>(context->runtime)->lines[worker].trace.computed(phase, begin, end, tiles);
}

void Gang::startTracing(int64_t phases, std::function<void(int worker, const Trace &trace)> ended) {
  tracing = true;
  traceEnded = std::move(ended);
  for (Line &line : lines)
    line.trace.reserve(phases);
}

Gang::Counters Gang::counters() const {
  Counters sum;
  sum.alerts = alerts.load(std::memory_order_relaxed);
  sum.borrowed = borrowed.load(std::memory_order_relaxed);
  sum.entries = entries.load(std::memory_order_relaxed);
  for (const Line &line : lines) {
    sum.waits += line.waits.load(std::memory_order_relaxed);
    sum.sleeps += line.sleeps.load(std::memory_order_relaxed);
    sum.moves += line.moves.load(std::memory_order_relaxed);
    sum.parks += line.parks.load(std::memory_order_relaxed);
    sum.preemptions += line.preemptions.load(std::memory_order_relaxed);
  }
  return sum;
}
