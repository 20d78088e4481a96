#include "compiler/task/ListSchedule.h"

#include "runtime/sizes/Plane.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include <numeric>
#include <random>

using llvm::ArrayRef;
using llvm::SmallVector;
using namespace freestone;
using namespace freestone::task;

namespace {

/// Idle times of all workers up to this sum, in nanoseconds, weigh nothing.
constexpr double negligible = 500;

/// How many schedules are tried: so many tasks are laid on the plane, as many again by the beam search, and twice as
/// many while memory is saved, in so many steps for each sample.
constexpr int64_t mostTries = 64, mostLaid = 10000, mostSteps = 5;

/// Of how many partial schedules the beam search keeps the best, and how many tasks it tries next in each.
constexpr int64_t mostKept = 32, mostNext = 8;

/// The tasks with what comes after each.
struct TaskGraph {
  explicit TaskGraph(ArrayRef<PlaneTask> tasks)
      : tasks(tasks), next(tasks.size()), countBefore(tasks.size()), isFollowed(tasks.size()) {
    for (auto [task, each] : llvm::enumerate(tasks)) {
      auto comeAfter = [&](int64_t before) {
        next[before].push_back(task);
        ++countBefore[task];
      };
      llvm::for_each(each.after, comeAfter);
      if (each.follows) {
        comeAfter(*each.follows);
        isFollowed[*each.follows] = true;
      }
    }
  }

  ArrayRef<PlaneTask> tasks;
  std::vector<SmallVector<int64_t, 4>> next;
  std::vector<int64_t> countBefore;
  std::vector<bool> isFollowed;
};

/// The plane while tasks are laid on it one after another.
class Layout {
public:
  Layout(const TaskGraph &graph, size_t workers)
      : graph(&graph), plane(workers), doneAt(graph.tasks.size()), firsts(graph.tasks.size()) {}

  double getBegin(int64_t task) const {
    double begin = 0;
    for (int64_t before : graph->tasks[task].after)
      begin = std::max(begin, doneAt[before]);
    return begin;
  }
  double getIdle(int64_t task) const { return plane.idleUntil(getBegin(task)); }
  double getDone(int64_t task) const { return doneAt[task]; }

  PlacedTask lay(int64_t task) {
    PlacedTask placed{task, getBegin(task), 0, {}};
    placed.done = layOn(plane, task, placed.firsts);
    doneAt[task] = placed.done;
    if (graph->isFollowed[task])
      firsts[task] = placed.firsts;
    return placed;
  }
  /// When the task would be done if it were laid next.
  double tryNext(int64_t task) const {
    runtime::Plane copy = plane;
    std::vector<int64_t> dealt;
    return layOn(copy, task, dealt);
  }

private:
  double layOn(runtime::Plane &plane, int64_t task, std::vector<int64_t> &dealt) const {
    const PlaneTask &laid = graph->tasks[task];
    double time = laid.tiles > 0 ? laid.time / double(laid.tiles) : 0;
    plane.await(getBegin(task));
    if (laid.follows) {
      dealt = firsts[*laid.follows];
      return plane.layAgain(time, dealt);
    }
    dealt.resize(plane.workers() + 1);
    return plane.lay(laid.tiles, time, 0, dealt);
  }

  const TaskGraph *graph;
  runtime::Plane plane;
  std::vector<double> doneAt;
  /// Of tasks that others follow.
  std::vector<std::vector<int64_t>> firsts;
};

/// The bytes of values that are live while tasks are executed one after another.
class LiveValues {
public:
  LiveValues(ArrayRef<PlaneTask> tasks, ArrayRef<SampledBytes> bytes)
      : tasks(tasks), bytes(bytes), isLive(bytes.size()), missing(bytes.size()),
        live(bytes.empty() ? 0 : bytes.front().size()) {
    for (const PlaneTask &task : tasks)
      for (int64_t value : task.values)
        ++missing[value];
  }

  /// The bytes while this task is executed next.
  SampledBytes getWith(int64_t task) const {
    SampledBytes with = live;
    for (int64_t value : tasks[task].values)
      if (!isLive[value])
        for (auto [all, own] : llvm::zip_equal(with, bytes[value]))
          all += own;
    return with;
  }
  void execute(int64_t task) {
    live = getWith(task);
    for (int64_t value : tasks[task].values) {
      isLive[value] = true;
      if (!--missing[value])
        for (auto [all, own] : llvm::zip_equal(live, bytes[value]))
          all -= own;
    }
  }

private:
  ArrayRef<PlaneTask> tasks;
  ArrayRef<SampledBytes> bytes;
  std::vector<bool> isLive;
  std::vector<int64_t> missing;
  SampledBytes live;
};

bool isWithin(ArrayRef<int64_t> bytes, ArrayRef<int64_t> most) {
  return llvm::all_of(llvm::zip_equal(bytes, most), [](auto pair) { return std::get<0>(pair) <= std::get<1>(pair); });
}

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

/// A schedule as far as it is made: each task is taken when all that it comes after are.
class PartialSchedule {
public:
  PartialSchedule(const TaskGraph &graph, ArrayRef<SampledBytes> bytes, size_t workers)
      : graph(&graph), layout(graph, workers), live(graph.tasks, bytes), missing(graph.countBefore) {
    for (int64_t task : llvm::seq<int64_t>(missing.size()))
      if (!missing[task])
        ready.push_back(task);
  }

