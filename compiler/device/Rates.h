#ifndef FREESTONE_COMPILER_DEVICE_RATES_H
#define FREESTONE_COMPILER_DEVICE_RATES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace freestone {

/// Rates of a machine that were measured, or given; what is absent is estimated (see DeviceDescription). "One unit" is
/// a unit whose neighbours rest.
struct Rates {
  /// Bytes a second that one unit reads from each memory level, nearest first.
  std::vector<double> levels;
  /// Bytes a second of main memory: read, written and copied by one unit, and read by all units together.
  std::optional<double> memoryRead, memoryWrite, memoryCopy, memoryReadByAll;
  /// Multiply-adds a second of one unit: of f32 by vectors; of pairs of bf16 and of quads of 8-bit integers by the dot
  /// products of vectors and of tiles.
  std::optional<double> multiplyAdds, pairsOnVectors, pairsOnTiles, quadsOnVectors, quadsOnTiles;
  /// Cycles a second of the clock while one unit computes.
  std::optional<double> cycles;
  /// The part of the time of reads from the second level that multiply-adds with what is read do not hide.
  std::optional<double> exposedReads;
  /// Seconds by which a piece of a row, two lines, takes longer from beyond the second level than behind the piece
  /// before it in the row: prefetchers follow rows, and pages are translated.
  std::optional<double> pieceSeconds;
  /// Seconds from one unit's writing to another's seeing it.
  std::optional<double> handOffSeconds;

  bool operator==(const Rates &) const = default;

  /// Conversions to and from a one-line JSON object. Parsing fails, naming the place, where the text is no such object,
  /// or where a nearer level would be slower than a farther one.
  std::string toJson() const;
  static llvm::Expected<Rates> fromJson(llvm::StringRef text);
};

} // namespace freestone

#endif // FREESTONE_COMPILER_DEVICE_RATES_H
