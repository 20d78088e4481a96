#include "train/compilation/StepCompilation.h"

#include "cache/CompilerIdentity.h"
#include "cache/MachineRates.h"
#include "cache/ModelRequest.h"
#include "train/Error.h"
#include "train/compilation/Acceptance.h"
#include "train/compilation/CompilerLibrary.h"
#include "train/options/OptionRules.h"
#include "train/options/RunOptions.h"
#include "train/options/StepText.h"
#include <filesystem>
#include <memory>
#include <utility>

namespace freestone::train {

namespace {

using OnCompile = decltype(TrainerOptions::onCompile);
using OnWarning = decltype(cache::Settings::say);

/// The cache's settings from the environment, with the options' functions.
cache::Settings cacheSettings(const TrainerOptions &options) {
  std::string malformed;
  cache::Settings settings = cache::Settings::fromEnvironment(malformed);
  if (!malformed.empty())
    throw Error(malformed);
  // At most one warning, from this library or from the compiler.
  if (options.onWarning)
    settings.say = [&options, hasWarned = std::make_shared<bool>(false)](const std::string &sentence) {
      if (!std::exchange(*hasWarned, true))
        options.onWarning(sentence);
    };
  if (options.onCompile)
    settings.onWait = [&options] { options.onCompile("wait", 0, 0); };
  return settings;
}

/// How fast this machine is, if the step is for it. Without the cache, too: it decides the bits of the step.
std::string findRates(const TrainerOptions &options, const cache::Settings &settings) {
  if (!options.target.starts_with("host"))
    return "";
  auto measure = [] {
    const freestone_compiler_interface &compiler = openCompiler();
    freestone_compiler_result result = compiler.measure_machine();
    std::string text = result.text ? result.text : "", error = result.error ? result.error : "";
    compiler.free_result(&result);
    if (text.empty())
      throw Error(error);
    return text;
  };
  return cache::MachineRates::find(settings, measure).text;
}

void compile(const cache::ModelOptions &what, const TrainerOptions &given, const cache::Store &store,
             const std::string &path) {
  const OnCompile &onCompile = given.onCompile;
  const cache::Folder *programs = store.folder();
  const OnWarning &onWarning = store.settings().say;
  std::string folder = programs ? programs->path() : "";
  freestone_compile_options options = {};
  options.struct_size = sizeof(options);
  options.model_path = what.path.c_str();
  options.output_path = path.c_str();
  options.target = what.target.c_str();
  options.rates = what.rates.empty() ? nullptr : what.rates.c_str();
  options.optimization_level = what.level;
  options.training = what.training.c_str();
  options.cache_folder = programs ? folder.c_str() : nullptr;
  options.cache_read_only = programs && !programs->mayWrite();
  // 0 would mean the default.
  options.cache_max_bytes = std::max<uint64_t>(store.settings().maxBytes, 1);
  options.cache_lock_timeout_spent = store.lockTimeoutSpent().count();
  if (onWarning) {
    options.say = [](void *user, int32_t isWarning, const char *sentence) {
      if (isWarning)
        (*static_cast<const OnWarning *>(user))(sentence);
    };
    options.say_user = const_cast<OnWarning *>(&onWarning);
  }
  if (onCompile) {
    options.progress = [](void *user, const freestone_compile_progress *progress) {
      (*static_cast<const OnCompile *>(user))(progress->phase, progress->done, progress->total);
    };
    options.progress_user = const_cast<OnCompile *>(&onCompile);
  }
  const Acceptance acceptance = [&](const ReadModel &model) { checkNumbers(model.step.value(), given); };
  AcceptCall call(acceptance);
  call.addTo(options);
  const freestone_compiler_interface &compiler = openCompiler();
  freestone_compiler_result result = compiler.compile(&options);
  freestone_compiler_status status = result.status;
  std::string error = result.error ? result.error : "";
  compiler.free_result(&result);
  call.rethrow();
  if (status == FREESTONE_COMPILER_OK)
    return;
  // The compiler's message names the file that could not be written.
  if (error.find(path) != std::string::npos)
    throw cache::CannotWrite(error);
  throw freestone::Error(status == FREESTONE_COMPILER_UNSUPPORTED ? FREESTONE_UNSUPPORTED : FREESTONE_INVALID_ARGUMENT,
                         error.c_str());
}

} // namespace

Artifact loadStep(const std::string &model, const TrainerOptions &options, cache::Entry &kept) {
  checkOptions(options);
  if (std::filesystem::path(model).extension() == ".stone")
    return Artifact::load(model);
  cache::Settings settings = cacheSettings(options);
  std::string rates = findRates(options, settings);
  if (options.noCache)
    settings.mode = cache::Mode::Off;
  cache::Store store(std::move(settings));
  cache::ModelOptions what;
  what.path = model;
  what.target = options.target;
  what.rates = std::move(rates);
  what.training = describeStep(options);
  what.graphs = graphFiles(options);
  auto make = [&](const std::string &path) {
    compile(what, options, store, path);
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
