#ifndef FREESTONE_COMPILER_DEVICE_DEVICEDESCRIPTION_H
#define FREESTONE_COMPILER_DEVICE_DEVICEDESCRIPTION_H

#include "compiler/device/Rates.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace mlir {
class Operation;
} // namespace mlir

namespace freestone {

/// The unit that adds the dot products of words, which hold neighbouring steps of k.
enum class WordUnit {
  none,
  /// On vectors: `vdpbf16ps`, `vpdpbusd`.
  vectors,
  /// On the tiles of AMX: `tdpbf16ps`, `tdpbusd`.
  tiles,
};

/// A level of the memory hierarchy between registers and main memory.
struct MemoryLevel {
  int64_t bytes;
  /// Bytes of one transfer.
  unsigned lineBytes = 64;
  /// Number of units that share it.
  unsigned sharedBy = 1;

  bool operator==(const MemoryLevel &) const = default;
};

/// The compiler's whole knowledge of the hardware. Immutable once made; all of it is part of a compilation's cache key.
struct DeviceDescription {
  /// The target of LLVM's code generator.
  std::string triple, cpu, features;
  /// Instruction sets that any code may use, by LLVM's names, sorted; a machine that lacks one refuses the artifact.
  /// `tileInstructions` are used only by code for tiles.
  std::vector<std::string> instructions, tileInstructions;
  /// Units that compute in parallel: cores.
  unsigned units = 1;
  /// Nearest first; at least one.
  std::vector<MemoryLevel> memoryLevels = {{32 << 10}, {512 << 10}, {16 << 20}};
  /// Bytes of a vector register, and the number of registers.
  unsigned vectorBytes = 32;
  unsigned vectorRegisters = 16;
  /// Whether an instruction rounds vectors of f32 to bf16 (denormals to zero).
  bool roundsToBF16 = false;
  /// Whether an instruction takes each byte of a vector from any place of two others (`vpermi2b`).
  bool permutesBytes = false;
  /// For pairs of bf16, summed in f32, and quads of 8-bit integers, summed in i32; `none` where micro-kernels are
  /// faster.
  WordUnit pairUnit = WordUnit::none, quadUnit = WordUnit::none;
  /// What was measured; the functions below estimate the rest.
  Rates rates;

  bool operator==(const DeviceDescription &) const = default;

  /// Bytes of the first, second and third memory level; of the last level where there are fewer.
  int64_t getL1Bytes() const { return getLevelBytes(0); }
  int64_t getL2Bytes() const { return getLevelBytes(1); }
  int64_t getL3Bytes() const { return getLevelBytes(2); }
  /// Elements of this width in a vector register.
  unsigned getLanes(unsigned bits) const { return std::max(1u, vectorBytes * 8 / bits); }
  /// Columns of a packed panel of the vector operand of a contraction: two registers.
  unsigned getPanelWidth(unsigned bits) const { return 2 * getLanes(bits); }
  /// Rows of the largest block that a micro-kernel accumulates: two registers a row, and four left for operands.
  unsigned getPanelRows() const { return (vectorRegisters - 4) / 2; }

  // Rates: those that were measured, else estimates from vectors, lines and units at 3 GHz. A nearer level is never
  // slower than a farther one.

  /// Bytes a second that one unit reads from a memory level, 0 being the nearest; from main memory where there are
  /// fewer levels.
  double getBandwidth(size_t level) const;
  /// Bytes a second that one unit reads from main memory, writes to it, and copies within it (a byte that is read and
  /// written counts once).
  double getMemoryBandwidth() const;
  double getMemoryWriteBandwidth() const;
  double getMemoryCopyBandwidth() const;
  /// Bytes a second that all units together read from main memory.
  double getSharedMemoryBandwidth() const;
  /// Multiply-adds a second of one unit, by vectors of floats of this width; narrower ones than 32 are computed in 32.
  double getMultiplyAdds(unsigned bits) const;
  /// Multiply-adds a second of one unit, by dot products of pairs of bf16 on `pairUnit`, and of quads of 8-bit integers
  /// on `quadUnit`; 0 where that is `none`.
  double getPairMultiplyAdds() const;
  /// Whether vectors have dot products of pairs of bf16, be they `pairUnit` or not: what rounds to bf16 has them.
  bool hasPairsOnVectors() const {
    return pairUnit == WordUnit::vectors || (pairUnit == WordUnit::tiles && roundsToBF16);
  }
  double getQuadMultiplyAdds() const;
  /// Cycles a second while one unit computes: by estimate those in which two multiply-adds of whole vectors begin.
  double getCycles() const;
  /// The part of the time of reads from the second level, at least a hundredth, that computing with what is read does
  /// not hide.
  double getExposedReads() const;
  /// Seconds by which a piece of a row from beyond the second level takes longer than its bytes: by estimate ten
  /// cycles.
  double getPieceSeconds() const;
  /// Seconds from one unit's writing to another's seeing it: the least cost of a phase that waits.
  double getHandOffSeconds() const;

  /// The device that a text describes: the JSON of a description, or the name of a target on the architecture of this
  /// compiler. That is `host`, or on x86 `x86-64-v3` and `x86-64-v4`, followed by comma-separated instruction sets to
  /// add or remove: `+amx-bf16`, `-amx-bf16`, `+amx-int8`, `-amx-int8`, `+avx512bf16`, `-avx512bf16`, `+avx512vnni`,
  /// `-avx512vnni`. `host` follows FREESTONE_HOST (see runtime/machine), and has `rates`, the JSON of Rates, where that
  /// is not empty. Fails for other texts, and for a host without AVX2 and FMA.
  static llvm::Expected<DeviceDescription> get(llvm::StringRef target, llvm::StringRef rates = "");
  /// The same for a pass, which fails where this does: the error is at the operation.
  static mlir::FailureOr<DeviceDescription> getFor(mlir::Operation *op, llvm::StringRef target);

  /// Conversions to and from a one-line JSON object. Parsing fails, naming the place, where the text is no such object
  /// or describes an impossible device.
  std::string toJson() const;
  static llvm::Expected<DeviceDescription> fromJson(llvm::StringRef text);

private:
  int64_t getLevelBytes(size_t level) const { return memoryLevels[std::min(level, memoryLevels.size() - 1)].bytes; }
};

} // namespace freestone

#endif // FREESTONE_COMPILER_DEVICE_DEVICEDESCRIPTION_H
