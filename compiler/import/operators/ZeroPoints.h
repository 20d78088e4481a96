#ifndef FREESTONE_COMPILER_IMPORT_OPERATORS_ZEROPOINTS_H
#define FREESTONE_COMPILER_IMPORT_OPERATORS_ZEROPOINTS_H

#include "compiler/import/Node.h"

namespace freestone::importer {

/// matmul(a - zeroA, b - zeroB) in i32, of 8-bit integers. Zero points are null, a single one, or one per row of a and
/// per column of b: a vector, or with a dimension for each of the operand's. The product is that of the operands as
/// they are; the zero points' share in it is subtracted, modulo 2^32.
Tensor multiplyCentered(Node &node, Tensor a, Tensor zeroA, Tensor b, Tensor zeroB);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORS_ZEROPOINTS_H
