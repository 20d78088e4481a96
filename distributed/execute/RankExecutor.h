#ifndef FREESTONE_DISTRIBUTED_EXECUTE_RANKEXECUTOR_H
#define FREESTONE_DISTRIBUTED_EXECUTE_RANKEXECUTOR_H

#include "distributed/execute/NumberExchange.h"
#include "distributed/execute/RankActivity.h"
#include "distributed/execute/RankMemory.h"
#include "distributed/execute/RankReport.h"
#include "distributed/execute/RankSchedules.h"
#include "distributed/execute/ReplicaSums.h"
#include "distributed/execute/SharedStates.h"

namespace freestone::distributed {

/// A part of a batch: views of its fields.
struct MicroBatch {
  std::vector<formats::TensorView> fields;
  std::vector<int64_t> sizes; ///< of the pipeline's symbols
};

/// A step, the same for all ranks.
struct StepWork {
  int64_t number = 0; ///< of the step or the evaluation, to check messages by
  std::vector<MicroBatch> microBatches;
  /// The parts of the step's batches before, whose gradients were summed: random numbers go on from there.
  int microBatchesBefore = 0;
  std::vector<double> numbers; ///< of the step, such as its learning rate, in the order of their names
};

/// Executes one rank's list of a schedule on its stages. Stages of one rank hand values over by copying them; others by
/// messages, which are under way while the rank computes. Not thread-safe. Throws Error and freestone::Error.
class RankExecutor {
public:
  /// `artifacts` are those of all stages, without a value where a stage is another rank's. `courier` is null if there
  /// is one rank. All must outlive it.
  RankExecutor(int rank, RankSchedules &schedules, const std::vector<std::optional<Artifact>> &artifacts,
               const PipelineDescription &pipeline, const train::StepDescription &about,
               const train::Execution &execution, Courier *courier);
  ~RankExecutor();

  int rank() const { return own; }
  /// The stages of this rank, ascending.
  std::vector<StageProgram *> stages();
  /// Binds a number in all stages; it must stay where it is.
  template <typename Number> void setNumber(const std::string &name, Number *value) {
    for (auto &[stage, run] : runs)
      run->program.setNumber(name, value);
  }
  /// Called after each update of this rank's first stage, when its metrics can be read.
  void setOnUpdate(std::function<void()> call) { onUpdate = std::move(call); }

  /// Executes a step; without an update, its gradients are added to those of the next one. Nothing is under way.
  void train(const StepWork &work, bool updates = true);
  /// Of a delayed schedule: executes what this step's data make possible. They must stay until `depth` steps more have
  /// been fed, or the flush.
  void feed(const StepWork &work);
  /// Executes what is left of the steps that were fed.
  void flush();
  /// Evaluates the first micro-batch, which is the whole batch: on every rank, the results of the last stage.
  std::vector<double> evaluate(const StepWork &work, const std::vector<std::string> &results);

  const RankActivity &activity() const { return done; }
  /// Of the last step.
  RankReport report() const;
  /// What it holds.
  RankMemory memory() const;
  /// What it will hold once it has trained a step with micro-batches of these sizes, by a schedule with these needs,
  /// and evaluated batches of others, if there are any. Takes no memory.
  RankMemory planMemory(const std::vector<StageNeeds> &needs, const std::vector<std::vector<int64_t>> &microBatches,
                        const std::vector<std::vector<int64_t>> &evaluated);
  /// How often memory was taken for values of micro-batches under way.
  int64_t allocations() const;

private:
  /// A step whose micro-batches may be under way.
  struct Fed {
    std::vector<MicroBatch> microBatches;
    std::vector<double> numbers;
  };

  uint64_t countStates() const;
  void begin(const Schedule &schedule, int64_t number, int microBatchesBefore, size_t steps);
  void add(const StepWork &work, const std::vector<StageNeeds> &needs, bool isUnderWay);
  void execute(const std::vector<Action> &actions);
  void execute(const Action &action, bool completes);
  void runPass(const Action &action, const char *entry, bool completes = false);
  void finishSum(const Action &action);
  void transfer(const Action &action);
  void copyOwn(int from, int to, int microBatch);
  void startWatch(int64_t number);
  void postNumbers(const Action &action);
  void update(const Action &action);
  Message messageOf(MessageKind kind, int from, int to, int microBatch, const std::vector<int64_t> &sizes,
                    const ValueMemory &memory, int slot, const std::vector<int> &values) const;
  const MicroBatch &partOf(int microBatch) const {
    return fed[stepOf(microBatch) % fed.size()].microBatches[microBatch % schedule->microBatches];
  }
  /// Of an action's step, in messages.
  int64_t numberOf(const Action &action) const { return firstStep + static_cast<int64_t>(stepOf(action.microBatch)); }
  size_t stepOf(int microBatch) const { return static_cast<size_t>(microBatch / schedule->microBatches); }
  /// The number of a micro-batch among those of its stage's replica.
  int turnOf(int stage, int microBatch) const { return microBatch / static_cast<int>(schedule->ranksOf[stage].size()); }
  /// Whether a delayed schedule is executed, rather than a step by itself.
  bool overlapsSteps() const { return fed.size() > 1; }
  bool isOwn(int stage) const { return runs.contains(stage); }
  int leaderOf(int stage) const { return schedules.places()[stage].front(); }
  bool leads(int stage) const { return leaderOf(stage) == own; }
  void waitAll(std::vector<Ticket> &tickets);

  int own;
  RankSchedules &schedules;
  const PipelineDescription &pipeline;
  Courier *courier;
  std::map<int, std::unique_ptr<StageRun>> runs; ///< by stage
  std::map<int, std::unique_ptr<ReplicaSums>> sums;
  /// The values of micro-batches that go from stage to stage, and those of an evaluation.
  std::map<std::pair<int, int>, std::vector<int>> crossing, evaluated;
  std::unique_ptr<NumberExchange> exchange;
  std::unique_ptr<SharedStates> shared;
  std::unique_ptr<ValueMemory> evaluation;
  std::map<std::string, double> numbers; ///< bound to the entries
  std::function<void()> onUpdate;
  RankActivity done;
  int64_t courierNs = 0; ///< CPU time of the communication thread before the first step

  // Of the step, or the steps since the last flush.
  const Schedule *schedule = nullptr;
  int64_t firstStep = 0;    ///< in messages
  int64_t firstVersion = 0; ///< of the weights
  int microBatchesBefore = 0;
  std::vector<Fed> fed; ///< in turns
  int fedSteps = 0;
  int64_t microBatch = 0; ///< the one that is computed: an input of the step
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_RANKEXECUTOR_H
