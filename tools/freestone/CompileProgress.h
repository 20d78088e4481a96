#ifndef FREESTONE_TOOLS_FREESTONE_COMPILEPROGRESS_H
#define FREESTONE_TOOLS_FREESTONE_COMPILEPROGRESS_H

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace freestone::tools {

/// Shows the progress of a compilation, or of a wait for another process, on stderr if it takes more than a second: a
/// line that is rewritten on a terminal, else one line a second. Lives as long as the compilation or the wait.
class CompileProgress {
public:
  CompileProgress();
  ~CompileProgress();
  CompileProgress(const CompileProgress &) = delete;
  CompileProgress &operator=(const CompileProgress &) = delete;

  /// A phase has begun, or goes on; `total` programs are to be compiled, 0 in other phases.
  void report(const std::string &phase, int64_t done, int64_t total);

private:
  using Clock = std::chrono::steady_clock;
  void tell();
  void show() const;

  const Clock::time_point begin = Clock::now();
  const bool isTerminal;
  std::mutex mutex; ///< protects all members below
  std::condition_variable ended;
  bool isOver = false;
  std::string phase = "begins";
  int64_t done = 0, total = 0; ///< number of programs
  std::thread thread;
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_COMPILEPROGRESS_H
