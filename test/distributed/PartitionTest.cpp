#include "distributed/partition/Partition.h"
#include "distributed/partition/ChainPartition.h"
#include "distributed/partition/NothingFits.h"
#include "distributed/profile/PipedreamProfile.h"
#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <set>
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

constexpr double never = std::numeric_limits<double>::infinity();

/// Nodes that read some of those before, the last one all that nobody reads.
Profile makeGraph(int nodes, uint32_t seed) {
  std::mt19937 random(seed);
  Profile profile = makeChain(nodes, seed);
  profile.edges.clear();
  std::vector<bool> isRead(nodes);
  auto read = [&](int from, int to) {
    isRead[from] = true;
    profile.edges.push_back({from, to, profile.nodes[from].activations});
  };
  for (int node = 1; node < nodes; ++node) {
    std::set<int> sources;
    for (uint32_t count = 1 + random() % 2; count > 0; --count)
      sources.insert(static_cast<int>(node < 3 ? node - 1 : node - 1 - random() % 3));
    for (int source : sources)
      read(source, node);
  }
  for (int node = 0; node + 1 < nodes; ++node)
    if (!isRead[node])
      read(node, nodes - 1);
  for (ProfileNode &node : profile.nodes)
    node.kept = static_cast<double>(random() % 10);
  return profile;
}

/// The least time of the slowest stage of a hierarchy, by trying all cuts and replicas from the first stage on.
class EveryPartition {
public:
  EveryPartition(const std::vector<Frontier> &frontiers, const PartitionOptions &options)
      : frontiers(frontiers), options(options), states(static_cast<int>(frontiers.size())) {}

  double least() const { return pipeline(static_cast<int>(options.levels.size()) - 1, 0, states, 0); }

private:
  double sum(double Frontier::*of, int begin, int end) const {
    return frontiers[end - 1].*of - (begin > 0 ? frontiers[begin - 1].*of : 0);
  }
  /// Of the nodes behind frontier `begin` - 1 up to `end` - 1 on a part of the level below.
  double compute(int level, int begin, int end) const {
    return level == 0 ? sum(&Frontier::compute, begin, end) : pipeline(level - 1, begin, end, 0);
  }
  double stage(int level, int first, int begin, int end, int replicas, int behind) const {
    double bandwidth = options.levels[level].bytesPerSecond, parameters = sum(&Frontier::parameters, begin, end);
    double inside = level == 0 ? 1 : options.levels[level - 1].count;
    double time = std::max(compute(level, begin, end), 2 * (replicas - 1) * parameters / bandwidth / inside) / replicas;
    double slot = sum(&Frontier::kept, begin, end);
    for (int cut : {begin, end}) {
      if (cut > 0 && cut < states)
        slot += 2 * frontiers[cut - 1].crossing;
      if (cut > first && cut < states)
        time = std::max(time, 2 * frontiers[cut - 1].crossing / (bandwidth * replicas));
    }
    int slots = (behind + replicas - 1) / replicas + 2;
    return options.statesPerParameter * parameters + slots * slot <= options.memory ? time : never;
  }
  /// `used`: devices of the level before `begin`. Pipelines of the level begin at `first`.
  double pipeline(int level, int begin, int end, int used, int first = -1) const {
    first = first < 0 ? begin : first;
    int left = options.levels[level].count - used;
    double least = never;
    for (int next = begin + 1; next <= end; ++next)
      for (int replicas = 1; replicas <= left; ++replicas) {
        bool isLast = next == end;
        if (isLast ? replicas < left
                   : replicas == left || !std::ranges::binary_search(frontiers[end - 1].inner, next - 1))
          continue;
        if (begin > first && !std::ranges::binary_search(frontiers[next - 1].inner, begin - 1))
          continue;
        double time = stage(level, first, begin, next, replicas, left - replicas);
        if (!isLast && time < least)
          time = std::max(time, pipeline(level, next, end, used + replicas, first));
        least = std::min(least, time);
      }
    return least;
  }

  const std::vector<Frontier> &frontiers;
  const PartitionOptions &options;
  int states;
};

/// Time or, where nothing fits, `never`.
double findTime(const std::vector<Frontier> &frontiers, const PartitionOptions &options) {
  try {
    return findPartition(frontiers, options).stageTime;
  } catch (const NothingFits &) {
    return never;
  }
}

void expectTheBest(const std::vector<Frontier> &frontiers, const PartitionOptions &options) {
  double found = findTime(frontiers, options), least = EveryPartition(frontiers, options).least();
  if (least == never)
    EXPECT_EQ(found, never);
  else
    EXPECT_NEAR(found, least, 1e-9);
}

