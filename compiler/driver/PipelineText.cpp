#include "compiler/driver/PipelineText.h"

#include "compiler/driver/PortText.h"

using namespace freestone;
using namespace llvm;

std::string driver::describePipeline(const ModelNames &names, StringRef description,
                                     const std::vector<PortReport> &inputs) {
  json::Value parsed = cantFail(json::parse(description));
  json::Object &object = *parsed.getAsObject();
  for (json::Value &symbol : *object.getArray("symbols"))
    symbol = names.expand(*symbol.getAsString());
  for (json::Value &shared : *object.getArray("shared")) {
    json::Value &state = *shared.getAsObject()->get("state");
    state = names.expand(*state.getAsString());
  }
  object["inputs"] = describePorts(inputs);
  std::string text;
  raw_string_ostream(text) << parsed;
  return text;
}
