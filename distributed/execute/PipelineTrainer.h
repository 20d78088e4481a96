#ifndef FREESTONE_DISTRIBUTED_EXECUTE_PIPELINETRAINER_H
#define FREESTONE_DISTRIBUTED_EXECUTE_PIPELINETRAINER_H

#include "distributed/execute/RankTrace.h"
#include "train/step/Trainer.h"
#include <array>
#include <deque>
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
  bool accumulates() const override { return !own->schedules.isDelayed(); }
  std::optional<train::StepMetrics> accumulate(const train::Batch &batch) override;
  std::optional<train::StepMetrics> submit(const train::Batch &batch) override;
  std::optional<train::StepMetrics> finish() override;
  void abandon() noexcept override;
  void submitCall(void (*function)(void *user), void *user) override;
  bool isUnderWay() const override { return !fed.empty(); }
  bool overlaps() const override { return (options.execution.switchedOff & FREESTONE_OVERLAP) == 0; }
  int stepsUnderWay() const override { return own->schedules.depth(); }
  train::Recorder recorder() const override;
  const Counters &counters() const override { return counted; }
  void evaluate(const train::Batch &batch, EvaluationSums &sums) override;
  int64_t stepsDone() const override { return own->states.stepsDone().value_or(0); }
  std::vector<train::TensorGroup> groups() const override { return own->states.groups(); }
  train::OtherShards *otherShards() override { return shards.get(); }
  void restore(const train::Checkpoint &checkpoint) override;

  /// The median of the last steps' seconds; 0 before the first one.
  double stepSeconds() const;
  /// What a rank holds, and how often it took memory for values of micro-batches under way.
  struct MemoryReport {
    RankMemory memory;
    int64_t allocations = 0;
  };
  std::vector<MemoryReport> memory() const;

  /// Of every rank, behind the last step whose metrics were returned.
  const std::vector<RankReport> &reports() const { return last; }
  /// Adds the time lines of the other ranks to that of this one, if there is one. Nothing may be under way.
  void gatherTrace();

private:
  /// What the ranks tell about a step.
  struct StepReports {
    std::vector<RankReport> ranks;
    std::vector<Ticket> tickets; ///< of the others'
    int64_t ns = 0;              ///< of the step, on this rank
  };

  StepReports &expectReports(int64_t step);
  template <typename Run> void watch(int64_t step, Run run);
  StepWork split(const train::Batch &batch, int count) const;
  StepWork workOf(const train::Batch &batch) const;
  void tell(const train::Batch &batch, const StepWork &work, int count, nlohmann::json about);
  void trainNow(const train::Batch &batch, const StepWork &work, bool updates);
  void flush();
  train::StepMetrics metricsOf(const train::Batch &batch) const;
  void readUpdate();
  std::optional<train::StepMetrics> takeEnded();

  train::StepDescription about;
  PipelineDescription pipeline;
  PipelineOptions options;
  std::unique_ptr<PipelineRank> own;
  mutable std::vector<Peer> peers;
  std::map<std::string, double> numbers; ///< of the next step
  Courier *courier;
  std::unique_ptr<TraceGatherer> trace; ///< null: nothing is recorded
  std::set<std::string> states;         ///< the names of those that all ranks save
  std::unique_ptr<PeerShards> shards;   ///< null if there is one rank
  /// Steps whose update has not been seen, and those whose metrics are to be returned.
  std::deque<train::StepMetrics> fed, ended;
  std::deque<StepReports> told; ///< of these steps
  int64_t watched = 0;          ///< when the passes of the last step ended on this rank
  std::vector<RankReport> last; ///< of the last step that was returned
  int64_t samples = 0;          ///< of the batches before, whose gradients were summed
  int microBatchesBefore = 0;   ///< of these batches
  int64_t evaluations = 0;
  std::array<double, 101> seconds = {}; ///< of the last steps, in turns
  int64_t timed = 0;                    ///< steps
  Counters counted;
};

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_EXECUTE_PIPELINETRAINER_H
