#ifndef FREESTONE_DISTRIBUTED_EXECUTE_RANKEXECUTOR_H
#define FREESTONE_DISTRIBUTED_EXECUTE_RANKEXECUTOR_H

#include "distributed/execute/RankMemory.h"
#include "distributed/execute/ValueMemory.h"
#include "distributed/schedule/Schedule.h"
#include "distributed/transport/Courier.h"

namespace freestone::distributed {

/// A part of a batch: views of its fields.
struct MicroBatch {
  std::vector<formats::TensorView> fields;
  std::vector<int64_t> sizes; ///< of the pipeline's symbols
};

/// A step, the same for all ranks; must outlive it.
struct StepWork {
  int64_t number = 0;                 ///< of the step or the evaluation, to check messages by
  const Schedule *schedule = nullptr; ///< with transfers
  std::vector<MicroBatch> microBatches;
};

/// Executes one rank's list of a schedule on its stages. Stages of one rank hand values over by copying them; others by
/// messages, which are under way while the rank computes. Not thread-safe. Throws Error and freestone::Error.
class RankExecutor {
public:
  /// `artifacts` are those of all stages, without a value where a stage is another rank's. `courier` is null if there
  /// is one rank. All must outlive it.
  RankExecutor(int rank, const Schedule &schedule, const std::vector<std::optional<Artifact>> &artifacts,
               const PipelineDescription &pipeline, const train::StepDescription &about,
               const train::Execution &execution, Courier *courier);

  int rank() const { return own; }
  /// The stages of this rank, ascending.
  std::vector<StageProgram *> stages();
  /// Binds a number in all stages; it must stay where it is.
  template <typename Number> void setNumber(const std::string &name, Number *value) {
    for (auto &[stage, run] : runs)
      run->program.setNumber(name, value);
  }

  void train(const StepWork &work);
  /// Evaluates the first micro-batch, which is the whole batch: on every rank, the results of the last stage.
  std::vector<double> evaluate(const StepWork &work, const std::vector<std::string> &results);

  /// What it holds.
  RankMemory memory() const;
  /// What it will hold once it has trained micro-batches of these sizes, by a schedule for as many, and evaluated one
  /// batch, unless that is null. Takes no memory.
  RankMemory planMemory(const Schedule &schedule, const std::vector<std::vector<int64_t>> &sizes,
                        const std::vector<int64_t> *evaluated);
  /// How often memory was taken for values of micro-batches under way.
  int64_t allocations() const;

private:
  /// A slot of a stage, and the messages that use its memory.
  struct Slot {
    std::vector<Ticket> sends, activations, gradients;
  };
  struct StageRun {
    StageRun(const Artifact &artifact, int stage, const PipelineDescription &pipeline,
             const train::StepDescription &about, const train::Execution &execution);

    StageProgram program;
    ValueMemory memory;
    std::vector<Slot> slots;
  };

  uint64_t countStates() const;
  void prepare(const StepWork &work);
  void execute(const Action &action);
  void runPass(const Action &action, const char *entry);
  void transfer(const Action &action);
  void copyOwn(int from, int to, int microBatch);
  void exchange();
  void update(int stage);
  void shareStates();
  Message messageOf(MessageKind kind, int from, int to, int microBatch, ValueMemory &memory, int slot,
                    const std::vector<int> &values);
  Slot &slotOf(int stage, int microBatch) { return runs.at(stage)->slots[numberOf(stage, microBatch)]; }
  /// Of the slot that a micro-batch has on a stage.
  int numberOf(int stage, int microBatch) const;
  int rankOf(int stage) const { return places[stage]; }
  bool isOwn(int stage) const { return runs.contains(stage); }
  void waitAll(std::vector<Ticket> &tickets);

  int own;
  std::vector<int> places; ///< the rank of each stage
  const PipelineDescription &pipeline;
  Courier *courier;
  std::map<int, std::unique_ptr<StageRun>> runs; ///< by stage
  /// The values of micro-batches that go from stage to stage, and those of an evaluation.
  std::map<std::pair<int, int>, std::vector<int>> crossing, evaluated;
  std::map<std::pair<int, int>, std::vector<int>> norms; ///< those that go from a stage to a rank in an exchange
  std::unique_ptr<ValueMemory> exchanged, evaluation;
  const StepWork *work = nullptr;
  int64_t microBatch = 0; ///< the one that is computed: an input of the step
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_RANKEXECUTOR_H
