// Runs tasks in separate processes, so that a crash affects only its own task.
#ifndef FREESTONE_TOOLS_FREESTONE_PROCESSPOOL_H
#define FREESTONE_TOOLS_FREESTONE_PROCESSPOOL_H

#include <functional>
#include <string>

namespace freestone::tools {

/// The end of a task.
struct TaskResult {
  std::string message; ///< returned by the task; empty after a failure
  int signal = 0;      ///< the signal that killed it, else 0
  int exitCode = 0;
  bool timedOut = false;
  std::string lastWords; ///< the last line that it wrote to stdout or stderr
  double seconds = 0;
};

/// Runs task(0) … task(count - 1) in forked children, `jobs` at a time, each killed after `timeout` seconds, and calls
/// `done` in the parent in the order of the indices. Captures stdout and stderr of the tasks. The calling process must
/// have no other threads. Throws Failure when a process can't be started.
void runInProcesses(int count, int jobs, double timeout, const std::function<std::string(int)> &task,
                    const std::function<void(int, const TaskResult &)> &done);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_PROCESSPOOL_H
