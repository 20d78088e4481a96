#ifndef FREESTONE_COMPILER_DEVICE_DEVICEDESCRIPTION_H
#define FREESTONE_COMPILER_DEVICE_DEVICEDESCRIPTION_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace freestone {

/// What sums products of two bf16 at a time, neighbouring steps of k, in f32.
enum class PairUnit {
  none,
  /// `vdpbf16ps`, on vectors.
  vectors,
  /// `tdpbf16ps`, on the tiles of AMX.
  tiles,
};

/// A cache, or another memory between the registers and the main memory.
struct MemoryLevel {
  int64_t bytes;
  /// Bytes that are moved at once.
  unsigned lineBytes = 64;
  /// Units that have it together.
  unsigned sharedBy = 1;
  /// Bytes a second that one unit reads from it; nothing where that is not known.
  std::optional<double> bandwidth = std::nullopt;

  bool operator==(const MemoryLevel &) const = default;
};

/// All that the compiler knows of the hardware. Immutable once made; all but bandwidths are part of a compilation's
/// key.
struct DeviceDescription {
  /// What LLVM's code generator is told.
  std::string triple, cpu, features;
  /// Sets of instructions that any code may use, by LLVM's names, sorted; a machine without one of them refuses the
  /// artifact. Of `pairInstructions` only what the pair unit computes is made of.
  std::vector<std::string> instructions, pairInstructions;
  /// What computes by itself: cores.
  unsigned units = 1;
  /// The nearest first; at least one.
  std::vector<MemoryLevel> memoryLevels = {{32 << 10}, {512 << 10}, {16 << 20}};
  /// Bytes of a vector register, and how many there are.
  unsigned vectorBytes = 32;
  unsigned vectorRegisters = 16;
  /// Whether an instruction rounds vectors of f32 to bf16 (denormal numbers to zero).
  bool roundsToBF16 = false;
  /// Not where it is slower than multiplications of f32.
  PairUnit pairUnit = PairUnit::none;

  bool operator==(const DeviceDescription &) const = default;

  /// Bytes of the first, second and third memory level; of the last one where there are fewer.
  int64_t getL1Bytes() const { return getLevelBytes(0); }
  int64_t getL2Bytes() const { return getLevelBytes(1); }
  int64_t getL3Bytes() const { return getLevelBytes(2); }
  /// How many numbers of this width fill a vector register.
  unsigned getLanes(unsigned bits) const { return std::max(1u, vectorBytes * 8 / bits); }
  /// Columns of a packed panel of the vector operand of a contraction: two registers.
  unsigned getPanelWidth(unsigned bits) const { return 2 * getLanes(bits); }
  /// Rows of the largest block that a micro-kernel accumulates: two registers a row, and four left for operands.
  unsigned getPanelRows() const { return (vectorRegisters - 4) / 2; }

  /// The device of a target's name, for the architecture that this compiler was built for: `host`, or on x86
  /// `x86-64-v3` and `x86-64-v4`, and behind it, after commas, what a device has besides or shall not use: `+amx-bf16`,
  /// `-amx-bf16`, `+avx512bf16`, `-avx512bf16`. `host` follows FREESTONE_HOST (see runtime/machine). Fails for other
  /// names, and for a host without AVX2 and FMA.
  static llvm::Expected<DeviceDescription> get(llvm::StringRef target);

  /// The description as a JSON object of one line, and from it. Fails, naming the place, where the text is no such
  /// object or says what no device can be.
  std::string toJson() const;
  static llvm::Expected<DeviceDescription> fromJson(llvm::StringRef text);

private:
  int64_t getLevelBytes(size_t level) const { return memoryLevels[std::min(level, memoryLevels.size() - 1)].bytes; }
};

} // namespace freestone

#endif // FREESTONE_COMPILER_DEVICE_DEVICEDESCRIPTION_H
