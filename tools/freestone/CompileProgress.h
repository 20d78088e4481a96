#ifndef FREESTONE_TOOLS_FREESTONE_COMPILEPROGRESS_H
#define FREESTONE_TOOLS_FREESTONE_COMPILEPROGRESS_H

#include "compiler/driver/Interface.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace freestone::tools {

/// Tells on stderr what a compilation is doing, or that another process is waited for, once that has taken a second: a
/// line that is rewritten on a terminal, else a line each second, however long one program takes. Lives as long as the
/// compilation or the wait.
class CompileProgress {
public:
  /// `phase` is what is going on until `report` says otherwise.
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
  std::mutex mutex; ///< of all below
  std::condition_variable ended;
  bool isOver = false;
  std::string phase;
  int64_t done = 0, total = 0; ///< programs
  std::thread thread;
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_COMPILEPROGRESS_H
