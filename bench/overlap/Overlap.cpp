// Steps with work on the host beside them, the cost of a trace, how fast sleepers wake, and a soak of tiny steps.
#include "bench/overlap/Subject.h"
#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/resource.h>
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

/// A training's loop: prepare a batch, submit it, read what the one before told. Median seconds from step to step.
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

/// The host's work with nothing beside it: who sleeps, sleeps longer than asked for.
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

/// Each alone, both beside each other, and one after the other, in turns: whatever else the machine does may slow any
/// of them down, and speeds none up, so that the quickest of all rounds counts.
void compareSteps(const Subject &subject, int threads, double seconds) {
  constexpr int rounds = 5;
  const double part = seconds / rounds;
  double device = HUGE_VAL;
  for (int round = 0; round < rounds; ++round)
    device = std::min(device, measureSteps(subject, threads, true, Host::Computes, 0, part));
  fmt::print("One step takes {:.3f} ms on {} worker{}.\n\n", device * 1e3, threads, threads == 1 ? "" : "s");
  fmt::print("| the host | its work | host alone, ms | runs alone, ms | both, ms | / larger | without overlap, ms | / "
             "larger |\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  for (Host host : {Host::Computes, Host::Sleeps}) {
    for (double factor : {0.5, 1.0, 2.0}) {
      double work = factor * device;
      double alone = HUGE_VAL, runs = HUGE_VAL, on = HUGE_VAL, off = HUGE_VAL;
      for (int round = 0; round < rounds; ++round) {
        alone = std::min(alone, measureHost(host, work, part / 4));
        runs = std::min(runs, measureSteps(subject, threads, true, host, 0, part));
        on = std::min(on, measureSteps(subject, threads, true, host, work, part));
        off = std::min(off, measureSteps(subject, threads, false, host, work, part));
      }
      double larger = std::max(alone, runs);
      fmt::print("| {} | {} steps | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} | {:.3f} |\n",
                 host == Host::Sleeps ? "sleeps" : "computes", factor, alone * 1e3, runs * 1e3, on * 1e3, on / larger,
                 off * 1e3, off / larger);
      std::fflush(stdout);
    }
  }
}

/// Runs in turns, so that both see the same machine.
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

double cpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

void measureWakes(const Subject &subject, int threads) {
  fmt::print("| spinning | CPU time 100 ms after a run | wakes in (median) | 90 % |\n|---|---|---|---|\n");
  for (uint32_t switchedOff : {0, int(FREESTONE_SPIN)}) {
    Instance instance = subject.instance(threads, switchedOff);
    instance.wait(instance.submit());
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    double cpu = cpuSeconds(), begin = now();
    std::this_thread::sleep_for(std::chrono::seconds(1));
    double busy = (cpuSeconds() - cpu) / (now() - begin);
    std::vector<double> times;
    std::atomic<int64_t> moment = 0;
    for (int round = 0; round < 300; ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      int64_t submitted = Timeline::now();
      instance.submitCall([](void *at) { static_cast<std::atomic<int64_t> *>(at)->store(Timeline::now()); }, &moment);
      instance.wait();
      times.push_back(static_cast<double>(moment - submitted) * 1e-3);
    }
    std::ranges::sort(times);
    fmt::print("| {} | {:.2f} % | {:.1f} µs | {:.1f} µs |\n", switchedOff ? "off" : "on", busy * 100,
               times[times.size() / 2], times[times.size() * 9 / 10]);
  }
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
  double seconds = 3;
  int64_t steps = 1'000'000;
  app.require_subcommand(1);
  auto addVerb = [&](const char *name, const char *text, auto run) {
    CLI::App *verb = app.add_subcommand(name, text);
    verb->add_option("model", model, "a .stone file")->required();
    verb->add_option("--input", inputs, "as for freestone run")->expected(1)->take_all();
    verb->add_option("--threads", threads, "workers")->capture_default_str();
    verb->add_option("--seconds", seconds, "of each measurement")->capture_default_str();
    verb->add_option("--steps", steps, "of a soak")->capture_default_str();
    verb->callback([&, run] { run(Subject(model, inputs)); });
  };
  addVerb("steps", "steps beside host work of 0.5, 1 and 2 steps",
          [&](const Subject &s) { compareSteps(s, threads, seconds); });
  addVerb("trace", "what a trace costs", [&](const Subject &s) { measureTrace(s, threads, seconds); });
  addVerb("wake", "what idle workers cost, and how fast they wake",
          [&](const Subject &s) { measureWakes(s, threads); });
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
