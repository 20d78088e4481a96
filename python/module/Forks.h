#ifndef FREESTONE_PYTHON_MODULE_FORKS_H
#define FREESTONE_PYTHON_MODULE_FORKS_H

namespace freestone::python {

/// How many forks lie between the start of the first process and this one. What was made at another count has its
/// threads in another process: it must be neither used nor destroyed, only forgotten.
unsigned countForks();

} // namespace freestone::python

#endif // FREESTONE_PYTHON_MODULE_FORKS_H
