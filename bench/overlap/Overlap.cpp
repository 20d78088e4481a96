// Steps that overlap with work of the host, the cost of a trace, the latency of wakes, and a soak test of tiny steps.
#include "bench/overlap/Wake.h"
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <thread>
#include <unistd.h>

using namespace freestone;
using namespace freestone::bench;

namespace {

enum class Host { Computes, Sleeps };

void workOnHost(Host host, double seconds) {
  if (seconds <= 0)
    return;
  if (host == Host::Sleeps)
    return std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  for (double end = now() + seconds; now() < end;)
    continue;
}

/// A training's loop: prepare a batch, submit it, read the previous results. Median seconds from step to step.
double measureSteps(const Subject &subject, int threads, bool overlaps, Host host, double hostSeconds, double seconds) {
  Instance instance = subject.instance(threads, overlaps ? 0 : FREESTONE_OVERLAP);
  int64_t before = instance.submit();
  instance.wait(before);
  std::vector<double> times;
  double last = now();
  for (double end = last + seconds; last < end || times.size() < 5;) {
    workOnHost(host, hostSeconds);
    subject.bind(instance);
    int64_t run = instance.submit();
    instance.wait(overlaps ? before : run);
    before = run;
    times.push_back(now() - last);
    last += times.back();
  }
  instance.wait();
  return medianOf(times);
}

/// The host's work alone: a sleep takes longer than requested.
double measureHost(Host host, double hostSeconds, double seconds) {
  std::vector<double> times;
  double last = now();
  for (double end = last + seconds; last < end || times.size() < 5;) {
    workOnHost(host, hostSeconds);
    times.push_back(now() - last);
    last += times.back();
  }
  return medianOf(times);
}

/// Medians and quartiles over rounds.
struct Spread {
  explicit Spread(std::vector<double> values) {
    std::ranges::sort(values);
    lower = values[values.size() / 4];
    median = values[values.size() / 2];
    upper = values[values.size() * 3 / 4];
  }
  double lower, median, upper;
};

/// Each alone, both overlapped, and both in sequence, round after round. A round's time is relative to the larger of
/// the two alone in the same round, so that a machine that is slow for a while slows both; the median over all rounds
/// leaves out those in which its speed changed.
void compareSteps(const Subject &subject, int threads, double seconds, int rounds) {
  const double part = seconds / rounds;
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round)
    times.push_back(measureSteps(subject, threads, true, Host::Computes, 0, part));
  const double device = medianOf(times);
  fmt::print("One step takes {:.3f} ms on {} worker{}. Medians of {} rounds, in brackets quartiles.\n\n", device * 1e3,
             threads, threads == 1 ? "" : "s", rounds);
  fmt::print("| the host | its work | host alone, ms | steps alone, ms | both, ms | / larger | without overlap, ms | / "
             "larger |\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  enum { Alone, Steps, Both, InTurns, measures };
  for (Host host : {Host::Computes, Host::Sleeps}) {
    for (double factor : {0.5, 1.0, 2.0}) {
      const double work = factor * device;
      auto measure = [&](int what) {
        if (what == Alone)
          return measureHost(host, work, part / 2);
        return measureSteps(subject, threads, what != InTurns, host, what == Steps ? 0 : work, part);
      };
      std::vector<double> taken[measures], ratios[measures];
      for (int round = 0; round < rounds; ++round) {
        double now[measures];
        for (int i = 0; i < measures; ++i) { // in both orders, so that none is always first
          int what = round % 2 ? measures - 1 - i : i;
          taken[what].push_back(now[what] = measure(what));
        }
        for (int what : {Both, InTurns})
          ratios[what].push_back(now[what] / std::max(now[Alone], now[Steps]));
      }
      fmt::print("| {} | {} steps | {:.3f} | {:.3f}", host == Host::Sleeps ? "sleeps" : "computes", factor,
                 medianOf(taken[Alone]) * 1e3, medianOf(taken[Steps]) * 1e3);
      for (int what : {Both, InTurns}) {
        Spread ratio(ratios[what]);
        fmt::print(" | {:.3f} | {:.3f} ({:.3f}–{:.3f})", medianOf(taken[what]) * 1e3, ratio.median, ratio.lower,
                   ratio.upper);
      }
      fmt::print(" |\n");
      std::fflush(stdout);
    }
  }
}

/// Runs in turns, so that both see the same load.
void measureTrace(const Subject &subject, int threads, double seconds) {
  std::string path = std::filesystem::temp_directory_path() / fmt::format("freestone-overlap-{}.json", getpid());
  Timeline timeline(path);
  Instance plain = subject.instance(threads), traced = subject.instance(threads, 0, timeline.get());
  std::vector<double> times[2];
  double end = now() + seconds;
  while (now() < end) {
    for (bool isTraced : {false, true}) {
      Instance &instance = isTraced ? traced : plain;
      instance.run();
      for (int run = 0; run < 10; ++run) {
        double begin = now();
        instance.run();
        times[isTraced].push_back(now() - begin);
      }
    }
  }
  double begin = now();
  timeline.write();
  double written = now() - begin;
  double off = medianOf(times[0]), on = medianOf(times[1]);
  freestone_counters counters = countersOf(traced);
  fmt::print("| tasks a run | without, ms | with, ms | overhead | writing the file, s |\n|---|---|---|---|---|\n");
  fmt::print("| {} | {:.4f} | {:.4f} | {:.2f} % | {:.2f} |\n", counters.phases / counters.runs, off * 1e3, on * 1e3,
             (on / off - 1) * 100, written);
  unlink(path.c_str());
}

long residentKilobytes() {
  std::ifstream file("/proc/self/statm");
  long all = 0, resident = 0;
  file >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE) / 1024;
}

