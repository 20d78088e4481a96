// The C ABI of freestone/compiler.h.
#include "freestone/compiler.h"

#include "compilation/Compilation.h"
#include "compilation/interface/TemporaryModel.h"
#include <cstring>
#include <new>

namespace {

using namespace freestone;

/// Reads a caller's struct of any version: missing fields are zero.
template <typename Struct> Struct readStruct(const Struct *given) {
  Struct result = {};
  if (given)
    std::memcpy(&result, given, std::min(given->struct_size, sizeof(Struct)));
  return result;
}

freestone_status report(freestone_status status, const std::string &sentence) {
  freestone_set_last_error(sentence.c_str());
  return status;
}

void require(const void *pointer, const char *name) {
  if (!pointer)
    throw Error(FREESTONE_INVALID_ARGUMENT, (std::string("argument '") + name + "' is null").c_str());
}

char *copy(const std::string &text) {
  char *copied = static_cast<char *>(std::malloc(text.size() + 1));
  if (!copied)
    throw std::bad_alloc();
  std::memcpy(copied, text.c_str(), text.size() + 1);
  return copied;
}

std::vector<std::string> split(const char *list) {
  std::vector<std::string> words;
  for (std::string_view rest = list ? list : ""; !rest.empty();) {
    size_t end = std::min(rest.find(','), rest.size());
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

compilation::Order orderOf(const freestone_compiler_settings &settings) {
  compilation::Order order;
  if (settings.target)
    order.what.target = settings.target;
  order.what.disabled = split(settings.disable);
  order.what.stripWeights = settings.strip_weights != 0;
  if (settings.range_count)
    require(settings.ranges, "ranges");
  for (size_t i = 0; i < settings.range_count; ++i) {
    const freestone_size_range &range = settings.ranges[i];
    require(range.symbol, "symbol");
    order.ranges.push_back({range.symbol, range.lower, range.upper, std::max<int64_t>(range.multiple_of, 1)});
  }
  order.jobs = settings.jobs;
  order.tune = settings.tune != 0;
  order.noCache = settings.no_cache != 0;
  if (settings.progress)
    order.onProgress = [settings](const std::string &phase, int64_t done, int64_t total) {
      settings.progress(settings.user, phase.c_str(), done, total);
    };
  if (settings.warn)
    order.onWarning = [settings](const std::string &sentence) { settings.warn(settings.user, sentence.c_str()); };
  return order;
}

/// Calls `body` with the order of a model; converts exceptions to statuses.
template <typename Body>
freestone_status withOrder(const freestone_model *given, const freestone_compiler_settings *settings,
                           Body body) noexcept {
  try {
    require(given, "model");
    freestone_model model = readStruct(given);
    compilation::Order order = orderOf(readStruct(settings));
    if (!model.bytes) {
      require(model.path, "path");
      order.what.path = model.path;
      body(order);
      return FREESTONE_OK;
    }
    compilation::TemporaryModel file(model.bytes, model.size, model.name ? model.name : "model.onnx");
    order.what.path = file.path();
    try {
      body(order);
    } catch (const Error &error) {
      throw Error(error.status(), file.withoutFolder(error.what()).c_str());
    }
    return FREESTONE_OK;
  } catch (const Error &error) {
    return report(error.status(), error.what());
  } catch (const std::bad_alloc &) {
    return report(FREESTONE_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception &error) {
    return report(FREESTONE_INTERNAL, std::string("internal error: ") + error.what());
  }
}

} // namespace

freestone_status freestone_compile(const freestone_model *model, const freestone_compiler_settings *settings,
                                   freestone_artifact **artifact, char **statistics) {
  return withOrder(model, settings, [&](const compilation::Order &order) {
    require(artifact, "artifact");
    *artifact = nullptr;
    cache::Entry entry = compilation::obtain(order);
    freestone_load_options options = {};
    options.struct_size = sizeof(options);
    options.file_bytes = entry.payloadBytes();
    check(freestone_artifact_load(entry.path().c_str(), &options, artifact));
    if (statistics)
      *statistics = copy(entry.about());
  });
}

freestone_status freestone_inspect(const freestone_model *model, const freestone_compiler_settings *settings,
                                   const char *level, char **text) {
  return withOrder(model, settings, [&](const compilation::Order &order) {
    require(level, "level");
    require(text, "text");
    *text = copy(compilation::inspect(order, level));
  });
}

freestone_status freestone_check(const freestone_model *model, const freestone_compiler_settings *settings,
                                 char **json) {
  return withOrder(model, settings, [&](const compilation::Order &order) {
    require(json, "json");
    *json = copy(compilation::describe(order));
  });
}
