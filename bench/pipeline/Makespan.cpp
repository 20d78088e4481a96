// Steps over ranks whose stages sleep for chosen times, beside their simulation: does the executor wait for anything
// that the schedule does not ask for? Sleeping stages need no core of their own.
#include "distributed/transport/MpiLibrary.h"
#include "test/distributed/StagePipeline.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <sys/prctl.h>

using namespace freestone;
using namespace freestone::distributed;

namespace {

/// Bytes from which on a message carries values, rather than numbers.
constexpr size_t valueBytes = 1024;

struct Options {
  std::vector<int> ranks = {2, 4, 8};
  double passMs = 6;     ///< of a forward pass, and of each half of a backward pass
  double transferMs = 3; ///< of a message with values, in process
  int steps = 7;
  int replicas = 0; ///< if any: steps with so many replicas of the last stage instead
};

/// One kind of steps.
struct Case {
  ScheduleKind kind;
  int ranks;

  bool isSplit() const { return kind == ScheduleKind::ZeroBubble; }
  int stagesPerRank() const { return kind == ScheduleKind::Interleaved ? 2 : 1; }
  int stages() const { return ranks * stagesPerRank(); }
  int microBatches() const { return 2 * ranks; }

  std::vector<test::StageTimes> times(double passMs) const {
    auto pass = static_cast<int64_t>(passMs * 1e6 / stagesPerRank());
    return std::vector<test::StageTimes>(stages(), {pass, 2 * pass, pass, pass, 0, pass / 4});
  }
  PipelineOptions options() const {
    PipelineOptions options;
    options.schedule = kind;
    options.ranks = ranks;
    options.microBatches = microBatches();
    options.execution.threads = 1;
    return options;
  }
  double simulate(double passMs, double transferMs) const {
    Schedule schedule = generate(scheduleOptionsOf(options(), stages(), microBatches()));
    std::vector<StageEdge> edges = chainOf(stages());
    addTransfers(schedule, edges);
    Costs costs;
    for (const test::StageTimes &stage : times(passMs))
      costs.stages.push_back(stage.cost(isSplit()));
    costs.transfer = [&](int, int, int, int) { return TransferCost{transferMs * 1e-3, 0}; };
    return distributed::simulate(schedule, edges, costs).makespan * 1e3;
  }
};

/// Steps of two stages, the second one with replicas, whose gradients are summed over links of some bytes a second.
struct SumCase {
  static constexpr int layers = 16;
  static constexpr double bytes = layers * (256 << 10);
  int replicas;
  double passMs;
  double linkRate;

