#include "compilation/Compilation.h"

#include "cache/CompilerIdentity.h"
#include "cache/MachineRates.h"
#include "compilation/CompilerLibrary.h"
#include "freestone/freestone.h"
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <mutex>
#include <utility>

namespace freestone::compilation {

namespace {

/// The caller's order with what is looked up, and the options of the compiler, which point into it.
class Preparation {
public:
  explicit Preparation(const Order &given) : order(given) {
    std::string malformed;
    cache::Settings settings = cache::Settings::fromEnvironment(malformed);
    if (!malformed.empty())
      throw Error(FREESTONE_INVALID_ARGUMENT, malformed.c_str());
    // At most one warning, from this library or from the compiler.
    if (order.onWarning)
      settings.say = [this, hasWarned = std::make_shared<bool>(false)](const std::string &sentence) {
        if (!std::exchange(*hasWarned, true))
          order.onWarning(sentence);
      };
    if (order.onProgress)
      settings.onWait = [this] { order.onProgress("wait", 0, 0); };
    nameSizes();
    if (order.what.device.empty() && order.what.target.starts_with("host"))
      order.what.rates = cache::MachineRates::find(settings, measureMachine).text;
    if (order.noCache)
      settings.mode = cache::Mode::Off;
    files = std::make_unique<cache::Store>(std::move(settings));
  }
  Preparation(const Preparation &) = delete;

  cache::Store &store() { return *files; }

  /// Nothing where nothing can be kept.
  std::optional<cache::Request> request(cache::Kind kind) {
    return request([&](const std::string &compiler) { return requestModel(*files, kind, order.what, compiler); });
  }
  std::optional<cache::Request> request(const std::string &key) {
    return request([&](const std::string &compiler) { return requestGraph(*files, key, order.what, compiler); });
  }

  /// Valid during the lifetime of this object and of `path`.
  freestone_compile_options options(const std::string &path = "") {
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
    options.say_user = const_cast<cache::Settings *>(&files->settings());
    options.say = [](void *user, int32_t isWarning, const char *sentence) {
      if (const auto &say = static_cast<const cache::Settings *>(user)->say; isWarning && say)
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

private:
  template <typename Make> std::optional<cache::Request> request(Make make) {
    if (!files->folder())
      return std::nullopt;
    std::optional<cache::Request> wanted =
        make(cache::CompilerIdentity::find(*files->folder(), [] { openCompiler(); }));
    if (wanted && order.tune)
      wanted->ingredients.add("tilings", "timed");
    return wanted;
  }

  static std::string measureMachine();

  /// Ranges in the form of the command's `--dim` and `--bind`, so that both find the same entries of the cache.
  void nameSizes() {
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

  Order order;
  std::vector<freestone_dim_bound> bounds;
  std::string folder, disabled;
  std::unique_ptr<cache::Store> files;
};

/// Functions of the compiler other than `compile` take one call at a time.
std::mutex oneAtATime;

/// The text of a result; throws its error.
std::string take(freestone_compiler_result result, const std::string &output = "") {
  std::string text = result.text ? result.text : "", error = result.error ? result.error : "";
  freestone_compiler_status status = result.status;
  openCompiler().free_result(&result);
  if (status == FREESTONE_COMPILER_OK)
    return text;
  // The compiler's message names the file that could not be written.
  if (!output.empty() && error.find(output) != std::string::npos)
    throw cache::CannotWrite(error);
  throw Error(status == FREESTONE_COMPILER_UNSUPPORTED ? FREESTONE_UNSUPPORTED : FREESTONE_INVALID_ARGUMENT,
              error.c_str());
}

std::string Preparation::measureMachine() {
  std::lock_guard lock(oneAtATime);
  return take(openCompiler().measure_machine());
}

} // namespace

/// An entry from the cache, or newly made.
static cache::Entry obtainEntry(cache::Store &store, const std::optional<cache::Request> &request,
                                const cache::Store::Maker &make) {
  try {
    return request ? store.obtain(*request, make) : cache::Store::makeUnkept(make);
  } catch (const cache::CannotWrite &error) {
    throw Error(FREESTONE_IO, error.what());
  }
}

cache::Entry obtain(const Order &order) {
  Preparation preparation(order);
  return obtainEntry(preparation.store(), preparation.request(cache::Kind::Model), [&](const std::string &path) {
    freestone_compile_options options = preparation.options(path);
    return take(openCompiler().compile(&options), path);
  });
}

cache::Entry obtain(const Order &order, const std::string &key, const GraphBuilder &build) {
  Preparation preparation(order);
  return obtainEntry(preparation.store(), preparation.request(key), [&](const std::string &path) {
    const freestone_graph_interface &graphs = *openCompiler().graph;
    freestone_compile_options options = preparation.options();
    freestone_compiler_result refusal = {};
    std::unique_ptr<freestone_graph, void (*)(freestone_graph *)> graph(graphs.create(&options, &refusal),
                                                                        graphs.release);
    if (!graph)
      take(refusal);
    build(graph.get());
    return take(graphs.compile(graph.get(), path.c_str()), path);
  });
}

std::string inspect(const Order &order, const std::string &level) {
  Preparation preparation(order);
  std::optional<cache::Request> request = preparation.request(cache::Kind::Text);
  if (request) {
    request->ingredients.add("shows", level);
    if (std::optional<std::string> text = preparation.store().find(cache::Kind::Text, request->ingredients))
      return *text;
  }
  freestone_compile_options options = preparation.options();
  std::string text;
  {
    std::lock_guard lock(oneAtATime);
    text = take(openCompiler().inspect(&options, level.c_str()));
  }
  if (request && request->stillHolds())
    preparation.store().keep(cache::Kind::Text, request->ingredients, text, "");
  return text;
}

std::string describe(const Order &order) {
  Preparation preparation(order);
  freestone_compile_options options = preparation.options();
  std::lock_guard lock(oneAtATime);
  freestone_compiler_result result = openCompiler().check(&options);
  if (result.status == FREESTONE_COMPILER_UNSUPPORTED && result.text)
    result.status = FREESTONE_COMPILER_OK;
  return take(result);
}

} // namespace freestone::compilation
