#include "python/module/Compilation.h"

#include "freestone/compiler.h"
#include "python/module/Settings.h"
#include "python/module/TensorArgument.h"
#include <deque>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace freestone;
using freestone::python::Settings;

namespace {

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
