#ifndef FREESTONE_TOOLS_FREESTONE_COMPILEPROGRESS_H
#define FREESTONE_TOOLS_FREESTONE_COMPILEPROGRESS_H

#include "compiler/driver/Interface.h"
#include <chrono>
#include <string>

namespace freestone::tools {

/// Tells on stderr what a compilation is doing once it has taken a second: a line that is rewritten on a terminal, else
/// a line each second. Lives as long as the compilation.
class CompileProgress {
public:
  CompileProgress();
  ~CompileProgress();
  CompileProgress(const CompileProgress &) = delete;
  CompileProgress &operator=(const CompileProgress &) = delete;

  /// For `freestone_compile_options::progress`, with a CompileProgress as `user`.
  static void report(void *user, const freestone_compile_progress *progress);

private:
  using Clock = std::chrono::steady_clock;
  void show(const freestone_compile_progress &progress);

  const Clock::time_point begin = Clock::now();
  Clock::time_point next = begin + std::chrono::seconds(1);
  bool isTerminal;
  bool hasLine = false;
};

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_COMPILEPROGRESS_H
