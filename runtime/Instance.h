#ifndef FREESTONE_RUNTIME_INSTANCE_H
#define FREESTONE_RUNTIME_INSTANCE_H

#include "runtime/Artifact.h"
#include "runtime/Gang.h"
#include "runtime/SizePlan.h"
#include "runtime/ServiceTable.h"
#include "runtime/State.h"
#include "runtime/Tensor.h"
#include "runtime/Timeline.h"
#include <optional>

namespace freestone::runtime {

/// Memory of an output that the runtime owns. Consumers that took it as DLPack hold it longer than the instance does.
struct OutputMemory {
  Block block;
  std::atomic<int> takers = 0;
};

/// One entry of an artifact with its own memory and workers. Not thread-safe.
class Instance {
public:
  struct Options {
    int threads = 0; ///< 0: as many as the machine offers
    uint64_t maxMemory = 0;
    bool trace = false;
    std::shared_ptr<Timeline> timeline; ///< that runs are recorded on; may be null
    Memory::Callbacks memory;
    std::function<void(const std::string &message)> log;
    std::function<bool()> cancelled;
    std::span<const freestone_service> services; ///< only read by `create`
    std::shared_ptr<State> state; ///< null: one of its own, if the entry needs any
  };

  static Result<std::unique_ptr<Instance>> create(std::shared_ptr<const Artifact> artifact, const Entry &entry,
                                                  Options options);

  const Entry &entry() const { return program; }
  /// Null if the entry keeps nothing from run to run.
  const std::shared_ptr<State> &state() const { return kept; }
  int threads() const { return gang->size(); }

  Status setInput(size_t index, const DLTensor &tensor);
  /// A view that was made for an input or weight of this dtype and rank.
  Status setInput(size_t index, TensorView view);
  /// Null gives the output back to the runtime.
  Status setOutput(size_t index, const DLTensor *tensor);

  /// Binds all sizes, checks them and reserves memory.
  Status prepare();
  Status run();

  /// After `prepare` or `run`: data, shape and bytes of an output.
  Result<TensorView> output(size_t index) const;
  /// The same with padding, if the entry packs.
  int64_t outputBytes(size_t index) const { return sizes[program.buffers[program.outputs[index].buffer].bytesSlot]; }
  /// Null if the output is the caller's memory.
  std::shared_ptr<OutputMemory> outputMemory(size_t index) const { return outputs[index].memory; }

  /// What a worker did in the last run; empty if not traced.
  const Trace &trace(int worker) const { return gang->trace(worker); }

  struct Counters {
    uint64_t runs = 0, binds = 0, planHits = 0, allocations = 0, phases = 0, waits = 0, sleeps = 0, moves = 0;
    uint64_t arenaBytes = 0, plannedBytes = 0, liveBytes = 0;
    uint64_t operations = 0, paddingOperations = 0; ///< of the last run that succeeded
  };
  Counters counters() const;

private:
  struct Output {
    std::optional<TensorView> given; ///< the caller's memory
    std::shared_ptr<OutputMemory> memory;
  };

  Instance(std::shared_ptr<const Artifact> artifact, const Entry &entry);
  Status useState(std::shared_ptr<State> given);
  void startTracing(std::shared_ptr<Timeline> given);
  void recordTasks(int worker, const Trace &trace) const;
  Status bindSymbols();
  Status checkInputs(const SizePlan &plan) const;
  Status checkOutput(const SizePlan &plan, size_t index) const;
  Status checkApart(const TensorView &view, const std::string &what) const;
  Status reserve(const SizePlan &plan);
  void fillTables(const SizePlan &plan);
  Status explainFailure(Gang::Outcome outcome);

  std::shared_ptr<const Artifact> artifact;
  const Entry &program;
  const freestone_entry &functions;
  std::shared_ptr<Memory> memory;
  std::shared_ptr<State> kept;
  std::unique_ptr<Gang> gang;
  std::unique_ptr<ServiceTable> services;
  SizePlanner planner;

  std::vector<std::optional<TensorView>> inputs;
  std::vector<Output> outputs;
  std::vector<int64_t> symbols; ///< values of the symbols that inputs bind
  const SizePlan *plan = nullptr;
  Block arena; ///< scratch of all workers, then intermediates

  // What compiled code sees.
  std::vector<void *> buffers;
  std::vector<int64_t> sizes;
  freestone_run_context context = {};

  std::shared_ptr<Timeline> timeline;
  std::vector<Timeline::Lane *> lanes; ///< of the workers
  std::vector<int32_t> taskNames, waitNames; ///< of the phases

  uint64_t runs = 0, operations = 0, paddingOperations = 0;
  std::atomic<bool> busy = false;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_INSTANCE_H
