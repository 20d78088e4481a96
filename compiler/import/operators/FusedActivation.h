#ifndef FREESTONE_COMPILER_IMPORT_OPERATORS_FUSEDACTIVATION_H
#define FREESTONE_COMPILER_IMPORT_OPERATORS_FUSEDACTIVATION_H

#include "compiler/import/Node.h"

namespace freestone::importer {

/// The function that the attribute `activation` of ONNX Runtime's fused operators names, of x; x itself where there is
/// none. Its numbers are `activation_params`, or `activation_alpha` and `activation_beta`.
Tensor activate(Node &node, Tensor x);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORS_FUSEDACTIVATION_H