  int microBatches() const { return 2 * replicas; }
  /// The first stage takes no time.
  std::vector<test::StageTimes> times() const {
    auto pass = static_cast<int64_t>(passMs * 1e6);
    return {{}, {pass, 2 * pass, pass, pass, 0, 0}};
  }
  PipelineOptions options(bool overlaps) const {
    PipelineOptions options;
    options.ranks = 1 + replicas;
    options.replicasOf = {1, replicas};
    options.microBatches = microBatches();
    options.execution.threads = 1;
    options.execution.switchedOff = overlaps ? 0 : FREESTONE_OVERLAP;
    return options;
  }
  /// What each replica sends to each other one: a part of its values, and the totals of its own part.
  double sumMs() const { return 2 * bytes / replicas / linkRate * 1e3; }
  /// With the sum behind the passes.
  double simulate() const {
    Schedule schedule = generate(scheduleOptionsOf(options(true), 2, microBatches()));
    std::vector<StageEdge> edges = chainOf(2);
    addTransfers(schedule, edges);
    Costs costs;
    for (const test::StageTimes &stage : times())
      costs.stages.push_back(stage.cost(/*isSplit=*/false));
    costs.reduce = [&](int) { return sumMs() * 1e-3; };
    return distributed::simulate(schedule, edges, costs).makespan * 1e3;
  }
};

/// The median time of a step in ms, without the first one.
double measure(PipelineTrainer &trainer, int64_t samples, int steps) {
  std::vector<float> x(samples, 0.5f);
  std::vector<double> times;
  for (int step = 0; step < steps; ++step) {
    train::Batch batch;
    batch.place.step = step;
    batch.samples = samples;
    batch.fields = {
        {"x", FREESTONE_F32, {samples}, {reinterpret_cast<const uint8_t *>(x.data()), x.size() * sizeof(float)}}};
    int64_t begin = Timeline::now();
    trainer.submit(batch);
    times.push_back(static_cast<double>(Timeline::now() - begin) * 1e-6);
  }
  while (trainer.finish())
    ;
  std::sort(times.begin() + 1, times.end());
  return times[1 + (times.size() - 1) / 2];
}

double measureThreads(const Case &subject, const Options &options, double transferMs) {
  test::StagePipeline pipeline(subject.times(options.passMs), subject.isSplit());
  Disturbance disturbance;
  if (transferMs > 0)
    disturbance.delay = [=](int, int, size_t bytes) {
      return std::chrono::microseconds(bytes >= valueBytes ? static_cast<int64_t>(transferMs * 1e3) : 0);
    };
  LocalRanks ranks(pipeline.artifacts, pipeline.about, subject.options(), {}, disturbance);
  PipelineTrainer trainer(pipeline.artifacts, pipeline.about, subject.options(), ranks.courier());
  return measure(trainer, subject.microBatches(), options.steps);
}

/// Also tells which part of the bytes left before the passes ended.
double measureSums(const SumCase &subject, bool overlaps, int steps, double &overlapped) {
  test::StagePipeline pipeline(subject.times(), false, SumCase::layers);
  PipelineOptions options = subject.options(overlaps);
  using Clock = std::chrono::steady_clock;
  // Messages between two ranks take turns on their link. The network calls this for one message at a time.
  std::map<std::pair<int, int>, Clock::time_point> freeAt;
  Disturbance link;
  link.delay = [&](int from, int to, size_t bytes) {
    Clock::time_point now = Clock::now(), &free = freeAt[{from, to}];
    auto needed = std::chrono::nanoseconds(static_cast<int64_t>(static_cast<double>(bytes) / subject.linkRate * 1e9));
    free = std::max(free, now) + needed;
    return std::chrono::duration_cast<std::chrono::microseconds>(free - now);
  };
  LocalRanks ranks(pipeline.artifacts, pipeline.about, options, {}, link);
  PipelineTrainer trainer(pipeline.artifacts, pipeline.about, options, ranks.courier());
  double time = measure(trainer, subject.microBatches(), steps);
  double summed = 0, early = 0;
  for (const RankReport &report : trainer.reports()) {
    summed += static_cast<double>(report.summedBytes);
    early += static_cast<double>(report.overlappedBytes);
  }
  overlapped = early / summed;
  return time;
}

void runSums(const Options &options) {
  fmt::print(
      "| replicas | backward pass ms | sum alone | step simulated, sum behind the passes | measured, overlap off | "
      "on | hidden of the sum | bytes that left in time |\n|---|---|---|---|---|---|---|---|\n");
  for (double part : {0.25, 0.5, 1.0, 2.0}) {
    SumCase subject{options.replicas, options.passMs, 0};
    subject.linkRate = 2 * SumCase::bytes / options.replicas / (part * 2 * options.passMs * 1e-3);
    double none = 0, early = 0;
    double off = measureSums(subject, false, options.steps, none);
    double on = measureSums(subject, true, options.steps, early);
    fmt::print("| {} | {:.0f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.0f} % | {:.0f} % |\n", options.replicas,
               2 * options.passMs, subject.sumMs(), subject.simulate(), off, on, 100 * (off - on) / subject.sumMs(),
               100 * early);
    std::fflush(stdout);
  }
}

/// Nothing on ranks but the first one.
std::optional<double> measureProcesses(const Case &subject, const Options &options, Courier &courier) {
  test::StagePipeline pipeline(subject.times(options.passMs), subject.isSplit());
  PipelineOptions own = subject.options();
  if (courier.rank() == 0) {
    PipelineTrainer trainer(pipeline.artifacts, pipeline.about, own, &courier);
    return measure(trainer, subject.microBatches(), options.steps);
  }
  auto description = PipelineDescription::read(*pipeline.artifacts.front());
  RankService(courier.rank(), pipeline.artifacts, description, pipeline.about, own, courier, {}).serve();
  return std::nullopt;
}

void run(const Options &options) {
  constexpr ScheduleKind kinds[] = {ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::Eager,
                                    ScheduleKind::Interleaved, ScheduleKind::ZeroBubble};
  std::unique_ptr<Transport> network;
  std::unique_ptr<Courier> courier;
  std::vector<int> ranks = options.ranks;
  if (int count = findMpiJob().ranks; count > 1) {
    network = connectByMpi();
    courier = std::make_unique<Courier>(*network);
    ranks = {count};
  }
  if (!courier)
    fmt::print("| schedule | ranks | simulated ms | measured | ratio | with transfers of {} ms: simulated | measured | "
               "ratio | "
               "added to a transfer |\n|---|---|---|---|---|---|---|---|---|\n",
               options.transferMs);
  else if (courier->rank() == 0)
    fmt::print("| schedule | ranks | simulated ms | measured | ratio |\n|---|---|---|---|---|\n");
  for (int count : ranks)
    for (ScheduleKind kind : kinds) {
      Case subject{kind, count};
      double simulated = subject.simulate(options.passMs, 0);
      std::optional<double> measured =
          courier ? measureProcesses(subject, options, *courier) : std::optional(measureThreads(subject, options, 0));
      if (!measured)
        continue;
      fmt::print("| {} | {} | {:.2f} | {:.2f} | {:.3f} |", nameOf(kind), count, simulated, *measured,
                 *measured / simulated);
      if (!courier) {
        double withTransfers = subject.simulate(options.passMs, options.transferMs);
        double found = measureThreads(subject, options, options.transferMs);
        // Of the time of all transfers that the step waits for one after another.
        double added = (found - *measured) / (withTransfers - simulated) - 1;
        fmt::print(" {:.2f} | {:.2f} | {:.3f} | {:.1f} % |", withTransfers, found, found / withTransfers, 100 * added);
      }
      fmt::print("\n");
      std::fflush(stdout);
    }
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Steps of a pipeline whose stages sleep, beside their simulation; under mpirun over its ranks.");
  Options options;
  app.add_option("--ranks", options.ranks, "numbers of ranks, which are threads")->delimiter(',');
  app.add_option("--pass", options.passMs, "milliseconds of a pass");
  app.add_option("--transfer", options.transferMs, "milliseconds of a transfer between threads");
  app.add_option("--steps", options.steps, "of each schedule, from 2 on")->check(CLI::Range(2, 1000000));
  app.add_option("--replicas", options.replicas,
                 "measures sums over so many replicas of a stage instead, beside its backward passes")
      ->check(CLI::Range(2, 64));
  CLI11_PARSE(app, argc, argv);
  prctl(PR_SET_TIMERSLACK, 1); // threads inherit it
  try {
    options.replicas > 0 ? runSums(options) : run(options);
  } catch (const std::exception &error) {
    fmt::print(stderr, "freestone-makespan: {}\n", error.what());
    return 1;
  }
}
