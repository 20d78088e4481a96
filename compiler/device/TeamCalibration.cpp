#include "compiler/device/TeamCalibration.h"

#include "compiler/device/Loops.h"
#include "compiler/device/Pages.h"
#include "compiler/device/Stretches.h"
#include "runtime/machine/Instructions.h"
#include "runtime/platform/Cpus.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <atomic>
#include <pthread.h>
#include <sched.h>

using namespace freestone;

namespace {

using Clock = std::chrono::steady_clock;

/// CPUs that this process gets at the same time.
unsigned countCpus() {
  unsigned cpus = runtime::platform::affinityCpus();
  if (std::optional<int> quota = runtime::platform::quotaCpus())
    cpus = std::min(cpus, static_cast<unsigned>(std::max(1, *quota)));
  return cpus;
}

/// Spins, and lets others run where that takes long: a member may wait for a CPU.
template <typename Ready> void await(Ready isReady) {
  for (int spins = 0; !isReady(); ++spins)
    if (spins < 1000)
      runtime::pauseInstruction();
    else
      sched_yield();
}

/// Threads that run the same body at the same time; the caller is the first of them.
class Team {
public:
  using Body = llvm::function_ref<void(Team &team, unsigned member)>;

  /// Runs the body on as many threads as the system allows, at most `count`, and returns when all have ended.
  static void run(unsigned count, Body body) {
    Team team(count, body);
    llvm::SmallVector<Start> starts(count, {&team, 0});
    llvm::SmallVector<pthread_t> threads(count);
    unsigned started = 1;
    for (; started < count; ++started) {
      starts[started].member = started;
      if (pthread_create(&threads[started], nullptr, runMember, &starts[started]) != 0)
        break;
    }
    team.members.store(started, std::memory_order_release);
    body(team, 0);
    for (unsigned i = 1; i < started; ++i)
      pthread_join(threads[i], nullptr);
  }

  unsigned size() const { return members.load(std::memory_order_acquire); }

  /// Returns in each member once all have come here for the same time.
  void meet() {
    unsigned turn = arrived.fetch_add(1, std::memory_order_acq_rel) / size();
    await([&] { return arrived.load(std::memory_order_acquire) / size() > turn; });
  }

  /// As `meet`, with each member on a CPU of its own where others leave them one.
  void spread(unsigned member) {
    int cpu = runtime::platform::currentCpu();
    cpus[member] = cpu;
    meet();
    if (llvm::is_contained(llvm::ArrayRef(cpus).take_front(member), cpu))
      runtime::platform::leaveCpu(cpu);
    meet();
  }

private:
  struct Start {
    Team *team;
    unsigned member;
  };
  Team(unsigned count, Body body) : body(body), cpus(count) {}

  static void *runMember(void *argument) {
    auto &start = *static_cast<Start *>(argument);
    await([&] { return start.team->size() > 0; });
    start.team->body(*start.team, start.member);
    return nullptr;
  }

  Body body;
  llvm::SmallVector<int> cpus;
  std::atomic<unsigned> members = 0;
  std::atomic<unsigned> arrived = 0;
};

} // namespace

std::optional<double> freestone::measureSharedRead(const DeviceDescription &device, std::chrono::milliseconds time) {
  unsigned cpus = countCpus();
  if (cpus < 2)
    return std::nullopt;
  constexpr size_t mostBytes = 256 << 20;
  size_t bytes = llvm::alignTo<pageBytes>(std::min<size_t>(8 << 20, mostBytes / cpus));
  llvm::SmallVector<Clock::time_point> begins(cpus), ends(cpus);
  std::atomic<bool> goesOn = true;
  Stretches stretches;
  Clock::time_point end = Clock::now() + time;
  Team::run(cpus, [&](Team &team, unsigned member) {
    Pages pages = allocatePages(bytes);
    if (!pages)
      goesOn = false;
    team.meet();
    while (goesOn) {
      loops::evict(pages.get(), bytes);
      team.spread(member);
      begins[member] = Clock::now();
      loops::read(device, pages.get(), bytes);
      ends[member] = Clock::now();
      team.meet();
      if (member == 0) {
        auto first = begins.begin(), last = begins.begin() + team.size();
        std::chrono::duration<double> seconds =
            *std::max_element(ends.begin(), ends.begin() + team.size()) - *std::min_element(first, last);
        stretches.add(static_cast<double>(bytes) * team.size() / seconds.count());
        goesOn = Clock::now() < end;
      }
      team.meet();
    }
  });
  return stretches.getFastest();
}

std::optional<double> freestone::measureHandOff(std::chrono::milliseconds time) {
  if (countCpus() < 2)
    return std::nullopt;
  constexpr unsigned roundTrips = 64, fewest = 16;
  // One line each, as the progress of workers.
  struct alignas(128) Line {
    std::atomic<unsigned> value = 0;
  };
  Line lines[2];
  std::atomic<bool> goesOn = true;
  Stretches stretches;
  // Both need a CPU at the same time, for which they may have to wait.
  Clock::time_point end = Clock::now() + time, latest = end + 4 * time;
  Team::run(2, [&](Team &team, unsigned member) {
    if (team.size() < 2)
      return;
    unsigned turn = 0;
    while (goesOn) {
      team.spread(member);
      Clock::time_point begin = Clock::now();
      for (unsigned last = turn + roundTrips; turn < last;) {
        ++turn;
        if (member == 0)
          lines[0].value.store(turn, std::memory_order_release);
        await([&] { return lines[1 - member].value.load(std::memory_order_acquire) == turn; });
        if (member == 1)
          lines[1].value.store(turn, std::memory_order_release);
      }
      if (member == 0) {
        std::chrono::duration<double> seconds = Clock::now() - begin;
        stretches.add(2 * roundTrips / seconds.count());
        goesOn = Clock::now() < end || (stretches.size() < fewest && Clock::now() < latest);
      }
      team.meet();
    }
  });
  std::optional<double> handOffs = stretches.getFastest();
  return handOffs ? std::optional(1 / *handOffs) : std::nullopt;
}
