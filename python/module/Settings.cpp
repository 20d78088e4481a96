#include "python/module/Settings.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace freestone;
using namespace freestone::python;

freestone_compiler_settings Settings::get() {
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

void python::addSettings(nb::module_ &module) {
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
}
