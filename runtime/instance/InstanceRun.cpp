// Execution of an instance: on the caller's thread, or in its queue.
#include "runtime/instance/Instance.h"
#include "runtime/platform/Cpus.h"
#include "runtime/timeline/Clock.h"
#include <algorithm>
#include <cstring>

using namespace freestone::runtime;

void Instance::addPlace(int workers) {
  places.push_back(
      std::make_unique<PreparedRun>(program, Dealer(program, workers, {switches.deals, switches.company})));
}

Status Instance::prepare() {
  if (Status status = surfaceFailure(); !status.ok())
    return status;
  return bind();
}

static Status refuseSecondRun() {
  return {Code::InvalidArgument, "the instance is running already; one instance runs one model at a time"};
}

void Instance::watchNext(std::shared_ptr<RunWatch> watch) {
  watching = {};
  watch->expect();
  watching = WatchedRun(std::move(watch));
}

Status Instance::run() {
  Turn turn(busy);
  if (!turn)
    return refuseSecondRun();
  WatchedRun watched = std::move(watching);
  drain();
  if (Status status = surfaceFailure(); !status.ok())
    return status;
  gang->alert(/*isWorker0=*/true);
  if (Status status = bind(); !status.ok())
    return status;
  std::optional<int64_t> place = order().joinIfFirst();
  if (!place)
    return {Code::InvalidArgument, "another instance is running on the same state; they take turns"};
  PreparedRun &run = *current;
  run.number = static_cast<int64_t>(++runs);
  run.watched = std::move(watched);
  run.status = execute(run);
  order().leave(*place);
  if (!run.status.ok())
    current = nullptr;
  return run.status;
}

Result<int64_t> Instance::submit() {
  Turn turn(busy);
  if (!turn)
    return refuseSecondRun();
  WatchedRun watched = std::move(watching);
  if (Status status = surfaceFailure(); !status.ok())
    return status;
  if (Status status = startQueue(); !status.ok())
    return status;
  gang->alert(/*isWorker0=*/!queue);
  int64_t begin = timeline ? now() : 0;
  if (Status status = bind(); !status.ok())
    return status;
  PreparedRun &run = *current;
  current = nullptr;
  run.number = static_cast<int64_t>(++runs);
  run.watched = std::move(watched);
  copySmallInputs(run);
  note("prepare", begin, run.number);
  if (Status status = enqueue({&run}); !status.ok()) {
    run.number = 0;
    run.watched.end(/*succeeded=*/false);
    return status;
  }
  ++submits;
  nextPlace = (nextPlace + 1) % places.size();
  return run.number;
}

Status Instance::submitCall(void (*function)(void *user), void *user) {
  if (Status status = surfaceFailure(); !status.ok())
    return status;
  if (Status status = startQueue(); !status.ok())
    return status;
  return enqueue({nullptr, function, user});
}

Status Instance::wait(int64_t number) {
  current = nullptr;
  if (number == 0) {
    drain();
    return surfaceFailure();
  }
  auto found = std::ranges::find(places, number, [](const auto &place) { return place->number; });
  if (found == places.end())
    return {Code::InvalidArgument,
            number > static_cast<int64_t>(runs)
                ? "there is no run " + std::to_string(number) + " yet"
                : "the outputs of run " + std::to_string(number) + " are gone: later runs have taken their place"};
  PreparedRun &run = **found;
  int64_t begin = timeline ? now() : 0;
  if (run.job > 0)
    queue->await(run.job);
  note("wait for the run", begin, number);
  if (run.status.ok()) {
    current = &run;
    return {};
  }
  Status status = run.status;
  Status first = surfaceFailure();
  return first.ok() ? status : first;
}

/// Called by the first submission; before it there is one slot and no thread.
Status Instance::startQueue() {
  while (static_cast<int>(places.size()) < queueDepth)
    addPlace(threads());
  if (queue || !switches.overlap)
    return {};
  jobs.resize(2 * queueDepth);
  SpinPolicy::Spin spin = Gang::chooseSpin(threads(), 1, switches);
  bool mayMove = switches.moves && threads() < platform::affinityCpus();
  Result<std::unique_ptr<RunQueue>> started = RunQueue::start(spin, mayMove, [this](int64_t job) { work(job); });
  if (!started.ok())
    return started.status();
  queue = std::move(*started);
  return {};
}

void Instance::copySmallInputs(PreparedRun &run) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]->bytes > copiedInputBytes)
      continue;
    std::memcpy(run.copies[i].bytes, inputs[i]->data, inputs[i]->bytes);
    run.buffers[program.inputs[i].buffer] = run.copies[i].bytes;
  }
}

