#ifndef FREESTONE_COMPILER_IMPORT_OPERATORS_POOLING_H
#define FREESTONE_COMPILER_IMPORT_OPERATORS_POOLING_H

#include "compiler/import/Node.h"

namespace freestone::importer {

/// Averages over windows of x, by the attributes of the node.
Tensor averagePool(Node &node, Tensor x);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORS_POOLING_H
