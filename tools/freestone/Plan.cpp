// freestone plan: what a training by a pipeline will be: stages, schedule, times and memory, before anything runs.

#include "distributed/plan/PipelinePlan.h"
#include "distributed/profile/PipedreamProfile.h"
#include "tools/freestone/Options.h"
#include "tools/freestone/TrainOptions.h"
#include "tools/freestone/Verbs.h"
#include "train/Error.h"
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

namespace freestone::tools {

namespace {

struct PlanArguments {
  TrainOptions train;
  std::string links, cost = "overlapping";
  bool replicate = false;
};

std::string readText(const std::string &path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Of an .onnx file, predicted; or a file in the form of PipeDream's profiler.
distributed::Profile findProfile(const TrainOptions &options, int64_t microBatches) {
  if (std::filesystem::path(options.model).extension() == ".txt") {
    std::ifstream file(options.model);
    return distributed::readPipedreamProfile(file);
  }
  train::LabelFacts labels;
  if (!options.fit.window.empty())
    labels.sizes = {-1, -1};
  ModelCache models(options.compile);
  return profileStep(models, options.model, options.describeStep(labels, train::FirstNumbers::Defaults),
                     train::graphFiles(options.step), (options.fit.batch + microBatches - 1) / microBatches,
                     options.usualLength());
}

/// Bytes that are kept for a byte of a parameter.
double statesPerParameter(const TrainerOptions &step) {
  double moments = step.optimizer == "sgd" || step.optimizer == "adagrad" || step.optimizer == "lion" ? 1
                   : step.optimizer == "amsgrad"                                                      ? 3
                                                                                                      : 2;
  return 2 + moments * (step.moments == "bf16" ? 0.5 : 1);
}

void plan(const PlanArguments &arguments) {
  const TrainOptions &options = arguments.train;
  options.pipeline.check();
  distributed::PlanOptions wanted;
  wanted.ranks = static_cast<int>(options.pipeline.ranks.value_or(1));
  wanted.microBatches = static_cast<int>(options.pipeline.microBatches.value_or(1));
  wanted.schedule = options.pipeline.kind();
  wanted.stagesPerRank = options.pipeline.stages() / wanted.ranks;
  wanted.links = arguments.links.empty() ? distributed::Links::oneMachine(wanted.ranks)
                                         : distributed::Links::parse(readText(arguments.links));
  wanted.rules =
      arguments.cost == "pipedream" ? distributed::CostRules::Pipedream : distributed::CostRules::Overlapping;
  wanted.mayReplicate = arguments.replicate;
  wanted.statesPerParameter = statesPerParameter(options.step);
  distributed::Profile profile = findProfile(options, wanted.microBatches);
  fmt::print("{}", distributed::printPlan(distributed::planPipeline(profile, wanted)));
}

} // namespace

void addPlanVerb(CLI::App &app) {
  CLI::App *verb = app.add_subcommand("plan", "Shows a training by a pipeline before it runs: stages, times, memory.");
  auto arguments = std::make_shared<PlanArguments>();
  arguments->train.addTo(*verb);
  const char *group = "Plan";
  addText(*verb, "--links", arguments->links, fileKind,
          "JSON of how the ranks are connected: {\"latency\": 1e-5, \"levels\": [{\"ranks\": 8, "
          "\"bytes_per_second\": 5e10}, …]}, the ranks of a machine first; by default one machine")
      ->group(group);
  addWord(*verb, "--cost", arguments->cost, {{"overlapping", "pipedream"}},
          "how the time of a stage is predicted: overlapping, or by the rules of PipeDream's own optimizer")
      ->group(group);
  verb->add_flag("--replicate", arguments->replicate,
                 "stages may have several ranks, which take micro-batches in turns; in plans alone")
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
