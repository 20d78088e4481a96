#include "tools/freestone/PipelineTraining.h"

#include "distributed/supervise/Supervisor.h"
#include "distributed/transport/MpiLibrary.h"
#include "tools/freestone/Options.h"
#include "tools/freestone/ProfileMeasurement.h"
#include "tools/freestone/TrainPlan.h"
#include "train/options/StepText.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

namespace freestone::tools {

using distributed::ScheduleKind;

static constexpr int64_t mostRanks = 4096, mostMicroBatches = 65536, mostStagesPerRank = 16, mostPatience = 1'000'000;

void PipelineArguments::addTo(CLI::App &verb) {
  const char *group = "Pipeline: the model is cut into stages, which train micro-batches side by side";
  auto upTo = [](int64_t most) { return words::wholeFrom(1, static_cast<double>(most)); };
  addNumber(verb, "--ranks", ranks, upTo(mostRanks), "ranks that share the model; 1")->group(group);
  addNumber(verb, "--micro-batches", microBatches, upTo(mostMicroBatches),
            "parts of each batch, whose gradients are summed before the step; 1")
      ->group(group);
  addWord(verb, "--pipeline-schedule", schedule,
          {{"gpipe", "1f1b", "eager-1f1b", "interleaved", "zb-h1", "pipedream", "pipedream-2bw"}},
          "the order of forward and backward passes on each rank: gpipe, 1f1b, eager-1f1b, interleaved or zb-h1, by "
          "default the fastest of them by prediction; or, with gradients of older weights and no flush between steps, "
          "pipedream or pipedream-2bw")
      ->group(group);
  addNumber(verb, "--stages-per-rank", stagesPerRank, upTo(mostStagesPerRank), "of the schedule interleaved; 2")
      ->group(group);
  addNumber(verb, "--replicas", replicas, upTo(mostRanks),
            "ranks of each stage, which take its micro-batches in turns and add up their gradients; 1")
      ->group(group);
  verb.add_flag("--replicate", replicate,
                "stages may have several ranks, as many as makes the step fastest by prediction")
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
  auto takeMemory = [this](const std::string &text) {
    memory = cache::parseBytes(text);
    if (!memory)
      refuseValue("--max-memory", text, "must be a number of bytes, such as 500M or 8G");
  };
  verb.add_option_function<std::string>("--max-memory", takeMemory,
                                        "what a rank may keep, by which stages and schedule are chosen: 500M, 8G")
      ->type_name(formKind)
      ->group(group);
  addText(verb, "--links", links, fileKind,
          "JSON of how the ranks are connected: {\"latency\": 1e-5, \"levels\": [{\"ranks\": 8, "
          "\"bytes_per_second\": 5e10}, …]}, the ranks of a machine first; by default one machine")
      ->group(group);
  addNumber(verb, "--rank-patience", patience, upTo(mostPatience),
            "seconds for which a rank waits for another one's message, before the training ends on all ranks; processes "
            "of mpirun's are then started again from the newest checkpoint; 600")
      ->group(group);
  verb.add_flag("--measure", measure,
                "stages and schedule are chosen by times that are measured on this machine, rather than predicted")
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

void PipelineArguments::check() const {
  int64_t copies = replicas.value_or(1);
  if (ranks.value_or(1) % copies != 0)
    throw Failure(Exit::Usage, fmt::format("--ranks {} are no multiple of --replicas {}", ranks.value_or(1), copies));
  if (copies > 1 && replicate)
    throw Failure(Exit::Usage, "--replicas gives all stages as many ranks: leave out --replicate");
  if (verticalSync && schedule != nameOf(ScheduleKind::PipeDream))
    throw Failure(Exit::Usage, "--vertical-sync is of --pipeline-schedule pipedream");
  if (!hosts.empty() && ranks.value_or(1) == 1)
    throw Failure(Exit::Usage, fmt::format("--hosts {} is for several ranks: say how many with --ranks", hosts));
  if (noStashing && !isDelayed())
    throw Failure(Exit::Usage, "--no-weight-stashing is of --pipeline-schedule pipedream or pipedream-2bw");
  if (stagesPerRank && schedule != nameOf(ScheduleKind::Interleaved))
    throw Failure(Exit::Usage, "--stages-per-rank is of --pipeline-schedule interleaved; others have one stage a rank");
}

/// Bytes that are kept for a byte of a parameter: itself, its gradient, and moments.
static double statesPerParameter(const TrainerOptions &step) {
  double moments = step.optimizer == "sgd" || step.optimizer == "adagrad" || step.optimizer == "lion" ? 1
                   : step.optimizer == "amsgrad"                                                      ? 3
                                                                                                      : 2;
  return 2 + moments * (step.moments == "bf16" ? 0.5 : 1);
}

/// Errors name the option with the file.
static distributed::Links readLinks(const std::string &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (text.str().empty())
    throw train::Error(fmt::format("--links {}: it can't be read, or is empty", path));
  try {
    return distributed::Links::parse(text.str());
  } catch (const train::Error &error) {
    throw train::Error(fmt::format("--links {}: {}", path, error.what()));
  }
}

distributed::PlanOptions PipelineArguments::planOptions(const TrainerOptions &step) const {
  distributed::PlanOptions options;
  if (!schedule.empty())
    options.schedule = distributed::scheduleKindOf(schedule);
  options.stagesPerRank = static_cast<int>(stagesPerRank.value_or(2));
  options.ranks = static_cast<int>(ranks.value_or(1));
  options.replicas = static_cast<int>(replicas.value_or(1));
  options.mayReplicate = replicate;
  options.microBatches = static_cast<int>(microBatches.value_or(1));
  options.recompute = recompute;
  options.verticalSync = verticalSync;
  options.stashesWeights = !noStashing;
  options.links =
      links.empty() ? distributed::Links::oneMachine(options.ranks) : readLinks(links);
  options.statesPerParameter = statesPerParameter(step);
  if (memory)
    options.memory = static_cast<double>(*memory);
  return options;
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
  distributed::MpiJob job = distributed::findMpiJob();
  if (job.ranks > 1 && arguments.ranks.value_or(job.ranks) != job.ranks)
    throw Failure(Exit::Usage, fmt::format("--ranks {}: mpirun has started {}", *arguments.ranks, job.ranks));
  if (job.ranks > 1)
    arguments.ranks = job.ranks;
  arguments.check();
  if (job.ranks > 1) {
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

distributed::Profile profileStep(Compiler &compiler, const PipelineModel &model, int64_t microBatches) {
  train::StageChoice whole;
  whole.usualBatch = (model.sizes.batch + microBatches - 1) / microBatches;
  whole.usualLength = model.sizes.tokens;
  return distributed::readProfile(
      compiler.inspect(model.path, "profile", train::describeStage(model.step, whole), model.graphs));
}

void requireWorkForAll(const distributed::PipelinePlan &plan, int ranks) {
  if (auto used = static_cast<int>(plan.schedule.ranks.size()); used < ranks)
    throw Failure(Exit::Usage, fmt::format("the best stages leave {} of {} ranks without work: choose --ranks {}",
                                           ranks - used, ranks, used));
}

int PipelineJob::threadsOf(int asked) const {
  return asked > 0 ? asked : std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / ranksHere);
}

distributed::PipelineChoice PipelineJob::choose(Compiler &compiler, const PipelineModel &model,
                                                const TrainOptions &options) {
  distributed::PipelineChoice chosen;
  distributed::PlanOptions wanted = arguments.planOptions(options.step);
  if (wanted.ranks > 1 || wanted.schedule || arguments.memory) {
    distributed::Profile profile = profileStep(compiler, model, wanted.microBatches);
    if (arguments.measure) {
      std::optional<train::ArrayFiles> data;
      if (!options.fit.data.empty())
        data = train::ArrayFiles::open(options.fit.data);
      std::filesystem::create_directories(options.fit.folder);
      Measurement measured =
          measureOnce(options.fit.folder + "/profile.json", compiler, model, profile, wanted.microBatches,
                      memoryQuestion(options, data ? &*data : nullptr), threadsOf(options.runtime.threads));
      if (!measured.blocks.empty())
        fmt::print(stderr, "{}", distributed::printComparison(measured.blocks));
      profile = std::move(measured.profile);
    }
    if (allowedBytes > 0)
      wanted.memory = allowedBytes;
    distributed::PipelinePlan plan = [&] {
      try {
        return distributed::planPipeline(profile, wanted);
      } catch (const train::Error &) {
        if (overfull.empty())
          throw;
        throw train::Error(overfull);
      }
    }();
    predictedBytes = plan.largestMemory();
    expected = distributed::describePlan(plan);
    expectedSeconds = plan.step.seconds;
    chosen = distributed::PipelineChoice::of(plan);
    requireWorkForAll(plan, wanted.ranks);
  }
  chosen.rates = compiler.rates();
  return chosen;
}

distributed::PipelineChoice PipelineJob::agree(Compiler &compiler, const PipelineModel &model,
                                               const TrainOptions &options) {
  if (!network)
    return choose(compiler, model, options);
  if (rank > 0) {
    distributed::ParcelLine line(*courier, 0, /*model=*/0);
    auto told = distributed::PipelineChoice::read(line.receive().about.dump());
    compiler.useRates(told.rates);
    return told;
  }
  try {
    distributed::PipelineChoice chosen = choose(compiler, model, options);
    for (int peer = 1; peer < courier->size(); ++peer) {
      distributed::ParcelLine line(*courier, peer, /*model=*/0);
      line.send({nlohmann::json::parse(chosen.print()), {}});
      line.settle();
    }
    return chosen;
  } catch (const std::exception &error) {
    courier->abort(error.what());
    throw;
  }
}

void PipelineJob::compile(Compiler &compiler, const PipelineModel &model, distributed::PipelineChoice agreed) {
  choice = std::move(agreed);
  train::StageChoice wanted;
  wanted.stages = choice.stageOf;
  wanted.split = choice.schedule == ScheduleKind::ZeroBubble;
  // The plan of a step tells the rank of each stage, and which stages compute their forward passes anew.
  distributed::PipelineOptions planned = optionsFor({}, 0);
  distributed::Schedule schedule =
      distributed::generate(distributed::scheduleOptionsOf(planned, choice.stages, planned.microBatches));
  std::set<int> recomputed;
  for (const std::vector<distributed::Action> &list : schedule.ranks)
    for (const distributed::Action &action : list)
      if (action.kind == distributed::ActionKind::Recompute)
        recomputed.insert(action.stage);
  wanted.recompute.assign(recomputed.begin(), recomputed.end());
  artifacts.assign(choice.stages, std::nullopt);
  entries.clear();
  for (wanted.stage = 0; wanted.stage < choice.stages; ++wanted.stage) {
    const std::vector<int> &owners = schedule.ranksOf[wanted.stage];
    if (network && std::ranges::find(owners, rank) == owners.end())
      continue;
    cache::Entry &entry =
        entries.emplace_back(compiler.compile(model.path, train::describeStage(model.step, wanted), model.graphs));
    newStages += !entry.wasKept();
    artifacts[wanted.stage] = Artifact::load(entry.path(), entry.payloadBytes());
  }
}

const Artifact &PipelineJob::first() const {
  return std::ranges::find_if(artifacts, [](const auto &artifact) { return artifact.has_value(); })->value();
}

/// By default, the ranks of one machine share its CPUs.
distributed::PipelineOptions PipelineJob::optionsFor(const train::Execution &execution, uint64_t seed) const {
  distributed::PipelineOptions options;
  options.schedule = choice.schedule;
  options.ranks = static_cast<int>(arguments.ranks.value_or(1));
  options.microBatches = static_cast<int>(arguments.microBatches.value_or(1));
  options.replicas = static_cast<int>(arguments.replicas.value_or(1));
  options.replicasOf = choice.replicas;
  options.recompute = arguments.recompute;
  options.verticalSync = arguments.verticalSync;
  options.stashesWeights = !arguments.noStashing;
  options.seed = seed;
  options.execution = execution;
  options.courier = arguments.courier();
  options.execution.threads = threadsOf(execution.threads);
  return options;
}

std::unique_ptr<distributed::PipelineTrainer> PipelineJob::makeTrainer(train::StepDescription description,
                                                                       const train::Execution &execution, uint64_t seed,
                                                                       distributed::OpenData openData) {
  distributed::PipelineOptions options = optionsFor(execution, seed);
  if (!network)
    threads = std::make_unique<distributed::LocalRanks>(artifacts, description, options, std::move(openData));
  auto made = std::make_unique<distributed::PipelineTrainer>(artifacts, std::move(description), options,
                                                             network ? courier.get() : threads->courier());
  trainer = made.get();
  return made;
}

std::map<int, distributed::RankMemory> PipelineJob::planMemory(const train::StepDescription &description,
                                                               const MemoryQuestion &question) const {
  train::Execution execution;
  execution.threads = question.threads;
  distributed::PipelineOptions options = optionsFor(execution, 0);
  auto pipeline = distributed::PipelineDescription::read(first());
  // As distributed::splitBatch: the last micro-batch may be smaller.
  int64_t each = (question.batch + options.microBatches - 1) / options.microBatches;
  int64_t parts = (question.batch + each - 1) / each;
  std::vector<std::vector<int64_t>> sizes(parts, findSizes(pipeline, each, question));
  sizes.back() = findSizes(pipeline, question.batch - (parts - 1) * each, question);
  std::vector<std::vector<int64_t>> evaluated;
  if (question.evaluates)
    evaluated.push_back(findSizes(pipeline, question.batch, question));
  if (question.evaluatedLast > 0)
    evaluated.push_back(findSizes(pipeline, question.evaluatedLast, question));
  distributed::RankSchedules schedules(pipeline, options);
  std::vector<distributed::StageNeeds> needs =
      schedules.isDelayed() ? schedules.usualNeeds()
                            : distributed::countNeeds(schedules.step(static_cast<int>(parts), /*updates=*/true));
  std::map<int, distributed::RankMemory> ranks;
  for (int number = 0; number < options.ranks; ++number)
    if (!network || number == rank)
      ranks[number] = distributed::RankExecutor(number, schedules, artifacts, pipeline, description, options.execution,
                                                /*courier=*/nullptr)
                          .planMemory(needs, sizes, evaluated);
  return ranks;
}

/// Counts what the compiled stages hold, on all ranks.
bool PipelineJob::keepsToMemory(const MemoryQuestion &question) {
  auto description = train::StepDescription::parse(std::string(first().attachment("training.json")));
  std::map<int, distributed::RankMemory> held = planMemory(description, question);
  if (rank > 0) {
    distributed::ParcelLine line(*courier, 0, /*model=*/0);
    line.send({{{"bytes", held.at(rank).total()}}, {}});
    line.settle();
    return line.receive().about.at("keeps");
  }
  std::map<int, uint64_t> bytes;
  for (const auto &[number, memory] : held)
    bytes[number] = memory.total();
  std::vector<distributed::ParcelLine> lines;
  for (int peer = 1; network && peer < courier->size(); ++peer)
    bytes[peer] = lines.emplace_back(*courier, peer, /*model=*/0).receive().about.at("bytes");
  auto [number, most] = *std::ranges::max_element(bytes, {}, [](const auto &entry) { return entry.second; });
  bool keeps = most <= static_cast<uint64_t>(*arguments.memory);
  for (distributed::ParcelLine &line : lines)
    line.send({{{"keeps", keeps}}, {}});
  for (distributed::ParcelLine &line : lines)
    line.settle();
  auto limit = static_cast<double>(*arguments.memory), counted = static_cast<double>(most);
  // As much less as the count is above the prediction; what was counted is then no more among the choices.
  allowedBytes = std::max(1.0, limit - (counted - predictedBytes));
  overfull = fmt::format("--max-memory: no stages that were tried keep to {} a rank: with its intermediates, rank {} "
                         "would hold {}; choose more ranks, more micro-batches of each batch, --recompute-stages, or "
                         "--recompute blocks",
                         distributed::printBytes(limit), number, distributed::printBytes(counted));
  return keeps;
}

void PipelineJob::prepare(Compiler &compiler, const PipelineModel &model, const TrainOptions &options,
                          const MemoryQuestion &question) {
  do
    compile(compiler, model, agree(compiler, model, options));
  while (arguments.memory && !keepsToMemory(question));
}

void printMemory(const std::map<int, distributed::RankMemory> &ranks) {
  fmt::print("rank        states         slots     exchanged    evaluation  intermediates       together, in bytes\n");
  for (const auto &[rank, memory] : ranks) {
    fmt::print("{:<4}{:>14}{:>14}{:>14}{:>14}{:>15}{:>15} {:>9}\n", rank, memory.states, memory.slots, memory.exchanged,
               memory.evaluation, memory.intermediates, memory.total(),
               distributed::printBytes(static_cast<double>(memory.total())));
  }
}

void PipelineJob::abort(const std::string &reason) {
  if (courier)
    courier->abort(fmt::format("on {}: {}", distributed::machineName(), reason));
}

void PipelineJob::serve(const train::StepDescription &description, train::Execution execution, uint64_t seed,
                        bool isTraced, distributed::OpenData openData) {
  std::optional<Timeline> timeline;
  if (isTraced)
    execution.timeline = timeline.emplace(distributed::makeRankTimeline()).get();
  distributed::PipelineOptions options = optionsFor(execution, seed);
  auto pipeline = distributed::PipelineDescription::read(first());
  distributed::RankService(rank, artifacts, pipeline, description, options, *courier, std::move(openData)).serve();
}

} // namespace freestone::tools
