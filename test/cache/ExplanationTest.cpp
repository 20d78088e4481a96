#include "cache/Explanation.h"
#include "cache/Machine.h"
#include "test/cache/CacheFolder.h"
#include <nlohmann/json.hpp>

using namespace freestone::cache;
using namespace freestone::test;
using Json = nlohmann::ordered_json;

static Ingredients named(const std::string &name, const std::string &text) {
  Ingredients ingredients;
  ingredients.add(name, text);
  return ingredients;
}

/// The explanation of two differing texts; empty if there is none.
static std::vector<std::string> explain(const std::string &name, const std::string &one, const std::string &other) {
  return differences(named(name, one), named(name, other));
}

/// Both texts of a line "name: one, not other".
static std::pair<std::string, std::string> shown(const std::string &line, const std::string &name) {
  EXPECT_TRUE(line.starts_with(name + ": ")) << line;
  size_t middle = line.find(", not ");
  EXPECT_NE(middle, std::string::npos) << line;
  size_t begin = name.size() + 2;
  return {line.substr(begin, middle - begin), line.substr(middle + 6)};
}

TEST(Explanation, NamesWhatDiffers) {
  CacheFolder folder;
  CountingMaker maker("x");
  auto request = [](std::string level, std::string module) {
    Request request{Kind::Model, {}, nullptr};
    request.ingredients.add("level", level);
    request.ingredients.add("module", module);
    request.ingredients.add("target", "host");
    return request;
  };
  Store(folder.settings()).obtain(request("2", "a\nb\nc"), maker.get());
  Store(folder.settings()).obtain(request("1", "z"), maker.get());
  Settings settings = folder.settings();
  std::vector<std::string> explained;
  settings.explain = [&](const std::string &sentence) { explained.push_back(sentence); };
  Store(settings).obtain(request("2", "a\nB\nc"), maker.get());
  ASSERT_EQ(explained.size(), 1u);
  EXPECT_NE(explained[0].find("differs in\n  module: B, not b"), std::string::npos) << explained[0];
  EXPECT_TRUE(folder.said.empty());
  EXPECT_EQ(differences(request("2", "a").ingredients, request("0", "a\nmore").ingredients),
            (std::vector<std::string>{"level: 2, not 0", "module: nothing, not more"}));
}

TEST(Explanation, OfALongLineThePlaceThatDiffersIsShown) {
  std::string line = "func.func @main(";
  while (line.size() < 5000)
    line += "%arg" + std::to_string(line.size()) + ": !graph.tensor<[8, 784], f32>, ";
  std::string text = "// first\n" + line + "END8\n// last\n", other = "// first\n" + line + "END9\n// last\n";
  std::vector<std::string> lines = explain("module", text, other);
  ASSERT_EQ(lines.size(), 1u);
  auto [mine, theirs] = shown(lines[0], "module");
  EXPECT_TRUE(mine.starts_with("…") && mine.ends_with("END8")) << mine;
  EXPECT_TRUE(theirs.starts_with("…") && theirs.ends_with("END9")) << theirs;
  EXPECT_LT(lines[0].size(), 300u);
  // At its beginning and in its middle, too.
  lines = explain("module", "A" + line, "B" + line);
  EXPECT_TRUE(lines[0].starts_with("module: Afunc.func @main(") && lines[0].ends_with("…")) << lines[0];
  lines = explain("module", line + "8" + line, line + "9" + line);
  std::tie(mine, theirs) = shown(lines[0], "module");
  EXPECT_NE(mine, theirs);
  EXPECT_TRUE(mine.starts_with("…") && mine.ends_with("…") && mine.find(", 8func.func") != std::string::npos) << mine;
}

TEST(Explanation, CharactersStayWhole) {
  // Characters of two, three and four bytes that differ in the last byte.
  for (std::string letter : {"é", "中", "😀"}) {
    std::string other = letter;
    ++other.back();
    for (size_t before : {0, 1, 97, 98, 99, 100, 101, 102, 103, 1000})
      for (const char *shift : {"", "a", "ab", "abc"}) {
        std::string begin = shift, end;
        for (size_t i = 0; i < before; ++i)
          begin += letter;
        for (size_t i = 0; i < 500; ++i)
          end += letter;
        std::string line = explain("text", begin + letter + end, begin + other + end).at(0);
        // Strict: throws on an incomplete character.
        EXPECT_NO_THROW((void)Json(line).dump()) << line;
        auto [mine, theirs] = shown(line, "text");
        EXPECT_NE(mine, theirs);
      }
  }
}

