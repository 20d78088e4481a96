#include "train/run/Schedule.h"

#include "train/Error.h"
#include "words/NearNames.h"
#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <numbers>
#include <vector>

namespace freestone::train {

static constexpr std::pair<std::string_view, ScheduleKind> kindNames[] = {{"constant", ScheduleKind::Constant},
                                                                          {"linear", ScheduleKind::Linear},
                                                                          {"cosine", ScheduleKind::Cosine},
                                                                          {"step", ScheduleKind::Step},
                                                                          {"one-cycle", ScheduleKind::OneCycle}};

std::span<const ScheduleNumber> scheduleNumbers() {
  using enum ScheduleKind;
  using namespace words;
  static constexpr ScheduleNumber numbers[] = {
      {"start_factor", &Schedule::warmupStart, {}, fraction, "of --warmup: the part of the first rate it begins with"},
      {"end_factor", &Schedule::lastFraction, Linear, fraction, "of linear: the part of the rate that it ends at"},
      {"eta_min", &Schedule::lowest, Cosine, notNegative, "of cosine: the rate that it ends at"},
      {"step_size", &Schedule::every, Step, wholeFrom(1), "of step: steps between its drops"},
      {"gamma", &Schedule::factor, Step, notNegative, "of step: what the rate is multiplied by in each drop"},
      {"pct_start", &Schedule::risingPart, OneCycle, fraction, "of one-cycle: the part of the steps that rises"},
      {"div_factor", &Schedule::startDivisor, OneCycle, positive, "of one-cycle: it begins with the rate over this"},
      {"final_div_factor", &Schedule::endDivisor, OneCycle, positive, "of one-cycle: it ends with the first over this"},
      {"cycle_momentum", &Schedule::cycleMomentum, OneCycle, wholeFrom(0, 1),
       "of one-cycle: 1 moves the momentum, 0 does not"},
      {"base_momentum", &Schedule::lowestMomentum, OneCycle, fraction, "of one-cycle: momentum at the highest rate"},
      {"max_momentum", &Schedule::highestMomentum, OneCycle, fraction, "of one-cycle: momentum at both ends"}};
  return numbers;
}

double ScheduleNumber::defaultValue() const {
  return std::visit([](auto member) { return static_cast<double>(Schedule().*member); }, member);
}

std::optional<ScheduleKind> scheduleFromName(std::string_view name) {
  for (auto [known, kind] : kindNames)
    if (known == name)
      return kind;
  return std::nullopt;
}

std::vector<std::string> scheduleNames() {
  std::vector<std::string> names;
  for (const auto &known : kindNames)
    names.emplace_back(known.first);
  return names;
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

bool isMomentum(std::string_view number) {
  std::string_view own = number.substr(0, number.find('/')); // without a group's pattern
  return own == "momentum" || own == "beta1";
}

/// The numbers of a kind of schedule, for a message.
static std::string listNumbers(ScheduleKind kind) {
  std::vector<std::string_view> names;
  for (const ScheduleNumber &number : scheduleNumbers())
    if (number.takenBy == kind)
      names.push_back(number.name);
  return fmt::format("{}, and start_factor where there is a warm-up",
                     names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", ")));
}

/// Sets a number, if its value is valid.
static void setNumber(Schedule &schedule, const ScheduleNumber &number, double value) {
  if (std::optional<std::string> complaint = number.range.complain(value))
    throw Error(fmt::format("{} can't be {}: it {} ({})", number.name, value, *complaint, number.meaning));
  std::visit([&]<typename T>(T Schedule::*member) { schedule.*member = static_cast<T>(value); }, number.member);
}

Schedule makeSchedule(const std::string &name, int64_t warmup, const std::map<std::string, double> &numbers) {
  std::optional<ScheduleKind> kind = scheduleFromName(name);
  if (!kind)
    throw Error(fmt::format("'{}' is none of the schedules {}{}", name, words::listNames(scheduleNames()),
                            words::suggest(name, scheduleNames())));
  Schedule schedule;
  schedule.kind = *kind;
  schedule.warmup = warmup;
  for (const auto &[key, value] : numbers) {
    auto number = std::ranges::find(scheduleNumbers(), key, &ScheduleNumber::name);
    if (number == scheduleNumbers().end() || (number->takenBy && number->takenBy != kind))
      throw Error(fmt::format("the schedule '{}' takes no {}; it takes {}", name, key, listNumbers(*kind)));
    if (!number->takenBy && warmup == 0)
      throw Error(fmt::format("{} is of the warm-up, and there is none; --warmup tells its steps", key));
    setNumber(schedule, *number, value);
  }
  if (kind == ScheduleKind::Step && schedule.every == 0)
    throw Error("the schedule 'step' needs step_size, the steps between its drops");
  return schedule;
}

} // namespace freestone::train
