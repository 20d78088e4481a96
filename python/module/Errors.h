#ifndef FREESTONE_PYTHON_MODULE_ERRORS_H
#define FREESTONE_PYTHON_MODULE_ERRORS_H

namespace freestone::python {

/// From now on, freestone::Error becomes the exception of freestone/errors.py for its status, with the same sentence.
void registerErrors();

} // namespace freestone::python

#endif // FREESTONE_PYTHON_MODULE_ERRORS_H
