#include "distributed/partition/StageValues.h"

#include <algorithm>

namespace freestone::distributed {

StageValues::StageValues(const Profile &profile)
    : count(profile.nodes.size()), crossed(count + 1), exchangedOnce((count + 1) * (count + 1)) {
  std::vector<std::vector<const ProfileEdge *>> reads(count), readBy(count);
  for (const ProfileEdge &edge : profile.edges) {
    reads[edge.to].push_back(&edge);
    readBy[edge.from].push_back(&edge);
  }
  for (const ProfileNode &node : profile.nodes) {
    parametersBefore.push_back(parametersBefore.back() + node.parameters);
    keptBefore.push_back(keptBefore.back() + node.kept);
  }
  auto place = [&](size_t begin, size_t end) -> double & { return exchangedOnce[begin * (count + 1) + end]; };
  for (size_t begin = 0; begin < count; ++begin) {
    std::vector<double> known(begin); // of each node before
    double received = 0;
    for (size_t end = begin + 1; end <= count; ++end) {
      for (const ProfileEdge *edge : reads[end - 1])
        if (edge->from < static_cast<int>(begin) && edge->bytes > known[edge->from]) {
          received += edge->bytes - known[edge->from];
          known[edge->from] = edge->bytes;
        }
      place(begin, end) = received;
    }
  }
  for (size_t end = 1; end < count; ++end) {
    double sent = 0;
    for (size_t begin = end; begin-- > 0;) {
      double most = 0;
      for (const ProfileEdge *edge : readBy[begin])
        if (edge->to >= static_cast<int>(end))
          most = std::max(most, edge->bytes);
      sent += most;
      place(begin, end) += sent;
    }
    crossed[end] = sent;
  }
}

} // namespace freestone::distributed