/// Queues a job; without a queue it is executed at once.
Status Instance::enqueue(Job job) {
  if (queue) // wait until this slot's earlier job has finished
    queue->await(queue->next() - static_cast<int64_t>(jobs.size()));
  job.place = order().join();
  if (!queue)
    return doJob(job);
  int64_t number = queue->next();
  if (job.run)
    job.run->job = number;
  jobs[number % jobs.size()] = job;
  queue->submit();
  return {};
}

void Instance::work(int64_t number) { (void)doJob(jobs[number % jobs.size()]); }

/// Executes a job, on the caller's or the queue's thread. Only runs fail.
Status Instance::doJob(const Job &job) {
  RunOrder &order = this->order();
  order.await(job.place, turnSpinPolicy);
  bool isDropped = order.isDropped(job.place);
  if (!job.run) {
    if (!isDropped)
      job.function(job.user);
  } else if (isDropped) {
    job.run->status = {Code::Cancelled,
                       "run " + std::to_string(job.run->number) + " was not started, since one before it had failed"};
    job.run->watched.end(/*succeeded=*/false);
  } else {
    job.run->status = prefixed(*job.run, execute(*job.run));
    if (queue && !job.run->status.ok())
      order.fail(job.run->status);
  }
  Status status = job.run ? job.run->status : Status();
  order.leave(job.place);
  return status;
}

/// Errors are reported later, so they name their run.
Status Instance::prefixed(const PreparedRun &run, const Status &status) const {
  if (status.ok())
    return {};
  return {status.code(), "run " + std::to_string(run.number) + " of entry '" + program.name + "': " + status.message()};
}

void Instance::drain() {
  if (queue)
    queue->awaitAll();
}

/// Reports, once, the failure of a queued run of any instance on the same state; afterwards the queue is empty and
/// accepts runs again.
Status Instance::surfaceFailure() {
  Status status = order().takeFailure();
  if (!status.ok())
    drain();
  return status;
}

/// Where the last runs had to share their CPUs, workers claim tiles from each other.
Gang::Outcome Instance::runOnGang(PreparedRun &run) {
  bool mayClaim = !claims.isEmpty() && run.deals.mayClaim();
  gang->countPreemptions(mayClaim);
  if (!mayClaim) {
    run.setClaims(nullptr);
    return gang->run(run.context, functions, run.watched.get());
  }
  bool isClaiming = competition.isBusy();
  run.setClaims(isClaiming ? &claims : nullptr);
  claimingRuns.fetch_add(isClaiming, std::memory_order_relaxed);
  uint64_t before = gang->counters().preemptions;
  int64_t begin = now();
  Gang::Outcome outcome = gang->run(run.context, functions, run.watched.get());
  competition.observe(now() - begin, gang->counters().preemptions - before);
  // The progress numbers of a run that failed are used again.
  if (outcome != Gang::Outcome::Done)
    claims.forget();
  return outcome;
}

Status Instance::execute(PreparedRun &run) {
  if (Status status = run.grow(); !status.ok()) {
    run.watched.end(/*succeeded=*/false);
    return status;
  }
  for (int worker = 0; worker < threads(); ++worker)
    std::memset(run.context.scratch + worker * run.context.scratch_stride, 0, FREESTONE_SCRATCH_HEADER);
  executing = &run;
  executed.fetch_add(1, std::memory_order_relaxed);
  services->enter(run.context);
  recordPlan(run);
  run.resizes = 0;
  Gang::Outcome outcome = runOnGang(run);
  hostCalls.fetch_add(run.resizes + services->callCount(), std::memory_order_relaxed);
  Status status = explainFailure(run, outcome);
  run.watched.end(status.ok());
  if (!status.ok())
    return status;
  phases.fetch_add(run.context.end - run.context.base, std::memory_order_relaxed);
  // Sizes determined at run time count with their final values.
  auto valueOf = [&](int64_t slot) { return slot < 0 ? 0 : static_cast<uint64_t>(run.sizes[slot]); };
  operations.store(valueOf(program.operationsSlot), std::memory_order_relaxed);
  paddingOperations.store(valueOf(program.paddingSlot), std::memory_order_relaxed);
  return {};
}

/// A run without a stopped worker may still have undefined results: the scratch headers of workers tell.
Status Instance::explainFailure(const PreparedRun &run, Gang::Outcome outcome) const {
  if (outcome == Gang::Outcome::Cancelled)
    return {Code::Cancelled, "the run was cancelled"};
  if (!services->failure().ok())
    return services->failure();
  if (!run.unsized.ok())
    return {run.unsized.code(), run.unsized.message() + describePhase(gang->failedPhase())};
  for (int worker = 0; worker < threads(); ++worker) {
    int64_t site = 0;
    std::memcpy(&site, run.context.scratch + worker * run.context.scratch_stride, sizeof(site));
    if (site == 0)
      continue;
    const std::vector<std::string> &sites = artifact->descriptor().sites;
    bool isKnown = site > 0 && site <= static_cast<int64_t>(sites.size());
    return {Code::RunFailed,
            isKnown ? sites[site - 1] : "the program failed at an unknown site " + std::to_string(site)};
  }
  if (outcome == Gang::Outcome::Failed)
    return {Code::RunFailed, "a size that was computed overflows 64 bits" + describePhase(gang->failedPhase())};
  return {};
}

