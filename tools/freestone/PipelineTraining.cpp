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
#include <set>
#include <thread>

namespace freestone::tools {

using distributed::ScheduleKind;

static constexpr int64_t mostRanks = 512, mostMicroBatches = 65536, mostStagesPerRank = 16, mostPatience = 1'000'000;

void PipelineArguments::addTo(CLI::App &verb) {
  const char *group = "Pipeline: the model is cut into stages, which train micro-batches side by side";
  auto upTo = [](int64_t most) { return words::wholeFrom(1, static_cast<double>(most)); };
  addNumber(verb, "--ranks", ranks, upTo(mostRanks), "ranks that share the model; 1")->group(group);
  addNumber(verb, "--micro-batches", microBatches, upTo(mostMicroBatches),
            "parts of each batch, whose gradients are summed before the step; 1")
      ->group(group);
  addWord(verb, "--pipeline-schedule", schedule, {{"gpipe", "1f1b", "eager-1f1b", "interleaved", "zb-h1", "pipedream", "pipedream-2bw"}},
          "the order of forward and backward passes on each rank: gpipe, 1f1b, eager-1f1b, interleaved or zb-h1; "
          "eager-1f1b; with gradients of older weights, and no flush between steps: pipedream, pipedream-2bw")
      ->group(group);
  addNumber(verb, "--stages-per-rank", stagesPerRank, upTo(mostStagesPerRank), "of the schedule interleaved; 2")
      ->group(group);
  addNumber(verb, "--replicas", replicas, upTo(mostRanks),
            "ranks of each stage, which take its micro-batches in turns and add up their gradients; 1")
      ->group(group);
  verb.add_flag("--recompute-stages", recompute,
                "stages keep what they receive alone, and compute their forward passes anew for their gradients")
      ->group(group);
  verb.add_flag("--vertical-sync", verticalSync, "of pipedream: all stages use the weights' version of the first one")
      ->group(group);
  verb.add_flag("--no-weight-stashing", noStashing,
                "of pipedream and pipedream-2bw: backward passes read the newest weights, not those of their forward "
                "passes; for comparisons")
      ->group(group);
  addNumber(verb, "--rank-patience", patience, upTo(mostPatience),
            "seconds for which a rank waits for another one's message, before the training ends on all ranks; processes "
            "of mpirun's are then started again from the newest checkpoint; 600")
      ->group(group);
  addText(verb, "--hosts", hosts, formKind, "machines for the ranks, as mpirun takes them: a,b,c:2")->group(group);
  verb.add_flag("--in-process", inProcess, "the ranks are threads of this process, rather than processes of mpirun's")
      ->group(group);
}

distributed::CourierOptions PipelineArguments::courier() const {
  distributed::CourierOptions options;
  if (patience)
    options.patience = std::chrono::seconds(*patience);
  return options;
}

ScheduleKind PipelineArguments::kind() const {
  return schedule.empty() ? ScheduleKind::Eager : distributed::scheduleKindOf(schedule);
}

int PipelineArguments::stages() const {
  int64_t perRank = kind() == ScheduleKind::Interleaved ? stagesPerRank.value_or(2) : 1;
  return static_cast<int>(ranks.value_or(1) * perRank / replicas.value_or(1));
}

void PipelineArguments::check() const {
  int64_t copies = replicas.value_or(1);
  if (ranks.value_or(1) % copies != 0)
    throw Failure(Exit::Usage, fmt::format("--ranks {} are no multiple of --replicas {}", ranks.value_or(1), copies));
  if (verticalSync && kind() != ScheduleKind::PipeDream)
    throw Failure(Exit::Usage, "--vertical-sync is of --pipeline-schedule pipedream");
  if (noStashing && !distributed::isDelayed(kind()))
    throw Failure(Exit::Usage, "--no-weight-stashing is of --pipeline-schedule pipedream or pipedream-2bw");
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
      std::optional<train::Checkpoint> newest = train::CheckpointFolder::newest(folder);
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
    distributed::CourierOptions options = arguments.courier();
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
  // The plan of a step tells the rank of each stage, and which stages compute their forward passes anew.
  distributed::PipelineOptions options = optionsFor({}, 0);
  distributed::Schedule schedule =
      distributed::generate(distributed::scheduleOptionsOf(options, count, options.microBatches));
  std::set<int> recomputed;
  for (const std::vector<distributed::Action> &list : schedule.ranks)
    for (const distributed::Action &action : list)
      if (action.kind == distributed::ActionKind::Recompute)
        recomputed.insert(action.stage);
  choice.recompute.assign(recomputed.begin(), recomputed.end());
  artifacts.resize(count);
  for (choice.stage = 0; choice.stage < count; ++choice.stage) {
    if (network && std::ranges::find(schedule.ranksOf[choice.stage], rank) == schedule.ranksOf[choice.stage].end())
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
  options.replicas = static_cast<int>(arguments.replicas.value_or(1));
  options.recompute = arguments.recompute;
  options.verticalSync = arguments.verticalSync;
  options.stashesWeights = !arguments.noStashing;
  options.seed = seed;
  options.execution = execution;
  options.courier = arguments.courier();
  if (options.execution.threads == 0)
    options.execution.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / ranksHere);
  return options;
}

std::unique_ptr<distributed::PipelineTrainer>
PipelineJob::makeTrainer(train::StepDescription description, const train::Execution &execution, uint64_t seed) {
  distributed::PipelineOptions options = optionsFor(execution, seed);
  if (!network)
    threads = std::make_unique<distributed::LocalRanks>(artifacts, description, options);
  return std::make_unique<distributed::PipelineTrainer>(artifacts, std::move(description), options,
                                                        network ? courier.get() : threads->courier());
}

void PipelineJob::serve(const train::StepDescription &description, train::Execution execution, uint64_t seed,
                        bool isTraced) {
  std::optional<Timeline> timeline;
  if (isTraced)
    execution.timeline = timeline.emplace(distributed::makeRankTimeline()).get();
  distributed::PipelineOptions options = optionsFor(execution, seed);
  auto pipeline = distributed::PipelineDescription::read(first());
  try {
    distributed::RankService(rank, artifacts, pipeline, description, options, *courier).serve();
  } catch (const std::exception &error) {
    courier->abort(error.what());
    throw;
  }
}

} // namespace freestone::tools