TEST(Partition, IsTheBestOfAll) {
  int limited = 0;
  for (uint32_t seed = 0; seed < 40; ++seed)
    for (double bandwidth : {0.3, 3.0, 1e9}) {
      SCOPED_TRACE(seed);
      for (const Profile &profile : {makeChain(4 + seed % 7, seed), makeGraph(4 + seed % 4, seed)}) {
        std::vector<Frontier> frontiers = findFrontiers(profile);
        PartitionOptions options{{{2 + static_cast<int>(seed) % 5, bandwidth}}};
        expectTheBest(frontiers, options);
        double fastest = findTime(frontiers, options);
        options.memory = 2 * frontiers.back().parameters;
        options.statesPerParameter = 3;
        expectTheBest(frontiers, options);
        limited += findTime(frontiers, options) > fastest;
      }
    }
  EXPECT_GT(limited, 40);
}

TEST(Partition, IsTheBestOfAllHierarchies) {
  for (uint32_t seed = 0; seed < 12; ++seed)
    for (auto [inner, outer] : {std::pair(2, 2), std::pair(3, 2), std::pair(2, 3)}) {
      SCOPED_TRACE(seed);
      std::vector<Frontier> frontiers = findFrontiers(makeChain(3 + seed % 4, seed));
      expectTheBest(frontiers, {{{inner, 20.0}, {outer, 2.0}}});
    }
}

/// The fastest, or the smallest, stages of consecutive nodes, by trying every cut.
struct EveryChain {
  const Profile &profile;
  const ChainOptions &options;

  std::pair<double, double> stage(int number, int begin, int end) const {
    double time = 0, kept = 0, parameters = 0, received = 0, sent = 0, before = 0, behind = 0;
    for (int node = begin; node < end; ++node) {
      time += profile.nodes[node].time();
      kept += profile.nodes[node].kept;
      parameters += profile.nodes[node].parameters;
    }
    for (int node = 0; node < static_cast<int>(profile.nodes.size()); ++node) {
      bool isRead = false, isReadBehind = false, crossesBegin = false, crossesEnd = false;
      for (const ProfileEdge &edge : profile.edges) {
        if (edge.from != node)
          continue;
        isRead |= edge.to >= begin && edge.to < end;
        isReadBehind |= edge.to >= end;
        crossesBegin |= node < begin && edge.to >= begin;
        crossesEnd |= node < end && edge.to >= end;
      }
      double bytes = profile.nodes[node].activations;
      received += node < begin && isRead ? bytes : 0;
      sent += node >= begin && node < end && isReadBehind ? bytes : 0;
      before += crossesBegin ? bytes : 0;
      behind += crossesEnd ? bytes : 0;
    }
    double memory =
        options.statesPerParameter * parameters + options.needs[number].slots() * (kept + 2 * received + 2 * sent);
    return {std::max(time, 2 * std::max(before, behind) / options.bytesPerSecond), memory};
  }
  double least(bool ofTime, int number = 0, int begin = 0) const {
    int count = static_cast<int>(profile.nodes.size());
    bool isLast = number + 1 == options.stages;
    double best = never;
    for (int end = isLast ? count : begin + 1; end <= count; ++end) {
      if (begin == end)
        continue;
      auto [time, memory] = stage(number, begin, end);
      double cost = ofTime ? (memory <= options.memory ? time : never) : memory;
      best = std::min(best, isLast ? cost : std::max(cost, least(ofTime, number + 1, end)));
    }
    return best;
  }
};

TEST(Chain, IsTheBestOfAll) {
  int limited = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Profile profile = makeGraph(6 + seed % 5, seed);
    ChainOptions options;
    options.stages = 2 + static_cast<int>(seed) % 5;
    options.bytesPerSecond = seed % 3 ? 1e9 : 0.5;
    for (int stage = 0; stage < options.stages; ++stage)
      options.needs.push_back({options.stages - stage});
    EveryChain every{profile, options};
    double least = findLeastMemory(profile, options);
    EXPECT_NEAR(least, every.least(/*ofTime=*/false), 1e-9);
    double fastest = every.least(/*ofTime=*/true);
    for (double memory : {never, 1.05 * least, least, 0.99 * least})
      for (ChainTies ties : {ChainTies::FewestBytes, ChainTies::MostEven}) {
        options.memory = memory;
        options.ties = ties;
        double expected = every.least(/*ofTime=*/true);
        if (expected == never) {
          EXPECT_THROW(partitionChain(profile, options), NothingFits);
          continue;
        }
        std::vector<int> stageOf = partitionChain(profile, options);
        double slowest = 0;
        for (int stage = 0; stage < options.stages; ++stage) {
          int begin = static_cast<int>(std::ranges::find(stageOf, stage) - stageOf.begin());
          auto [time, used] = every.stage(stage, begin, begin + static_cast<int>(std::ranges::count(stageOf, stage)));
          EXPECT_LE(used, memory);
          slowest = std::max(slowest, time);
        }
        EXPECT_NEAR(slowest, expected, 1e-9);
        limited += expected > fastest;
      }
  }
  EXPECT_GT(limited, 20);
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
