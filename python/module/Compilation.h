#ifndef FREESTONE_PYTHON_MODULE_COMPILATION_H
#define FREESTONE_PYTHON_MODULE_COMPILATION_H

#include <nanobind/nanobind.h>

namespace freestone::python {

/// Adds the functions that load, compile, inspect and check models.
void addCompilation(nanobind::module_ &module);

} // namespace freestone::python

#endif // FREESTONE_PYTHON_MODULE_COMPILATION_H
