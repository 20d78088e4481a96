#include "freestone/trainer.h"

#include "formats/ElementType.h"
#include "train/Error.h"
#include "train/compilation/StepCompilation.h"
#include "train/data/BatchStream.h"
#include "train/data/CheckedCopy.h"
#include "train/data/FieldShape.h"
#include "train/model/ModelExport.h"
#include "train/options/OptionRules.h"
#include "train/options/RunOptions.h"
#include "train/step/StepData.h"
#include "train/step/StepTrainer.h"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>

namespace freestone {

using train::Field;

namespace {

/// Runs `body` and translates internal errors to those of the interface.
template <typename Body> auto translateErrors(Body body) {
  try {
    return body();
  } catch (const Error &) {
    throw;
  } catch (const train::Error &error) {
    throw Error(FREESTONE_INVALID_ARGUMENT, error.what());
  } catch (const std::bad_alloc &error) {
    throw Error(FREESTONE_OUT_OF_MEMORY, error.what());
  } catch (const std::exception &error) {
    throw Error(FREESTONE_INTERNAL, error.what());
  }
}

/// The element type of an application's tensor.
freestone_dtype elementType(const DLTensor &tensor) {
  auto named = [&](const char *letter) {
    return formats::typeFromName(fmt::format("{}{}", letter, tensor.dtype.bits)).value_or(freestone_dtype{});
  };
  switch (tensor.dtype.code) {
  case kDLFloat:
    return named("f");
  case kDLBfloat:
    return FREESTONE_BF16;
  case kDLBool:
    return FREESTONE_I1;
  case kDLUInt:
    return named("u");
  default:
    return named("i");
  }
}

/// A tensor of the application by name.
formats::TensorView viewOf(const std::string &name, TensorRef tensor) {
  const DLTensor &view = *tensor.get();
  freestone_dtype dtype = elementType(view);
  std::vector<int64_t> shape(view.shape, view.shape + view.ndim);
  auto *data = static_cast<const uint8_t *>(view.data) + view.byte_offset;
  size_t bytes = dtype ? formats::countBytes(dtype, shape) : 0;
  return {name, dtype, std::move(shape), formats::Bytes(data, bytes)};
}

StepReport reportOf(const train::StepMetrics &metrics) {
  return {metrics.step,      metrics.loss,    metrics.gradientNorm, metrics.learningRate,
          metrics.lossScale, metrics.skipped, metrics.notFinite};
}

EvaluationReport reportOf(const train::EvaluationMetrics &metrics) {
  return {metrics.loss, metrics.counted, metrics.accuracy, metrics.perplexity};
}

/// The data files of a FitOptions, as samples.
struct Samples {
  train::ArrayFiles files;
  std::unique_ptr<train::Dataset> set;
};

} // namespace

struct __attribute__((visibility("hidden"))) Trainer::Implementation {
  Implementation(const std::string &model, const TrainerOptions &options)
      : artifact(train::loadStep(model, options, kept)),
        trainer(artifact, train::StepDescription::parse(std::string(artifact.attachment("training.json"))),
                options.threads, options.seed),
        modelFolder(std::filesystem::absolute(model).parent_path().string()), options(options) {
    train::setNumbers(trainer, options);
    fields = train::dataFields(trainer.description(), trainer.dataInputs());
  }

  /// Whether each token of a sequence has a class.
  bool takesText() const {
    auto labels = std::ranges::find(fields, trainer.description().labels, &Field::name);
    return trainer.description().classes > 0 && labels != fields.end() && labels->shape.size() == 2;
  }
  train::Batch makeBatch(const Batch &given) const;
  void checkField(const Field &field, const formats::TensorView &view) const;
  Samples openSamples(const std::vector<std::string> &paths, const Batch &arrays, const std::string &window) const;
  using Training = std::function<train::TrainingResult(const train::Dataset *evaluation)>;
  std::optional<EvaluationReport> fit(const FitOptions &options, const Training &training);
  train::TrainingOptions runOptions(const FitOptions &fit);
  std::map<std::string, double> numbers() const;
  /// Required for any access to the state.
  void requireRest() const {
    if (trainer.isUnderWay())
      throw train::Error("a step is under way; within onStep a trainer is only asked for its numbers, unless "
                         "FitOptions::readEachStep is set");
  }
  EvaluationReport tell(const EvaluationReport &report) const {
    if (onEvaluation)
      onEvaluation(report);
    return report;
  }

