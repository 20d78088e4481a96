#include "tools/freestone/CompileProgress.h"

#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace freestone::tools {

CompileProgress::CompileProgress() : isTerminal(isatty(STDERR_FILENO)) {}

CompileProgress::~CompileProgress() {
  if (hasLine && isTerminal)
    fmt::print(stderr, "\r\033[K");
}

void CompileProgress::report(void *user, const freestone_compile_progress *progress) {
  static_cast<CompileProgress *>(user)->show(*progress);
}

void CompileProgress::show(const freestone_compile_progress &progress) {
  Clock::time_point now = Clock::now();
  if (now < next)
    return;
  next = now + (isTerminal ? std::chrono::milliseconds(100) : std::chrono::seconds(1));
  std::string programs = progress.total > 0 ? fmt::format(", {} of {} programs", progress.done, progress.total) : "";
  std::string line = fmt::format("compiling: {}{}, {:.1f} s", progress.phase, programs,
                                 std::chrono::duration<double>(now - begin).count());
  if (isTerminal)
    fmt::print(stderr, "\r\033[K{}", line);
  else
    fmt::print(stderr, "freestone: {}\n", line);
  std::fflush(stderr);
  hasLine = true;
}

} // namespace freestone::tools
