#ifndef FREESTONE_RUNTIME_SIZES_FIRSTFIT_H
#define FREESTONE_RUNTIME_SIZES_FIRSTFIT_H

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace freestone::runtime {

/// The live range of a buffer: in use from phase `first` on, and free from phase `freed` on.
struct Lifetime {
  int64_t bytes = 0;
  int64_t alignment = 64; ///< power of two
  int64_t first = 0;
  int64_t freed = 0;

  bool meets(const Lifetime &other) const { return first < other.freed && other.first < freed; }
};

struct Placement {
  std::vector<int64_t> offsets; ///< of each live range
  int64_t bytes = 0;            ///< total size
  int64_t live = 0;             ///< largest sum of live bytes in one phase: a lower bound for any placement
};

/// Places each live range, largest first, at the lowest offset without overlap with one that is live at the same time.
/// Reuses its memory, so that placing as many again allocates nothing.
class FirstFit {
public:
  /// Null if the sum overflows; valid until the next call.
  const Placement *place(std::span<const Lifetime> lifetimes);

private:
  struct Change {
    int64_t phase, bytes;
  };
  int64_t largestLive(std::span<const Lifetime> lifetimes);

  Placement placement;
  std::vector<size_t> order, placed; ///< largest first; by offset
  std::vector<Change> changes;       ///< bytes that become live or dead before a phase
};

/// A single placement.
std::optional<Placement> placeFirstFit(std::span<const Lifetime> lifetimes);

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_SIZES_FIRSTFIT_H
