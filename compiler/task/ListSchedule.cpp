#include "compiler/task/ListSchedule.h"

#include "runtime/sizes/Plane.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>
#include <random>

using llvm::ArrayRef;
using llvm::SmallVector;
using namespace freestone;
using namespace freestone::task;

namespace {

/// Idle times of all workers up to this sum, in nanoseconds, weigh nothing.
constexpr double negligible = 500;

/// How many schedules are tried: so many tasks are laid on the plane.
constexpr int64_t mostTries = 64, mostLaid = 10000;

/// The plane while tasks are laid on it one after another.
class Layout {
public:
  Layout(ArrayRef<PlaneTask> tasks, size_t workers)
      : tasks(tasks), plane(workers), doneAt(tasks.size()), firsts(tasks.size()) {}

  double getBegin(int64_t task) const {
    double begin = 0;
    for (int64_t before : tasks[task].after)
      begin = std::max(begin, doneAt[before]);
    return begin;
  }
  double getIdle(int64_t task) const { return plane.idleUntil(getBegin(task)); }

  PlacedTask lay(int64_t task) {
    const PlaneTask &laid = tasks[task];
    double begin = getBegin(task), time = laid.tiles > 0 ? laid.time / double(laid.tiles) : 0;
    plane.await(begin);
    firsts[task].resize(plane.workers() + 1);
    if (laid.follows) {
      firsts[task] = firsts[*laid.follows];
      doneAt[task] = plane.layAgain(time, firsts[task]);
    } else {
      doneAt[task] = plane.lay(laid.tiles, time, 0, firsts[task]);
    }
    return {task, begin, doneAt[task], firsts[task]};
  }

private:
  ArrayRef<PlaneTask> tasks;
  runtime::Plane plane;
  std::vector<double> doneAt;
  std::vector<std::vector<int64_t>> firsts;
};

/// The bytes of values that are live while tasks are executed one after another.
class LiveValues {
public:
  LiveValues(ArrayRef<PlaneTask> tasks, ArrayRef<int64_t> bytes)
      : tasks(tasks), bytes(bytes), isLive(bytes.size()), missing(bytes.size()) {
    for (const PlaneTask &task : tasks)
      for (int64_t value : task.values)
        ++missing[value];
  }

  /// The bytes while this task is executed next.
  int64_t getWith(int64_t task) const {
    int64_t with = live;
    for (int64_t value : tasks[task].values)
      with += isLive[value] ? 0 : bytes[value];
    return with;
  }
  void execute(int64_t task) {
    live = getWith(task);
    for (int64_t value : tasks[task].values) {
      isLive[value] = true;
      if (!--missing[value])
        live -= bytes[value];
    }
  }

private:
  ArrayRef<PlaneTask> tasks;
  ArrayRef<int64_t> bytes;
  std::vector<bool> isLive;
  std::vector<int64_t> missing;
  int64_t live = 0;
};

/// The shortest time from the beginning of each task to the end of all that come after it.
std::vector<double> getWaysToEnd(ArrayRef<PlaneTask> tasks, size_t workers) {
  std::vector<double> ways(tasks.size());
  for (size_t task = tasks.size(); task-- > 0;) {
    const PlaneTask &each = tasks[task];
    int64_t parts = std::clamp<int64_t>(each.tiles, 1, workers);
    int64_t most = each.tiles > 0 ? (each.tiles + parts - 1) / parts : 0;
    ways[task] += each.tiles > 0 ? each.time * double(most) / double(each.tiles) : 0;
    for (int64_t before : each.after)
      ways[before] = std::max(ways[before], ways[task]);
    if (each.follows)
      ways[*each.follows] = std::max(ways[*each.follows], ways[task]);
  }
  return ways;
}

/// Takes ready tasks one after another: of those that fit the memory and leave workers idle for no more than `patience`
/// the one of the highest rank, else that which leaves them idle for the least time.
SmallVector<int64_t> takeReady(ArrayRef<PlaneTask> tasks, ArrayRef<int64_t> bytes, int64_t mostLive, size_t workers,
                               ArrayRef<double> ranks, double patience) {
  Layout layout(tasks, workers);
  LiveValues live(tasks, bytes);
  std::vector<int64_t> missing(tasks.size());
  std::vector<SmallVector<int64_t, 4>> next(tasks.size());
  SmallVector<int64_t> ready, order;
  for (auto [task, each] : llvm::enumerate(tasks)) {
    auto comeAfter = [&](int64_t before) {
      next[before].push_back(task);
      ++missing[task];
    };
    llvm::for_each(each.after, comeAfter);
    if (each.follows)
      comeAfter(*each.follows);
    if (!missing[task])
      ready.push_back(task);
  }
  while (!ready.empty()) {
    auto keys = llvm::map_to_vector(ready, [&](int64_t task) {
      bool fits = live.getWith(task) <= mostLive;
      double idle = layout.getIdle(task);
      // Where nothing fits, the given order frees memory soonest.
      return std::tuple(!fits, !fits || idle <= patience ? 0 : idle, fits ? -ranks[task] : 0, task);
    });
    int64_t chosen = std::get<3>(*llvm::min_element(keys));
    layout.lay(chosen);
    live.execute(chosen);
    order.push_back(chosen);
    llvm::erase(ready, chosen);
    for (int64_t task : next[chosen])
      if (!--missing[task])
        ready.push_back(task);
  }
  return order;
}

} // namespace

