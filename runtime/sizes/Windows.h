#ifndef FREESTONE_RUNTIME_SIZES_WINDOWS_H
#define FREESTONE_RUNTIME_SIZES_WINDOWS_H

#include "runtime/artifact/Descriptor.h"
#include "runtime/sizes/Dealer.h"
#include <cstdint>
#include <span>
#include <vector>

namespace freestone::runtime {

/// What tiles touch of a buffer: tile t nothing outside of block b = t / `tiles`, the elements [b * elements, (b + 1) *
/// elements). The defaults are those of a single tile, which may touch any elements.
struct TileBlocks {
  int64_t elements = INT64_MAX, tiles = 1;
};

/// Workers [begin, end); none if both are equal.
struct WorkerRange {
  int32_t begin = 0, end = 0;

  bool contains(int64_t worker) const { return begin <= worker && worker < end; }
};

/// Adds the workers of `firsts` (worker w has tiles [firsts[w], firsts[w + 1])) that touch elements which the tiles
/// [first, last) of another space touch, and those between them.
void addMeeting(WorkerRange &range, int64_t first, int64_t last, TileBlocks blocks, std::span<const int64_t> firsts,
                TileBlocks ofFirsts);

/// A phase that waits for windows of earlier ones, the latest of which is `awaited`: of those of its own iteration.
struct NarrowWait {
  int64_t phase, awaited;
};

/// The memory of a buffer, and the phases of its life: see `Buffer`. `last` is the last one that touches it.
struct PlacedBuffer {
  int64_t first, freed, released, last;
  int64_t begin, end;
};

/// Chooses the waits, in the order of their phases, that must be for all workers, so that memory is free when it is
/// taken: of two buffers that share bytes, everybody must be done with the one before the other is touched. As few as
/// that takes, and the same ones for equal buffers.
class WideWaits {
public:
  /// By waits; valid until the next call. Sorts the buffers.
  const std::vector<char> &choose(std::span<const NarrowWait> waits, std::span<PlacedBuffer> buffers);

private:
  struct Demand {
    int64_t last, first;
  };
  std::vector<Demand> demands;
  std::vector<char> areWide;
};

/// For whom each worker waits at the windows of an entry, at bound sizes.
class WindowPlanner {
public:
  WindowPlanner(const Entry &entry, size_t workers);

  /// The number of windows of all phases, in their order.
  size_t count() const { return windows; }
  /// `offsets` are those of the buffers. Writes `ranges` [window * W + worker], and as many for runs in which workers
  /// claim tiles, where it can't be told whose tiles touch which elements.
  void plan(std::span<const int64_t> sizes, const Deals &deals, std::span<const int64_t> offsets,
            std::vector<WorkerRange> &ranges, std::vector<WorkerRange> &whereClaimed);

private:
  void placeBuffers(std::span<const int64_t> sizes, std::span<const int64_t> offsets);

  const Entry &entry;
  size_t workers, windows = 0;
  std::vector<NarrowWait> waits;
  std::vector<int64_t> lastTouches; ///< by buffers
  std::vector<PlacedBuffer> placed;
  WideWaits wide;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_SIZES_WINDOWS_H
