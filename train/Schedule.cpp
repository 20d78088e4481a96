#include "train/Schedule.h"
#include <algorithm>
#include <cmath>
#include <numbers>

namespace freestone::train {

std::optional<ScheduleKind> scheduleFromName(std::string_view name) {
  static constexpr std::pair<std::string_view, ScheduleKind> names[] = {{"constant", ScheduleKind::Constant},
                                                                        {"linear", ScheduleKind::Linear},
                                                                        {"cosine", ScheduleKind::Cosine},
                                                                        {"step", ScheduleKind::Step},
                                                                        {"one-cycle", ScheduleKind::OneCycle}};
  for (auto [known, kind] : names)
    if (known == name)
      return kind;
  return std::nullopt;
}

/// Half a cosine from `from` at 0 to `to` at 1.
static double anneal(double from, double to, double fraction) {
  return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * fraction));
}

/// OneCycleLR's two phases between three values, for `step` of `steps`.
static double oneCycle(double begin, double middle, double end, double risingPart, int64_t step, int64_t steps) {
  double peak = risingPart * static_cast<double>(steps) - 1, last = static_cast<double>(steps - 1);
  auto at = std::min(static_cast<double>(step), last);
  if (at <= peak)
    return peak > 0 ? anneal(begin, middle, at / peak) : middle;
  return last > peak ? anneal(middle, end, (at - peak) / (last - peak)) : end;
}

/// The rate of the schedule without warm-up, for `step` of `steps`.
static double proper(const Schedule &schedule, int64_t step, int64_t steps) {
  double fraction = steps > 0 ? std::min(1.0, static_cast<double>(step) / static_cast<double>(steps)) : 0;
  switch (schedule.kind) {
  case ScheduleKind::Constant:
    return schedule.rate;
  case ScheduleKind::Linear:
    return schedule.rate * (1 + (schedule.lastFraction - 1) * fraction);
  case ScheduleKind::Cosine:
    return anneal(schedule.rate, schedule.lowest, fraction);
  case ScheduleKind::Step:
    return schedule.rate * std::pow(schedule.factor, schedule.every > 0 ? step / schedule.every : 0);
  case ScheduleKind::OneCycle: {
    double begin = schedule.rate / schedule.startDivisor;
    return oneCycle(begin, schedule.rate, begin / schedule.endDivisor, schedule.risingPart, step, steps);
  }
  }
  return schedule.rate;
}

double Schedule::learningRate(int64_t step) const {
  int64_t rest = std::max<int64_t>(steps - warmup, 0);
  if (step >= warmup)
    return proper(*this, step - warmup, rest);
  double fraction = static_cast<double>(step) / static_cast<double>(warmup);
  return proper(*this, 0, rest) * (warmupStart + (1 - warmupStart) * fraction);
}

std::optional<double> Schedule::momentum(int64_t step) const {
  if (kind != ScheduleKind::OneCycle || !cycleMomentum)
    return std::nullopt;
  return oneCycle(highestMomentum, lowestMomentum, highestMomentum, risingPart, std::max<int64_t>(step - warmup, 0),
                  std::max<int64_t>(steps - warmup, 0));
}

} // namespace freestone::train
