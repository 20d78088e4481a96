#include "distributed/profile/Profile.h"

#include "distributed/Error.h"
#include <nlohmann/json.hpp>

namespace freestone::distributed {

static constexpr double nanosecond = 1e-9;

Profile readProfile(const std::string &json) {
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

std::string printProfile(const Profile &profile) {
  nlohmann::json nodes = nlohmann::json::array(), edges = nlohmann::json::array();
  for (const ProfileNode &node : profile.nodes)
    nodes.push_back({{"name", node.name},
                     {"forward", node.forward / nanosecond},
                     {"backward", node.backward / nanosecond},
                     {"weights", node.weights / nanosecond},
                     {"activations", node.activations},
                     {"kept", node.kept},
                     {"parameters", node.parameters}});
  for (const ProfileEdge &edge : profile.edges)
    edges.push_back({edge.from, edge.to, edge.bytes});
  return nlohmann::json{{"nodes", nodes}, {"edges", edges}}.dump();
}

} // namespace freestone::distributed
