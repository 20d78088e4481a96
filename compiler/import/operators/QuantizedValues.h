#ifndef FREESTONE_COMPILER_IMPORT_OPERATORS_QUANTIZEDVALUES_H
#define FREESTONE_COMPILER_IMPORT_OPERATORS_QUANTIZEDVALUES_H

#include "compiler/import/Node.h"

namespace freestone::importer {

/// round(x / scale) + zero point, within the range of `type`. Halves round to even. The zero point may be null. Floats
/// are rounded by the cast alone; only those of 4 bits have a zero point.
Tensor quantize(Tensor x, Tensor scale, Tensor zeroPoint, mlir::Type type, bool saturate = true);

/// A tensor of small integers with its scale and zero point, each of one element or of one per index of the last
/// dimension. The zero point may be null.
struct QuantizedValue {
  Tensor integers, scale, zeroPoint;

  /// The numbers that it stands for, in f32.
  Tensor real() const;
};

/// Inputs `index`, `index + 1` and `index + 2` of a node; nothing where one is refused. The zero point may be absent.
std::optional<QuantizedValue> quantizedInput(Node &node, int64_t index);

/// x as integers of `type`, by the scale and the zero point that are inputs `index` and `index + 1`.
Tensor quantizeAs(Node &node, Tensor x, int64_t index, mlir::Type type);

} // namespace freestone::importer

#endif // FREESTONE_COMPILER_IMPORT_OPERATORS_QUANTIZEDVALUES_H
