#ifndef FREESTONE_COMPILER_GRAD_CARRIEDSUMS_H
#define FREESTONE_COMPILER_GRAD_CARRIEDSUMS_H

#include "compiler/dialect/graph/GraphDialect.h"

namespace freestone::grad {

/// Replaces sums over all steps of what a scan collects by the same sums, where the scan carries them. Returns how
/// many.
int64_t useCarriedSums(mlir::Block &block);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_CARRIEDSUMS_H
