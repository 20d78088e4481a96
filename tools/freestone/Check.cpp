// freestone check: tells whether a model would compile, and lists its unsupported nodes.

#include "tools/freestone/Compiler.h"
#include "tools/freestone/Options.h"
#include "tools/freestone/Verbs.h"
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace freestone::tools {

using Json = nlohmann::json;

static void printValues(const char *title, const Json &values) {
  for (const Json &value : values) {
    std::string shape;
    for (const Json &size : value.value("shape", Json::array()))
      shape += (size.is_string() ? size.get<std::string>() : size.dump()) + ", ";
    if (!shape.empty())
      shape.resize(shape.size() - 2);
    std::string kind = value.value("kind", "");
    std::string of = kind == "sequence"   ? "sequence of "
                     : kind == "optional" ? "optional "
                     : kind.empty()       ? ""
                                          : "optional sequence of ";
    fmt::print("{} {}: {}{}[{}]\n", title, value.value("name", ""), of, value.value("type", ""), shape);
  }
}

static void printReport(const Json &report) {
  std::vector<std::string> opsets;
  Json versions = report.value("opsets", Json::object());
  for (const auto &[domain, version] : versions.items())
    opsets.push_back(fmt::format("{} {}", domain.empty() ? "ai.onnx" : domain, version.dump()));
  fmt::print("{} nodes, opset {}\n", report.value("nodes", 0), fmt::join(opsets, ", "));
  printValues("input", report.value("inputs", Json::array()));
  printValues("output", report.value("outputs", Json::array()));
  for (const Json &slow : report.value("slow", Json::array()))
    fmt::print("slow: node '{}', {}: {} of its {} operations go neither through a micro-kernel nor in vectors: {}\n",
               slow.value("node", ""), slow.value("shape", ""), slow.value("scalar", int64_t(0)),
               slow.value("operations", int64_t(0)), slow.value("reason", ""));
  for (const Json &fault : report.value("unsupported", Json::array())) {
    std::string reason = fault.value("reason", "");
    for (const char *part : {"input", "output", "initializer", "model"})
      if (fault.contains(part))
        fmt::print("unsupported {} '{}': {}\n", part, fault.value(part, ""), reason);
    if (fault.contains("node"))
      fmt::print("unsupported {} (opset {}), node '{}': {}\n", fault.value("op", ""), fault.value("opset", 0),
                 fault.value("node", ""), reason);
  }
}

void addCheckVerb(CLI::App &app) {
  CLI::App *verb = app.add_subcommand("check", "Says what in a model can't be compiled, and its inputs and outputs.");
  struct Arguments {
    CompileArguments compile;
    std::string model;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  addText(*verb, "model", arguments->model, fileKind, "the .onnx file")->required();
  verb->add_flag("--json", arguments->json, "prints the report as JSON");
  arguments->compile.addTo(*verb);
  verb->callback([arguments] {
    compilation::Description model = Compiler(arguments->compile).check(arguments->model);
    if (arguments->json)
      fmt::print("{}\n", model.json);
    else
      printReport(Json::parse(model.json, nullptr, /*allow_exceptions=*/false));
    if (!model.reason.empty())
      throw Failure(Exit::Failed, arguments->json ? "" : "the model can't be compiled: " + model.reason);
    if (!arguments->json)
      fmt::print("the model compiles\n");
  });
}

} // namespace freestone::tools
