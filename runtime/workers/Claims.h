#ifndef FREESTONE_RUNTIME_WORKERS_CLAIMS_H
#define FREESTONE_RUNTIME_WORKERS_CLAIMS_H

#include "runtime/artifact/Descriptor.h"
#include "runtime/artifact/abi.h"
#include <atomic>
#include <vector>

namespace freestone::runtime {

/// The tiles of claimed phases that no worker has begun yet. Of its share, as it was dealt, a worker takes the first
/// half of what is left, again and again; others take the last half when they are done with their own, of the share
/// with most left. Parts get no smaller than an eighth of a share, since programs pack anew what their tiles have in
/// common. A share's counter has the progress number of one execution of the phase, so that nothing is reset between
/// runs or iterations: whoever takes the first part begins it anew.
class Claims {
public:
  /// Of the claimed spaces of an entry; nobody claims with one worker.
  Claims(const Entry &entry, int workers);

  /// Whether nothing is ever claimed.
  bool isEmpty() const { return shares.empty(); }
  /// Between runs: progress numbers may occur again.
  void forget();
  /// Parts of shares that were taken from others.
  uint64_t steals() const;

  /// `claim` of the context, whose `claims` this is.
  static int32_t claim(freestone_run_context *context, int64_t worker, int64_t deal, int64_t number, int64_t *range);

private:
  /// Two cache lines, since hardware prefetches them in pairs. From the lowest bits: the units taken from the front,
  /// those from the back, and the progress number.
  struct alignas(128) Share {
    std::atomic<uint64_t> taken = 0;
  };
  struct alignas(128) Line {
    std::atomic<uint64_t> steals = 0; ///< written by its worker
  };
  /// A share's tiles [first, first + tiles), in units of `size` tiles, the last one smaller.
  struct Units {
    int64_t first, tiles, size;
    int64_t count() const { return (tiles + size - 1) / size; }
  };

  static Units unitsOf(const freestone_run_context &context, int64_t deal, int64_t owner);
  Share &shareOf(int64_t deal, int64_t owner) { return shares[rows[deal] * workers + owner]; }
  int64_t unitsLeft(const freestone_run_context &context, int64_t deal, int64_t owner, uint64_t execution);
  bool take(const freestone_run_context &context, int64_t worker, int64_t owner, int64_t deal, uint64_t execution,
            int64_t *range);

  int64_t workers;
  std::vector<int64_t> rows; ///< by deals; -1: not claimed
  std::vector<Share> shares; ///< [row * W + worker]
  std::vector<Line> lines;   ///< by workers
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_WORKERS_CLAIMS_H
