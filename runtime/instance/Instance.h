#ifndef FREESTONE_RUNTIME_INSTANCE_INSTANCE_H
#define FREESTONE_RUNTIME_INSTANCE_INSTANCE_H

#include "runtime/artifact/Artifact.h"
#include "runtime/instance/Sequence.h"
#include "runtime/instance/ServiceTable.h"
#include "runtime/instance/State.h"
#include "runtime/instance/Tensor.h"
#include "runtime/instance/Turn.h"
#include "runtime/queue/PreparedRun.h"
#include "runtime/queue/RunQueue.h"
#include "runtime/sizes/SizePlan.h"
#include "runtime/timeline/Timeline.h"
#include "runtime/workers/Claims.h"
#include "runtime/workers/Competition.h"
#include "runtime/workers/Gang.h"
#include <optional>

namespace freestone::runtime {

/// One entry of an artifact with its own memory and workers. Runs either on the caller's thread or in a queue, on a
/// thread of its own, while the caller prepares the next runs. Not thread-safe.
class Instance {
public:
  struct Options {
    int threads = 0;    ///< 0: as many as the machine offers
    int queueDepth = 0; ///< runs that may be queued or running at a time; 0: 2
    Switches switches;
    uint64_t maxMemory = 0;
    bool assumeBusy = false; ///< runs as on a busy machine, without looking whether it is
    bool trace = false;
    std::shared_ptr<Timeline> timeline; ///< records the runs; may be null
    Memory::Callbacks memory;
    std::function<void(const std::string &message)> log;
    std::function<bool()> cancelled;
    Crew crew; ///< threads to borrow; may be empty
    std::span<const freestone_service> services; ///< only read by `create`
    std::shared_ptr<State> state;                ///< null: an own state, if the entry needs one
  };

  static Result<std::unique_ptr<Instance>> create(std::shared_ptr<const Artifact> artifact, const Entry &entry,
                                                  Options options);

  const Entry &entry() const { return program; }
  /// Null if the entry has no state.
  const std::shared_ptr<State> &state() const { return kept; }
  int threads() const { return gang->size(); }

  Status setInput(size_t index, const DLTensor &tensor);
  /// A view made for an input or weight of this dtype and rank.
  Status setInput(size_t index, const TensorView &view);
  /// The elements of a sequence, or the content of an optional. Copies them where they do not lie as a stack.
  Status setSequence(size_t index, std::span<const DLTensor> elements);
  /// An optional without content.
  Status setAbsent(size_t index);
  /// Null returns the output to the runtime's own memory.
  Status setOutput(size_t index, const DLTensor *tensor);

  /// The memory that a run would need.
  struct Need {
    uint64_t arenaBytes = 0, scratchBytes = 0, outputBytes = 0, stateBytes = 0;
  };
  using NamedSizes = std::span<const std::pair<std::string_view, int64_t>>;
  Result<Need> planMemory(NamedSizes sizes);
  /// The dimensions that an input or an output would have.
  Result<std::vector<int64_t>> planInput(NamedSizes sizes, size_t index) {
    return planShape(sizes, program.inputs, index, "input");
  }
  Result<std::vector<int64_t>> planOutput(NamedSizes sizes, size_t index) {
    return planShape(sizes, program.outputs, index, "output");
  }

  /// Binds all sizes, checks them and reserves memory. Waits for a free slot of the queue.
  Status prepare();
  /// Lets another thread watch the next run.
  void watchNext(std::shared_ptr<RunWatch> watch);
  // For watchers, from any thread.
  size_t stateCount() const { return lastUses.size(); }
  /// See findLastUses.
  int64_t lastUse(size_t state) const { return lastUses[state]; }
  RunWatch::Stage await(RunWatch &watch, size_t state) const { return watch.await(lastUse(state), *gang); }
  /// Runs after everything queued has ended.
  Status run();
  /// Queues a run of the current inputs and returns its number.
  Result<int64_t> submit();
  /// Queues a call between two runs: everything submitted before has ended, everything submitted after has not begun.
  Status submitCall(void (*function)(void *user), void *user);
  /// Waits until the run of this number has ended and its outputs are available; 0: until everything queued has ended.
  Status wait(int64_t number);

  /// After `prepare`, `run` or `wait`: data, shape and bytes of an output.
  Result<TensorView> output(size_t index) const;
  /// The number of elements of an output that is a sequence or an optional, after `run` or `wait`; -1: an optional
  /// sequence that is not there.
  Result<int64_t> outputLength(size_t index) const;
  /// One of them, contiguous.
  Result<TensorView> outputElement(size_t index, size_t element);
  /// The size of an output, including padding if the entry packs.
  int64_t outputBytes(size_t index) const {
    return current->sizes[program.buffers[program.outputs[index].buffer].bytesSlot];
  }
  /// Null if the output is the caller's memory.
  std::shared_ptr<OutputMemory> outputMemory(size_t index) const { return current->outputs[index]; }

  /// Waits until everything submitted has ended.
  void drain();

  /// A worker's activity in the last run; empty without tracing. Not valid while runs are queued.
  const Trace &trace(int worker) const { return gang->trace(worker); }

