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

namespace freestone::tools {

namespace {

struct PlanArguments {
  TrainOptions train;
  std::string cost = "overlapping";
  bool replicate = false, straight = false;
};

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
  return profileStep(models, options.pipelineModel(options.describeStep(labels, train::FirstNumbers::Defaults)),
                     microBatches);
}

void plan(const PlanArguments &arguments) {
  const TrainOptions &options = arguments.train;
  options.pipeline.check();
  distributed::PlanOptions wanted = options.pipeline.planOptions(options.step);
  bool isPipedreams = arguments.cost == "pipedream";
  wanted.rules = isPipedreams ? distributed::CostRules::Pipedream : distributed::CostRules::Overlapping;
  wanted.mayReplicate = arguments.replicate || (isPipedreams && !arguments.straight);
  distributed::Profile profile = findProfile(options, wanted.microBatches);
  fmt::print("{}", distributed::printPlan(distributed::planPipeline(profile, wanted)));
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
  CLI::Option *replicate =
      verb->add_flag("--replicate", arguments->replicate,
                     "stages may have several ranks, which take micro-batches in turns; in plans alone")
          ->group(group);
  verb->add_flag("--straight", arguments->straight, "with --cost pipedream: no stage has several ranks")
      ->excludes(replicate)
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
