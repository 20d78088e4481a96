#ifndef FREESTONE_TRAIN_REPORT_RECORDER_H
#define FREESTONE_TRAIN_REPORT_RECORDER_H

#include <chrono>
#include <cstdint>
#include <functional>

namespace freestone::train {

/// Receives an activity of a thread, from `begin` to `end`, for a timeline; called from any thread. Empty: nothing is
/// recorded.
using Recorder = std::function<void(const char *thread, const char *what, int64_t begin, int64_t end, int64_t step)>;

/// Records its own lifetime.
class Recording {
public:
  Recording(const Recorder &recorder, const char *thread, const char *what, int64_t step)
      : recorder(recorder), thread(thread), what(what), step(step), begin(recorder ? now() : 0) {}
  Recording(const Recording &) = delete;
  Recording &operator=(const Recording &) = delete;
  ~Recording() {
    if (recorder)
      recorder(thread, what, begin, now(), step);
  }

  /// Nanoseconds of the steady clock, as in the runtime's timelines.
  static int64_t now() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

private:
  const Recorder &recorder;
  const char *thread, *what;
  int64_t step, begin;
};

} // namespace freestone::train

#endif // FREESTONE_TRAIN_REPORT_RECORDER_H
