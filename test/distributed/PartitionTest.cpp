#include "distributed/partition/Partition.h"
#include "distributed/Error.h"
#include "distributed/profile/PipedreamProfile.h"
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <sstream>

using namespace freestone::distributed;

namespace {

std::vector<Frontier> readCorpus(const std::string &name) {
  std::ifstream file(std::string(CORPUS) + "/" + name + ".txt");
  return findFrontiers(readPipedreamProfile(file));
}

struct Golden {
  const char *profile;
  std::vector<Level> levels;
  bool isStraight;
  std::vector<std::vector<PlannedStage>> stages; ///< from the innermost level
  double time;                                   ///< s of the slowest stage; 0: unknown
  /// Other stages are as fast: PipeDream's optimizer takes the first in the order of a Python set, which is none.
  bool hasEquals = false;
};

/// What PipeDream's optimizer prints for its own profiles.
const std::vector<Golden> goldens = {
    {"vgg16", {{4, 1e9}}, false, {{{0, 17, 3}, {17, 40, 1}}}, 0},
    {"vgg16", {{4, 1.25e9}}, false, {{{0, 17, 3}, {17, 40, 1}}}, 0.17634916586666669},
    {"vgg16", {{4, 1.25e9}}, true, {{{0, 10}, {10, 18}, {18, 27}, {27, 40}}}, 0.38106300000000004, true},
    {"vgg16", {{16, 1.25e9}}, false, {{{0, 24, 13}, {24, 31, 2}, {31, 40, 1}}}, 0.05479489083076923},
    {"vgg16",
     {{4, 1e10}, {4, 1.25e9}},
     false,
     {{{0, 31, 4}, {31, 32, 2}, {32, 34}, {34, 40}}, {{0, 31, 3}, {31, 40, 1}}},
     0.06713399693333333},
    {"vgg16",
     {{8, 3e10}, {2, 3.125e9}},
     false,
     {{{0, 17, 8}, {17, 23, 5}, {23, 30, 2}, {30, 40}}, {{0, 17}, {17, 40}}},
     0.06576668672,
     true},
    {"alexnet", {{16, 1.25e9}}, false, {{{0, 15, 14}, {15, 19}, {19, 22}}}, 0.0150994944, true},
    {"resnet50", {{16, 1.25e9}}, false, {{{0, 147, 8}, {147, 216, 5}, {216, 240, 3}}}, 0.043847790044444425},
    {"gnmt_large",
     {{4, 1.25e9}},
     false,
     {{{0, 17}, {17, 1178}, {1178, 1387}, {1387, 1495}}},
     0.1371289999999999,
     true}};

TEST(Partition, GivesWhatPipedreamsOptimizerGives) {
  for (const Golden &golden : goldens) {
    SCOPED_TRACE(golden.profile + std::to_string(golden.levels.front().count));
    std::vector<Frontier> frontiers = readCorpus(golden.profile);
    Partition found = findPartition(frontiers, {golden.levels, CostRules::Pipedream, golden.isStraight});
    if (!golden.hasEquals)
      EXPECT_EQ(found.stages, golden.stages);
    if (golden.time > 0)
      EXPECT_NEAR(found.stageTime / golden.time, 1, 1e-12);
  }
}

Profile makeChain(int nodes, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> draw(1, 20);
  Profile profile;
  for (int node = 0; node < nodes; ++node) {
    double time = draw(random);
    profile.nodes.push_back({"", time, 2 * time, double(draw(random)), 0, double(draw(random))});
    if (node > 0)
      profile.edges.push_back({node - 1, node, profile.nodes[node - 1].activations});
  }
  return profile;
}

/// The least time of the slowest stage, by trying every cut and all replicas.
double tryAll(const std::vector<Frontier> &frontiers, int begin, int devices, double bandwidth) {
  int states = static_cast<int>(frontiers.size());
  auto sum = [&](double Frontier::*of, int from, int to) {
    return frontiers[to - 1].*of - (from > 0 ? frontiers[from - 1].*of : 0);
  };
  double least = std::numeric_limits<double>::infinity();
  for (int end = begin + 1; end <= states; ++end)
    for (int replicas = end == states ? devices : 1; replicas <= (end == states ? devices : devices - 1); ++replicas) {
      double parameters = sum(&Frontier::parameters, begin, end);
      double time =
          std::max(sum(&Frontier::compute, begin, end), 2 * (replicas - 1) * parameters / bandwidth) / replicas;
      for (int cut : {begin, end})
        if (cut > 0 && cut < states)
          time = std::max(time, 2 * frontiers[cut - 1].crossing / (bandwidth * replicas));
      if (end < states)
        time = std::max(time, tryAll(frontiers, end, devices - replicas, bandwidth));
      least = std::min(least, time);
    }
  return least;
}

TEST(Partition, IsTheBestOfAll) {
  for (uint32_t seed = 0; seed < 40; ++seed)
    for (double bandwidth : {0.3, 3.0, 1e9}) {
      std::vector<Frontier> frontiers = findFrontiers(makeChain(4 + seed % 6, seed));
      int devices = 2 + seed % 4;
      Partition found = findPartition(frontiers, {{{devices, bandwidth}}});
      EXPECT_NEAR(found.stageTime, tryAll(frontiers, 0, devices, bandwidth), 1e-9) << seed;
    }
}

TEST(Partition, GivesEveryNodeToOneStageWithWork) {
  for (const char *name : {"vgg16", "alexnet", "resnet50", "gnmt_large"}) {
    std::vector<Frontier> frontiers = readCorpus(name);
    for (int devices : {2, 4, 16}) {
      Partition found = findPartition(frontiers, {{{devices, 1.25e9}}});
      const std::vector<PlannedStage> &stages = found.stages.front();
      std::vector<int> stageOf = stagesOfNodes(frontiers, stages);
      std::vector<bool> hasNode(stages.size());
      int used = 0;
      for (int stage : stageOf)
        hasNode.at(stage) = true;
      for (size_t stage = 0; stage < stages.size(); ++stage) {
        EXPECT_TRUE(hasNode[stage]) << name;
        used += stages[stage].replicas;
      }
      EXPECT_EQ(used, devices);
      EXPECT_LE(found.stageTime, found.oneDevice);
    }
  }
}

TEST(Partition, IsFasterWithFasterLinks) {
  std::vector<Frontier> frontiers = readCorpus("vgg16");
  double before = std::numeric_limits<double>::infinity();
  for (double bandwidth : {1e8, 1e9, 1e10, 1e11}) {
    double time = findPartition(frontiers, {{{8, bandwidth}}}).stageTime;
    EXPECT_LE(time, before);
    before = time;
  }
}

TEST(Partition, KeepsToTheMemory) {
  std::vector<Frontier> frontiers = readCorpus("vgg16");
  PartitionOptions options{{{4, 1.25e9}}};
  options.memory = 1e9;
  EXPECT_THROW(findPartition(frontiers, options), Error);
  options.memory = 1e12;
  EXPECT_EQ(findPartition(frontiers, options).stages, findPartition(frontiers, {{{4, 1.25e9}}}).stages);
}

TEST(Partition, CutsThousandNodesForManyDevices) {
  std::vector<Frontier> frontiers = findFrontiers(makeChain(1000, 1));
  ASSERT_EQ(frontiers.size(), 1000u);
  Partition found = findPartition(frontiers, {{{64, 1e3}}});
  EXPECT_GE(found.stageTime * 64, found.oneDevice * (1 - 1e-9));
}

TEST(PipedreamProfile, NamesTheWrongLine) {
  for (const auto &[text, part] : std::vector<std::pair<std::string, std::string>>{
           {"node1 -- a\n", "line 1: it is neither"},
           {"node1 -- a -- forward_compute_time=x, backward_compute_time=1, activation_size=1, parameter_size=1\n",
            "forward_compute_time is no number"},
           {"\tnode1 -- node2\n", "has no line before"}}) {
    std::istringstream stream(text);
    try {
      readPipedreamProfile(stream);
      ADD_FAILURE() << text;
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
}

} // namespace
