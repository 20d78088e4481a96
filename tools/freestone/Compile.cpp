// freestone compile: compiles an ONNX model to one file.

#include "tools/freestone/Compiler.h"
#include "tools/freestone/Options.h"
#include "tools/freestone/Verbs.h"
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace freestone::tools {

using Json = nlohmann::json;

static void printStatistics(const std::string &output, const Json &statistics) {
  double seconds = statistics.value("seconds", 0.0), tuning = 0;
  for (const Json &phase : statistics.value("phases", Json::array()))
    if (phase.value("name", "") == "tune")
      tuning = phase.value("seconds", 0.0);
    else
      fmt::print("{:<12}{:>9.1f} ms\n", phase.value("name", ""), phase.value("seconds", 0.0) * 1e3);
  fmt::print("{:<12}{:>9.1f} ms\n", "total", (seconds - tuning) * 1e3);
  if (tuning > 0)
    fmt::print("and {:.2f} s to time tilings\n", tuning);
  fmt::print("{} programs compiled, {} more were the same as another\n", statistics.value("programs", 0),
             statistics.value("programs_shared", 0));
  Json counters = statistics.value("counters", Json::object());
  for (const auto &[name, count] : counters.items())
    fmt::print("{}: {}\n", name, count.dump());
  Json work = statistics.value("scalar_work", Json::object());
  if (int64_t operations = work.value("operations", int64_t(0)))
    fmt::print("{:.1f} % of its operations go neither through a micro-kernel nor in vectors\n",
               100.0 * work.value("scalar", int64_t(0)) / operations);
  Json bytes = statistics.value("bytes", Json::object());
  fmt::print("{}: {} bytes, of which code {} and weights {}, for {}\n", output, bytes.value("file", int64_t(0)),
             bytes.value("code", int64_t(0)), bytes.value("weights", int64_t(0)), statistics.value("target", ""));
}

void addCompileVerb(CLI::App &app) {
  CLI::App *verb = app.add_subcommand("compile", "Compiles a model into one file that runs without the compiler.");
  struct Arguments {
    CompileArguments compile;
    std::string model, output;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  addText(*verb, "model", arguments->model, fileKind, "the .onnx file")->required();
  addText(*verb, "-o,--output", arguments->output, newFileKind, "the .stone file; by default beside the model");
  verb->add_flag("--strip-weights", arguments->compile.stripWeights,
                 "leaves the weights out; they are supplied when the file is loaded");
  verb->add_flag("--json", arguments->json, "prints what was done as JSON");
  arguments->compile.addTo(*verb);
  verb->callback([arguments] {
    if (arguments->output.empty())
      arguments->output = std::filesystem::path(arguments->model).replace_extension(".stone").string();
    requireWritable("--output", arguments->output);
    bool wasKept;
    Compiler compiler(arguments->compile);
    Json statistics = Json::parse(compiler.compileTo(arguments->output, arguments->model, "", wasKept), nullptr,
                                  /*allow_exceptions=*/false);
    if (wasKept)
      fmt::print(stderr, "it was compiled before, and these are the figures of then; --no-cache compiles again\n");
    if (compiler.calibrationSeconds() > 0)
      statistics["calibration"] = compiler.calibrationSeconds();
    if (arguments->json) {
      fmt::print("{}\n", statistics.dump());
      return;
    }
    printStatistics(arguments->output, statistics);
    fmt::print("{}", compiler.describeCalibration());
  });
}

} // namespace freestone::tools
