#ifndef FREESTONE_DISTRIBUTED_EXECUTE_PIPELINETRAINER_H
#define FREESTONE_DISTRIBUTED_EXECUTE_PIPELINETRAINER_H

#include "distributed/execute/RankExecutor.h"
#include "distributed/schedule/Generate.h"
#include "train/step/Trainer.h"
#include <exception>
#include <functional>

namespace freestone::distributed {

struct PipelineOptions {
  ScheduleKind schedule = ScheduleKind::OneFOneB;
  int ranks = 1;
  int microBatches = 1; ///< of each batch; fewer if a batch has fewer samples
  uint64_t seed = 0;
  train::Execution execution = {}; ///< its threads are those of all ranks of this process together
  CourierOptions courier = {};
};

/// The parts of a batch of so many samples: each has ⌈samples / count⌉ of them, the last one may have fewer.
std::vector<MicroBatch> splitBatch(const train::Batch &batch, int count, const PipelineDescription &pipeline);

/// The schedule of a step with transfers, verified, and simulated, so that no rank waits for ever. Throws Error.
Schedule planSchedule(ScheduleKind kind, const PipelineDescription &pipeline, int ranks, int microBatches);

/// Trains by the stages of a pipeline, whose ranks are threads of this process. A step with several micro-batches has
/// the bits of any other cut, schedule and number of ranks with the same micro-batches. After an error it can't go on.
class PipelineTrainer final : public train::Trainer {
public:
  /// `artifacts`: of all stages. `transports`: of all ranks, if there are several; they must outlive it.
  PipelineTrainer(const std::vector<Artifact> &artifacts, train::StepDescription description,
                  const PipelineOptions &options, std::span<const std::unique_ptr<Transport>> transports);
  ~PipelineTrainer() override;

  const train::StepDescription &description() const override { return about; }
  std::vector<ValueInfo> dataInputs() const override;
  int threads() const override { return perRank.threads; }
  void setNumber(const std::string &name, double value) override;
  double number(const std::string &name) const override;
  void setLossScale(double scale) override;
  bool accumulates() const override { return false; }
  std::optional<train::StepMetrics> accumulate(const train::Batch &batch) override;
  std::optional<train::StepMetrics> submit(const train::Batch &batch) override;
  std::optional<train::StepMetrics> finish() override;
  void abandon() noexcept override { ended.reset(); }
  void submitCall(void (*function)(void *user), void *user) override { function(user); }
  bool isUnderWay() const override { return false; }
  bool overlaps() const override { return false; }
  train::Recorder recorder() const override;
  const Counters &counters() const override { return counted; }
  void evaluate(const train::Batch &batch, EvaluationSums &sums) override;
  int64_t stepsDone() const override;
  std::vector<train::TensorGroup> groups() const override;
  std::vector<formats::TensorView> weights() const override;
  void restore(const train::Checkpoint &checkpoint) override;

  const PipelineDescription &pipeline() const { return stages; }
  /// Bytes that each rank has for values of micro-batches under way.
  std::vector<size_t> keptBytes() const;
  /// How often a rank has taken memory for them.
  int64_t allocations() const;

private:
  struct Rank {
    std::unique_ptr<Courier> courier;
    std::unique_ptr<RankExecutor> executor;
  };

  const Schedule &scheduleFor(int microBatches);
  void onAllRanks(const std::function<void(RankExecutor &)> &work);
  /// All stages with their states, the home of shared ones first.
  std::vector<const train::TrainedState *> states() const;
  bool isHome(const std::string &state, int stage) const;

  train::StepDescription about;
  PipelineDescription stages;
  PipelineOptions options;
  train::Execution perRank;
  std::map<std::string, double> numbers; ///< bound to inputs of the stages
  int64_t seed;
  std::map<int, Schedule> schedules; ///< by the number of micro-batches
  std::vector<Rank> ranks;
  std::vector<StageProgram *> programs; ///< by stage
  std::optional<train::StepMetrics> ended;
  int64_t evaluations = 0;
  Counters counted;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_PIPELINETRAINER_H
