#include "python/module/Compilation.h"

#include "freestone/compiler.h"
#include "python/module/TensorArgument.h"
#include <deque>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace freestone;

namespace {

/// The Python side's settings, which own what the C struct points to. Callbacks take the GIL, and an exception of
/// theirs is kept until the compilation has ended.
struct Settings {
  std::string target = "host", disable;
  std::vector<std::tuple<std::string, int64_t, std::optional<int64_t>, int64_t>> ranges;
  bool stripWeights = false, tune = false, noCache = false;
  int jobs = 0;
  nb::object progress, warn; ///< callables, or None

  freestone_compiler_settings get() {
    freestone_compiler_settings settings = compilerSettings();
    settings.target = target.c_str();
    settings.disable = disable.c_str();
    bounds.clear();
    for (const auto &[symbol, lower, upper, multipleOf] : ranges)
      bounds.push_back({symbol.c_str(), lower, upper.value_or(INT64_MAX), multipleOf});
    settings.ranges = bounds.data();
    settings.range_count = bounds.size();
    settings.strip_weights = stripWeights;
    settings.tune = tune;
    settings.no_cache = noCache;
    settings.jobs = jobs;
    settings.user = this;
    if (progress && !progress.is_none())
      settings.progress = [](void *user, const char *phase, int64_t done, int64_t total) {
        auto &self = *static_cast<Settings *>(user);
        self.call(self.progress, phase, done, total);
      };
    if (warn && !warn.is_none())
      settings.warn = [](void *user, const char *sentence) {
        auto &self = *static_cast<Settings *>(user);
        self.call(self.warn, sentence);
      };
    return settings;
  }

  /// Calls `body` without the GIL; then raises what a callback raised.
  template <typename Body> auto during(Body body) {
    auto result = [&] {
      nb::gil_scoped_release released;
      return body();
    }();
    if (thrown)
      std::rethrow_exception(std::exchange(thrown, nullptr));
    return result;
  }

private:
  template <typename... Values> void call(const nb::object &function, Values... values) {
    nb::gil_scoped_acquire acquired;
    try {
      function(values...);
    } catch (...) {
      thrown = std::current_exception();
    }
  }

  std::vector<freestone_size_range> bounds;
  std::exception_ptr thrown;
};

/// A path, or bytes that live as long as `model`.
ModelSource sourceOf(nb::handle model, const std::string &name) {
  if (nb::isinstance<nb::bytes>(model)) {
    nb::bytes bytes = nb::borrow<nb::bytes>(model);
    return {bytes.c_str(), bytes.size(), name};
  }
  return nb::cast<std::string>(model);
}

std::pair<Artifact, std::string> compileModel(nb::object model, const std::string &name, Settings &settings) {
  ModelSource source = sourceOf(model, name);
  return settings.during([&] {
    std::string statistics;
    Artifact artifact = compile(source, settings.get(), &statistics);
    return std::pair(std::move(artifact), std::move(statistics));
  });
}

Artifact load(nb::object source) {
  if (nb::isinstance<nb::bytes>(source)) {
    nb::bytes bytes = nb::borrow<nb::bytes>(source);
    nb::gil_scoped_release released;
    return Artifact::loadMemory(bytes.c_str(), bytes.size());
  }
  auto path = nb::cast<std::string>(source);
  nb::gil_scoped_release released;
  return Artifact::load(path);
}

/// Supplies the weights that an artifact was compiled without; `weights` may have others, too.
void supplyWeights(Artifact &artifact, nb::dict weights, int threads) {
  std::deque<python::TensorArgument> held;
  for (size_t i = 0; i < freestone_artifact_missing_weight_count(artifact.get()); ++i) {
    freestone_value_info info = {};
    info.struct_size = sizeof(info);
    check(freestone_artifact_missing_weight(artifact.get(), i, &info));
    if (!weights.contains(info.name))
      continue;
    held.emplace_back(weights[info.name], info.name, info.dtype, python::TensorArgument::Access::Read);
    check(freestone_artifact_supply_weight(artifact.get(), info.name, held.back().get()));
  }
  nb::gil_scoped_release released;
  check(freestone_artifact_finish_weights(artifact.get(), threads));
}

} // namespace

void python::addCompilation(nb::module_ &module) {
  nb::class_<Settings>(module, "Settings", "Settings of a compilation; see freestone.compile.")
      .def(nb::init<>())
      .def_rw("target", &Settings::target)
      .def_rw("disable", &Settings::disable)
      .def_rw("ranges", &Settings::ranges)
      .def_rw("strip_weights", &Settings::stripWeights)
      .def_rw("tune", &Settings::tune)
      .def_rw("no_cache", &Settings::noCache)
      .def_rw("jobs", &Settings::jobs)
      .def_rw("progress", &Settings::progress, nb::arg().none())
      .def_rw("warn", &Settings::warn, nb::arg().none());
  module.def("compile", compileModel, nb::arg("model"), nb::arg("name"), nb::arg("settings"),
             "The artifact of a model, a path or bytes, and JSON about its compilation.");
  module.def(
      "inspect",
      [](nb::object model, const std::string &name, const std::string &level, Settings &settings) {
        ModelSource source = sourceOf(model, name);
        return settings.during([&] { return inspect(source, level, settings.get()); });
      },
      nb::arg("model"), nb::arg("name"), nb::arg("level"), nb::arg("settings"), "The program at a level.");
  module.def(
      "check",
      [](nb::object model, const std::string &name, Settings &settings) {
        ModelSource source = sourceOf(model, name);
        return settings.during([&] { return describe(source, settings.get()); });
      },
      nb::arg("model"), nb::arg("name"), nb::arg("settings"), "What a model is, as JSON.");
  module.def("load", load, nb::arg("source"), "Loads an artifact, a path or bytes.");
  module.def("supply_weights", supplyWeights, nb::arg("artifact"), nb::arg("weights"), nb::arg("threads"),
             nb::sig("def supply_weights(artifact: Artifact, weights: dict[str, typing.Any], threads: int) -> None"));
}
