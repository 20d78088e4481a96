#include "train/compilation/Acceptance.h"

#include "formats/ElementType.h"
#include "train/Error.h"
#include <nlohmann/json.hpp>

namespace freestone::train {

using Json = nlohmann::json;

static std::vector<ValueInfo> parsePorts(const Json &ports) {
  std::vector<ValueInfo> values;
  for (const Json &port : ports) {
    // What is not supported has no element type of ours.
    std::optional<freestone_dtype> type = formats::typeFromName(port.at("type").get<std::string>());
    std::string kind = port.value("kind", "");
    ValueInfo &value = values.emplace_back(ValueInfo{port.at("name"),
                                                     type.value_or(freestone_dtype{}),
                                                     {},
                                                     kind == "sequence"            ? FREESTONE_SEQUENCE
                                                     : kind == "optional"          ? FREESTONE_OPTIONAL
                                                     : kind == "optional-sequence" ? FREESTONE_OPTIONAL_SEQUENCE
                                                                                   : FREESTONE_TENSOR});
    for (const Json &size : port.at("shape"))
      value.shape.push_back(size.is_string() ? size.get<std::string>() : size.dump());
  }
  return values;
}

static Error damaged(const Json::exception &error) {
  return Error(std::string("what the compiler says of the model is damaged: ") + error.what());
}

std::vector<ValueInfo> parsePorts(const std::string &json) {
  try {
    return parsePorts(Json::parse(json));
  } catch (const Json::exception &error) {
    throw damaged(error);
  }
}

ReadModel ReadModel::parse(const std::string &text) {
  ReadModel model;
  try {
    Json json = Json::parse(text);
    model.inputs = parsePorts(json.at("inputs"));
    model.outputs = parsePorts(json.at("outputs"));
    if (const Json &step = json.at("training"); !step.is_null())
      model.step = StepDescription::parse(step.dump());
  } catch (const Json::exception &error) {
    throw damaged(error);
  }
  return model;
}

void AcceptCall::addTo(freestone_compile_options &options) {
  if (!acceptance)
    return;
  options.accept_user = this;
  options.accept = [](void *user, const char *model) -> int32_t {
    auto &self = *static_cast<AcceptCall *>(user);
    try {
      self.acceptance(ReadModel::parse(model));
      return 1;
    } catch (...) {
      self.thrown = std::current_exception();
      return 0;
    }
  };
}

void AcceptCall::rethrow() const {
  if (thrown)
    std::rethrow_exception(thrown);
}

} // namespace freestone::train
