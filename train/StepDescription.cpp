#include "train/StepDescription.h"

#include "train/Error.h"
#include "words/NearNames.h"
#include <limits>
#include <nlohmann/json.hpp>

namespace freestone::train {

using Json = nlohmann::json;

StepDescription StepDescription::parse(const std::string &text) {
  StepDescription description;
  try {
    Json json = Json::parse(text);
    description.labels = json.at("labels");
    description.takesSeed = json.at("takes_seed");
    if (json.contains("classes") && json["classes"].is_number())
      description.classes = json["classes"];
    description.ignoreIndex = json.at("ignore_index");
    description.optimizer = json.at("optimizer");
    description.precision = json.at("precision");
    description.moments = json.at("moments");
    description.narrowProducts = json.at("narrow_products");
    description.foldedNorms = json.value("folded_norms", int64_t(0));
    // What is not finite has no number in JSON: no limit.
    for (const auto &[name, value] : json.at("hyperparameters").items())
      description.hyperparameters[name] =
          value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
    for (const Json &parameter : json.at("parameters"))
      description.parameters.push_back({parameter.at("name"), parameter.at("shape"), parameter.at("trained"),
                                        parameter.at("decays"), parameter.at("group"), parameter.at("reason")});
  } catch (const Json::exception &error) {
    throw Error(std::string("the description of the training step is damaged: ") + error.what());
  }
  return description;
}

void StepDescription::requireNumber(const std::string &name) const {
  if (hyperparameters.contains(name))
    return;
  std::vector<std::string> known;
  for (const auto &[other, value] : hyperparameters)
    known.push_back(other);
  throw Error("the step takes no number '" + name + "'; it takes " + words::listNames(known) +
              words::suggest(name, known));
}

} // namespace freestone::train
