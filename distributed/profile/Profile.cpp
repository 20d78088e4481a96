#include "distributed/profile/Profile.h"

#include "distributed/Error.h"
#include <nlohmann/json.hpp>

namespace freestone::distributed {

Profile readProfile(const std::string &json) {
  constexpr double nanosecond = 1e-9;
  Profile profile;
  try {
    nlohmann::json parsed = nlohmann::json::parse(json);
    for (const nlohmann::json &node : parsed.at("nodes"))
      profile.nodes.push_back({node.at("name"), node.at("forward").get<double>() * nanosecond,
                               node.at("backward").get<double>() * nanosecond, node.at("activations"), node.at("kept"),
                               node.at("parameters"), node.at("weights").get<double>() * nanosecond});
    for (const nlohmann::json &edge : parsed.at("edges"))
      profile.edges.push_back({edge.at(0), edge.at(1), edge.at(2)});
  } catch (const nlohmann::json::exception &error) {
    throw Error(std::string("the profile of the model is damaged: ") + error.what());
  }
  return profile;
}

} // namespace freestone::distributed
