#ifndef FREESTONE_RUNTIME_WORKERS_TRACE_H
#define FREESTONE_RUNTIME_WORKERS_TRACE_H

#include "runtime/timeline/Clock.h"
#include <vector>

namespace freestone::runtime {

/// A worker's activity in the last run, as consecutive spans: computing its tiles of a phase, or waiting for the others
/// to finish one. A span begins where the previous one ended, so that each reads the clock once.
class Trace {
public:
  struct Span {
    bool isWait;
    int64_t phase;                  ///< computed, or waited for
    int64_t begin, end;             ///< nanoseconds of the steady clock
    int64_t firstTile = 0;          ///< computed: first of `tiles` consecutive tiles
    int64_t tiles = 0, ofTiles = 0; ///< their number, and the number of all tiles
  };

  /// Reserves memory for a run of `phases` phases, and for many iterations of loops, so that recording allocates
  /// nothing; excess spans are dropped.
  void reserve(int64_t phases) { spans.reserve(2 * phases + 1 + spansOfLoops); }
  void beginRun() {
    spans.clear();
    last = now();
  }
  void computed(int64_t phase, int64_t begin, int64_t end, int64_t ofTiles) {
    add({false, phase, last, now(), begin, end - begin, ofTiles});
  }
  void waited(int64_t phase) { add({true, phase, last, now()}); }

  const std::vector<Span> &getSpans() const { return spans; }

private:
  static constexpr int64_t spansOfLoops = 1 << 14;

  void add(const Span &span) {
    last = span.end;
    if (spans.size() < spans.capacity())
      spans.push_back(span);
  }

  std::vector<Span> spans;
  int64_t last = 0;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_WORKERS_TRACE_H
