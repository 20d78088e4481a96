#ifndef FREESTONE_PYTHON_MODULE_TRAINEROPTIONS_H
#define FREESTONE_PYTHON_MODULE_TRAINEROPTIONS_H

#include <nanobind/nanobind.h>

namespace freestone::python {

/// Adds the options of freestone/trainer.h to the module, field by field.
void addTrainerOptions(nanobind::module_ &module);

} // namespace freestone::python

#endif // FREESTONE_PYTHON_MODULE_TRAINEROPTIONS_H
