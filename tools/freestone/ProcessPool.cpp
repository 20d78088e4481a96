#include "tools/freestone/ProcessPool.h"
#include "tools/freestone/Model.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace freestone::tools {

namespace {

struct Child {
  int index;
  pid_t process;
  int result; ///< reading end of the pipe for the message
  int output; ///< memory file for printed output
  double began;
  TaskResult state;
};

} // namespace

static Failure systemFailure(const char *what) {
  return Failure(Exit::Failed, fmt::format("can't {}: {}", what, std::strerror(errno)));
}

[[noreturn]] static void runChild(int index, const std::function<std::string(int)> &task, int result, int output) {
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  rlimit noCore = {0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
  std::string message = task(index);
  for (size_t at = 0; at < message.size();) {
    ssize_t written = write(result, message.data() + at, message.size() - at);
    if (written <= 0)
      break;
    at += static_cast<size_t>(written);
  }
  // Skips the destructors of the compiler's libraries.
  _exit(0);
}

static Child start(int index, const std::function<std::string(int)> &task) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw systemFailure("make a pipe");
  int output = memfd_create("output", MFD_CLOEXEC);
  pid_t process = output < 0 ? -1 : fork();
  if (process < 0)
    throw systemFailure("start a process");
  if (process == 0) {
    close(ends[0]);
    runChild(index, task, ends[1], output);
  }
  close(ends[1]);
  return {index, process, ends[0], output, now(), {}};
}

static std::string lastLine(int file) {
  std::string text(4096, '\0');
  off_t size = lseek(file, 0, SEEK_END);
  ssize_t got = pread(file, text.data(), text.size(), std::max<off_t>(0, size - static_cast<off_t>(text.size())));
  text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.pop_back();
  size_t begin = text.rfind('\n');
  return text.substr(begin == std::string::npos ? 0 : begin + 1, 300);
}

static void finish(Child &child) {
  int status = 0;
  while (waitpid(child.process, &status, 0) < 0 && errno == EINTR)
    ;
  if (WIFSIGNALED(status))
    child.state.signal = WTERMSIG(status);
  else
    child.state.exitCode = WEXITSTATUS(status);
  if (child.state.signal || child.state.exitCode || child.state.timedOut)
    child.state.message.clear();
  child.state.lastWords = lastLine(child.output);
  child.state.seconds = now() - child.began;
  close(child.result);
  close(child.output);
}

/// Reads the child's message; true once it has closed its end.
static bool drain(Child &child) {
  char buffer[4096];
  ssize_t got = read(child.result, buffer, sizeof(buffer));
  if (got > 0)
    child.state.message.append(buffer, static_cast<size_t>(got));
  return got == 0 || (got < 0 && errno != EINTR);
}

void runInProcesses(int count, int jobs, double timeout, const std::function<std::string(int)> &task,
                    const std::function<void(int, const TaskResult &)> &done) {
  std::vector<Child> running;
  std::map<int, TaskResult> ready;
  int next = 0, reported = 0;
  while (reported < count) {
    while (next < count && running.size() < static_cast<size_t>(jobs))
      running.push_back(start(next++, task));

    std::vector<pollfd> waits;
    double earliest = timeout;
    for (const Child &child : running) {
      waits.push_back({child.result, POLLIN, 0});
      earliest = std::min(earliest, child.began + timeout - now());
    }
    poll(waits.data(), waits.size(), static_cast<int>(std::max(earliest, 0.0) * 1000) + 1);

    for (size_t i = running.size(); i-- > 0;) {
      Child &child = running[i];
      bool ended = waits[i].revents != 0 && drain(child);
      if (!ended && now() - child.began > timeout) {
        child.state.timedOut = ended = true;
        kill(child.process, SIGKILL);
      }
      if (!ended)
        continue;
      finish(child);
      ready[child.index] = std::move(child.state);
      running.erase(running.begin() + static_cast<ptrdiff_t>(i));
    }
    for (auto it = ready.find(reported); it != ready.end(); it = ready.find(++reported)) {
      done(reported, it->second);
      ready.erase(it);
    }
  }
}

} // namespace freestone::tools
