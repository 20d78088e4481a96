#include "train/StepCompilation.h"

#include "cache/CompilerIdentity.h"
#include "cache/ModelRequest.h"
#include "train/CompilerLibrary.h"
#include "train/Error.h"
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

namespace freestone::train {

using Json = nlohmann::json;

namespace {

/// The training step as the compiler reads it (compiler/driver/TrainingText.h).
std::string describeStep(const TrainerOptions &options) {
  bool isModelsOwn = options.loss.starts_with("output:");
  Json loss = {{"kind", isModelsOwn ? "output" : options.loss},
               {"output", isModelsOwn ? options.loss.substr(options.loss.find(':') + 1) : options.logits},
               {"ignore_index", options.ignoreIndex},
               {"label_smoothing", options.labelSmoothing},
               {"delta", options.huberDelta}};
  if (!isModelsOwn)
    loss["labels"] = options.labels;
  if (options.classAxis)
    loss["class_axis"] = *options.classAxis;
  Json optimizer = {{"kind", options.optimizer},
                    {"nesterov", options.nesterov},
                    {"amsgrad", options.amsgrad},
                    {"centered", options.centered}};
  // These are inputs of the compiled step alone.
  const std::set<std::string> ofTheRun = {"learning_rate", "clip_norm", "growth_factor", "backoff_factor",
                                          "growth_interval"};
  for (const auto &[name, value] : options.numbers)
    if (!ofTheRun.contains(name))
      optimizer[name] = value;
  Json step;
  step["loss"] = loss;
  step["optimizer"] = optimizer;
  step["precision"] = options.precision;
  step["scale_loss"] = options.precision == "fp16";
  step["train"] = options.train;
  step["freeze"] = options.freeze;
  step["no_decay"] = options.noDecay;
  step["freeze_norm"] = options.freezeNorm;
  step["no_dropout"] = options.noDropout;
  return step.dump();
}

void compile(const cache::ModelOptions &what, const cache::Folder *programs, const std::string &path) {
  std::string folder = programs ? programs->path() : "";
  freestone_compile_options options = {};
  options.struct_size = sizeof(options);
  options.model_path = what.path.c_str();
  options.output_path = path.c_str();
  options.target = what.target.c_str();
  options.optimization_level = what.level;
  options.training = what.training.c_str();
  options.cache_folder = programs ? folder.c_str() : nullptr;
  options.cache_read_only = programs && !programs->mayWrite();
  const freestone_compiler_interface &compiler = openCompiler();
  freestone_compiler_result result = compiler.compile(&options);
  freestone_compiler_status status = result.status;
  std::string error = result.error ? result.error : "";
  compiler.free_result(&result);
  if (status == FREESTONE_COMPILER_OK)
    return;
  // The compiler names the file that it could not write.
  if (error.find(path) != std::string::npos)
    throw cache::CannotWrite(error);
  throw freestone::Error(status == FREESTONE_COMPILER_UNSUPPORTED ? FREESTONE_UNSUPPORTED : FREESTONE_INVALID_ARGUMENT,
                         error.c_str());
}

} // namespace

Artifact loadStep(const std::string &model, const TrainerOptions &options, cache::Entry &kept) {
  if (std::filesystem::path(model).extension() == ".stone")
    return Artifact::load(model);
  std::string malformed;
  cache::Store store(cache::Settings::fromEnvironment(malformed));
  if (!malformed.empty())
    throw Error(malformed);
  cache::ModelOptions what;
  what.path = model;
  what.target = options.target;
  what.training = describeStep(options);
  auto make = [&](const std::string &path) {
    compile(what, store.folder(), path);
    return std::string();
  };
  std::optional<cache::Request> request;
  if (store.folder())
    request = cache::requestModel(store, cache::Kind::Model, what,
                                  cache::CompilerIdentity::find(*store.folder(), [] { openCompiler(); }));
  try {
    kept = request ? store.obtain(*request, make) : cache::Store::makeUnkept(make);
  } catch (const cache::CannotWrite &error) {
    throw Error(error.what());
  }
  return Artifact::load(kept.path(), kept.payloadBytes());
}

} // namespace freestone::train
