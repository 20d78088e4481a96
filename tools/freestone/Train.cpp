// freestone train: trains an ONNX model on data.

#include "distributed/supervise/Supervisor.h"
#include "distributed/transport/MpiLibrary.h"
#include "formats/ElementType.h"
#include "tools/freestone/Compiler.h"
#include "tools/freestone/Model.h"
#include "tools/freestone/Options.h"
#include "tools/freestone/TrainData.h"
#include "tools/freestone/TrainOptions.h"
#include "tools/freestone/TrainPlan.h"
#include "tools/freestone/Verbs.h"
#include "train/Error.h"
#include "train/compilation/Acceptance.h"
#include "train/data/TokenDataset.h"
#include "train/model/ModelExport.h"
#include "train/model/ModelOutputs.h"
#include "train/options/RunOptions.h"
#include "train/run/RunFolder.h"
#include "train/step/StepData.h"
#include "train/step/StepTrainer.h"
#include "words/NearNames.h"
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace freestone::tools {

using Json = nlohmann::json;

namespace {

std::atomic<bool> interrupted = false;

/// The first Ctrl-C ends the training after the current step; a second one ends the process.
void interrupt(int signal) {
  interrupted.store(true);
  std::signal(signal, SIG_DFL);
}

class Training {
public:
  Training(TrainOptions &options, const CLI::App &verb) : options(options), verb(verb) {}
  void run();

private:
  void runRank();
  void openData();
  const train::Dataset &samplesFor(train::DataUse use);
  std::string describeStep(train::FirstNumbers first);
  void compile(const std::string &path);
  static void printCompilation(const std::string &statistics, bool wasKept);
  void accept(const train::StepDescription &step, const std::vector<freestone::ValueInfo> &inputs);
  train::Acceptance acceptance();
  void requireBeginning() const;
  void loadStep();
  void loadStages();
  std::unique_ptr<train::Trainer> makeTrainer(train::StepDescription description, freestone_timeline *timeline);
  void exportResult(const Artifact &artifact, const train::StepDescription &description,
                    const train::TrainingResult &result) const;
  train::TrainingOptions runOptions(const train::Trainer &trainer) const;
  MemoryQuestion askForMemory() const;

  TrainOptions &options;
  const CLI::App &verb;
  std::unique_ptr<TrainData> data, evaluation;
  cache::Entry step;                ///< the cache entry that holds the step, unless that is a file of the user's
  std::optional<Artifact> whole;    ///< the step
  std::unique_ptr<PipelineJob> job; ///< of a pipeline, in place of the step
  distributed::PipelineTrainer *pipeline = nullptr; ///< the trainer of a pipeline
  int compiles = 0;                                 ///< how often this process compiled the step, or a stage
};

MemoryQuestion Training::askForMemory() const {
  return memoryQuestion(options, data ? &data->files : nullptr, evaluation ? &evaluation->files : nullptr);
}

std::string Training::describeStep(train::FirstNumbers first) {
  options.step.classWeights = readClassWeights(options.classWeights, data ? &data->files : nullptr);
  return options.describeStep(options.labelFacts(data ? &data->files : nullptr), first);
}

train::Acceptance Training::acceptance() {
  return [this](const train::ReadModel &model) { accept(model.step.value(), model.inputs); };
}

void Training::compile(const std::string &path) {
  bool wasKept;
  Compiler compiler(options.compile, acceptance());
  std::string statistics = compiler.compileTo(path, options.model, describeStep(train::FirstNumbers::Given), wasKept,
                                              train::graphFiles(options.step));
  printCompilation(statistics, wasKept);
  fmt::print(stderr, "{}", compiler.describeCalibration());
}

void Training::printCompilation(const std::string &statistics, bool wasKept) {
  if (wasKept) {
    fmt::print(stderr, "the training step was compiled before\n");
    return;
  }
  Json json = Json::parse(statistics);
  fmt::print(stderr, "compiled the training step in {:.2f} s: {} programs, {} more were the same as another\n",
             json.value("seconds", 0.0), json.value("programs", 0), json.value("programs_shared", 0));
}

/// Loads the step; compiles it unless it is given as an artifact.
void Training::loadStep() {
  if (isArtifact(options.model)) {
    options.refuseCompiledIn(verb);
    whole = Artifact::load(options.model);
    return;
  }
  Compiler compiler(options.compile, acceptance());
  step = compiler.compile(options.model, describeStep(train::FirstNumbers::Defaults), train::graphFiles(options.step));
  compiles = step.wasKept() ? 0 : 1;
  printCompilation(step.about(), step.wasKept());
  fmt::print(stderr, "{}", compiler.describeCalibration());
  whole = Artifact::load(step.path(), step.payloadBytes());
}

/// Loads the stages of a pipeline.
void Training::loadStages() {
  if (isArtifact(options.model))
    throw Failure(Exit::Usage,
                  fmt::format("{} is compiled already; give the .onnx file, which is cut into stages", options.model));
  if (options.step.accumulate > 1 && options.pipeline.isDelayed())
    throw Failure(Exit::Usage, "--accumulate is for schedules without delay: choose a larger --batch");
  bool isPipedream = options.pipeline.schedule == nameOf(distributed::ScheduleKind::PipeDream);
  bool hasStages = options.pipeline.ranks.value_or(1) > options.pipeline.replicas.value_or(1);
  if (isPipedream && hasStages && options.step.numbers.contains("clip_norm"))
    throw Failure(Exit::Usage, "--clip-norm needs the norm of all gradients, which stages of pipedream do not have when "
                               "they update: choose pipedream-2bw, or a schedule without delay");
  if (options.readEachStep && options.pipeline.isDelayed())
    throw Failure(Exit::Usage, "--read-each-step would end every step before the next one, which is no delayed schedule");
  Compiler compiler(options.compile, job->isFirst() ? acceptance() : train::Acceptance());
  PipelineModel model =
      options.pipelineModel(describeStep(train::FirstNumbers::Defaults), data ? &data->files : nullptr);
  job->prepare(compiler, model, options, askForMemory());
  compiles = job->compiled();
  if (!job->isFirst())
    return;
  if (!job->expectation().empty())
    fmt::print(stderr, "{}\n", job->expectation());
  fmt::print(stderr, "{} stages of the training step, {} of them compiled now\n{}", job->stages(), compiles,
             compiler.describeCalibration());
}

std::unique_ptr<train::Trainer> Training::makeTrainer(train::StepDescription description,
                                                      freestone_timeline *timeline) {
  train::Execution execution{options.runtime.threads, options.runtime.switches(), timeline};
  if (job) {
    auto made = job->makeTrainer(std::move(description), execution, options.step.seed,
                                 [this](train::DataUse use) -> const train::Dataset & { return samplesFor(use); });
    pipeline = made.get();
    return made;
  }
  return std::make_unique<train::StepTrainer>(*whole, std::move(description), execution, options.step.seed);
}

/// Validates options and data against a step, before any compilation.
void Training::accept(const train::StepDescription &step, const std::vector<freestone::ValueInfo> &inputs) {
  train::checkNumbers(step, options.step);
  train::checkSchedule(step, options.fit);
  std::vector<train::Field> fields = train::dataFields(step, inputs);
  for (TrainData *from : {data.get(), evaluation.get()})
    if (from) {
      from->samples = train::openSamples(from->files, options.fit.window, step, fields);
      from->samples->checkRanges();
    }
  if (!data || options.plan || options.compileOnly)
    return;
  train::checkFixedBatch(*data->samples, options.fit.batch);
}

void Training::openData() {
  if (options.fit.data.empty() && !options.compileOnly && !options.plan)
    throw Failure(Exit::Usage, "name the data to train on with --data");
  if (!options.fit.data.empty())
    data = std::make_unique<TrainData>("--data", options.fit.data);
  if (!options.fit.evaluationData.empty())
    evaluation = std::make_unique<TrainData>("--eval-data", options.fit.evaluationData);
}

/// The samples of --data or --eval-data, which a rank opens when its stages take some; rank 0 has them already.
const train::Dataset &Training::samplesFor(train::DataUse use) {
  if (!data)
    openData();
  TrainData &from = use == train::DataUse::Training ? *data : *evaluation;
  if (!from.samples) {
    auto step = train::StepDescription::parse(std::string(job->first().attachment("training.json")));
    from.samples = train::openSamples(from.files, options.fit.window, step, train::dataFields(step, job->inputs()));
  }
  return *from.samples;
}

/// Throws train::Error unless the training can start or resume in its folder.
void Training::requireBeginning() const {
  try {
    // The training itself verifies all bytes.
    (void)train::findBeginning(options.fit.folder, options.fit.resume, options.step.seed, {},
                               train::Checkpoint::Verify::WhatIsRestored);
  } catch (const train::Error &error) {
    throw train::Error(
        fmt::format("{} {}: {}", options.fit.resume ? "--resume" : "--out", options.fit.folder, error.what()));
  }
}

/// Whether a training that was started again can go on.
static bool hasCheckpoint(const std::string &folder) {
  try {
    return train::CheckpointFolder::newest(folder).has_value();
  } catch (const train::Error &) { // there is no folder
    return false;
  }
}

train::TrainingOptions Training::runOptions(const train::Trainer &trainer) const {
  train::TrainingOptions run = train::makeRunOptions(options.fit, options.step, trainer);
  run.readEachStep = options.readEachStep;
  run.stop = &interrupted;
  return run;
}

/// Writes statistics of the run beside its metrics.
static void writeCounters(const std::string &folder, const train::TrainingResult &result, int compiles,
                          const PipelineJob *job) {
  const train::Trainer::Counters &counters = result.counters;
  Json json = {
      {"steps", counters.steps}, {"programs_entered", counters.entered},    {"host_reads", counters.hostReads},
      {"compiles", compiles},    {"batch_sizes", result.batchSizes.size()}, {"lengths", result.lengths.size()}};
  if (job) {
    std::vector<distributed::RankReport> reports = job->reports();
    for (const distributed::PipelineTrainer::MemoryReport &rank : job->memory()) {
      Json &told = json["ranks"].emplace_back(rank.memory.print());
      told["bytes"] = rank.memory.total();
      told["allocations"] = rank.allocations;
      size_t number = json["ranks"].size() - 1;
      if (number >= reports.size())
        continue;
      told["communication_cpu_share"] = reports[number].courierShare();
      if (reports[number].summedBytes > 0) {
        told["replica_sum_bytes"] = reports[number].summedBytes;
        told["overlapped_sum_bytes"] = reports[number].overlappedBytes;
      }
    }
    json["step_seconds"] = job->measuredStep();
    json["expected_step_seconds"] = job->expectedStep();
  }
  std::ofstream file(folder + "/counters.json");
  file << json.dump() << "\n";
  if (!file.flush())
    throw Failure(Exit::Failed, fmt::format("can't write '{}/counters.json'", folder));
}

/// Writes the user's own file with the trained weights and compiles that file, unless the step was given as an artifact
/// or several processes have trained.
void Training::exportResult(const Artifact &artifact, const train::StepDescription &description,
                            const train::TrainingResult &result) const {
  std::string_view model = artifact.attachment("model.onnx");
  std::string path = options.fit.folder + "/model.onnx";
  train::ExportOptions exported;
  exported.modelFolder = std::filesystem::path(options.model).parent_path().string();
  if (exported.modelFolder.empty())
    exported.modelFolder = ".";
  exported.separate = description.separate;
  exported.transposed = description.transposed;
  // Mapped files: several ranks may have trained more than the memory of one holds.
  train::Checkpoint trained = train::Checkpoint::open(result.checkpoint);
  std::vector<formats::TensorView> weights = trained.tensors("parameters");
  std::ranges::copy(trained.tensors("statistics"), std::back_inserter(weights));
  train::exportModel({reinterpret_cast<const uint8_t *>(model.data()), model.size()}, weights, path, exported);
  // Processes share a training that may be too large for one of them.
  if (result.stopped || isArtifact(options.model) || (job && job->isSpread())) {
    fmt::print(stderr, "the trained model is {0}; compile it with: freestone compile {0} -o {1}/model.stone\n", path,
               options.fit.folder);
    return;
  }
  std::string compiled = options.fit.folder + "/model.stone";
  Compiler(options.compile).compileUnkept(compiled, path);
  fmt::print(stderr, "the trained model is {}, and compiled {}\n", path, compiled);
}

/// An error of another process than the first one ends them all.
void Training::run() {
  try {
    runRank();
  } catch (const std::exception &error) {
    if (job && !job->isFirst())
      job->abort(error.what());
    throw;
  }
}

void Training::runRank() {
  options.checkSchedule();
  options.fit.resume = !options.resume.empty();
  if (options.fit.resume)
    options.fit.folder = options.resume;
  if (!options.compileOnly && !options.plan && options.pipeline.supervises()) {
    requireBeginning();
    openData(); // whose errors are then told once
    data.reset();
    evaluation.reset();
    std::signal(SIGINT, interrupt);
    throw Failure(Exit{superviseRanks(options.pipeline, options.fit.folder, interrupted)}, "");
  }
  if (std::getenv(distributed::restartedVariable) && hasCheckpoint(options.fit.folder))
    options.fit.resume = true;
  if (options.pipeline.given() || distributed::findMpiJob().ranks > 1)
    job = std::make_unique<PipelineJob>(options.pipeline);
  bool isFirst = !job || job->isFirst();
  if (isFirst && !options.compileOnly && !options.plan)
    requireBeginning();
  openData();

  if (options.compileOnly) {
    if (options.output.empty())
      throw Failure(Exit::Usage, "name the file that --compile-only writes with -o");
    requireWritable("--output", options.output);
    return compile(options.output);
  }
  TraceFile trace(isFirst ? options.runtime.tracePath : "");
  if (job)
    loadStages();
  else
    loadStep();
  const Artifact &artifact = job ? job->first() : *whole;
  train::StepDescription description = train::StepDescription::parse(std::string(artifact.attachment("training.json")));
  if (!isFirst) {
    // The first rank ends the training.
    std::signal(SIGINT, SIG_IGN);
    std::signal(SIGUSR1, SIG_IGN);
    // The stages are described now; only a rank that takes data opens them again.
    data.reset();
    evaluation.reset();
    return job->serve(description, {options.runtime.threads, options.runtime.switches(), nullptr}, options.step.seed,
                      !options.runtime.tracePath.empty(),
                      [this](train::DataUse use) -> const train::Dataset & { return samplesFor(use); });
  }
  if (description.foldedNorms > 0)
    fmt::print(
        stderr,
        "note: the exporter has folded batch normalisations into convolutions ({}); these train as they are, without "
        "normalising (docs/training.md tells which exports keep them)\n",
        description.foldedNorms);
  if (options.plan) {
    // Each rank of a pipeline has states of its own.
    printParameters(description, job ? nullptr : &artifact);
    MemoryQuestion question = askForMemory();
    if (job)
      return printMemory(job->planMemory(description, question));
    std::string unknown;
    if (std::optional<MemoryPlan> memory = planMemory(artifact, description, question, unknown))
      printMemory(*memory);
    else
      fmt::print("the memory follows from the size '{}', which is not known: name --data or --window\n", unknown);
    return;
  }
  std::unique_ptr<train::Trainer> made = makeTrainer(std::move(description), trace.get());
  train::Trainer &trainer = *made;
  train::setNumbers(trainer, options.step);
  if (!data->samples)
    accept(trainer.description(), trainer.dataInputs());
  std::signal(SIGINT, interrupt);
  std::signal(SIGUSR1, interrupt); // of a supervisor
  train::TrainingResult result;
  try {
    result =
        train::train(trainer, *data->samples, evaluation ? evaluation->samples.get() : nullptr, runOptions(trainer));
  } catch (const train::Error &) {
    trace.write(); // even after an error, which the trace helps to explain
    throw;
  }
  if (pipeline)
    pipeline->gatherTrace();
  trace.write();
  if (job && job->expectedStep() > 0)
    fmt::print(stderr, "a step took {:.3f} ms (median), {:.3f} ms were expected: {:.2f} times as long\n",
               job->measuredStep() * 1e3, job->expectedStep() * 1e3, job->measuredStep() / job->expectedStep());
  writeCounters(options.fit.folder, result, compiles, job.get());
  if (result.stopped)
    fmt::print(stderr, "stopped after step {}; go on with: freestone train {} --resume {} and the same other options\n",
               result.steps, options.model, options.fit.folder);
  exportResult(artifact, trainer.description(), result);
}

} // namespace

void addTrainVerb(CLI::App &app) {
  CLI::App *verb = app.add_subcommand("train", "Trains a model on data.");
  auto options = std::make_shared<TrainOptions>();
  options->addTo(*verb);
  verb->callback([options, verb] {
    try {
      Training(*options, *verb).run();
    } catch (const train::Error &error) {
      throw Failure(Exit::Failed, error.what());
    } catch (const freestone::Error &error) {
      throw Failure(Exit::Failed, error.what());
    }
  });
}

} // namespace freestone::tools
