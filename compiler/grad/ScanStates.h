#ifndef FREESTONE_COMPILER_GRAD_SCANSTATES_H
#define FREESTONE_COMPILER_GRAD_SCANSTATES_H

#include "compiler/dialect/graph/GraphDialect.h"

namespace freestone::grad {

/// Whether the scan collects, last, the carried values with which each step begins.
bool keepsStates(graph::ScanOp op);

/// The same scan that does, before `op`, whose results are its first ones.
graph::ScanOp keepStates(graph::ScanOp op);

} // namespace freestone::grad

#endif // FREESTONE_COMPILER_GRAD_SCANSTATES_H
