#ifndef FREESTONE_TOOLS_FREESTONE_COMPILEPROGRESS_H
#define FREESTONE_TOOLS_FREESTONE_COMPILEPROGRESS_H

#include "compiler/driver/Interface.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace freestone::tools {

/// Shows the progress of a compilation, or of a wait for another process, on stderr if it takes more than a second: a
/// line that is rewritten on a terminal, else one line a second. Lives as long as the compilation or the wait.
class CompileProgress {
public:
  /// `phase` is shown until the first `report`.
  explicit CompileProgress(std::string phase);
  ~CompileProgress();
  CompileProgress(const CompileProgress &) = delete;
  CompileProgress &operator=(const CompileProgress &) = delete;

  /// For `freestone_compile_options::progress`, with a CompileProgress as `user`.
  static void report(void *user, const freestone_compile_progress *progress);

private:
  using Clock = std::chrono::steady_clock;
  void tell();
  void show() const;

  const Clock::time_point begin = Clock::now();
  const bool isTerminal;
  std::mutex mutex; ///< protects all members below
  std::condition_variable ended;
  bool isOver = false;
  std::string phase;
  int64_t done = 0, total = 0; ///< number of programs
  std::thread thread;
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_COMPILEPROGRESS_H
