#ifndef FREESTONE_COMPILER_CODEGEN_DEVICEDESCRIPTION_H
#define FREESTONE_COMPILER_CODEGEN_DEVICEDESCRIPTION_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <algorithm>
#include <cstdint>
#include <string>

namespace freestone {

/// What sums products of two bf16 at a time, neighbouring steps of k, in f32.
enum class PairUnit {
  none,
  /// `vdpbf16ps`, on vectors.
  vectors,
  /// `tdpbf16ps`, on the tiles of AMX.
  tiles,
};

/// All that the compiler knows of the hardware. Immutable once made; the discrete fields are part of a compilation's
/// key.
struct DeviceDescription {
  /// What LLVM's code generator is told.
  std::string triple, cpu, features;
  /// Bytes of a vector register, and how many there are.
  unsigned vectorBytes = 32;
  unsigned vectorRegisters = 16;
  /// Bytes that one core has to itself (L1, L2), and all cores together (L3).
  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 512 << 10;
  int64_t l3Bytes = 16 << 20;
  /// Whether an instruction rounds vectors of f32 to bf16 (denormal numbers to zero).
  bool roundsToBF16 = false;
  /// Not where it is slower than multiplications of f32.
  PairUnit pairUnit = PairUnit::none;

  /// How many numbers of this width fill a vector register.
  unsigned getLanes(unsigned bits) const { return std::max(1u, vectorBytes * 8 / bits); }
  /// Columns of a packed panel of the vector operand of a contraction: two registers.
  unsigned getPanelWidth(unsigned bits) const { return 2 * getLanes(bits); }
  /// Rows of the largest block that a micro-kernel accumulates: two registers a row, and some left for operands.
  unsigned getPanelRows() const { return vectorRegisters == 32 ? 14 : 6; }

  /// `host`, `x86-64-v3` or `x86-64-v4`, and behind it, after commas, what a device has besides or shall not use:
  /// `+amx-bf16`, `-amx-bf16`, `+avx512bf16`, `-avx512bf16`. Fails for other names, and for a host without AVX2 and
  /// FMA.
  static llvm::Expected<DeviceDescription> get(llvm::StringRef target);
};

} // namespace freestone

#endif // FREESTONE_COMPILER_CODEGEN_DEVICEDESCRIPTION_H
