// freestone bench: measures the time to start, compile, load and run a model.

#include "tools/freestone/Model.h"
#include "tools/freestone/Compiler.h"
#include "tools/freestone/Options.h"
#include "tools/freestone/TemporaryFolder.h"
#include "tools/freestone/Verbs.h"
#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace freestone::tools {

using Json = nlohmann::json;

namespace {

struct BenchArguments {
  CompileArguments compile;
  RuntimeOptions runtime;
  std::string model;
  std::vector<std::string> inputs;
  double seconds = 2;
  bool phases = false, json = false;
};

/// Cost of the first result of a new process.
struct ColdStart {
  double seconds;   ///< from the start of the process to its first result
  double peakBytes; ///< peak memory of the process
};

} // namespace

/// Runs `freestone run MODEL` in a new process and waits for the byte that it writes after the first run.
static ColdStart measureColdStart(const std::string &model, const BenchArguments &arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Failure(Exit::Failed, "can't make a pipe");
  constexpr int childEnd = 3;
  std::vector<std::string> words = {"freestone",
                                    "run",
                                    model,
                                    "--threads",
                                    std::to_string(arguments.runtime.threads),
                                    "--ready-descriptor",
                                    std::to_string(childEnd)};
  for (const std::string &input : arguments.inputs)
    words.insert(words.end(), {"--input", input});
  std::vector<char *> pointers;
  for (std::string &word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], childEnd);
  double begin = now();
  pid_t process;
  int error = posix_spawn(&process, "/proc/self/exe", &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error)
    throw Failure(Exit::Failed, "can't start another process");
  char byte;
  bool ready = read(ends[0], &byte, 1) == 1;
  double seconds = now() - begin;
  close(ends[0]);
  int status;
  rusage usage = {};
  wait4(process, &status, 0, &usage);
  if (!ready || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Failure(Exit::Failed, "");
  return {seconds, static_cast<double>(usage.ru_maxrss) * 1024};
}

static std::vector<double> measureRuns(Session &session, double seconds) {
  // The first run binds sizes and touches memory, so it belongs to the cold start.
  session.run();
  std::vector<double> times;
  double end = now() + seconds;
  do {
    double begin = now();
    session.run();
    times.push_back(now() - begin);
  } while (now() < end);
  std::sort(times.begin(), times.end());
  return times;
}

/// Time of the workers in each phase of a run, longest first.
static Json measurePhases(const Model &model, const std::vector<NamedValue> &inputs, const RuntimeOptions &options) {
  Session session(model, options, nullptr, /*trace=*/true);
  session.setInputs(inputs);
  for (int run = 0; run < 3; ++run)
    session.run();
  const Json description = Json::parse(model.describe());
  const Json &labels = description["entries"][0]["phases"];
  std::vector<std::pair<int64_t, std::string>> times;
  for (const freestone_trace_span &span : session.trace()) {
    std::string label = span.is_wait ? "wait for " : "";
    label += labels[span.first_phase]["label"].get<std::string>();
    if (session.threads() > 1)
      label = fmt::format("worker {}: {}", span.worker, label);
    times.emplace_back(span.end_ns - span.begin_ns, label);
  }
  std::sort(times.begin(), times.end(), std::greater<>());
  Json phases = Json::array();
  for (const auto &[nanoseconds, label] : times)
    phases.push_back({{"phase", label}, {"seconds", nanoseconds * 1e-9}});
  return phases;
}

