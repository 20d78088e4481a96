#ifndef FREESTONE_PYTHON_MODULE_WORKERS_H
#define FREESTONE_PYTHON_MODULE_WORKERS_H

#include "freestone/freestone.h"
#include <memory>

namespace freestone::python {

/// Who runs programs.
struct Workers {
  int count = 0; ///< 0: as many as the machine offers
  /// Borrows the threads of the OpenMP library that the process has loaded for all, as PyTorch does: in a gap between
  /// parallel loops they spin, and workers beside them would share CPUs with them. Not in a forked child, where they
  /// are missing.
  bool borrow = false;

  /// An instance of an entry on `state`, which may be null.
  std::unique_ptr<Instance> start(const Artifact &artifact, const char *entry, const State *state) const;
};

} // namespace freestone::python

#endif // FREESTONE_PYTHON_MODULE_WORKERS_H