  cache::Entry kept; ///< the cache entry of the artifact, unless it is a file of the user's
  Artifact artifact;
  train::StepTrainer trainer;
  std::string modelFolder; ///< the base of relative paths of external data
  TrainerOptions options;
  std::vector<Field> fields; ///< the inputs of a batch
  train::Place place;
  std::function<bool(const StepReport &)> onStep;
  std::function<void(const EvaluationReport &)> onEvaluation;
  std::function<void(const std::string &)> onSave;
  std::atomic<bool> stop = false;
};

/// A missing field would silently keep the previous step's values; a label out of range has no defined loss.
void Trainer::Implementation::checkField(const Field &field, const formats::TensorView &view) const {
  if (view.dtype != field.dtype || view.shape.size() != field.shape.size())
    throw Error(FREESTONE_MISMATCH, fmt::format("the batch's '{}' is {}, but the step takes {}", field.name,
                                                formats::describe(view.dtype, view.shape), train::describeField(field))
                                        .c_str());
  if (!field.range)
    return;
  int64_t width = static_cast<int64_t>(formats::elementBytes(view.dtype));
  const train::IntegerRange &range = *field.range;
  for (int64_t i = 0; i * width < static_cast<int64_t>(view.bytes.size()); ++i) {
    int64_t value = train::readInteger(view.dtype, view.bytes.data() + i * width);
    if ((value < range.lowest || value > range.highest) && value != range.ignored)
      throw Error(FREESTONE_INVALID_ARGUMENT,
                  fmt::format("the batch's '{}', element {}: {} is out of range, which is {}", field.name, i, value,
                              train::describeRange(range))
                      .c_str());
  }
}

train::Batch Trainer::Implementation::makeBatch(const Batch &given) const {
  train::Batch batch;
  batch.place = place.next;
  batch.place.step = place.step; // counted in reports
  for (auto [name, tensor] : given) {
    auto field = std::ranges::find(fields, name, &Field::name);
    if (field == fields.end())
      throw Error(FREESTONE_INVALID_ARGUMENT, fmt::format("the step has no input '{}'", name).c_str());
    checkField(*field, batch.fields.emplace_back(viewOf(name, tensor)));
  }
  for (const Field &field : fields)
    if (std::ranges::count(batch.fields, field.name, &formats::TensorView::name) != 1)
      throw Error(
          FREESTONE_INVALID_ARGUMENT,
          fmt::format("a batch needs the input '{}' once: {}", field.name, train::describeField(field)).c_str());
  return batch;
}

Samples Trainer::Implementation::openSamples(const std::vector<std::string> &paths, const Batch &arrays,
                                             const std::string &window) const {
  Samples samples{train::ArrayFiles::open(paths), nullptr};
  for (const auto &[name, tensor] : arrays)
    samples.files.addView(viewOf(name, tensor));
  samples.set = train::openSamples(samples.files, window, trainer.description(), fields);
  samples.set->checkRanges();
  return samples;
}

/// The numbers that may change from step to step.
std::map<std::string, double> Trainer::Implementation::numbers() const {
  std::map<std::string, double> values = trainer.description().hyperparameters;
  for (auto &[name, value] : values)
    value = trainer.number(name);
  return values;
}

train::TrainingOptions Trainer::Implementation::runOptions(const FitOptions &fit) {
  train::TrainingOptions run = train::makeRunOptions(fit, options, trainer);
  run.reached = &place;
  run.stop = &stop;
  if (onStep)
    run.onStep = [this](const train::StepMetrics &metrics) {
      if (!onStep(reportOf(metrics)))
        stop = true;
    };
  run.readEachStep = fit.readEachStep;
  run.onEvaluation = [this](const train::EvaluationMetrics &metrics) { tell(reportOf(metrics)); };
  run.onSave = [this](const std::string &folder) {
    if (onSave)
      onSave(folder);
  };
  return run;
}

Trainer::Trainer(const std::string &model, const TrainerOptions &options)
    : self(translateErrors([&] { return std::make_unique<Implementation>(model, options); })) {}
Trainer::Trainer(Trainer &&) noexcept = default;
Trainer &Trainer::operator=(Trainer &&) noexcept = default;
Trainer::~Trainer() = default;

std::vector<ValueInfo> Trainer::inputs() const { return self->trainer.dataInputs(); }

std::vector<std::string> Trainer::parameters() const {
  std::vector<std::string> names;
  for (const train::ParameterInfo &parameter : self->trainer.description().parameters)
    if (parameter.trained)
      names.push_back(parameter.name);
  return names;
}

double Trainer::number(const std::string &name) const {
  return translateErrors([&] { return self->trainer.number(name); });
}

void Trainer::setNumber(const std::string &name, double value) {
  translateErrors([&] { self->trainer.setNumber(name, value); });
}

StepReport Trainer::step(const Batch &batch) {
  return translateErrors([&] {
    self->requireRest();
    StepReport report = reportOf(self->trainer.step(self->makeBatch(batch)));
    ++self->place.step;
    ++self->place.next.step;
    if (self->onStep)
      self->onStep(report);
    return report;
  });
}

void Trainer::accumulate(const Batch &batch) {
  translateErrors([&] {
    if (!self->trainer.accumulates())
      throw train::Error("the step was compiled without TrainerOptions::accumulate above 1");
    self->requireRest();
    self->trainer.accumulate(self->makeBatch(batch));
    self->trainer.finish(); // afterwards the caller may change the batch
    ++self->place.next.step;
  });
}

EvaluationReport Trainer::evaluate(const Batch &batch) {
  return translateErrors([&] {
    self->requireRest();
    train::Trainer::EvaluationSums sums;
    self->trainer.evaluate(self->makeBatch(batch), sums);
    EvaluationReport report{sums.loss / sums.count, sums.count};
    if (sums.hasClasses)
      report.accuracy = sums.correct / sums.labels;
    if (self->takesText())
      report.perplexity = std::exp(report.loss);
    return self->tell(report);
  });
}

/// A training of some data, with its evaluation data.
std::optional<EvaluationReport> Trainer::Implementation::fit(const FitOptions &options, const Training &training) {
  stop = false;
  Samples evaluation;
  if (!options.evaluationData.empty() || !options.evaluationArrays.empty())
    evaluation = openSamples(options.evaluationData, options.evaluationArrays, options.window);
  // Restores the numbers that the schedule changed, for the next `fit`.
  auto putBack = [&](const std::map<std::string, double> *before) {
    for (const auto &[name, value] : *before)
      trainer.setNumber(name, value);
  };
  const std::map<std::string, double> before = numbers();
  std::unique_ptr<const std::map<std::string, double>, decltype(putBack)> guard(&before, putBack);
  train::TrainingResult result = training(evaluation.set.get());
  if (!result.evaluation)
    return std::nullopt;
  return reportOf(*result.evaluation);
}

std::optional<EvaluationReport> Trainer::fit(const FitOptions &options) {
  return translateErrors([&] {
    self->requireRest();
    train::checkOptions(options);
    Samples data = self->openSamples(options.data, options.arrays, options.window);
    return self->fit(options, [&](const train::Dataset *evaluation) {
      return train::train(self->trainer, *data.set, evaluation, self->runOptions(options));
    });
  });
}

std::optional<EvaluationReport> Trainer::fit(const BatchFunction &batches, const FitOptions &options) {
  return translateErrors([&] {
    self->requireRest();
    train::checkOptions(options);
    if (!options.data.empty() || !options.arrays.empty())
      throw train::Error("batches come from a function or from data, not from both");
    auto next = [&](int64_t epoch) -> std::optional<train::Batch> {
      std::optional<Batch> given = batches.next(epoch);
      if (!given)
        return std::nullopt;
      train::Batch batch = self->makeBatch(*given);
      batch.samples = batch.fields.empty() || batch.fields[0].shape.empty() ? 1 : batch.fields[0].shape[0];
      return batch;
    };
    auto open = [&](train::LoaderPosition start, int held, const train::Recorder &) {
      return std::make_unique<train::BatchStream>(next, batches.perEpoch, options.epochs, held, start);
    };
    return self->fit(options, [&](const train::Dataset *evaluation) {
      return train::train(self->trainer, open, evaluation, self->runOptions(options));
    });
  });
}

void Trainer::save(const std::string &folder) const {
  translateErrors([&] {
    self->requireRest();
    train::TrainingState state;
    state.step = self->place.step;
    state.seed = self->options.seed;
    state.data = self->place.next;
    std::vector<train::TensorGroup> groups = self->trainer.groups();
    std::string written = train::CheckpointFolder(folder).save(state, groups);
    if (self->onSave)
      self->onSave(written);
  });
}

void Trainer::load(const std::string &folder) {
  translateErrors([&] {
    self->requireRest();
    std::optional<train::Checkpoint> newest = train::CheckpointFolder::newest(folder);
    if (!newest)
      throw train::Error(fmt::format("there is no complete checkpoint in '{}'", folder));
    self->trainer.restore(*newest);
    self->place = {newest->state().step, newest->state().data};
  });
}

void Trainer::exportModel(const std::string &path) const {
  translateErrors([&] {
    self->requireRest();
    std::string_view model = self->artifact.attachment("model.onnx");
    train::exportModel({reinterpret_cast<const uint8_t *>(model.data()), model.size()}, self->trainer.weights(), path,
                       {.modelFolder = self->modelFolder,
                        .separate = self->trainer.description().separate,
                        .transposed = self->trainer.description().transposed});
  });
}

void Trainer::onStep(std::function<bool(const StepReport &)> call) { self->onStep = std::move(call); }
void Trainer::onEvaluation(std::function<void(const EvaluationReport &)> call) { self->onEvaluation = std::move(call); }
void Trainer::onSave(std::function<void(const std::string &)> call) { self->onSave = std::move(call); }

} // namespace freestone
