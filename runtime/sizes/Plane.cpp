#include "runtime/sizes/Plane.h"

#include <algorithm>
#include <numeric>

using namespace freestone::runtime;

void Plane::meet() { std::ranges::fill(clocks, end()); }

double Plane::idleUntil(double time) const {
  double idle = 0;
  for (double clock : clocks)
    idle += std::max(0.0, time - clock);
  return idle;
}

double Plane::await(double time) {
  double idle = idleUntil(time);
  for (double &clock : clocks)
    clock = std::max(clock, time);
  return idle;
}

double Plane::begin() const { return *std::ranges::min_element(clocks); }

double Plane::end() const { return *std::ranges::max_element(clocks); }

std::pair<size_t, double> Plane::fill(double work, size_t most) {
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](size_t worker) { return std::pair(clocks[worker], worker); });
  size_t used = 0;
  double level = 0, sum = 0;
  do {
    sum += clocks[order[used++]];
    level = (sum + work) / double(used);
  } while (used < most && clocks[order[used]] < level);
  return {used, level};
}

double Plane::lay(int64_t tiles, double time, double grain, std::span<int64_t> firsts) {
  double total = double(tiles) * time;
  size_t parts = std::clamp<double>(grain > 0 ? total / grain : double(workers()), 1, double(workers()));
  auto [used, level] = fill(total, parts);
  std::ranges::fill(counts, 0);
  int64_t left = tiles;
  for (size_t worker : std::span(order).first(used)) {
    int64_t share = time > 0 ? int64_t((level - clocks[worker]) / time) : tiles / int64_t(used);
    left -= counts[worker] = std::clamp<int64_t>(share, 0, left);
  }
  // Whole tiles remain, fewer than there are workers.
  for (; left > 0; --left) {
    auto doneWithOneMore = [&](size_t worker) { return clocks[worker] + double(counts[worker] + 1) * time; };
    ++counts[*std::ranges::min_element(order.begin(), order.begin() + used, {}, doneWithOneMore)];
  }
  int64_t next = 0;
  for (size_t worker = 0; worker < workers(); ++worker) {
    firsts[worker] = next;
    next += counts[worker];
  }
  firsts[workers()] = next;
  return layAgain(time, firsts);
}

double Plane::layOn(size_t worker, int64_t tiles, double time, std::span<int64_t> firsts) {
  for (size_t other = 0; other <= workers(); ++other)
    firsts[other] = other <= worker ? 0 : tiles;
  return layAgain(time, firsts);
}

double Plane::layEvenly(int64_t tiles, double time, std::span<int64_t> firsts) {
  int64_t count = workers(), whole = tiles / count, more = tiles % count;
  for (int64_t worker = 0; worker <= count; ++worker)
    firsts[worker] = worker * whole + std::min(worker, more);
  return layAgain(time, firsts);
}

double Plane::layAgain(double time, std::span<const int64_t> firsts) {
  double done = 0;
  for (size_t worker = 0; worker < workers(); ++worker) {
    int64_t tiles = firsts[worker + 1] - firsts[worker];
    if (tiles <= 0)
      continue;
    clocks[worker] += double(tiles) * time;
    done = std::max(done, clocks[worker]);
  }
  return done;
}
