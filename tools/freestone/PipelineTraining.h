// Training by the stages of a pipeline: its options, and its compiled stages.
#ifndef FREESTONE_TOOLS_FREESTONE_PIPELINETRAINING_H
#define FREESTONE_TOOLS_FREESTONE_PIPELINETRAINING_H

#include "distributed/execute/LocalRanks.h"
#include "distributed/execute/PipelineTrainer.h"
#include "distributed/plan/PipelineChoice.h"
#include "distributed/plan/PipelinePlan.h"
#include "freestone/trainer.h"
#include "tools/freestone/Compiler.h"
#include <CLI/CLI.hpp>

namespace freestone::tools {

/// The options of a pipeline.
struct PipelineArguments {
  std::optional<int64_t> ranks, microBatches, stagesPerRank, replicas, patience;
  std::optional<uint64_t> memory; ///< bytes of a rank
  std::string schedule, links, hosts;
  bool inProcess = false, measure = false, replicate = false, recompute = false, verticalSync = false, noStashing = false;

  void addTo(CLI::App &verb);
  /// Whether any of them was given: the step is then one of a pipeline.
  bool given() const {
    return ranks || microBatches || stagesPerRank || replicas || memory || recompute || verticalSync || noStashing ||
           measure || replicate || !schedule.empty() || !links.empty() || !hosts.empty();
  }
  /// Whether gradients are of older weights.
  bool isDelayed() const { return !schedule.empty() && distributed::isDelayed(distributed::scheduleKindOf(schedule)); }
  /// Whether this process starts the ranks as processes, rather than being one of them, or all.
  bool supervises() const;
  /// Throws Failure (usage) for options that contradict each other.
  void check() const;
  distributed::CourierOptions courier() const;
  /// What they say of a plan for this training. Throws train::Error for a wrong file of links.
  distributed::PlanOptions planOptions(const TrainerOptions &step) const;
};

/// Numbers of a training that decide what a micro-batch costs.
struct UsualSizes {
  int64_t batch = 1;
  int64_t tokens = 0; ///< of a sample; 0: unknown
};

/// The training step that is cut: in the compiler's JSON, with the other .onnx files that it names.
struct PipelineModel {
  std::string path, step;
  std::vector<std::string> graphs;
  UsualSizes sizes;
};

/// The predicted costs of a training step's operations for one micro-batch of so many in a batch.
distributed::Profile profileStep(Compiler &compiler, const PipelineModel &model, int64_t microBatches);

/// Runs this command as the ranks of a training, which goes on from its newest checkpoint when one dies; returns the
/// exit code. `folder` is the training's; `stop` ends it after the current step.
int superviseRanks(const PipelineArguments &arguments, const std::string &folder, const std::atomic<bool> &stop);

struct MemoryQuestion;
struct TrainOptions;

/// Throws Failure where stages with as many ranks as are best need fewer of them.
void requireWorkForAll(const distributed::PipelinePlan &plan, int ranks);
/// Prints a line for each rank.
void printMemory(const std::map<int, distributed::RankMemory> &ranks);

/// The ranks of a training: processes that mpirun has started, of which this is one; else threads of this process.
class PipelineJob {
public:
  /// Connects to the other processes. `arguments` must outlive it. Throws Failure (usage) and train::Error.
  explicit PipelineJob(PipelineArguments &arguments);

  bool isFirst() const { return rank == 0; }
  /// Whether the other ranks are other processes.
  bool isSpread() const { return network != nullptr; }
  /// Compiles the stages of this process, which rank 0 has chosen with the schedule for all: by the predicted or measured
  /// times of the model's operations, and again where what the compiled stages hold is more than `--max-memory`. Throws
  /// as Compiler does, and train::Error where nothing keeps to the memory.
  void prepare(Compiler &compiler, const PipelineModel &model, const TrainOptions &options,
               const MemoryQuestion &question);
  /// Compiles the stages of this process. Throws as Compiler does.
  void compile(Compiler &compiler, const PipelineModel &model, distributed::PipelineChoice agreed);
  /// What is expected of the chosen pipeline, for people; empty where nothing was chosen, and on other ranks.
  const std::string &expectation() const { return expected; }
  int stages() const { return static_cast<int>(artifacts.size()); }
  int compiled() const { return newStages; }
  /// The first stage of this process.
  const Artifact &first() const;
  /// Of the whole step.
  std::vector<ValueInfo> inputs() const { return distributed::PipelineDescription::read(first()).inputs; }

  /// The trainer of rank 0, which must not outlive this. Its time line, if any, is that of all ranks after a call of
  /// `PipelineTrainer::gatherTrace`.
  std::unique_ptr<distributed::PipelineTrainer> makeTrainer(train::StepDescription description,
                                                            const train::Execution &execution, uint64_t seed,
                                                            distributed::OpenData openData);
  /// Does what rank 0 says until the training ends; `isTraced`: and records it.
  void serve(const train::StepDescription &description, train::Execution execution, uint64_t seed, bool isTraced,
             distributed::OpenData openData);
  /// Seconds of a step: expected (0: unknown), and the median of the last ones; of rank 0, with its trainer.
  double expectedStep() const { return expectedSeconds; }
  double measuredStep() const { return trainer->stepSeconds(); }
  /// What the ranks hold; of rank 0, with its trainer.
  std::vector<distributed::PipelineTrainer::MemoryReport> memory() const { return trainer->memory(); }
  /// Behind the last step; of rank 0, with its trainer.
  const std::vector<distributed::RankReport> &reports() const { return trainer->reports(); }
  /// What each rank of this process will hold, by its number: one after another takes the memory of its states
  /// meanwhile. Throws Failure where a size is unknown.
  std::map<int, distributed::RankMemory> planMemory(const train::StepDescription &description,
                                                    const MemoryQuestion &question) const;
  /// Ends all processes with an error of this one.
  void abort(const std::string &reason);

private:
  distributed::PipelineChoice choose(Compiler &compiler, const PipelineModel &model, const TrainOptions &options);
  distributed::PipelineChoice agree(Compiler &compiler, const PipelineModel &model, const TrainOptions &options);
  bool keepsToMemory(const MemoryQuestion &question);
  int threadsOf(int asked) const;
  distributed::PipelineOptions optionsFor(const train::Execution &execution, uint64_t seed) const;

  const PipelineArguments &arguments;
  int rank = 0, ranksHere = 1;
  std::vector<cache::Entry> entries;              ///< which hold the artifacts' files
  std::vector<std::optional<Artifact>> artifacts; ///< of all stages; without a value, those of other processes
  int newStages = 0;                              ///< that were not in the cache
  distributed::PipelineChoice choice;
  std::string expected;
  double expectedSeconds = 0;
  double predictedBytes = 0; ///< of the rank that holds most, without intermediates
  double allowedBytes = 0;   ///< for them; 0: `--max-memory`
  std::string overfull;      ///< why stages are chosen again
  std::unique_ptr<distributed::Transport> network;
  std::unique_ptr<distributed::Courier> courier;
  std::unique_ptr<distributed::LocalRanks> threads;
  distributed::PipelineTrainer *trainer = nullptr; ///< the caller's
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_PIPELINETRAINING_H