  void take(int64_t task) {
    layout.lay(task);
    live.execute(task);
    order.push_back(task);
    llvm::erase(ready, task);
    for (int64_t next : graph->next[task])
      if (!--missing[next])
        ready.push_back(next);
  }
  ArrayRef<int64_t> getReady() const { return ready; }
  ArrayRef<int64_t> getOrder() const { return order; }
  const Layout &getLayout() const { return layout; }
  SampledBytes getLiveWith(int64_t task) const { return live.getWith(task); }

private:
  const TaskGraph *graph;
  Layout layout;
  LiveValues live;
  std::vector<int64_t> missing;
  SmallVector<int64_t> ready, order;
};

/// Searches the orders that need no more memory than the given one for the shortest.
class Scheduler {
public:
  Scheduler(ArrayRef<PlaneTask> tasks, ArrayRef<SampledBytes> bytes, size_t workers, double least)
      : tasks(tasks), bytes(bytes), workers(workers), least(least), graph(tasks), best(tasks.size()) {
    std::iota(best.begin(), best.end(), 0);
    mostLive = getMostLive(tasks, bytes, best);
    given = getMakespan(layInOrder(tasks, best, workers));
    shortest = given * (1 - least);
  }

  SmallVector<int64_t> schedule();

private:
  void saveMemory(ArrayRef<double> ranks);
  SmallVector<int64_t> takeReady(ArrayRef<double> ranks, double patience);
  void searchBeam(ArrayRef<double> ways);
  void consider(ArrayRef<int64_t> order);

