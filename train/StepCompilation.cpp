#include "train/StepCompilation.h"

#include "train/CompilerLibrary.h"
#include "train/Error.h"
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace freestone::train {

using Json = nlohmann::json;

namespace {

/// The name of a new, empty file, which is removed with this object.
class TemporaryFile {
public:
  TemporaryFile() {
    std::error_code error;
    std::filesystem::path base = std::filesystem::temp_directory_path(error);
    name = (error ? "/tmp" : base) / "freestone-step.XXXXXX";
    int file = mkstemp(name.data());
    if (file < 0)
      throw Error("can't write a temporary file such as " + name + "; set TMPDIR to a folder that can be written");
    close(file);
  }
  ~TemporaryFile() { unlink(name.c_str()); }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  const char *path() const { return name.c_str(); }

private:
  std::string name;
};

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
  // These two are inputs of the compiled step alone.
  for (const auto &[name, value] : options.numbers)
    if (name != "learning_rate" && name != "clip_norm")
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

} // namespace

Artifact loadStep(const std::string &model, const TrainerOptions &options) {
  if (std::filesystem::path(model).extension() == ".stone")
    return Artifact::load(model);
  TemporaryFile compiled;
  std::string training = describeStep(options);
  freestone_compile_options compile = {};
  compile.struct_size = sizeof(compile);
  compile.model_path = model.c_str();
  compile.output_path = compiled.path();
  compile.target = options.target.c_str();
  compile.optimization_level = 2;
  compile.training = training.c_str();
  const freestone_compiler_interface &compiler = openCompiler();
  freestone_compiler_result result = compiler.compile(&compile);
  bool isUnsupported = result.status == FREESTONE_COMPILER_UNSUPPORTED, isDone = result.status == FREESTONE_COMPILER_OK;
  std::string error = result.error ? result.error : "";
  compiler.free_result(&result);
  if (!isDone)
    throw freestone::Error(isUnsupported ? FREESTONE_UNSUPPORTED : FREESTONE_INVALID_ARGUMENT, error.c_str());
  // The file stays mapped when its name is gone.
  return Artifact::load(compiled.path());
}

} // namespace freestone::train
