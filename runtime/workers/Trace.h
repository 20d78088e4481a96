#ifndef FREESTONE_RUNTIME_TRACE_H
#define FREESTONE_RUNTIME_TRACE_H

#include "runtime/timeline/Clock.h"
#include <vector>

namespace freestone::runtime {

/// What one worker did in the last run, span after span: it computed its tiles of a phase, or waited for the others to
/// finish one. A span begins where the one before it ended, so that each costs one look at the clock.
class Trace {
public:
  struct Span {
    bool isWait;
    int64_t phase;                  ///< computed, or waited for
    int64_t begin, end;             ///< nanoseconds of the steady clock
    int64_t firstTile = 0;          ///< computed: of `tiles` in a row
    int64_t tiles = 0, ofTiles = 0; ///< and of how many in all
  };

  /// Makes room for a run of `phases` phases, so that recording allocates nothing; what does not fit is left out.
  void reserve(int64_t phases) { spans.reserve(2 * phases + 1); }
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
  void add(const Span &span) {
    last = span.end;
    if (spans.size() < spans.capacity())
      spans.push_back(span);
  }

  std::vector<Span> spans;
  int64_t last = 0;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_TRACE_H