std::vector<PlacedTask> task::layInOrder(ArrayRef<PlaneTask> tasks, ArrayRef<int64_t> order, size_t workers) {
  Layout layout(tasks, workers);
  std::vector<PlacedTask> placed;
  for (int64_t task : order)
    placed.push_back(layout.lay(task));
  return placed;
}

double task::getMakespan(ArrayRef<PlacedTask> placed) {
  double end = 0;
  for (const PlacedTask &task : placed)
    end = std::max(end, task.done);
  return end;
}

double task::getLowerBound(ArrayRef<PlaneTask> tasks, size_t workers) {
  double work = 0, longest = 0;
  for (const PlaneTask &task : tasks)
    work += task.time;
  for (double way : getWaysToEnd(tasks, INT32_MAX))
    longest = std::max(longest, way);
  return std::max(work / double(workers), longest);
}

int64_t task::getMostLive(ArrayRef<PlaneTask> tasks, ArrayRef<int64_t> bytes, ArrayRef<int64_t> order) {
  LiveValues live(tasks, bytes);
  int64_t most = 0;
  for (int64_t task : order) {
    most = std::max(most, live.getWith(task));
    live.execute(task);
  }
  return most;
}

SmallVector<int64_t> task::scheduleTasks(ArrayRef<PlaneTask> tasks, ArrayRef<int64_t> bytes, size_t workers,
                                         double least) {
  SmallVector<int64_t> given(tasks.size());
  std::iota(given.begin(), given.end(), 0);
  SmallVector<int64_t> best = given;
  int64_t mostLive = getMostLive(tasks, bytes, given);
  double shortest = getMakespan(layInOrder(tasks, given, workers)) * (1 - least);
  auto tryRanks = [&](ArrayRef<double> ranks, double patience) {
    SmallVector<int64_t> order = takeReady(tasks, bytes, mostLive, workers, ranks, patience);
    double makespan = getMakespan(layInOrder(tasks, order, workers));
    if (makespan >= shortest || getMostLive(tasks, bytes, order) > mostLive)
      return;
    shortest = makespan;
    best = std::move(order);
  };
  std::vector<double> ranks(tasks.size());
  for (size_t task = 0; task < tasks.size(); ++task)
    ranks[task] = -double(task);
  tryRanks(ranks, negligible);

  // Long ways to the end first, and others that differ by chance; with more patience, even if workers wait for them.
  std::vector<double> ways = getWaysToEnd(tasks, workers);
  double whole = getMakespan(layInOrder(tasks, given, workers)), bound = getLowerBound(tasks, workers);
  int64_t tries = std::min<int64_t>(mostTries, mostLaid / std::max<size_t>(1, tasks.size()));
  std::minstd_rand random;
  for (int64_t number = 0; number < tries && shortest > bound * (1 + least); ++number) {
    constexpr double patiences[] = {0, 0.01, 0.1, 1};
    double amount = number < 4 ? 0 : 0.5;
    for (size_t task = 0; task < tasks.size(); ++task)
      ranks[task] = ways[task] * (1 + amount * std::uniform_real_distribution<double>(-1, 1)(random));
    tryRanks(ranks, std::max(negligible, patiences[number % 4] * whole));
  }
  return best;
}
