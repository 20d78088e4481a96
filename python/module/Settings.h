#ifndef FREESTONE_PYTHON_MODULE_SETTINGS_H
#define FREESTONE_PYTHON_MODULE_SETTINGS_H

#include "freestone/compiler.h"
#include <nanobind/nanobind.h>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace freestone::python {

/// The Python side's settings, which own what the C struct points to. Callbacks take the GIL, and an exception of
/// theirs is kept until the compilation has ended.
struct Settings {
  std::string target = "host", disable;
  std::vector<std::tuple<std::string, int64_t, std::optional<int64_t>, int64_t>> ranges;
  bool stripWeights = false, tune = false, noCache = false;
  int jobs = 0;
  nanobind::object progress, warn; ///< callables, or None

  /// Valid during the lifetime of this object, which must not move.
  freestone_compiler_settings get();

  /// Calls `body` without the GIL; then raises what a callback raised.
  template <typename Body> auto during(Body body) {
    auto result = [&] {
      nanobind::gil_scoped_release released;
      return body();
    }();
    if (thrown)
      std::rethrow_exception(std::exchange(thrown, nullptr));
    return result;
  }

private:
  template <typename... Values> void call(const nanobind::object &function, Values... values) {
    nanobind::gil_scoped_acquire acquired;
    try {
      function(values...);
    } catch (...) {
      thrown = std::current_exception();
    }
  }

  std::vector<freestone_size_range> bounds;
  std::exception_ptr thrown;
};

/// Adds the class to the module.
void addSettings(nanobind::module_ &module);

} // namespace freestone::python

#endif // FREESTONE_PYTHON_MODULE_SETTINGS_H
