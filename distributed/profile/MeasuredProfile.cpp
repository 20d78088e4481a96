#include "distributed/profile/MeasuredProfile.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace freestone::distributed {

/// The predicted times of blocks.
static std::vector<BlockTimes> sumBlocks(const Profile &predicted, const std::vector<int> &blockOf, size_t count) {
  std::vector<BlockTimes> sums(count);
  for (size_t node = 0; node < predicted.nodes.size(); ++node) {
    const ProfileNode &cost = predicted.nodes[node];
    BlockTimes &sum = sums[blockOf[node]];
    sum.forward += cost.forward;
    sum.inputGradient += cost.backward - cost.weights;
    sum.weightGradient += cost.weights;
  }
  return sums;
}

Profile measuredProfile(const Profile &predicted, const std::vector<int> &blockOf,
                        const std::vector<BlockTimes> &blocks) {
  std::vector<BlockTimes> sums = sumBlocks(predicted, blockOf, blocks.size());
  std::vector<int> sizes(blocks.size());
  for (int block : blockOf)
    ++sizes[block];
  Profile profile = predicted;
  for (size_t node = 0; node < profile.nodes.size(); ++node) {
    ProfileNode &cost = profile.nodes[node];
    const BlockTimes &sum = sums[blockOf[node]], &measured = blocks[blockOf[node]];
    auto share = [&](double own, double all, double time) {
      return all > 0 ? time * own / all : time / sizes[blockOf[node]];
    };
    double inputs = share(cost.backward - cost.weights, sum.inputGradient, measured.inputGradient);
    cost.forward = share(cost.forward, sum.forward, measured.forward);
    cost.weights = share(cost.weights, sum.weightGradient, measured.weightGradient);
    cost.backward = inputs + cost.weights;
  }
  return profile;
}

std::vector<BlockComparison> compareBlocks(const Profile &predicted, const std::vector<int> &blockOf,
                                           const std::vector<BlockTimes> &blocks) {
  std::vector<BlockTimes> sums = sumBlocks(predicted, blockOf, blocks.size());
  std::vector<BlockComparison> compared(blocks.size());
  for (size_t node = 0; node < predicted.nodes.size(); ++node) {
    const std::string &name = predicted.nodes[node].name;
    BlockComparison &block = compared[blockOf[node]];
    block.firstNode = block.firstNode.empty() ? name : block.firstNode;
    block.lastNode = name.empty() ? block.lastNode : name;
  }
  for (size_t block = 0; block < blocks.size(); ++block) {
    compared[block].predicted = sums[block].total();
    compared[block].measured = blocks[block].total();
  }
  return compared;
}

ProfileError errorOf(const std::vector<BlockComparison> &blocks) {
  ProfileError error;
  double sum = 0;
  int counted = 0;
  for (const BlockComparison &block : blocks)
    if (block.predicted > 0 && block.measured > 0) {
      double logarithm = std::log(block.measured / block.predicted);
      sum += logarithm;
      ++counted;
      error.worst = std::max(error.worst, std::exp(std::abs(logarithm)));
    }
  if (counted > 0)
    error.ratio = std::exp(sum / counted);
  return error;
}

std::string printComparison(const std::vector<BlockComparison> &blocks) {
  std::string text = "predicted    measured     ratio   operations\n";
  for (const BlockComparison &block : blocks)
    text += fmt::format("{:>8.1f} µs  {:>8.1f} µs  {:>6.2f}  {} to {}\n", block.predicted * 1e6, block.measured * 1e6,
                        block.predicted > 0 ? block.measured / block.predicted : 0, block.firstNode, block.lastNode);
  ProfileError error = errorOf(blocks);
  return text +
         fmt::format("measured / predicted: geometric mean {:.2f}; the worst block is off by a factor of {:.2f}\n",
                     error.ratio, error.worst);
}

} // namespace freestone::distributed
