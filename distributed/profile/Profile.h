#ifndef FREESTONE_DISTRIBUTED_PROFILE_PROFILE_H
#define FREESTONE_DISTRIBUTED_PROFILE_PROFILE_H

#include <string>
#include <vector>

namespace freestone::distributed {

/// A node of a model's forward pass with its gradients: times in seconds for one micro-batch, sizes in bytes.
struct ProfileNode {
  std::string name;
  double forward = 0, backward = 0;
  double activations = 0; ///< of its results that other nodes read
  double kept = 0;        ///< of its results that gradients read
  double parameters = 0;  ///< of those that no earlier node reads
  double weights = 0;     ///< seconds of the backward pass for gradients of parameters

  double time() const { return forward + backward; }
};

/// A node reads results of another one.
struct ProfileEdge {
  int from = 0, to = 0;
  double bytes = 0;
};

/// What a model costs, node by node; edges go from lower to higher numbers.
struct Profile {
  std::vector<ProfileNode> nodes;
  std::vector<ProfileEdge> edges;
};

/// Reads the profile of the compiler (compiler/pipe/ProfileNodes.h). Throws Error.
Profile readProfile(const std::string &json);
/// In the same form, times in fractions of nanoseconds.
std::string printProfile(const Profile &profile);

} // namespace freestone::distributed

#endif // FREESTONE_DISTRIBUTED_PROFILE_PROFILE_H
