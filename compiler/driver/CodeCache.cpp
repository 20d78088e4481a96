#include "compiler/driver/CodeCache.h"

#include "compiler/driver/ProgramCache.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::driver;

/// With locations: the artifact's messages about nodes are made of them.
static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().useLocalScope().enableDebugInfo());
  return text;
}

static std::string describe(const Switches &switches) {
  std::string off;
  for (const SwitchInfo &info : switchTable)
    if (!(switches.*info.isOn))
      off += (off.empty() ? "" : " ") + std::string(info.name);
  return off;
}

static std::string describe(const PipelineOptions &pipeline) {
  std::string text = std::to_string(pipeline.stage) + (pipeline.split ? " split" : "") + " of";
  for (int64_t stage : pipeline.stages)
    text += " " + std::to_string(stage);
  text += pipeline.recompute.empty() ? "" : " recomputing";
  for (int64_t stage : pipeline.recompute)
    text += " " + std::to_string(stage);
  return text;
}

cache::Claim CodeCache::claim(ModuleOp module, const Options &options, const DeviceDescription &device) {
  if (compiler.empty())
    return {};
  ingredients = describeDevice(compiler, device);
  ingredients.add("disabled", describe(options.switches));
  ingredients.add("tilings", options.tune ? "timed" : "predicted");
  if (options.pipeline)
    ingredients.add("pipeline", describe(*options.pipeline));
  ingredients.add("module", print(module));
  return store.claim(cache::Kind::Code, ingredients);
}

void CodeCache::keep(StringRef code, const std::string &about) {
  if (!compiler.empty())
    store.keep(cache::Kind::Code, ingredients, std::string_view(code.data(), code.size()), about);
}