  ArrayRef<PlaneTask> tasks;
  ArrayRef<SampledBytes> bytes;
  size_t workers;
  double least;
  TaskGraph graph;
  SmallVector<int64_t> best;
  SampledBytes mostLive;
  /// Makespans of the given order and the best one.
  double given, shortest;
};

/// Lowers the memory, sample by sample, as far as the given order gets by with it, where tasks are postponed until they
/// fit: what makes a value that is needed late, such as the gradient of a table, waits for others to be freed.
void Scheduler::saveMemory(ArrayRef<double> ranks) {
  if (mostLive.empty())
    return;
  int64_t steps = std::min<int64_t>(mostSteps, 2 * mostLaid / (mostLive.size() * tasks.size()));
  for (size_t sample = 0; sample < mostLive.size(); ++sample) {
    int64_t enough = mostLive[sample], tooLittle = enough / 2;
    for (int64_t step = 0; step < steps; ++step) {
      mostLive[sample] = tooLittle + (enough - tooLittle) / 2;
      SmallVector<int64_t> order = takeReady(ranks, std::numeric_limits<double>::infinity());
      SampledBytes needed = getMostLive(tasks, bytes, order);
      if (isWithin(needed, mostLive) && getMakespan(layInOrder(tasks, order, workers)) <= given * (1 + least)) {
        enough = needed[sample];
        best = std::move(order);
      } else {
        tooLittle = mostLive[sample];
      }
    }
    mostLive[sample] = enough;
  }
}

/// Takes ready tasks one after another: of those that fit the memory and leave workers idle for no more than `patience`
/// the one of the highest rank, else that which leaves them idle for the least time.
SmallVector<int64_t> Scheduler::takeReady(ArrayRef<double> ranks, double patience) {
  PartialSchedule schedule(graph, bytes, workers);
  while (!schedule.getReady().empty()) {
    auto keys = llvm::map_to_vector(schedule.getReady(), [&](int64_t task) {
      bool fits = isWithin(schedule.getLiveWith(task), mostLive);
      double idle = schedule.getLayout().getIdle(task);
      // Where nothing fits, the given order frees memory soonest.
      return std::tuple(!fits, !fits || idle <= patience ? 0 : idle, fits ? -ranks[task] : 0, task);
    });
    schedule.take(std::get<3>(*llvm::min_element(keys)));
  }
  return SmallVector<int64_t>(schedule.getOrder());
}

/// Continues the best partial schedules side by side, task by task: a filtered beam search (Ow and Morton, 1988). The
/// best have the least sum of what no continuation beats: all work with the times that workers were idle, divided by
/// the workers, and the longest way.
void Scheduler::searchBeam(ArrayRef<double> ways) {
  struct Kept {
    PartialSchedule schedule;
    double idle = 0, longest = 0;
    /// Is the same of partial schedules of the same tasks.
    uint64_t taken = 0;
  };
  struct Next {
    double bounds, idle, longest;
    uint64_t taken;
    size_t kept;
    int64_t task;
  };
  int64_t most = std::min<int64_t>(mostKept, mostLaid / (mostNext * tasks.size()));
  if (most == 0)
    return;
  double work = 0;
  for (const PlaneTask &task : tasks)
    work += task.time;
  std::mt19937_64 random;
  std::vector<uint64_t> names(tasks.size());
  std::ranges::generate(names, [&] { return random(); });

  auto getNext = [&](const Kept &kept, size_t number, SmallVector<Next> &all) {
    const Layout &layout = kept.schedule.getLayout();
    SmallVector<std::tuple<double, double, int64_t>> tried;
    for (int64_t task : kept.schedule.getReady())
      if (isWithin(kept.schedule.getLiveWith(task), mostLive))
        tried.emplace_back(layout.getIdle(task), -ways[task], task);
    llvm::sort(tried);
    for (auto [idle, way, task] : ArrayRef(tried).take_front(mostNext)) {
      double begin = layout.getBegin(task), done = layout.tryNext(task), longest = std::max(kept.longest, done);
      for (int64_t next : graph.next[task])
        longest = std::max(longest, done + ways[next]);
      for (int64_t other : kept.schedule.getReady())
        if (other != task)
          longest = std::max(longest, std::max(begin, layout.getBegin(other)) + ways[other]);
      all.push_back({(work + kept.idle + idle) / double(workers) + longest, kept.idle + idle, longest,
                     kept.taken ^ names[task], number, task});
    }
  };
  std::vector<Kept> beam = {{PartialSchedule(graph, bytes, workers)}};
  for (size_t step = 0; step < tasks.size(); ++step) {
    SmallVector<Next> all;
    for (auto [number, kept] : llvm::enumerate(beam))
      getNext(kept, number, all);
    llvm::sort(all, [](const Next &one, const Next &other) {
      return std::tie(one.bounds, one.kept, one.task) < std::tie(other.bounds, other.kept, other.task);
    });
    std::vector<Kept> continued;
    llvm::SmallDenseSet<uint64_t> taken;
    for (const Next &next : all) {
      if (static_cast<int64_t>(continued.size()) == most)
        break;
      if (!taken.insert(next.taken).second)
        continue;
      continued.push_back({beam[next.kept].schedule, next.idle, next.longest, next.taken});
      continued.back().schedule.take(next.task);
    }
    beam = std::move(continued);
  }
  for (const Kept &kept : beam)
    consider(kept.schedule.getOrder());
}

void Scheduler::consider(ArrayRef<int64_t> order) {
  double makespan = getMakespan(layInOrder(tasks, order, workers));
  if (makespan >= shortest || !isWithin(getMostLive(tasks, bytes, order), mostLive))
    return;
  shortest = makespan;
  best = SmallVector<int64_t>(order);
}

SmallVector<int64_t> Scheduler::schedule() {
  std::vector<double> ranks(tasks.size());
  for (size_t task = 0; task < tasks.size(); ++task)
    ranks[task] = -double(task);
  saveMemory(ranks);
  consider(takeReady(ranks, negligible));

  // Long ways to the end first, and others that differ by chance; with more patience, even if workers wait for them.
  std::vector<double> ways = getWaysToEnd(tasks, workers);
  double enough = getLowerBound(tasks, workers) * (1 + least);
  int64_t tries = std::min<int64_t>(mostTries, mostLaid / std::max<size_t>(1, tasks.size()));
  std::minstd_rand random;
  for (int64_t number = 0; number < tries && shortest > enough; ++number) {
    constexpr double patiences[] = {0, 0.01, 0.1, 1};
    double amount = number < 4 ? 0 : 0.5;
    for (size_t task = 0; task < tasks.size(); ++task)
      ranks[task] = ways[task] * (1 + amount * std::uniform_real_distribution<double>(-1, 1)(random));
    consider(takeReady(ranks, std::max(negligible, patiences[number % 4] * given)));
  }
  if (shortest > enough)
    searchBeam(ways);
  return best;
}

} // namespace

std::vector<PlacedTask> task::layInOrder(ArrayRef<PlaneTask> tasks, ArrayRef<int64_t> order, size_t workers) {
  TaskGraph graph(tasks);
  Layout layout(graph, workers);
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

SampledBytes task::getMostLive(ArrayRef<PlaneTask> tasks, ArrayRef<SampledBytes> bytes, ArrayRef<int64_t> order) {
  LiveValues live(tasks, bytes);
  SampledBytes most(bytes.empty() ? 0 : bytes.front().size());
  for (int64_t task : order) {
    for (auto [all, with] : llvm::zip_equal(most, live.getWith(task)))
      all = std::max(all, with);
    live.execute(task);
  }
  return most;
}

SmallVector<int64_t> task::scheduleTasks(ArrayRef<PlaneTask> tasks, ArrayRef<SampledBytes> bytes, size_t workers,
                                         double least) {
  return Scheduler(tasks, bytes, workers, least).schedule();
}