TEST(Explanation, NeverShowsTheSameTwice) {
  std::vector<std::string> texts = {""};
  for (size_t i = 0; texts[i].size() < 4; ++i)
    for (char letter : {'a', 'b', '\n'})
      texts.push_back(texts[i] + letter);
  for (const std::string &one : texts)
    for (const std::string &other : texts) {
      std::vector<std::string> lines = explain("text", one, other);
      if (one == other) {
        ASSERT_TRUE(lines.empty());
        continue;
      }
      ASSERT_EQ(lines.size(), 1u);
      auto [mine, theirs] = shown(lines[0], "text");
      ASSERT_NE(mine, theirs) << Json(one) << " and " << Json(other);
    }
}

TEST(Explanation, OfJsonEveryPlaceIsNamed) {
  Json one = {{"loss", "mse"},
              {"optimizer", {{"kind", "sgd"}, {"numbers", {{"momentum", 0.9}, {"eps", 1e-8}}}}},
              {"groups", {{{"pattern", "head.*"}}, {{"pattern", "body.*"}}}},
              {"text", std::string(3000, 'x')}};
  Json other = one;
  other["optimizer"]["kind"] = "adamw";
  EXPECT_EQ(explain("training", one.dump(), other.dump()),
            (std::vector<std::string>{"training.optimizer.kind: sgd, not adamw"}));
  other["optimizer"]["numbers"].erase("momentum");
  other["optimizer"]["numbers"]["beta1"] = 0.9;
  other["groups"][1]["pattern"] = "";
  other["groups"].push_back("all");
  other["loss"] = 1;
  EXPECT_EQ(explain("training", one.dump(), other.dump()),
            (std::vector<std::string>{"training.loss: \"mse\", not 1", "training.optimizer.kind: sgd, not adamw",
                                      "training.optimizer.numbers.momentum: 0.9, not nothing",
                                      "training.optimizer.numbers.beta1: nothing, not 0.9",
                                      "training.groups[1].pattern: \"body.*\", not \"\"",
                                      "training.groups[2]: nothing, not \"all\""}));
  // Equal values in different notation; text that is not JSON.
  EXPECT_EQ(explain("training", R"({"a":1})", R"({"a": 1})").at(0), R"(training: {"a":1}, not {"a": 1})");
  EXPECT_EQ(explain("training", "{}", "").at(0), "training: {}, not nothing");
  EXPECT_EQ(explain("training", "{", "{}").at(0), "training: {, not {}");

  Json many, others;
  for (int i = 0; i < 100; ++i) {
    many["number " + std::to_string(i)] = i;
    others["number " + std::to_string(i)] = -i - 1;
  }
  std::vector<std::string> lines = explain("training", many.dump(), others.dump());
  EXPECT_EQ(lines.size(), 17u);
  EXPECT_EQ(lines.back(), "training: and in 84 other places");
}

TEST(Explanation, OfJsonTheNearestDiffersInTheFewestPlaces) {
  CacheFolder folder;
  auto request = [](const char *optimizer, int batch, const char *loss) {
    Json step = {{"optimizer", optimizer}, {"batch", batch}, {"loss", loss}};
    return Request{Kind::Model, named("training", step.dump()), nullptr};
  };
  CountingMaker maker("x");
  for (const Request &kept : {request("lion", 9, "mse"), request("sgd", 8, "mse"), request("lion", 9, "l1")})
    Store(folder.settings()).obtain(kept, maker.get());
  Folder opened(FileSystem::system(), folder.path(), false);
  std::string text = explainMiss(opened, Kind::Model, request("adamw", 8, "mse").ingredients);
  EXPECT_TRUE(text.ends_with("differs in\n  training.optimizer: adamw, not sgd")) << text;
}

TEST(Explanation, NamesTheFeaturesOfAMachine) {
  std::string machine = describeMachine();
  Json other = Json::parse(machine);
  bool has = other["features"]["avx512fp16"].get<bool>();
  other["features"]["avx512fp16"] = !has;
  other["cores"] = 0;
  std::vector<std::string> lines = explain("machine", machine, other.dump());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], std::string("machine.features.avx512fp16: ") + (has ? "true, not false" : "false, not true"));
  EXPECT_TRUE(lines[1].starts_with("machine.cores: ") && lines[1].ends_with(", not 0")) << lines[1];
}

TEST(Explanation, NamesTheFeatureInALongListOfThem) {
  // A processor's features in a single long line.
  std::string features;
  for (int i = 0; i < 150; ++i)
    features += (i ? ",+feature" : "+feature") + std::to_string(i);
  std::string other = features;
  other.replace(other.find("+feature120"), 1, "-");
  auto [mine, theirs] = shown(explain("features", features, other).at(0), "features");
  EXPECT_NE(mine.find(",+feature120"), std::string::npos) << mine;
  EXPECT_NE(theirs.find(",-feature120"), std::string::npos) << theirs;
}

TEST(Machine, IsTheSameEveryTime) {
  std::string machine = describeMachine();
  EXPECT_FALSE(machine.empty());
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(describeMachine(), machine);
}
