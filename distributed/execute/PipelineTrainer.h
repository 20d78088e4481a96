#ifndef FREESTONE_DISTRIBUTED_EXECUTE_PIPELINETRAINER_H
#define FREESTONE_DISTRIBUTED_EXECUTE_PIPELINETRAINER_H

#include "distributed/execute/RankService.h"
#include "train/step/Trainer.h"
#include <array>
#include <set>

namespace freestone::distributed {

/// Trains by the stages of a pipeline, as its rank 0, which tells the others what to do. A step with several
/// micro-batches has the bits of any other cut, schedule and number of ranks with the same micro-batches. After an
/// error it can't go on.
class PipelineTrainer final : public train::Trainer {
public:
  /// `artifacts`: see RankExecutor. `courier` is null if there is one rank; it must outlive this.
  PipelineTrainer(const std::vector<std::optional<Artifact>> &artifacts, train::StepDescription description,
                  const PipelineOptions &options, Courier *courier);
  /// Ends the other ranks.
  ~PipelineTrainer() override;

  const train::StepDescription &description() const override { return about; }
  std::vector<ValueInfo> dataInputs() const override;
  int threads() const override { return options.execution.threads; }
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
  int64_t stepsDone() const override { return own->states.stepsDone().value_or(0); }
  std::vector<train::TensorGroup> groups() const override;
  std::vector<formats::TensorView> weights() const override;
  void restore(const train::Checkpoint &checkpoint) override;

  /// The median of the last steps' seconds; 0 before the first one.
  double stepSeconds() const;
  /// What a rank holds, and how often it took memory for values of micro-batches under way.
  struct RankReport {
    RankMemory memory;
    int64_t allocations = 0;
  };
  std::vector<RankReport> report() const;

private:
  /// Another rank.
  struct Peer {
    ParcelLine line;
    std::set<std::string> fields; ///< of the data, which its stages take
  };

  StepWork split(const train::Batch &batch, int count) const;
  void tell(const train::Batch &batch, const StepWork &work, int count, nlohmann::json about);

  train::StepDescription about;
  PipelineDescription pipeline;
  PipelineOptions options;
  std::unique_ptr<PipelineRank> own;
  mutable std::vector<Peer> peers;
  std::vector<double> values;                         ///< the numbers of a step, sent to other ranks
  mutable std::vector<std::vector<uint8_t>> gathered; ///< the states of other ranks
  mutable std::vector<std::vector<uint8_t>> rows;     ///< row-major copies of packed weights
  std::optional<train::StepMetrics> ended;
  int64_t evaluations = 0;
  std::array<double, 101> seconds = {}; ///< of the last steps, in turns
  Counters counted;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_PIPELINETRAINER_H
