#ifndef FREESTONE_RUNTIME_INSTANCE_H
#define FREESTONE_RUNTIME_INSTANCE_H

#include "runtime/artifact/Artifact.h"
#include "runtime/instance/ServiceTable.h"
#include "runtime/instance/State.h"
#include "runtime/instance/Tensor.h"
#include "runtime/instance/Turn.h"
#include "runtime/queue/PreparedRun.h"
#include "runtime/queue/RunQueue.h"
#include "runtime/sizes/SizePlan.h"
#include "runtime/timeline/Timeline.h"
#include "runtime/workers/Gang.h"
#include <optional>

namespace freestone::runtime {

/// One entry of an artifact with its own memory and workers. Runs either on the thread of the caller, or in a queue, on
/// a thread of its own, while the caller prepares the next ones. Not thread-safe.
class Instance {
public:
  struct Options {
    int threads = 0;    ///< 0: as many as the machine offers
    int queueDepth = 0; ///< runs that may be submitted and not ended; 0: 2
    Switches switches;
    uint64_t maxMemory = 0;
    bool trace = false;
    std::shared_ptr<Timeline> timeline; ///< that runs are recorded on; may be null
    Memory::Callbacks memory;
    std::function<void(const std::string &message)> log;
    std::function<bool()> cancelled;
    std::span<const freestone_service> services; ///< only read by `create`
    std::shared_ptr<State> state;                ///< null: one of its own, if the entry needs any
  };

  static Result<std::unique_ptr<Instance>> create(std::shared_ptr<const Artifact> artifact, const Entry &entry,
                                                  Options options);

  const Entry &entry() const { return program; }
  /// Null if the entry keeps nothing from run to run.
  const std::shared_ptr<State> &state() const { return kept; }
  int threads() const { return gang->size(); }

  Status setInput(size_t index, const DLTensor &tensor);
  /// A view that was made for an input or weight of this dtype and rank.
  Status setInput(size_t index, const TensorView &view);
  /// Null gives the output back to the runtime.
  Status setOutput(size_t index, const DLTensor *tensor);

  /// What a run would need.
  struct Need {
    uint64_t arenaBytes = 0, scratchBytes = 0, outputBytes = 0, stateBytes = 0;
  };
  Result<Need> planMemory(std::span<const std::pair<std::string_view, int64_t>> sizes);

  /// Binds all sizes, checks them and reserves memory. Waits for room in the queue.
  Status prepare();
  /// Once everything that was submitted has ended.
  Status run();
  /// Queues a run of the inputs at hand and tells its number.
  Result<int64_t> submit();
  /// Queues a call between two runs: what was submitted before it has ended, what comes after it has not begun.
  Status submitCall(void (*function)(void *user), void *user);
  /// Until the run with this number has ended, whose outputs are then at hand; 0: until everything has ended.
  Status wait(int64_t number);

  /// After `prepare`, `run` or `wait`: data, shape and bytes of an output.
  Result<TensorView> output(size_t index) const;
  /// The same with padding, if the entry packs.
  int64_t outputBytes(size_t index) const {
    return current->sizes[program.buffers[program.outputs[index].buffer].bytesSlot];
  }
  /// Null if the output is the caller's memory.
  std::shared_ptr<OutputMemory> outputMemory(size_t index) const { return current->outputs[index]; }

  /// Returns when everything that was submitted has ended.
  void drain();

  /// What a worker did in the last run; empty if not traced. Not while runs are queued.
  const Trace &trace(int worker) const { return gang->trace(worker); }

  struct Counters {
    uint64_t runs = 0, binds = 0, planHits = 0, allocations = 0, phases = 0, waits = 0, sleeps = 0, moves = 0;
    uint64_t arenaBytes = 0, plannedBytes = 0, liveBytes = 0;
    uint64_t operations = 0, paddingOperations = 0; ///< of the last run that succeeded
    uint64_t parks = 0, alerts = 0;
    uint64_t submits = 0;
    RunQueue::Counters queue;
  };
  Counters counters() const;

private:
  struct Job {
    PreparedRun *run = nullptr; ///< null: a call
    void (*function)(void *user) = nullptr;
    void *user = nullptr;
    int64_t place = 0; ///< in the order
  };

  Instance(std::shared_ptr<const Artifact> artifact, const Entry &entry, const Options &options);
  Status useState(std::shared_ptr<State> given);
  void startTracing(std::shared_ptr<Timeline> given);
  void recordTasks(int worker, const Trace &trace) const;
  Status bindSymbols();
  Status checkInputs(const SizePlan &plan) const;
  Status checkOutput(const SizePlan &plan, size_t index) const;
  Status checkApart(const TensorView &view, const TensorInfo &info, const char *what) const;
  Status reserve(const SizePlan &plan, PreparedRun &run);
  Status bind();
  void fillTables(const SizePlan &plan, PreparedRun &run) const;

  void addPlace();
  Status startQueue();
  void copySmallInputs(PreparedRun &run) const;
  Status enqueue(Job job);
  void work(int64_t number);
  Status doJob(const Job &job);
  Status surfaceFailure();
  RunOrder &order() { return kept ? kept->order() : ownOrder; }
  Status execute(PreparedRun &run);
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

  std::vector<std::optional<TensorView>> inputs;
  std::vector<std::optional<TensorView>> outputs; ///< the caller's memory
  std::vector<int64_t> symbols;                   ///< values of the symbols that inputs bind
  Block arena;                                    ///< scratch of all workers, then intermediates

  // Runs take turns in as many places as the queue is deep; without a queue there is one.
  const int queueDepth;
  const Switches switches;
  std::vector<std::unique_ptr<PreparedRun>> places;
  size_t nextPlace = 0;
  PreparedRun *current = nullptr;         ///< whose outputs are at hand
  const PreparedRun *executing = nullptr; ///< that the gang is at
  TensorView incoming;                    ///< kept so that nothing is allocated for it

  std::shared_ptr<Timeline> timeline;
  std::vector<Timeline::Lane *> lanes;       ///< of the workers
  std::vector<int32_t> taskNames, waitNames; ///< of the phases

  uint64_t runs = 0, submits = 0;     ///< begun or queued
  std::atomic<uint64_t> executed = 0; ///< runs, of those that succeeded:
  std::atomic<uint64_t> operations = 0, paddingOperations = 0;
  uint64_t plannedBytes = 0, liveBytes = 0; ///< at the last sizes
  std::atomic<bool> busy = false;

  // Between the caller and the queue's thread.
  RunOrder ownOrder;               ///< where there is no state
  SpinPolicy turnSpinPolicy;       ///< of whoever runs, until others on the same state have
  std::vector<Job> jobs;           ///< job n is at n modulo their number
  std::unique_ptr<RunQueue> queue; ///< the last member: it ends first
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_INSTANCE_H
