// freestone inspect: prints a program at any level, and the metadata of an artifact.

#include "tools/freestone/Model.h"
#include "tools/freestone/Compiler.h"
#include "tools/freestone/Options.h"
#include "tools/freestone/Verbs.h"
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace freestone::tools {

using Json = nlohmann::json;

namespace {

struct InspectArguments {
  CompileArguments compile;
  std::string model, level = "graph";
  bool json = false, check = false, tiles = false;
};

} // namespace

static void printStates(const Model &model) {
  for (size_t i = 0; i < freestone_artifact_state_count(model.get()); ++i) {
    freestone_state_info state = {};
    state.struct_size = sizeof(state);
    check(freestone_artifact_state(model.get(), i, &state));
    std::string begin = state.initial ? fmt::format("begins as weight {}", state.initial) : "begins as zeros";
    fmt::print("state {}: {}[{}], {}\n", state.name, typeName(state.dtype),
               fmt::join(state.dims, state.dims + state.rank, ", "), begin);
  }
}

static void printSummary(const Model &model, const Json &description) {
  for (const ValueInfo &input : model.inputs())
    fmt::print("input {}\n", describe(input));
  for (const ValueInfo &output : model.outputs())
    fmt::print("output {}\n", describe(output));
  for (size_t i = 0; i < freestone_artifact_symbol_count(model.get()); ++i) {
    freestone_symbol_info symbol = {};
    symbol.struct_size = sizeof(symbol);
    check(freestone_artifact_symbol(model.get(), i, &symbol));
    std::string upper = symbol.upper == INT64_MAX ? "" : fmt::format("{}", symbol.upper);
    std::string multiple = symbol.multiple_of > 1 ? fmt::format(", a multiple of {}", symbol.multiple_of) : "";
    fmt::print("size {} in {}:{}{}{}\n", symbol.name, symbol.lower, upper, multiple,
               symbol.is_result ? ", known after a run" : "");
  }
  for (size_t i = 0; i < freestone_artifact_entry_count(model.get()); ++i)
    if (std::string name = freestone_artifact_entry_name(model.get(), i); name != "main")
      fmt::print("entry {}\n", name);
  printStates(model);
  for (const Json &entry : description["entries"])
    if (entry["name"] == "main" && !entry["operations"].get<std::string>().empty())
      fmt::print("floating-point operations {}, and {} thrown away\n", entry["operations"].get<std::string>(),
                 entry["padding"].get<std::string>());
  for (const Json &entry : description["entries"])
    for (const Json &service : entry["services"])
      fmt::print("service {}, version {}\n", service["name"].get<std::string>(), service["version"].get<int64_t>());
  if (size_t missing = freestone_artifact_missing_weight_count(model.get()))
    fmt::print("{} weights are not in the file\n", missing);
  fmt::print("{}\n", description.dump(2));
}

static void inspectArtifact(const InspectArguments &arguments, const CLI::App &verb) {
  if (verb.count("--level") || arguments.tiles)
    throw Failure(Exit::Usage,
                  "an artifact holds only machine code; give the .onnx file to see a level of the program");
  if (arguments.compile.given(verb))
    throw Failure(Exit::Usage,
                  fmt::format("{} is compiled already; options of the compiler mean nothing for it", arguments.model));
  Model model = Model::load(arguments.model, arguments.check);
  std::string description = model.describe();
  if (arguments.json)
    fmt::print("{}\n", description);
  else
    printSummary(model, Json::parse(description, nullptr, /*allow_exceptions=*/false));
  if (arguments.check && !arguments.json)
    fmt::print("all checksums are right\n");
}

static void inspectModel(const InspectArguments &arguments) {
  if (arguments.check)
    throw Failure(Exit::Usage, "--check verifies an artifact; for an .onnx file use 'freestone check'");
  std::string level = arguments.tiles ? "tiles" : arguments.level;
  std::string program = Compiler(arguments.compile).inspect(arguments.model, level);
  if (arguments.json)
    fmt::print("{}\n", Json{{"level", level}, {"program", program}}.dump());
  else
    fmt::print("{}", program);
}

void addInspectVerb(CLI::App &app) {
  CLI::App *verb =
      app.add_subcommand("inspect", "Shows the program at any level, or what an artifact says about itself.");
  auto arguments = std::make_shared<InspectArguments>();
  addText(*verb, "model", arguments->model, fileKind, "the .onnx or .stone file")->required();
  addWord(*verb, "--level", arguments->level, {{"graph", "tile", "task", "llvm", "asm"}},
          "graph, tile, task, llvm or asm");
  verb->add_flag("--tiles", arguments->tiles,
                 "explains the tiling of every program: the best candidates, and what the model predicts for them")
      ->excludes("--level");
  verb->add_flag("--json", arguments->json, "prints JSON");
  verb->add_flag("--check", arguments->check, "verifies the checksums of an artifact's weights too");
  arguments->compile.addTo(*verb);
  verb->callback([arguments, verb] {
    if (isArtifact(arguments->model))
      inspectArtifact(*arguments, *verb);
    else
      inspectModel(*arguments);
  });
}

} // namespace freestone::tools
