#ifndef FREESTONE_RUNTIME_TRACE_H
#define FREESTONE_RUNTIME_TRACE_H

#include <chrono>
#include <cstdint>
#include <vector>

namespace freestone::runtime {

/// What one worker did in the last run, span after span: it computed phases, or waited for the others to finish one.
class Trace {
public:
  struct Span {
    bool isWait;
    int64_t firstPhase, lastPhase; ///< computed, or waited for (both the same)
    int64_t begin, end;            ///< nanoseconds of the steady clock
  };

  /// Makes room for a run of `phases` phases, so that recording allocates nothing.
  void reserve(int64_t phases) { spans.reserve(2 * phases + 1); }
  void beginRun() {
    spans.clear();
    nextPhase = 0;
    last = now();
  }
  /// This worker has finished all phases up to `phase`.
  void computed(int64_t phase) {
    add({false, nextPhase, phase, last, now()});
    nextPhase = phase + 1;
  }
  /// This worker has waited since `begin` for the others to finish `phase`.
  void waited(int64_t phase, int64_t begin) { add({true, phase, phase, begin, now()}); }

  const std::vector<Span> &getSpans() const { return spans; }

  static int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

private:
  void add(const Span &span) {
    last = span.end;
    if (spans.size() < spans.capacity())
      spans.push_back(span);
  }

  std::vector<Span> spans;
  int64_t nextPhase = 0;
  int64_t last = 0;
};

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_TRACE_H
