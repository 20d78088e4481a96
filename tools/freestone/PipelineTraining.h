// Training by the stages of a pipeline: its options, and its compiled stages.
#ifndef FREESTONE_TOOLS_FREESTONE_PIPELINETRAINING_H
#define FREESTONE_TOOLS_FREESTONE_PIPELINETRAINING_H

#include "distributed/execute/LocalRanks.h"
#include "distributed/execute/PipelineTrainer.h"
#include "distributed/profile/Profile.h"
#include "tools/freestone/ModelCache.h"
#include <CLI/CLI.hpp>

namespace freestone::tools {

/// The options of a pipeline.
struct PipelineArguments {
  std::optional<int64_t> ranks, microBatches, stagesPerRank, replicas, patience;
  std::string schedule, hosts;
  bool inProcess = false, recompute = false, verticalSync = false, noStashing = false;

  void addTo(CLI::App &verb);
  /// Whether any of them was given: the step is then one of a pipeline.
  bool given() const { return ranks || microBatches || stagesPerRank || !schedule.empty(); }
  /// Whether this process starts the ranks as processes, rather than being one of them, or all.
  bool supervises() const;
  /// Throws Failure (usage) for options that contradict each other.
  void check() const;
  distributed::CourierOptions courier() const;
  distributed::ScheduleKind kind() const;
  int stages() const;
};

/// The predicted costs of a training step's operations for micro-batches of so many samples, and tokens of each; 0:
/// unknown. `step` is the training step in the compiler's JSON, with the other .onnx files that it names.
distributed::Profile profileStep(ModelCache &models, const std::string &model, const std::string &step,
                                 const std::vector<std::string> &graphs, int64_t samples, int64_t tokens);

/// Runs this command as the ranks of a training, which goes on from its newest checkpoint when one dies; returns the
/// exit code. `folder` is the training's; `stop` ends it after the current step.
int superviseRanks(const PipelineArguments &arguments, const std::string &folder, const std::atomic<bool> &stop);

/// The ranks of a training: processes that mpirun has started, of which this is one; else threads of this process.
class PipelineJob {
public:
  /// Connects to the other processes. `arguments` must outlive it. Throws Failure (usage) and train::Error.
  explicit PipelineJob(PipelineArguments &arguments);

  bool isFirst() const { return rank == 0; }
  /// Chooses the stages by the predicted times of the model's operations, and compiles those of this process. `step` is
  /// the training step in the compiler's JSON, with the other .onnx files that it names; `batch` and `tokens` are usual
  /// sizes of a batch. Throws as ModelCache does.
  void compile(ModelCache &models, const std::string &model, const std::string &step,
               const std::vector<std::string> &graphs, int64_t batch, int64_t tokens);
  int stages() const { return static_cast<int>(artifacts.size()); }
  int compiled() const { return newStages; }
  /// The first stage of this process.
  const Artifact &first() const;

  /// The trainer of rank 0, which must not outlive this. Its time line, if any, is that of all ranks after a call of
  /// `PipelineTrainer::gatherTrace`.
  std::unique_ptr<distributed::PipelineTrainer> makeTrainer(train::StepDescription description,
                                                            const train::Execution &execution, uint64_t seed);
  /// Does what rank 0 says until the training ends; `isTraced`: and records it.
  void serve(const train::StepDescription &description, train::Execution execution, uint64_t seed, bool isTraced);

private:
  distributed::PipelineOptions optionsFor(const train::Execution &execution, uint64_t seed) const;

  const PipelineArguments &arguments;
  int rank = 0, ranksHere = 1;
  std::vector<cache::Entry> entries;              ///< which hold the artifacts' files
  std::vector<std::optional<Artifact>> artifacts; ///< of all stages; without a value, those of other processes
  int newStages = 0;                              ///< that were not in the cache
  std::unique_ptr<distributed::Transport> network;
  std::unique_ptr<distributed::Courier> courier;
  std::unique_ptr<distributed::LocalRanks> threads;
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_PIPELINETRAINING_H
