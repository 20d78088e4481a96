#include "train/step/StepDescription.h"

#include "train/Error.h"
#include "words/NearNames.h"
#include <algorithm>
#include <fmt/ranges.h>
#include <limits>
#include <nlohmann/json.hpp>

namespace freestone::train {

using Json = nlohmann::json;

std::string StepDescription::explain(const ParameterInfo &parameter) const {
  std::string text = parameter.reason;
  auto untied = std::ranges::find(separate, parameter.name, &SeparateInitializer::name);
  if (untied != separate.end())
    text += fmt::format("; untied from '{}'", untied->of);
  if (auto tie = ties.find(parameter.name); tie != ties.end())
    text += fmt::format("; tied, {}", tie->second);
  return text;
}

std::vector<std::string> StepDescription::describeKept() const {
  constexpr size_t shown = 8;
  std::map<std::string, std::vector<std::string>> namesOf;
  for (const ParameterInfo &parameter : parameters)
    if (parameter.couldBeTrained)
      namesOf[parameter.reason].push_back(fmt::format("'{}'", parameter.name));
  std::vector<std::string> sentences;
  for (auto &[reason, names] : namesOf) {
    size_t all = names.size();
    names.resize(std::min(all, shown));
    sentences.push_back(fmt::format("not trained ({}): {}{}; to train {}: --train {}", reason, fmt::join(names, ", "),
                                    all > shown ? fmt::format(" and {} more, which --plan lists", all - shown) : "",
                                    all > 1 ? "them" : "it", fmt::join(names, " ")));
  }
  return sentences;
}

std::string StepDescription::trainedName(int64_t number) const {
  for (const ParameterInfo &parameter : parameters)
    if (parameter.trained && number-- == 0)
      return parameter.name;
  return "";
}

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
    description.update = json.value("update", description.update);
    description.narrowProducts = json.at("narrow_products");
    description.foldedNorms = json.value("folded_norms", int64_t(0));
    // JSON has no infinity: null means no limit.
    for (const auto &[name, value] : json.at("hyperparameters").items())
      description.hyperparameters[name] =
          value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>();
    for (const Json &parameter : json.at("parameters"))
      description.parameters.push_back({parameter.at("name"), parameter.at("shape"), parameter.at("trained"),
                                        parameter.at("could_be_trained"), parameter.at("decays"), parameter.at("group"),
                                        parameter.at("reason")});
    description.ties = json.at("ties");
    for (const Json &untied : json.at("untied")) {
      SeparateInitializer &separate = description.separate.emplace_back();
      separate.name = untied.at("name");
      separate.of = untied.at("of");
      separate.inputs = untied.at("inputs");
      if (untied.contains("identity"))
        separate.identity = untied["identity"].get<int64_t>();
    }
    description.transposed = json.at("transposed");
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
