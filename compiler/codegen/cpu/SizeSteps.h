#ifndef FREESTONE_COMPILER_CODEGEN_CPU_SIZESTEPS_H
#define FREESTONE_COMPILER_CODEGEN_CPU_SIZESTEPS_H

namespace freestone::codegen {

/// The steps from which an artifact computes its sizes: words of 64 bits. A step is its kind, the index of its value,
/// and the number of its parts, which follow. The parts of a sum are terms: a coefficient, the number of its factors,
/// and their indices; those of other kinds are indices. Indices are those of the slots of sizes, then those of values
/// that only later steps need. This header is for freestanding code too.
enum SizeStep : long {
  sum,
  wideSum, ///< in 128 bits
  floorDivision,
  ceilDivision,
  minimum,
  maximum
};

/// A value that only later steps need.
struct StepValue {
  long value;
  long isOverflow;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_SIZESTEPS_H
