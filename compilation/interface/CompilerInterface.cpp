// The C ABI of freestone/compiler.h.
#include "freestone/compiler.h"

#include "compilation/Compilation.h"
#include "compilation/interface/Answers.h"
#include "compilation/interface/TemporaryModel.h"

namespace {

using namespace freestone;
using namespace freestone::compilation;

/// Calls `body` with the order of a model; converts exceptions to statuses.
template <typename Body>
freestone_status withOrder(const freestone_model *given, const freestone_compiler_settings *settings,
                           Body body) noexcept {
  return answer([&] {
    require(given, "model");
    freestone_model model = readStruct(given);
    compilation::Order order = orderOf(readStruct(settings));
    if (!model.bytes) {
      require(model.path, "path");
      order.what.path = model.path;
      body(order);
      return;
    }
    compilation::TemporaryModel file(model.bytes, model.size, model.name ? model.name : "model.onnx");
    order.what.path = file.path();
    try {
      body(order);
    } catch (const Error &error) {
      throw Error(error.status(), file.withoutFolder(error.what()).c_str());
    }
  });
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
    *json = copy(compilation::describe(order).json);
  });
}
