#include "compilation/Preparation.h"

#include "cache/CompilerIdentity.h"
#include "cache/MachineRates.h"
#include "compilation/Compilation.h"
#include "compilation/CompilerLibrary.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace freestone::compilation {

std::mutex oneAtATime;

std::string take(freestone_compiler_result result, const std::string &output) {
  std::string text = result.text ? result.text : "", error = result.error ? result.error : "";
  freestone_compiler_status status = result.status;
  openCompiler().free_result(&result);
  if (status == FREESTONE_COMPILER_OK)
    return text;
  // The compiler's message names the file that could not be written.
  if (!output.empty() && error.find(output) != std::string::npos)
    throw cache::CannotWrite(error);
  throw Refusal(status, error);
}

Preparation::Preparation(const Order &given) : order(given) {
  std::string malformed;
  environment = cache::Settings::fromEnvironment(malformed);
  if (!malformed.empty())
    throw Error(FREESTONE_INVALID_ARGUMENT, malformed.c_str());
  // At most one warning, from this library or from the compiler.
  if (order.onWarning)
    environment.say = [this, hasWarned = std::make_shared<bool>(false)](const std::string &sentence) {
      if (!std::exchange(*hasWarned, true))
        order.onWarning(sentence);
    };
  environment.explain = order.onMiss;
  if (order.onProgress)
    environment.onWait = [this] { order.onProgress("wait", 0, 0); };
  nameSizes();
  cache::Settings settings = environment;
  if (order.noCache)
    settings.mode = cache::Mode::Off;
  files = std::make_unique<cache::Store>(std::move(settings));
}

const std::string &Preparation::lookUpRates() {
  bool areKnown = std::exchange(order.hasRates, true);
  if (areKnown || !order.what.device.empty() || !order.what.target.starts_with("host"))
    return order.what.rates;
  cache::MachineRates rates = cache::MachineRates::find(environment, measureMachine);
  order.what.rates = rates.text;
  if (rates.seconds > 0 && order.onMeasured)
    order.onMeasured(rates.seconds);
  return order.what.rates;
}

/// Ranges in the form of the command's `--dim` and `--bind`, so that one key of the cache stands for both.
void Preparation::nameSizes() {
  for (const SizeRange &range : order.ranges) {
    bounds.push_back({range.symbol.c_str(), range.lower, range.upper, range.multipleOf});
    if (range.lower == range.upper) {
      order.what.binds.push_back(fmt::format("{}={}", range.symbol, range.lower));
      continue;
    }
    std::string upper = range.upper == INT64_MAX ? "" : fmt::format("{}", range.upper);
    std::string multiple = range.multipleOf > 1 ? fmt::format(":{}", range.multipleOf) : "";
    order.what.dims.push_back(fmt::format("{}={}:{}{}", range.symbol, range.lower, upper, multiple));
  }
}

template <typename Make> std::optional<cache::Request> Preparation::request(Make make) {
  lookUpRates();
  if (!files->folder())
    return std::nullopt;
  std::optional<cache::Request> wanted = make(cache::CompilerIdentity::find(*files->folder(), [] { openCompiler(); }));
  if (wanted && order.tune)
    wanted->ingredients.add("tilings", "timed");
  return wanted;
}

std::optional<cache::Request> Preparation::request(cache::Kind kind) {
  return request([&](const std::string &compiler) { return requestModel(*files, kind, order.what, compiler); });
}

std::optional<cache::Request> Preparation::request(const std::string &key) {
  return request([&](const std::string &compiler) { return requestGraph(*files, key, order.what, compiler); });
}

freestone_compile_options Preparation::options(const std::string &path) {
  const cache::ModelOptions &what = order.what;
  const cache::Folder *programs = files->folder();
  folder = programs ? programs->path() : "";
  disabled = fmt::format("{}", fmt::join(what.disabled, ","));
  freestone_compile_options options = {};
  options.struct_size = sizeof(options);
  options.model_path = what.path.c_str();
  options.output_path = path.empty() ? nullptr : path.c_str();
  options.target = what.target.c_str();
  options.device = what.device.empty() ? nullptr : what.device.c_str();
  options.rates = what.rates.empty() ? nullptr : what.rates.c_str();
  options.optimization_level = what.level;
  options.strip_weights = what.stripWeights;
  options.threads = order.jobs;
  options.tune = order.tune;
  options.dim_bound_count = bounds.size();
  options.dim_bounds = bounds.data();
  options.training = what.training.empty() ? nullptr : what.training.c_str();
  options.disable = disabled.c_str();
  options.cache_folder = programs ? folder.c_str() : nullptr;
  options.cache_read_only = programs && !programs->mayWrite();
  // 0 would mean the default.
  options.cache_max_bytes = std::max<uint64_t>(files->settings().maxBytes, 1);
  options.cache_lock_timeout_spent = files->lockTimeoutSpent().count();
  options.explain_misses = static_cast<bool>(files->settings().explain);
  options.say_user = const_cast<cache::Settings *>(&files->settings());
  options.say = [](void *user, int32_t isWarning, const char *sentence) {
    const auto &settings = *static_cast<const cache::Settings *>(user);
    if (const auto &say = isWarning ? settings.say : settings.explain)
      say(sentence);
  };
  if (order.onProgress) {
    options.progress_user = &order;
    options.progress = [](void *user, const freestone_compile_progress *progress) {
      static_cast<const Order *>(user)->onProgress(progress->phase, progress->done, progress->total);
    };
  }
  if (order.complete)
    order.complete(options);
  return options;
}

} // namespace freestone::compilation
