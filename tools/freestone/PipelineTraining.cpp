#include "tools/freestone/PipelineTraining.h"

#include "distributed/partition/ChainPartition.h"
#include "distributed/plan/PipelinePlan.h"
#include "distributed/supervise/Supervisor.h"
#include "distributed/transport/MpiLibrary.h"
#include "tools/freestone/Options.h"
#include "train/options/StepText.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <thread>

namespace freestone::tools {

using distributed::ScheduleKind;

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
  addText(verb, "--hosts", hosts, formKind, "machines for the ranks, as mpirun takes them: a,b,c:2")->group(group);
  verb.add_flag("--in-process", inProcess, "the ranks are threads of this process, rather than processes of mpirun's")
      ->group(group);
}

ScheduleKind PipelineArguments::kind() const {
  return schedule.empty() ? ScheduleKind::Eager : distributed::scheduleKindOf(schedule);
}

int PipelineArguments::stages() const {
  int64_t perRank = kind() == ScheduleKind::Interleaved ? stagesPerRank.value_or(2) : 1;
  return static_cast<int>(ranks.value_or(1) * perRank);
}

void PipelineArguments::check() const {
  if (stagesPerRank && kind() != ScheduleKind::Interleaved)
    throw Failure(Exit::Usage, "--stages-per-rank is of --pipeline-schedule interleaved; others have one stage a rank");
}

bool PipelineArguments::supervises() const {
  if (ranks.value_or(1) == 1 || inProcess || distributed::findMpiJob().ranks > 1)
    return false;
  if (distributed::hasLauncher() && distributed::hasMpi())
    return true;
  fmt::print(stderr, "note: without MPI, the ranks are threads of this process\n");
  return false;
}

int superviseRanks(const PipelineArguments &arguments, const std::string &folder, const std::atomic<bool> &stop) {
  distributed::SupervisedJob job;
  job.ranks = static_cast<int>(arguments.ranks.value_or(1));
  job.hosts = arguments.hosts;
  std::ifstream words("/proc/self/cmdline");
  for (std::string word; std::getline(words, word, '\0');)
    job.command.push_back(word);
  job.command.front() = std::filesystem::read_symlink("/proc/self/exe").string();
  job.progress = [folder]() -> int64_t {
    try {
      std::optional<train::Checkpoint> newest =
          train::CheckpointFolder::newest(folder, {}, train::Checkpoint::Verify::WhatIsRestored);
      return newest ? newest->state().step : 0;
    } catch (const train::Error &) { // there is no folder yet
      return 0;
    }
  };
  job.stop = &stop;
  return distributed::supervise(job);
}

PipelineJob::PipelineJob(PipelineArguments &arguments) : arguments(arguments) {
  arguments.check();
  distributed::MpiJob job = distributed::findMpiJob();
  if (job.ranks > 1) {
    if (arguments.ranks && *arguments.ranks != job.ranks)
      throw Failure(Exit::Usage, fmt::format("--ranks {}: mpirun has started {}", *arguments.ranks, job.ranks));
    arguments.ranks = job.ranks;
    network = distributed::connectByMpi();
    distributed::CourierOptions options;
    options.heartbeat = std::chrono::seconds(1);
    courier = std::make_unique<distributed::Courier>(*network, options);
    rank = network->rank();
    ranksHere = job.ranksHere;
  } else {
    ranksHere = static_cast<int>(arguments.ranks.value_or(1));
  }
}

distributed::Profile profileStep(ModelCache &models, const std::string &model, const std::string &step,
                                 const std::vector<std::string> &graphs, int64_t samples, int64_t tokens) {
  train::StageChoice whole;
  whole.usualBatch = samples;
  whole.usualLength = tokens;
  return distributed::readProfile(models.inspect(model, "profile", train::describeStage(step, whole), graphs));
}

void PipelineJob::compile(ModelCache &models, const std::string &model, const std::string &step,
                          const std::vector<std::string> &graphs, int64_t batch, int64_t tokens) {
  int count = arguments.stages(), ranks = static_cast<int>(arguments.ranks.value_or(1));
  train::StageChoice choice;
  if (count > 1) {
    int64_t parts = arguments.microBatches.value_or(1);
    distributed::Profile profile = profileStep(models, model, step, graphs, (batch + parts - 1) / parts, tokens);
    double bytesPerSecond = distributed::Links::oneMachine(ranks).levels.front().bytesPerSecond;
    choice.stages = distributed::partitionChain(profile, count, bytesPerSecond);
    choice.split = arguments.kind() == ScheduleKind::ZeroBubble;
  }
  artifacts.resize(count);
  for (choice.stage = 0; choice.stage < count; ++choice.stage) {
    if (network && choice.stage % ranks != rank)
      continue;
    cache::Entry &entry = entries.emplace_back(models.compile(model, train::describeStage(step, choice), graphs));
    newStages += !entry.wasKept();
    artifacts[choice.stage] = Artifact::load(entry.path(), entry.payloadBytes());
  }
}

const Artifact &PipelineJob::first() const {
  return std::ranges::find_if(artifacts, [](const auto &artifact) { return artifact.has_value(); })->value();
}

/// By default, the ranks of one machine share its CPUs.
distributed::PipelineOptions PipelineJob::optionsFor(const train::Execution &execution, uint64_t seed) const {
  distributed::PipelineOptions options;
  options.schedule = arguments.kind();
  options.ranks = static_cast<int>(arguments.ranks.value_or(1));
  options.microBatches = static_cast<int>(arguments.microBatches.value_or(1));
  options.seed = seed;
  options.execution = execution;
  if (options.execution.threads == 0)
    options.execution.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / ranksHere);
  return options;
}

std::unique_ptr<train::Trainer> PipelineJob::makeTrainer(train::StepDescription description,
                                                         const train::Execution &execution, uint64_t seed,
                                                         distributed::OpenData openData) {
  distributed::PipelineOptions options = optionsFor(execution, seed);
  if (!network)
    threads = std::make_unique<distributed::LocalRanks>(artifacts, description, options, std::move(openData));
  return std::make_unique<distributed::PipelineTrainer>(artifacts, std::move(description), options,
                                                        network ? courier.get() : threads->courier());
}

void PipelineJob::abort(const std::string &reason) {
  if (courier)
    courier->abort(fmt::format("on {}: {}", distributed::machineName(), reason));
}

void PipelineJob::serve(const train::StepDescription &description, const train::Execution &execution, uint64_t seed,
                        distributed::OpenData openData) {
  distributed::PipelineOptions options = optionsFor(execution, seed);
  auto pipeline = distributed::PipelineDescription::read(first());
  distributed::RankService(rank, artifacts, pipeline, description, options, *courier, std::move(openData)).serve();
}

} // namespace freestone::tools
