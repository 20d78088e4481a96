#include "python/module/Errors.h"

#include "freestone/freestone.h"
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void freestone::python::registerErrors() {
  nb::register_exception_translator([](const std::exception_ptr &thrown, void *) {
    try {
      std::rethrow_exception(thrown);
    } catch (const freestone::Error &error) {
      nb::object of = nb::module_::import_("freestone.errors").attr("of_status");
      PyErr_SetObject(of(static_cast<int>(error.status())).ptr(), nb::str(error.what()).ptr());
    }
  });
}
