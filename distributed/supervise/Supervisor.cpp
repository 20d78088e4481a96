#include "distributed/supervise/Supervisor.h"

#include "distributed/Error.h"
#include "distributed/transport/Transport.h"
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace freestone::distributed {

bool hasLauncher() {
  const char *path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/mpirun").c_str(), X_OK) == 0)
      return true;
  return false;
}

/// Of Open MPI, by variables that other implementations ignore.
static void setEnvironment(bool isRestart) {
  // More ranks than CPUs may run, and their workers choose CPUs themselves.
  setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
  setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 1);
  // Containers have no other user.
  if (geteuid() == 0) {
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  }
  if (isRestart)
    setenv(restartedVariable, "1", 1);
}

static pid_t start(const SupervisedJob &job) {
  std::vector<std::string> words = {"mpirun", "-n", std::to_string(job.ranks)};
  if (!job.hosts.empty())
    words.insert(words.end(), {"--host", job.hosts});
  words.insert(words.end(), job.command.begin(), job.command.end());
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = fork();
  if (child < 0)
    throw Error(fmt::format("can't start mpirun: {}", std::strerror(errno)));
  if (child > 0)
    return child;
  // Ctrl-C is for the supervisor alone, which lets the ranks end their step; without it there is no job.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  execvp(arguments[0], arguments.data());
  fmt::print(stderr, "freestone: can't start mpirun: {}\n", std::strerror(errno));
  _exit(lastingFault);
}

/// Waits for the job; passes a request to stop on to its ranks, as SIGUSR1.
static int await(pid_t child, const SupervisedJob &job) {
  bool isTold = false;
  for (;;) {
    int status = 0;
    pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child)
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (ended < 0 && errno != EINTR)
      throw Error(fmt::format("can't wait for mpirun: {}", std::strerror(errno)));
    if (job.stop && job.stop->load() && !isTold) {
      kill(child, SIGUSR1);
      isTold = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

/// Whether a rank has died, or may do better the next time: Open MPI ends with 128 and the number of the signal, MPICH
/// with the number alone.
static bool isPassing(int code) {
  constexpr std::array deadly = {SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGKILL, SIGSEGV, SIGTERM};
  return code > 128 || code == passingFault || std::ranges::find(deadly, code) != deadly.end();
}

int supervise(const SupervisedJob &job) {
  int64_t before = job.progress();
  for (int failures = 0;;) {
    setEnvironment(/*isRestart=*/failures > 0);
    int code = await(start(job), job);
    if (!isPassing(code))
      return code;
    int64_t now = job.progress();
    failures = now > before ? 1 : failures + 1;
    before = now;
    if (failures > job.mostRestarts || (job.stop && job.stop->load())) {
      fmt::print(stderr, "freestone: a rank has died ({}); given up after {} attempts without progress\n", code,
                 failures);
      return lastingFault;
    }
    fmt::print(stderr, "freestone: a rank has died ({}); starting all ranks again, from {}\n", code,
               now > 0 ? fmt::format("the checkpoint of step {}", now) : "the beginning");
  }
}

} // namespace freestone::distributed
