#include "distributed/partition/Partition.h"
#include "distributed/Error.h"
#include "distributed/profile/PipedreamProfile.h"
#include <chrono>
#include <fstream>
#include <gtest/gtest.h>

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
};

/// What PipeDream's optimizer prints for its own profiles.
const std::vector<Golden> goldens = {
    {"vgg16", {{4, 1e9}}, false, {{{0, 17, 3}, {17, 40, 1}}}, 0},
    {"vgg16", {{4, 1.25e9}}, false, {{{0, 17, 3}, {17, 40, 1}}}, 0.17634916586666669},
    {"vgg16", {{4, 1.25e9}}, true, {{{0, 10}, {10, 18}, {18, 27}, {27, 40}}}, 0.38106300000000004},
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
     0.06576668672},
    {"alexnet", {{16, 1.25e9}}, false, {{{0, 15, 14}, {15, 19}, {19, 22}}}, 0.0150994944},
    {"resnet50", {{16, 1.25e9}}, false, {{{0, 147, 8}, {147, 216, 5}, {216, 240, 3}}}, 0.043847790044444425},
    {"gnmt_large", {{4, 1.25e9}}, false, {{{0, 17}, {17, 1178}, {1178, 1387}, {1387, 1495}}}, 0.1371289999999999}};

TEST(Partition, GivesWhatPipedreamsOptimizerGives) {
  for (const Golden &golden : goldens) {
    SCOPED_TRACE(golden.profile + std::to_string(golden.levels.front().count));
    std::vector<Frontier> frontiers = readCorpus(golden.profile);
    Partition found = findPartition(frontiers, {golden.levels, CostRules::Pipedream, golden.isStraight});
    EXPECT_EQ(found.stages, golden.stages);
    if (golden.time > 0)
      EXPECT_NEAR(found.stageTime / golden.time, 1, 1e-12);
  }
}

} // namespace