  struct Counters {
    uint64_t runs = 0, binds = 0, planHits = 0, allocations = 0, phases = 0, waits = 0, sleeps = 0, moves = 0;
    uint64_t chunks = 0;
    uint64_t arenaBytes = 0, plannedBytes = 0, liveBytes = 0;
    uint64_t operations = 0, paddingOperations = 0; ///< of the last successful run
    uint64_t parks = 0, alerts = 0, borrowed = 0, entries = 0, hostCalls = 0;
    uint64_t submits = 0;
    uint64_t claimingRuns = 0, steals = 0, preemptions = 0;
    uint64_t keptWhole = 0, keptNear = 0;
    RunQueue::Counters queue;
  };
  Counters counters() const;

private:
  Result<std::vector<int64_t>> planShape(NamedSizes sizes, const std::vector<TensorInfo> &values, size_t index,
                                         const char *what);
  struct Job {
    PreparedRun *run = nullptr; ///< null: a call
    void (*function)(void *user) = nullptr;
    void *user = nullptr;
    int64_t place = 0; ///< in the RunOrder
  };

  Instance(std::shared_ptr<const Artifact> artifact, const Entry &entry, int workers, const Options &options);
  Status useState(std::shared_ptr<State> given);
  Status reserveGrowing(int workers);
  void startTracing(std::shared_ptr<Timeline> given);
  void recordTasks(int worker, const Trace &trace) const;
  void recordPlan(PreparedRun &run);
  Status checkKind(const std::vector<TensorInfo> &values, size_t index, const char *what, bool isSequence) const;
  Status packSequences(PreparedRun &run);
  Result<TensorView> tensorOf(size_t index) const;
  Result<TensorView> stackOf(size_t index) const;
  Status bindSymbols();
  Status checkInputs(const SizePlan &plan) const;
  Status checkOutput(const SizePlan &plan, size_t index) const;
  Status checkApart(const TensorView &view, const TensorInfo &info, const char *what) const;
  Status reserve(const SizePlan &plan, PreparedRun &run);
  Status bind();
  void fillTables(const SizePlan &plan, PreparedRun &run);

  void addPlace(int workers);
  Status startQueue();
  void copySmallInputs(PreparedRun &run) const;
  Status enqueue(Job job);
  void work(int64_t number);
  Status doJob(const Job &job);
  Status surfaceFailure();
  RunOrder &order() { return kept ? kept->order() : ownOrder; }
  Status execute(PreparedRun &run);
  Gang::Outcome runOnGang(PreparedRun &run);
  Status explainFailure(const PreparedRun &run, Gang::Outcome outcome) const;
  std::string describePhase(int64_t number) const;
  void note(const char *what, int64_t begin, int64_t number) const;
  Status prefixed(const PreparedRun &run, const Status &status) const;

  std::shared_ptr<const Artifact> artifact;
  const Entry &program;
  const freestone_entry &functions;
  std::shared_ptr<Memory> memory;
  std::shared_ptr<State> kept;
  std::unique_ptr<Gang> gang;
  std::unique_ptr<ServiceTable> services;
  SizePlanner planner;

  const size_t inputValues, outputValues; ///< without the parts of sequences
  std::vector<std::optional<TensorView>> inputs;
  std::vector<std::optional<Sequence>> sequences; ///< of the inputs that are stacks
  std::vector<std::optional<TensorView>> outputs; ///< the caller's memory
  std::vector<int64_t> symbols;                   ///< values of the symbols that inputs bind
  Block arena;                                    ///< scratch of all workers, then intermediates
  std::vector<Block> growing; ///< by buffers, last the scratch of all workers: those whose sizes have no limit

  // Runs take turns in these slots, as many as the queue is deep; without a queue there is one.
  const int queueDepth;
  const Switches switches;
  const std::vector<int64_t> lastUses; ///< by states
  WatchedRun watching;                 ///< the next run, if somebody watches it
  std::vector<std::unique_ptr<PreparedRun>> places;
  size_t nextPlace = 0;
  PreparedRun *current = nullptr;         ///< the run whose outputs are available
  const PreparedRun *executing = nullptr; ///< the run that the gang executes
  TensorView incoming;                    ///< kept, so that setting an input allocates nothing

  std::shared_ptr<Timeline> timeline;
  std::vector<Timeline::Lane *> lanes;        ///< of the workers
  std::vector<Timeline::Lane *> plannedLanes; ///< of the workers, as planned
  std::vector<int64_t> recordedSizes;         ///< of the run whose plan was recorded last
  std::vector<int32_t> taskNames, waitNames;  ///< of the phases

  uint64_t runs = 0, submits = 0;     ///< started or queued
  std::atomic<uint64_t> phases = 0;   ///< of successful runs
  std::atomic<uint64_t> hostCalls = 0, claimingRuns = 0;
  std::atomic<uint64_t> executed = 0; ///< successful runs:
  std::atomic<uint64_t> operations = 0, paddingOperations = 0;
  uint64_t plannedBytes = 0, liveBytes = 0; ///< at the last sizes
  std::atomic<bool> busy = false;

  // Shared by the caller and the queue's thread.
  RunOrder ownOrder;               ///< used without a state
  Claims claims;
  Competition competition;         ///< used by whoever executes runs
  SpinPolicy turnSpinPolicy;       ///< waits for other instances on the same state
  std::vector<Job> jobs;           ///< ring buffer: job n is at n modulo its size
  std::unique_ptr<RunQueue> queue; ///< last member, so that it is destroyed first
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_INSTANCE_INSTANCE_H
