#include "bench/overlap/Wake.h"

#include <atomic>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace freestone::bench {

using Json = nlohmann::json;

/// The host's event, from a call to the end of its run.
static constexpr const char *callName = "call";

static double cpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/// The start of the first event of each thread in each run, in microseconds, by run and thread.
static std::map<int64_t, std::map<std::string, double>> readBegins(const std::string &path) {
  std::ifstream file(path);
  Json events = Json::parse(file).at("traceEvents");
  std::map<int64_t, std::string> threads;
  for (const Json &event : events)
    if (event["name"] == "thread_name")
      threads[event["tid"]] = event["args"]["name"];
  std::map<int64_t, std::map<std::string, double>> begins;
  for (const Json &event : events) {
    if (event["ph"] != "X" || (threads[event["tid"]] == "host" && event["name"] != callName))
      continue;
    double at = event["ts"];
    auto [known, isNew] = begins[event["args"]["run"]].try_emplace(threads[event["tid"]], at);
    known->second = std::min(known->second, at);
  }
  return begins;
}

/// CPU usage of an idle process.
static double measureIdle(const Subject &subject, int threads, uint32_t switchedOff) {
  Instance instance = subject.instance(threads, switchedOff);
  instance.wait(instance.submit());
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  double cpu = cpuSeconds(), begin = now();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  return (cpuSeconds() - cpu) / (now() - begin);
}

/// Runs of an instance that was idle before each: microseconds from the call to each worker's first task.
static std::map<std::string, std::vector<double>> measureBegins(const Subject &subject, int threads,
                                                                uint32_t switchedOff, bool isQueued,
                                                                std::chrono::milliseconds idle, int runs) {
  std::string path = std::filesystem::temp_directory_path() / fmt::format("freestone-wake-{}.json", getpid());
  Timeline timeline(path);
  {
    Instance instance = subject.instance(threads, switchedOff, timeline.get());
    for (int run = 1; run <= runs; ++run) {
      int64_t begin = Timeline::now();
      if (isQueued)
        instance.wait(instance.submit());
      else
        instance.run();
      timeline.add("host", callName, begin, Timeline::now(), run);
      std::this_thread::sleep_for(idle);
    }
  }
  timeline.write();
  std::map<std::string, std::vector<double>> times;
  for (const auto &[run, begins] : readBegins(path))
    if (run > 1) // the first run starts the threads
      for (const auto &[thread, begin] : begins)
        times[thread].push_back(begin - begins.at("host"));
  times.erase("host");
  unlink(path.c_str());
  return times;
}

/// Microseconds from a wake until the thread runs, which slept on another CPU for so long: the machine's own latency.
static std::vector<double> measureBareWakes(std::chrono::milliseconds idle, int runs) {
  cpu_set_t all, first, second;
  sched_getaffinity(0, sizeof(all), &all);
  CPU_ZERO(&first);
  CPU_ZERO(&second);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&second) == 0; ++cpu)
    if (CPU_ISSET(cpu, &all))
      CPU_SET(cpu, CPU_COUNT(&first) == 0 ? &first : &second);
  if (CPU_COUNT(&second) == 0)
    return {};
  std::atomic<int> word = 0;
  std::atomic<int64_t> awake = 0;
  std::thread sleeper([&] {
    sched_setaffinity(0, sizeof(second), &second);
    for (int seen = 0; seen < runs; ++seen) {
      word.wait(seen);
      awake = Timeline::now();
    }
  });
  sched_setaffinity(0, sizeof(first), &first);
  std::vector<double> times;
  for (int run = 0; run < runs; ++run) {
    std::this_thread::sleep_for(idle);
    awake = 0;
    int64_t begin = Timeline::now();
    ++word;
    word.notify_one();
    while (awake == 0) {
    }
    times.push_back(static_cast<double>(awake - begin) * 1e-3);
  }
  sleeper.join();
  sched_setaffinity(0, sizeof(all), &all);
  return times;
}

static std::string show(std::vector<double> values) {
  if (values.empty())
    return "";
  std::ranges::sort(values);
  return fmt::format("{:.1f} ({:.1f})", values[values.size() / 2], values[values.size() * 9 / 10]);
}

void measureWakes(const Subject &subject, int threads, int rounds) {
  for (uint32_t switchedOff : {0, int(FREESTONE_SPIN)})
    fmt::print("Idle for 100 ms, spinning {}, the process uses {:.2f} % of a CPU.\n", switchedOff ? "off" : "on",
               100 * measureIdle(subject, threads, switchedOff));
  fmt::print(
      "\nFrom the call to the beginning of each worker's first task, and from a bare wake to the moment at which "
      "a thread runs on another CPU, µs: medians (90 %).\n\n| idle before | bare wake | call | switched off |");
  for (int worker = 0; worker < threads; ++worker)
    fmt::print(" worker {} |", worker);
  fmt::print("\n|---|---|---|---|");
  for (int worker = 0; worker < threads; ++worker)
    fmt::print("---|");
  fmt::print("\n");
  const std::pair<const char *, uint32_t> switches[] = {
      {"", 0}, {"spin", FREESTONE_SPIN}, {"alerts", FREESTONE_ALERTS}, {"moves", FREESTONE_MOVES}};
  for (std::chrono::milliseconds idle : {std::chrono::milliseconds(2), std::chrono::milliseconds(100)})
    for (bool isQueued : {true, false})
      for (auto [name, switchedOff] : switches) {
        std::vector<double> bare = measureBareWakes(idle, 2 * rounds);
        auto times = measureBegins(subject, threads, switchedOff, isQueued, idle, 4 * rounds);
        fmt::print("| {} ms | {} | {} | {} |", idle.count(), show(bare), isQueued ? "submit" : "run", name);
        for (const auto &[thread, values] : times)
          fmt::print(" {} |", show(values));
        fmt::print("\n");
        std::fflush(stdout);
      }
}

} // namespace freestone::bench
