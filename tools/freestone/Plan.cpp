// freestone plan: what a training by a pipeline will be: stages, schedule, times and memory, before anything runs.

#include "distributed/plan/PipelinePlan.h"
#include "distributed/profile/PipedreamProfile.h"
#include "tools/freestone/Options.h"
#include "tools/freestone/ProfileMeasurement.h"
#include "tools/freestone/TrainPlan.h"
#include "tools/freestone/Verbs.h"
#include "train/Error.h"
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

namespace freestone::tools {

namespace {

struct PlanArguments {
  TrainOptions train;
  std::string cost = "overlapping";
  bool straight = false, exact = false;
};

bool isProfile(const TrainOptions &options) { return std::filesystem::path(options.model).extension() == ".txt"; }

distributed::Profile readProfile(const std::string &path) {
  std::ifstream file(path);
  return distributed::readPipedreamProfile(file);
}

/// Where the numbers of a plan are from.
std::string describeSources(const TrainOptions &options, bool isExact, bool canBeExact) {
  std::string_view times = isProfile(options) ? "times of operations are the profile's, those of transfers predicted"
                           : options.pipeline.measure ? "times of operations are measured, those of transfers predicted"
                                                      : "times are predicted, not measured: --measure measures them";
  return fmt::format("{}; memory is predicted{}\n", times,
                     isExact      ? ", and counted below"
                     : canBeExact ? ": --exact counts it"
                                  : "");
}

/// Compiles the stages, and prints what ranks hold.
void planExactly(TrainOptions &options, Compiler &compiler, const PipelineModel &model,
                 const distributed::PipelinePlan &plan, const train::ArrayFiles *data) {
  std::optional<train::ArrayFiles> evaluation;
  if (!options.fit.evaluationData.empty())
    evaluation = train::ArrayFiles::open(options.fit.evaluationData);
  requireWorkForAll(plan, static_cast<int>(options.pipeline.ranks.value_or(1)));
  PipelineJob job(options.pipeline);
  job.compile(compiler, model, distributed::PipelineChoice::of(plan));
  auto description = train::StepDescription::parse(std::string(job.first().attachment("training.json")));
  fmt::print("\n");
  printMemory(job.planMemory(description, memoryQuestion(options, data, evaluation ? &*evaluation : nullptr)));
}

void plan(PlanArguments &arguments) {
  TrainOptions &options = arguments.train;
  options.pipeline.check();
  distributed::PlanOptions wanted = options.pipeline.planOptions(options.step);
  bool isPipedreams = arguments.cost == "pipedream";
  wanted.rules = isPipedreams ? distributed::CostRules::Pipedream : distributed::CostRules::Overlapping;
  wanted.mayReplicate = options.pipeline.replicate || (isPipedreams && !arguments.straight);
  bool isTrainable = !isPipedreams;
  if (wanted.replicas > 1 && !isTrainable)
    throw Failure(Exit::Usage, "--replicas gives all stages as many ranks: leave out --cost pipedream");
  auto planFor = [&](const distributed::Profile &profile) {
    distributed::PipelinePlan plan = distributed::planPipeline(profile, wanted);
    fmt::print("{}{}", distributed::printPlan(plan),
               describeSources(options, arguments.exact, isTrainable && !isProfile(options)));
    if (auto used = static_cast<int>(plan.schedule.ranks.size()); used < wanted.ranks)
      fmt::print("{} of {} ranks have no work in it: choose --ranks {}\n", wanted.ranks - used, wanted.ranks, used);
    return plan;
  };
  if (isProfile(options)) {
    if (arguments.exact || options.pipeline.measure)
      throw Failure(Exit::Usage, fmt::format("--exact and --measure are of models; {} is a profile", options.model));
    planFor(readProfile(options.model));
    return;
  }
  if (arguments.exact && !isTrainable)
    throw Failure(Exit::Usage, "--exact is of stages that can be trained: without --cost pipedream");
  std::optional<train::ArrayFiles> data;
  if (!options.fit.data.empty())
    data = train::ArrayFiles::open(options.fit.data);
  const train::ArrayFiles *files = data ? &*data : nullptr;
  Compiler compiler(options.compile);
  PipelineModel model =
      options.pipelineModel(options.describeStep(options.labelFacts(files), train::FirstNumbers::Defaults), files);
  distributed::Profile profile = profileStep(compiler, model, wanted.microBatches);
  if (options.pipeline.measure) {
    Measurement measured = measureProfile(compiler, model, profile, wanted.microBatches, memoryQuestion(options, files),
                                          std::max(1, options.runtime.threads));
    fmt::print("{}\n", distributed::printComparison(measured.blocks));
    profile = std::move(measured.profile);
  }
  distributed::PipelinePlan plan = planFor(profile);
  if (arguments.exact)
    planExactly(options, compiler, model, plan, files);
}

} // namespace

void addPlanVerb(CLI::App &app) {
  CLI::App *verb = app.add_subcommand("plan", "Shows a training by a pipeline before it runs: stages, times, memory.");
  auto arguments = std::make_shared<PlanArguments>();
  arguments->train.addTo(*verb);
  const char *group = "Plan";
  addWord(*verb, "--cost", arguments->cost, {{"overlapping", "pipedream"}},
          "how the time of a stage is predicted: overlapping, or by the rules of PipeDream's own optimizer, whose "
          "stages may have several ranks")
      ->group(group);
  verb->add_flag("--straight", arguments->straight, "with --cost pipedream: no stage has several ranks")
      ->excludes(verb->get_option("--replicate"))
      ->group(group);
  verb->add_flag(
          "--exact", arguments->exact,
          "compiles the stages, and counts what each rank will hold to the byte; sizes are those of --batch, and of "
          "--window or --data")
      ->group(group);
  verb->callback([arguments] {
    try {
      plan(*arguments);
    } catch (const train::Error &error) {
      throw Failure(Exit::Failed, error.what());
    }
  });
}

} // namespace freestone::tools
