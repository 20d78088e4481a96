#include "distributed/execute/RankTrace.h"

#include "distributed/schedule/ScheduleText.h"
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <limits>

namespace freestone::distributed {

using Json = nlohmann::json;

/// The text of a time line goes in pieces of so many bytes.
static constexpr size_t pieceBytes = size_t(8) << 20;
/// How often a clock is asked.
static constexpr int clockQuestions = 16;

Timeline makeRankTimeline() { return Timeline((std::filesystem::temp_directory_path() / "freestone").string()); }

Json printTimes(const RankActivity &activity) {
  Json times = Json::array();
  for (const auto &[of, sum] : activity.sums())
    times.push_back({of.first, static_cast<int>(of.second), sum.ns, sum.count});
  return {{"times", times}};
}

Costs meanCosts(const std::vector<Json> &ranks, int stages) {
  Costs costs;
  costs.stages.assign(stages, {0, 0, 0});
  for (const Json &rank : ranks)
    for (const Json &times : rank.at("times")) {
      StageCost &cost = costs.stages.at(times.at(0));
      double mean = times.at(2).get<double>() * 1e-9 / times.at(3).get<double>();
      switch (static_cast<ActionKind>(times.at(1).get<int>())) {
      case ActionKind::Forward:
        cost.forward = mean;
        break;
      case ActionKind::Backward:
      case ActionKind::InputGradient:
        cost.inputGradient = mean;
        break;
      case ActionKind::WeightGradient:
        cost.weightGradient = mean;
        break;
      case ActionKind::Recompute:
        cost.recompute = mean;
        break;
      case ActionKind::Update:
        cost.update = mean;
        break;
      case ActionKind::Exchange:
        costs.exchange = std::max(costs.exchange, mean);
        break;
      default:
        break;
      }
    }
  return costs;
}

static Json printCosts(const Costs &costs) {
  Json stages = Json::array();
  for (const StageCost &cost : costs.stages)
    stages.push_back({cost.forward, cost.inputGradient, cost.weightGradient, cost.recompute, cost.update});
  return {{"stages", stages}, {"exchange", costs.exchange}};
}

static Costs parseCosts(const Json &json) {
  Costs costs;
  for (const Json &stage : json.at("stages"))
    costs.stages.push_back({stage.at(0), stage.at(1), stage.at(2), stage.at(3), stage.at(4)});
  costs.exchange = json.at("exchange");
  return costs;
}

/// Adds what a rank should do in some steps; `ahead`: of its clock before rank 0's.
static void addPlan(const RankActivity &activity, int rank, RankSchedules &schedules, const Costs &costs,
                    const std::vector<TracedStep> &steps, int64_t ahead) {
  std::map<int, Simulation> simulations; ///< by micro-batches
  for (const TracedStep &step : steps) {
    auto found = simulations.find(step.microBatches);
    if (found == simulations.end())
      found = simulations.emplace(step.microBatches, schedules.simulate(step.microBatches, costs)).first;
    int64_t begin = step.begin + ahead;
    for (const Event &event : found->second.ranks.at(rank))
      if (!isTransfer(event.action.kind) && event.end > event.begin)
        check(freestone_timeline_add(activity.recording(), "planned passes", printAction(event.action).c_str(),
                                     begin + static_cast<int64_t>(event.begin * 1e9),
                                     begin + static_cast<int64_t>(event.end * 1e9), step.number));
  }
}

static void nameRank(freestone_timeline *timeline, int rank, int ranks, int64_t origin) {
  check(freestone_timeline_set_process(timeline, rank + 1, fmt::format("rank {} of {}", rank, ranks).c_str(), origin));
}

/// A number that the processes of one machine share with its clock.
static std::string machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

Json readClock() { return {{"now", freestone_timeline_now()}, {"machine", machine()}}; }

/// Nanoseconds by which a rank's clock is ahead of this one's.
static int64_t clockAhead(ParcelLine &line) {
  int64_t ahead = 0, least = std::numeric_limits<int64_t>::max();
  for (int question = 0; question < clockQuestions; ++question) {
    int64_t asked = freestone_timeline_now();
    line.send({{{"do", "clock"}}, {}});
    const Json &clock = line.receive().about;
    int64_t answered = freestone_timeline_now();
    if (clock.at("machine") == machine())
      return 0;
    if (answered - asked >= least)
      continue;
    least = answered - asked;
    ahead = clock.at("now").get<int64_t>() - (asked + least / 2);
  }
  return ahead;
}

void TraceGatherer::begin(int ranks) {
  origin = freestone_timeline_now();
  nameRank(activity.recording(), 0, ranks, origin);
}

void TraceGatherer::gather(const std::vector<ParcelLine *> &lines) {
  std::vector<Json> times = {printTimes(activity)};
  for (ParcelLine *line : lines) {
    line->send({{{"do", "times"}}, {}});
    times.push_back(line->receive().about);
  }
  Costs costs = meanCosts(times, stages);
  Json told = Json::array();
  for (const TracedStep &step : steps)
    told.push_back({step.number, step.begin, step.microBatches});
  addPlan(activity, 0, schedules, costs, steps, 0);
  for (ParcelLine *line : lines) {
    line->send({{{"do", "trace"},
                 {"ranks", lines.size() + 1},
                 {"origin", origin},
                 {"ahead", clockAhead(*line)},
                 {"costs", printCosts(costs)},
                 {"steps", told}},
                {}});
    for (bool isLast = false; !isLast;) {
      const Parcel &piece = line->receive();
      isLast = piece.about.at("last");
      std::span<const uint8_t> text = piece.tensors.front().bytes;
      check(
          freestone_timeline_add_text(activity.recording(), reinterpret_cast<const char *>(text.data()), text.size()));
    }
  }
}

namespace {

/// Sends the text of a time line.
class TextPieces {
public:
  explicit TextPieces(ParcelLine &line) : line(line) {}

  void add(const char *text, size_t bytes) {
    filling.append(text, bytes);
    if (filling.size() >= pieceBytes)
      send(/*isLast=*/false);
  }
  void send(bool isLast) {
    line.settle();
    std::swap(filling, sent);
    filling.clear();
    formats::TensorView view = {
        "text", FREESTONE_U8, {std::ssize(sent)}, {reinterpret_cast<const uint8_t *>(sent.data()), sent.size()}};
    line.send({{{"last", isLast}}, {view}});
  }

private:
  ParcelLine &line;
  std::string filling, sent;
};

} // namespace

void sendTrace(const Json &command, int rank, const RankActivity &activity, RankSchedules &schedules,
               ParcelLine &line) {
  int64_t ahead = command.at("ahead");
  std::vector<TracedStep> steps;
  for (const Json &step : command.at("steps"))
    steps.push_back({step.at(0), step.at(1), step.at(2)});
  addPlan(activity, rank, schedules, parseCosts(command.at("costs")), steps, ahead);
  nameRank(activity.recording(), rank, command.at("ranks"), command.at("origin").get<int64_t>() + ahead);
  TextPieces pieces(line);
  check(freestone_timeline_print(
      activity.recording(),
      [](void *user, const char *text, size_t bytes) { static_cast<TextPieces *>(user)->add(text, bytes); }, &pieces));
  pieces.send(/*isLast=*/true);
  line.settle();
}

} // namespace freestone::distributed
