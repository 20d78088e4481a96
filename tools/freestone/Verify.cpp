// freestone verify: runs cases in the layout of ONNX's backend tests and compares the numbers.

#include "tools/freestone/Compiler.h"
#include "tools/freestone/Options.h"
#include "tools/freestone/ProcessPool.h"
#include "tools/freestone/TestCase.h"
#include "tools/freestone/Verbs.h"
#include "train/options/OptionRules.h"
#include <array>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace freestone::tools {

using Json = nlohmann::json;

namespace {

struct VerifyArguments {
  TestOptions test;
  std::vector<std::string> paths;
  int jobs = 1;
  double timeout = 60;
  bool json = false, allowUnsupported = false;
};

struct Summary {
  int passed = 0, failed = 0, unsupported = 0;
  bool wrongNumbers = false, otherFailures = false;
  Json cases = Json::array();
};

} // namespace

static constexpr std::array<const char *, 5> verdictNames = {"pass", "unsupported", "wrong numbers", "failed",
                                                             "crashed"};

static std::string encode(const Outcome &outcome) {
  Json json = {{"verdict", static_cast<int>(outcome.verdict)},
               {"reason", outcome.reason},
               {"seconds", outcome.seconds},
               {"error", outcome.largestError}};
  // Node names come from the model and need not be UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The child's result, or the cause of its death.
static Outcome decode(const TaskResult &result, double timeout) {
  Outcome outcome;
  outcome.seconds = result.seconds;
  outcome.verdict = Verdict::Crashed;
  std::string words = result.lastWords.empty() ? "" : ": " + result.lastWords;
  Json json = Json::parse(result.message, nullptr, /*allow_exceptions=*/false);
  if (result.timedOut)
    outcome.reason = fmt::format("it took more than {} s", timeout);
  else if (result.signal)
    outcome.reason = fmt::format("crashed with {}{}", strsignal(result.signal), words);
  else if (!json.is_object())
    outcome.reason = fmt::format("ended with exit code {}{}", result.exitCode, words);
  else
    outcome = {static_cast<Verdict>(json["verdict"].get<int>()), json["reason"], json["seconds"], json["error"]};
  return outcome;
}

static void record(const TestCase &test, const Outcome &outcome, bool json, Summary &summary) {
  const char *word = "FAIL";
  if (outcome.verdict == Verdict::Pass) {
    ++summary.passed;
    word = "PASS";
  } else if (outcome.verdict == Verdict::Unsupported) {
    ++summary.unsupported;
    word = "UNSUPPORTED";
  } else {
    ++summary.failed;
    (outcome.verdict == Verdict::WrongNumbers ? summary.wrongNumbers : summary.otherFailures) = true;
  }
  if (json) {
    summary.cases.push_back({{"name", test.name},
                             {"status", word},
                             {"verdict", verdictNames[static_cast<size_t>(outcome.verdict)]},
                             {"reason", outcome.reason},
                             {"seconds", outcome.seconds},
                             {"largest_error", outcome.largestError}});
    return;
  }
  fmt::print("{} {}{}{}\n", word, test.name, outcome.reason.empty() ? "" : ": ", outcome.reason);
  std::fflush(stdout);
}

static void verify(const VerifyArguments &arguments) {
  std::vector<TestCase> cases;
  for (const std::string &path : arguments.paths)
    for (TestCase &test : findTestCases(path))
      cases.push_back(std::move(test));
  // Reports a wrong option once, not for each case; opened before the first fork, so that all children share it.
  Compiler compiler(arguments.test.compile);
  compiler.describeDevice();
  Compiler::warmUp();
  // Children would disturb the measurement of the machine.
  compiler.rates();

  Summary summary;
  runInProcesses(
      static_cast<int>(cases.size()), arguments.jobs, arguments.timeout,
      [&](int index) { return encode(runTestCase(cases[static_cast<size_t>(index)], arguments.test)); },
      [&](int index, const TaskResult &result) {
        record(cases[static_cast<size_t>(index)], decode(result, arguments.timeout), arguments.json, summary);
      });
  if (arguments.json)
    fmt::print("{}\n", Json{{"passed", summary.passed},
                            {"failed", summary.failed},
                            {"unsupported", summary.unsupported},
                            {"cases", std::move(summary.cases)}}
                           .dump(2));
  else
    fmt::print("{} passed, {} failed, {} unsupported\n", summary.passed, summary.failed, summary.unsupported);
  if (summary.wrongNumbers)
    throw Failure(Exit::NumbersDiffer, "");
  if (summary.otherFailures || (summary.unsupported && !arguments.allowUnsupported))
    throw Failure(Exit::Failed, "");
}

static constexpr double mostProcesses = 1024, mostTimeout = 1e6;

void addVerifyVerb(CLI::App &app) {
  CLI::App *verb =
      app.add_subcommand("verify", "Runs cases in the layout of ONNX's backend tests and compares the numbers.");
  auto arguments = std::make_shared<VerifyArguments>();
  arguments->test.compile.jobs = 1;
  addTexts(*verb, "path", arguments->paths, folderKind, "folders of cases, at any depth")
      ->required()
      ->allow_extra_args(true);
  addNumber(*verb, "--rtol", arguments->test.rtol, words::notNegative,
            "relative tolerance; by default the case's own, else 1e-3 (bf16: at least 2^-6)");
  addNumber(*verb, "--atol", arguments->test.atol, words::notNegative,
            "absolute tolerance; by default the case's own, else 1e-7");
  addNumber(*verb, "--ulp", arguments->test.ulp, words::wholeFrom(0),
            "instead: how many representable numbers a float may be off");
  addNumber(*verb, "--jobs", arguments->jobs, words::wholeFrom(1, mostProcesses),
            "cases at a time, each in a process of its own");
  addNumber(*verb, "--threads", arguments->test.threads, train::rangeOf("threads"), "workers of every run");
  addNumber(*verb, "--timeout", arguments->timeout, {0, mostTimeout, false, true},
            "seconds after which a case has failed");
  verb->add_flag("--allow-unsupported", arguments->allowUnsupported, "unsupported cases are no failure");
  verb->add_flag("--json", arguments->json, "prints one JSON document instead of lines");
  arguments->test.compile.addTo(*verb);
  verb->callback([arguments] { verify(*arguments); });
}

} // namespace freestone::tools
