#ifndef FREESTONE_DISTRIBUTED_EXECUTE_PIPELINETRAINER_H
#define FREESTONE_DISTRIBUTED_EXECUTE_PIPELINETRAINER_H

#include "distributed/execute/RankService.h"
#include "train/step/Trainer.h"
#include <set>

namespace freestone::distributed {

/// Trains by the stages of a pipeline, as its rank 0, which tells the others what to do. A step with several
/// micro-batches has the bits of any other cut, schedule and number of ranks with the same micro-batches. Batches must
/// come from `load`. After an error it can't go on.
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
  std::unique_ptr<train::Loader> load(const train::DataName &name, const train::Dataset &data,
                                      const train::LoaderOptions &options, train::LoaderPosition start) override;
  bool accumulates() const override { return false; }
  std::optional<train::StepMetrics> accumulate(const train::Batch &batch) override;
  std::optional<train::StepMetrics> submit(const train::Batch &batch) override;
  std::optional<train::StepMetrics> finish() override;
  void abandon() noexcept override { ended.reset(); }
  void submitCall(void (*function)(void *user), void *user) override { function(user); }
  bool isUnderWay() const override { return false; }
  bool overlaps() const override { return (options.execution.switchedOff & FREESTONE_OVERLAP) == 0; }
  train::Recorder recorder() const override;
  const Counters &counters() const override { return counted; }
  void evaluate(const train::Batch &batch, EvaluationSums &sums) override;
  int64_t stepsDone() const override { return own->states.stepsDone().value_or(0); }
  std::vector<train::TensorGroup> groups() const override { return own->states.groups(); }
  train::OtherShards *otherShards() override { return shards.get(); }
  void restore(const train::Checkpoint &checkpoint) override;

  /// What a rank has for values of micro-batches under way.
  struct RankMemory {
    size_t bytes = 0;
    int64_t allocations = 0; ///< how often memory was taken for them
  };
  std::vector<RankMemory> memory() const;

private:
  StepWork split(const train::Batch &batch, int count) const;
  void tell(const train::Batch &batch, const StepWork &work, int count, nlohmann::json about);

  train::StepDescription about;
  PipelineDescription pipeline;
  PipelineOptions options;
  std::unique_ptr<PipelineRank> own;
  mutable std::vector<Peer> peers;
  std::set<std::string> states;       ///< the names of those that all ranks save
  std::unique_ptr<PeerShards> shards; ///< null if there is one rank
  std::vector<double> values;         ///< the numbers of a step, sent to other ranks
  std::optional<train::StepMetrics> ended;
  int64_t evaluations = 0;
  Counters counted;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_PIPELINETRAINER_H
