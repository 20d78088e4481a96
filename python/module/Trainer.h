#ifndef FREESTONE_PYTHON_MODULE_TRAINER_H
#define FREESTONE_PYTHON_MODULE_TRAINER_H

#include <nanobind/nanobind.h>

namespace freestone::python {

/// Adds the trainer, its options and its reports to the module.
void addTrainer(nanobind::module_ &module);

} // namespace freestone::python

#endif // FREESTONE_PYTHON_MODULE_TRAINER_H