void soak(const Subject &subject, int threads, int64_t steps) {
  Instance instance = subject.instance(threads);
  fmt::print("| steps | resident KiB | blocks allocated | µs a step |\n|---|---|---|---|\n");
  double begin = now();
  for (int64_t done = 0; done < steps;) {
    for (int64_t part = 0; part < steps / 10; ++part, ++done) {
      subject.bind(instance);
      instance.submit();
    }
    instance.wait();
    fmt::print("| {} | {} | {} | {:.2f} |\n", done, residentKilobytes(), countersOf(instance).allocations,
               (now() - begin) / static_cast<double>(done) * 1e6);
    std::fflush(stdout);
  }
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("What runs beside what: measures of runs in a queue, as Markdown tables.");
  std::string model;
  std::vector<std::string> inputs;
  int threads = 1;
  double seconds = 6;
  int rounds = 15;
  int64_t steps = 1'000'000;
  app.require_subcommand(1);
  auto addVerb = [&](const char *name, const char *text, auto run) {
    CLI::App *verb = app.add_subcommand(name, text);
    verb->add_option("model", model, "a .stone file")->required();
    verb->add_option("--input", inputs, "as for freestone run")->expected(1)->take_all();
    verb->add_option("--threads", threads, "workers")->capture_default_str();
    verb->add_option("--seconds", seconds, "of each measurement")->capture_default_str();
    verb->add_option("--rounds", rounds, "that take turns, of steps or wakes")->capture_default_str();
    verb->add_option("--steps", steps, "of a soak")->capture_default_str();
    verb->callback([&, run] { run(Subject(model, inputs)); });
  };
  addVerb("steps", "steps beside host work of 0.5, 1 and 2 steps",
          [&](const Subject &s) { compareSteps(s, threads, seconds, rounds); });
  addVerb("trace", "what a trace costs", [&](const Subject &s) { measureTrace(s, threads, seconds); });
  addVerb("wake", "what idle workers cost, and how fast they wake",
          [&](const Subject &s) { measureWakes(s, threads, rounds); });
  addVerb("soak", "tiny steps without end", [&](const Subject &s) { soak(s, threads, steps); });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error);
  } catch (const std::exception &error) {
    fmt::print(stderr, "freestone-overlap: {}\n", error.what());
    return 1;
  }
}
