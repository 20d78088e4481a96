#include "tools/freestone/CompileProgress.h"

#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace freestone::tools {

CompileProgress::CompileProgress() : isTerminal(isatty(STDERR_FILENO)), thread(&CompileProgress::tell, this) {}

CompileProgress::~CompileProgress() {
  {
    std::lock_guard lock(mutex);
    isOver = true;
  }
  ended.notify_one();
  thread.join();
}

void CompileProgress::report(const std::string &newPhase, int64_t newDone, int64_t newTotal) {
  std::lock_guard lock(mutex);
  phase = newPhase;
  done = newDone;
  total = newTotal;
}

/// The thread's main function.
void CompileProgress::tell() {
  const Clock::duration interval = isTerminal ? std::chrono::milliseconds(100) : std::chrono::seconds(1);
  std::unique_lock lock(mutex);
  Clock::time_point next = begin + std::chrono::seconds(1);
  bool hasLine = false;
  for (; !ended.wait_until(lock, next, [&] { return isOver; }); next = Clock::now() + interval) {
    show();
    hasLine = true;
  }
  if (hasLine && isTerminal)
    fmt::print(stderr, "\r\033[K");
}

void CompileProgress::show() const {
  std::string programs = total > 0 ? fmt::format(", {} of {} programs", done, total) : "";
  std::string doing = phase == "wait" ? "waiting for another process that compiles the same"
                                      : fmt::format("compiling: {}{}", phase, programs);
  std::string line = fmt::format("{}, {:.1f} s", doing, std::chrono::duration<double>(Clock::now() - begin).count());
  if (isTerminal)
    fmt::print(stderr, "\r\033[K{}", line);
  else
    fmt::print(stderr, "freestone: {}\n", line);
  std::fflush(stderr);
}

} // namespace freestone::tools
