#include "tools/freestone/PipelineTraining.h"

#include "distributed/partition/ChainPartition.h"
#include "tools/freestone/Options.h"
#include "train/options/StepText.h"
#include <fmt/format.h>

namespace freestone::tools {

using distributed::ScheduleKind;

/// Between ranks of one machine.
static constexpr double localBytesPerSecond = 5e9;
static constexpr int64_t mostRanks = 512, mostMicroBatches = 65536, mostStagesPerRank = 16;

void PipelineArguments::addTo(CLI::App &verb) {
  const char *group = "Pipeline: the model is cut into stages, which train micro-batches side by side";
  auto upTo = [](int64_t most) { return words::wholeFrom(1, static_cast<double>(most)); };
  addNumber(verb, "--ranks", ranks, upTo(mostRanks), "ranks that share the model; 1")->group(group);
  addNumber(verb, "--micro-batches", microBatches, upTo(mostMicroBatches),
            "parts of each batch, whose gradients are summed before the step; 1")
      ->group(group);
  addWord(verb, "--pipeline-schedule", schedule, {{"gpipe", "1f1b", "eager-1f1b", "interleaved", "zb-h1"}},
          "the order of forward and backward passes on each rank: gpipe, 1f1b, eager-1f1b, interleaved or zb-h1; "
          "eager-1f1b")
      ->group(group);
  addNumber(verb, "--stages-per-rank", stagesPerRank, upTo(mostStagesPerRank), "of the schedule interleaved; 2")
      ->group(group);
}

ScheduleKind PipelineArguments::kind() const {
  return schedule.empty() ? ScheduleKind::Eager : distributed::scheduleKindOf(schedule);
}

int PipelineArguments::stages() const {
  int64_t perRank = kind() == ScheduleKind::Interleaved ? stagesPerRank.value_or(2) : 1;
  return static_cast<int>(ranks.value_or(1) * perRank);
}

distributed::PipelineOptions PipelineArguments::resolve() const {
  if (stagesPerRank && kind() != ScheduleKind::Interleaved)
    throw Failure(Exit::Usage, "--stages-per-rank is of --pipeline-schedule interleaved; others have one stage a rank");
  distributed::PipelineOptions options;
  options.schedule = kind();
  options.ranks = static_cast<int>(ranks.value_or(1));
  options.microBatches = static_cast<int>(microBatches.value_or(1));
  return options;
}

PipelineStages compileStages(ModelCache &models, const std::string &model, const std::string &step,
                             const std::vector<std::string> &graphs, const PipelineArguments &arguments) {
  int count = arguments.stages();
  train::StageChoice choice;
  if (count > 1) {
    std::string text = models.inspect(model, "profile", train::describeStage(step, choice), graphs);
    choice.stages = distributed::partitionChain(distributed::readProfile(text), count, localBytesPerSecond);
    choice.split = arguments.resolve().schedule == ScheduleKind::ZeroBubble;
  }
  PipelineStages stages;
  for (choice.stage = 0; choice.stage < count; ++choice.stage) {
    cache::Entry &entry =
        stages.entries.emplace_back(models.compile(model, train::describeStage(step, choice), graphs));
    stages.compiled += !entry.wasKept();
    stages.artifacts.push_back(Artifact::load(entry.path(), entry.payloadBytes()));
  }
  return stages;
}

} // namespace freestone::tools