static Json measure(const BenchArguments &arguments, const CLI::App &verb) {
  std::vector<NamedValue> inputs = readAllInputs(arguments.inputs);
  TraceFile trace(arguments.runtime.tracePath);
  Json report;
  TemporaryFolder folder;
  std::string artifact = arguments.model;
  if (!isArtifact(artifact)) {
    artifact = folder.path() + "/model.stone";
    double begin = now();
    bool wasKept;
    auto accept = [&](const train::ReadModel &read) { (void)matchInputs(read.inputs, inputs); };
    report["compile"] =
        Json::parse(Compiler(arguments.compile, accept).compileTo(artifact, arguments.model, "", wasKept));
    // A cache hit says nothing of the compile time.
    report[wasKept ? "cache_seconds" : "compile_seconds"] = now() - begin;
    report["from_cache"] = wasKept;
  } else if (arguments.compile.given(verb)) {
    throw Failure(Exit::Usage,
                  fmt::format("{} is compiled already; options of the compiler mean nothing for it", artifact));
  }
  ColdStart cold = measureColdStart(artifact, arguments);
  report["cold_start_seconds"] = cold.seconds;
  report["peak_bytes"] = cold.peakBytes;

  Model model = Model::load(artifact);
  Session session(model, arguments.runtime, trace.get());
  session.setInputs(inputs);
  std::vector<double> times = measureRuns(session, arguments.seconds);
  trace.write();
  double median = times[times.size() / 2];
  freestone_counters counters = session.counters();
  report["load_seconds"] = model.loadSeconds;
  report["threads"] = session.threads();
  report["runs"] = times.size();
  report["median_seconds"] = median;
  report["min_seconds"] = times.front();
  report["p99_seconds"] = times[std::min(times.size() - 1, times.size() * 99 / 100)];
  if (counters.operations > 0) {
    report["operations"] = counters.operations;
    report["padding_operations"] = counters.padding_operations;
    report["gflops"] = static_cast<double>(counters.operations) / median * 1e-9;
  }
  report["counters"] = {{"runs", counters.runs},
                        {"binds", counters.binds},
                        {"plan_hits", counters.plan_hits},
                        {"allocations", counters.allocations},
                        {"phases_per_run", counters.runs ? counters.phases / counters.runs : 0},
                        {"waits", counters.waits},
                        {"sleeps", counters.sleeps},
                        {"moves", counters.moves},
                        {"parks", counters.parks},
                        {"alerts", counters.alerts},
                        {"chunks", counters.chunks},
                        {"entries", counters.entries},
                        {"host_calls", counters.host_calls},
                        {"claiming_runs", counters.claiming_runs},
                        {"steals", counters.steals},
                        {"preemptions", counters.preemptions},
                        {"kept_whole", counters.kept_whole},
                        {"kept_near", counters.kept_near},
                        {"arena_bytes", counters.arena_bytes},
                        {"live_bytes", counters.live_bytes}};
  if (arguments.phases)
    report["phases"] = measurePhases(model, inputs, arguments.runtime);
  return report;
}

/// Whether some of the model's code was cached, which models with equal programs share.
static bool usesKeptCode(const Json &report) {
  const Json counters = report.value("compile", Json::object()).value("counters", Json::object());
  return counters.value("code_from_cache", 0) > 0 || counters.value("programs_from_cache", 0) > 0;
}

static void print(const Json &report) {
  auto milliseconds = [&](const char *name, const char *key) {
    if (report.contains(key))
      fmt::print("{:<22}{:>12.3f} ms\n", name, report[key].get<double>() * 1e3);
  };
  milliseconds(usesKeptCode(report) ? "compile (code kept)" : "compile", "compile_seconds");
  milliseconds("from the cache", "cache_seconds");
  milliseconds("load", "load_seconds");
  milliseconds("process to first result", "cold_start_seconds");
  fmt::print("{} runs with {} threads\n", report["runs"].get<size_t>(), report["threads"].get<int>());
  milliseconds("median", "median_seconds");
  milliseconds("min", "min_seconds");
  milliseconds("p99", "p99_seconds");
  if (report.contains("gflops"))
    fmt::print("{:<22}{:>12.1f} GFLOP/s, {:.4g} operations a run\n", "speed", report["gflops"].get<double>(),
               report["operations"].get<double>());
  fmt::print("{:<22}{:>12.1f} MiB\n", "peak memory", report["peak_bytes"].get<double>() / (1 << 20));
  if (report.contains("phases"))
    for (const Json &phase : report["phases"])
      fmt::print("{:>12.3f} ms  {}\n", phase["seconds"].get<double>() * 1e3, phase["phase"].get<std::string>());
}

static constexpr double mostSeconds = 1e6;

void addBenchVerb(CLI::App &app) {
  CLI::App *verb = app.add_subcommand("bench", "Measures how long a model takes to start, compile, load and run.");
  auto arguments = std::make_shared<BenchArguments>();
  addText(*verb, "model", arguments->model, fileKind, "the .onnx or .stone file")->required();
  addTexts(*verb, "--input", arguments->inputs, formKind, "as for run");
  arguments->runtime.addTo(*verb);
  addNumber(*verb, "--seconds", arguments->seconds, {0, mostSeconds, false, true}, "how long to run");
  verb->add_flag("--phases", arguments->phases, "also prints how long each phase of one run took");
  verb->add_flag("--json", arguments->json, "prints JSON");
  arguments->compile.addTo(*verb);
  verb->callback([arguments, verb] {
    Json report = measure(*arguments, *verb);
    if (arguments->json)
      fmt::print("{}\n", report.dump(2));
    else
      print(report);
  });
}

} // namespace freestone::tools