/// " in program 'p3', node '/Where'"
std::string Instance::describePhase(int64_t number) const {
  if (number >= static_cast<int64_t>(program.phases.size()))
    return "";
  const Phase &phase = program.phases[number];
  return " in program '" + phase.program + "', node '" + phase.label + "'";
}

/// Records an activity of the caller's thread since `begin`.
void Instance::note(const char *what, int64_t begin, int64_t number) const {
  if (!timeline)
    return;
  Timeline::Event event = {begin, now()};
  event.run = number;
  timeline->add("host", what, event);
}

Result<TensorView> Instance::output(size_t index) const {
  if (Status status = checkKind(program.outputs, index, "output", /*isSequence=*/false); !status.ok())
    return status;
  return tensorOf(index);
}

Result<TensorView> Instance::tensorOf(size_t index) const {
  if (!current)
    return Status(Code::InvalidArgument,
                  "there is no output: the last call of prepare, run or wait failed, or something was set since");
  const TensorInfo &info = program.outputs[index];
  TensorView view;
  view.data = current->buffers[info.buffer];
  for (int64_t slot : info.dimSlots)
    view.shape.push_back(current->sizes[slot]);
  // The plan has checked that they fit.
  view.bytes = countBytes(info.dtype, view.shape).value_or(0);
  return view;
}

/// The stack of an output, once a run has made it.
Result<TensorView> Instance::stackOf(size_t index) const {
  if (Status status = checkKind(program.outputs, index, "output", /*isSequence=*/true); !status.ok())
    return status;
  Result<TensorView> stack = tensorOf(index);
  if (stack.ok() && current->number == 0)
    return Status(Code::InvalidArgument, "output '" + program.outputs[index].name + "' has no elements before a run");
  return stack;
}

Result<int64_t> Instance::outputLength(size_t index) const {
  Result<TensorView> stack = stackOf(index);
  if (!stack.ok())
    return stack.status();
  int64_t presence = program.outputs[index].presence;
  bool isAbsent = presence >= 0 && *static_cast<const char *>(tensorOf(presence)->data) == 0;
  return isAbsent ? -1 : stack->shape[0];
}

Result<TensorView> Instance::outputElement(size_t index, size_t element) {
  Result<int64_t> length = outputLength(index);
  if (!length.ok())
    return length.status();
  const TensorInfo &info = program.outputs[index];
  if (static_cast<int64_t>(element) >= *length)
    return Status(Code::InvalidArgument, "output '" + info.name + "' has no element " + std::to_string(element) +
                                             "; it has " + std::to_string(std::max<int64_t>(*length, 0)));
  TensorView stack = *stackOf(index);
  const auto *sizes = info.sizes < 0 ? nullptr : static_cast<const int64_t *>(tensorOf(info.sizes)->data);
  if (!current->isCompact[index]) {
    compact(info, stack, sizes);
    current->isCompact[index] = true;
  }
  return elementOf(info, stack, sizes, element);
}

Instance::Counters Instance::counters() const {
  Gang::Counters waits = gang->counters();
  Counters counters;
  counters.runs = executed.load(std::memory_order_relaxed);
  counters.binds = planner.binds();
  counters.planHits = planner.hits();
  counters.allocations = memory->allocations();
  counters.chunks = memory->chunks();
  counters.phases = phases.load(std::memory_order_relaxed);
  counters.waits = waits.waits;
  counters.sleeps = waits.sleeps;
  counters.moves = waits.moves;
  counters.parks = waits.parks;
  counters.alerts = waits.alerts;
  counters.borrowed = waits.borrowed;
  counters.claimingRuns = claimingRuns.load(std::memory_order_relaxed);
  counters.steals = claims.steals();
  counters.preemptions = waits.preemptions;
  counters.entries = waits.entries;
  counters.keptWhole = planner.company().keptWhole();
  counters.keptNear = planner.company().keptNear();
  counters.hostCalls = hostCalls.load(std::memory_order_relaxed);
  counters.arenaBytes = arena.size();
  counters.plannedBytes = plannedBytes;
  counters.liveBytes = liveBytes;
  counters.operations = operations.load(std::memory_order_relaxed);
  counters.paddingOperations = paddingOperations.load(std::memory_order_relaxed);
  counters.submits = submits;
  if (queue)
    counters.queue = queue->counters();
  counters.moves += counters.queue.moves;
  return counters;
}
