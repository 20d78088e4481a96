// Runs tasks in processes of their own, so that the crash of one is only its own.
#ifndef FREESTONE_TOOLS_FREESTONE_PROCESSPOOL_H
#define FREESTONE_TOOLS_FREESTONE_PROCESSPOOL_H

#include <functional>
#include <string>

namespace freestone::tools {

/// How a task ended.
struct TaskResult {
  std::string message; ///< what the task returned; empty unless it ended well
  int signal = 0;      ///< that killed it, else 0
  int exitCode = 0;
  bool timedOut = false;
  std::string lastWords; ///< the last line that it wrote to stdout or stderr
  double seconds = 0;
};

/// Runs task(0) … task(count - 1) in forked children, `jobs` at a time, each killed after `timeout` seconds, and calls
/// `done` in the parent in the order of the indices. What tasks write to stdout and stderr is swallowed. The calling
/// process must have no other threads. Throws Failure when a process can't be started.
void runInProcesses(int count, int jobs, double timeout, const std::function<std::string(int)> &task,
                    const std::function<void(int, const TaskResult &)> &done);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_FREESTONE_PROCESSPOOL_H
