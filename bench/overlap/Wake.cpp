#include "bench/overlap/Wake.h"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

namespace freestone::bench {

using Json = nlohmann::json;

static double cpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/// Of every run, by its number, the microsecond at which each thread's first event begins, and that at which the host
/// was ready to submit it.
static std::map<int64_t, std::map<std::string, double>> readBegins(const std::string &path) {
  std::ifstream file(path);
  Json events = Json::parse(file).at("traceEvents");
  std::map<int64_t, std::string> threads;
  for (const Json &event : events)
    if (event["name"] == "thread_name")
      threads[event["tid"]] = event["args"]["name"];
  std::map<int64_t, std::map<std::string, double>> begins;
  for (const Json &event : events) {
    if (event["ph"] != "X")
      continue;
    const std::string &thread = threads[event["tid"]];
    double at = event["ts"];
    if (thread == "host" && event["name"] != "prepare")
      continue;
    if (thread == "host")
      at += event["dur"].get<double>();
    auto [known, isNew] = begins[event["args"]["run"]].try_emplace(thread, at);
    known->second = isNew ? at : std::min(known->second, at);
  }
  return begins;
}

/// The share of a CPU that the process uses while it has nothing to do.
static double measureIdle(const Subject &subject, int threads, uint32_t switchedOff) {
  Instance instance = subject.instance(threads, switchedOff);
  instance.wait(instance.submit());
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  double cpu = cpuSeconds(), begin = now();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  return (cpuSeconds() - cpu) / (now() - begin);
}

void measureWakes(const Subject &subject, int threads, int rounds) {
  std::string path = std::filesystem::temp_directory_path() / fmt::format("freestone-wake-{}.json", getpid());
  for (uint32_t switchedOff : {0, int(FREESTONE_SPIN)})
    fmt::print("Idle for 100 ms, spinning {}, the process uses {:.2f} % of a CPU.\n", switchedOff ? "off" : "on",
               100 * measureIdle(subject, threads, switchedOff));
  fmt::print("\nFrom the submission of a run to the beginning of its first task, µs.\n\n");
  fmt::print("| spinning | idle before | begins | median | 90 % |\n|---|---|---|---|---|\n");
  for (uint32_t switchedOff : {0, int(FREESTONE_SPIN)})
    for (int idle : {2, 100}) {
      Timeline timeline(path);
      {
        Instance instance = subject.instance(threads, switchedOff, timeline.get());
        for (int run = 0; run < 10 * rounds; ++run) {
          instance.wait(instance.submit());
          std::this_thread::sleep_for(std::chrono::milliseconds(idle));
        }
      }
      timeline.write();
      std::map<std::string, std::vector<double>> times;
      for (auto &[run, begins] : readBegins(path))
        if (double submitted = begins["host"]; run > 1) // the first one starts the threads
          for (const auto &[thread, begin] : begins)
            if (thread != "host")
              times[thread].push_back(begin - submitted);
      unlink(path.c_str());
      for (auto &[thread, values] : times) {
        std::ranges::sort(values);
        fmt::print("| {} | {} ms | {} | {:.1f} | {:.1f} |\n", switchedOff ? "off" : "on", idle, thread,
                   values[values.size() / 2], values[values.size() * 9 / 10]);
      }
      std::fflush(stdout);
    }
}

} // namespace freestone::bench
