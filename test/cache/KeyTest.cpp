// What is in the key of a compiled model, and what a miss says of it.

#include "cache/Eviction.h"
#include "cache/ModelRequest.h"
#include "test/cache/CacheFolder.h"
#include <algorithm>
#include <set>

using namespace freestone::cache;
using namespace freestone::test;
namespace fs = std::filesystem;

TEST(Key, EveryIngredientCounts) {
  std::set<std::string> keys;
  auto add = [&](std::initializer_list<std::pair<std::string, std::string>> list) {
    Ingredients ingredients;
    for (const auto &[name, text] : list)
      ingredients.add(name, text);
    EXPECT_TRUE(keys.insert(ingredients.key()).second);
  };
  add({});
  add({{"a", ""}});
  add({{"a", "b"}});
  add({{"a", "bc"}, {"d", ""}});
  add({{"a", "b"}, {"cd", ""}});
  add({{"ab", ""}, {"cd", ""}});
  add({{"a", "b:1"}});
  add({{"a", "b"}, {"1:", ""}});
}

namespace {

/// Requests for a model.
class ModelKeys {
public:
  ModelKeys() : store(folder.settings()) {
    writeText(folder / "m.onnx", "model");
    options.path = folder / "m.onnx";
  }
  std::string key() { return requestModel(store, Kind::Model, options, build)->ingredients.key(); }

  CacheFolder folder;
  Store store;
  ModelOptions options;
  std::string build = "1";
};

} // namespace

TEST(ModelRequest, EveryOptionChangesTheKeyAndNothingElseDoes) {
  ModelKeys keys;
  std::set<std::string> seen = {keys.key()};
  auto expectNew = [&](const char *what, auto change) {
    ModelOptions before = keys.options;
    change(keys.options);
    EXPECT_TRUE(seen.insert(keys.key()).second) << what;
    keys.options = before;
    EXPECT_TRUE(seen.contains(keys.key()));
  };
  expectNew("target", [](ModelOptions &options) { options.target = "x86-64-v3"; });
  expectNew("device", [](ModelOptions &options) { options.device = "{}"; });
  expectNew("another device", [](ModelOptions &options) { options.device = "[]"; });
  expectNew("rates", [](ModelOptions &options) { options.rates = "{}"; });
  expectNew("other rates", [](ModelOptions &options) { options.rates = "[]"; });
  expectNew("level", [](ModelOptions &options) { options.level = 1; });
  expectNew("disabled", [](ModelOptions &options) { options.disabled = {"rows"}; });
  expectNew("dims", [](ModelOptions &options) { options.dims = {"n=1:8"}; });
  expectNew("binds", [](ModelOptions &options) { options.binds = {"n=8"}; });
  expectNew("stripWeights", [](ModelOptions &options) { options.stripWeights = true; });
  expectNew("training", [](ModelOptions &options) { options.training = "{}"; });
  expectNew("another model", [&](ModelOptions &options) {
    writeText(keys.folder / "n.onnx", "another");
    options.path = keys.folder / "n.onnx";
  });

  keys.build = "2";
  EXPECT_TRUE(seen.insert(keys.key()).second) << "another build of the compiler";
  keys.build = "1";
  EXPECT_FALSE(requestModel(keys.store, Kind::Model, keys.options, "")) << "a compiler that is not known";

  keys.options.target = "x86-64-v3";
  std::string ofTarget = keys.key();
  keys.options.rates = "{}";
  EXPECT_EQ(keys.key(), ofTarget) << "this machine's rates are not those of a target";
  keys.options.target = "host";
  keys.options.rates = "";

  keys.options.disabled = {"rows", "maps", "rows"};
  std::string key = keys.key();
  keys.options.disabled = {"maps", "rows"};
  EXPECT_EQ(keys.key(), key) << "neither order nor repetition counts";
  setenv("FREESTONE_NUM_THREADS", "3", 1);
  setenv("LANG", "de_DE", 1);
  EXPECT_EQ(keys.key(), key) << "neither does the environment";
  fs::create_directory(keys.folder / "elsewhere");
  fs::copy_file(keys.folder / "m.onnx", keys.folder / "elsewhere/m.onnx");
  keys.options.path = keys.folder / "elsewhere/m.onnx";
  EXPECT_EQ(keys.key(), key) << "nor where the model lies";
  writeText(keys.options.path, "Model");
  EXPECT_NE(keys.key(), key) << "what it holds does";
}

TEST(ModelRequest, AMissNamesTheIngredientThatDiffers) {
  ModelKeys keys;
  CountingMaker maker("x");
  std::vector<std::string> explained;
  Settings settings = keys.folder.settings();
  settings.explain = [&](const std::string &sentence) { explained.push_back(sentence); };
  auto obtain = [&](const ModelOptions &options, const std::string &build) {
    explained.clear();
    Request request = *requestModel(keys.store, Kind::Model, options, build);
    request.stillHolds = nullptr;
    Store(settings).obtain(request, maker.get());
  };
  obtain(keys.options, "1");
  std::map<std::string, std::function<void(ModelOptions &)>> changes = {
      {"target: x86-64-v3, not host", [](ModelOptions &options) { options.target = "x86-64-v3"; }},
      {"level: 1, not 2", [](ModelOptions &options) { options.level = 1; }},
      {"disabled: maps rows, not nothing", [](ModelOptions &options) { options.disabled = {"rows", "maps"}; }},
      {"dims: n=1:8, not nothing", [](ModelOptions &options) { options.dims = {"n=1:8"}; }},
      {"binds: n=8, not nothing", [](ModelOptions &options) { options.binds = {"n=8"}; }},
      {"weights: left out, not stored", [](ModelOptions &options) { options.stripWeights = true; }},
      {"training: {}, not nothing", [](ModelOptions &options) { options.training = "{}"; }},
      {"name: n, not m",
       [&](ModelOptions &options) {
         writeText(keys.folder / "n.onnx", "model");
         options.path = keys.folder / "n.onnx";
       }},
      {"model: ", [&](ModelOptions &options) {
         fs::create_directory(keys.folder / "changed");
         writeText(keys.folder / "changed/m.onnx", "another");
         options.path = keys.folder / "changed/m.onnx";
       }}};
  for (const auto &[expected, change] : changes) {
    // Each variant against the first only.
    Folder opened(FileSystem::system(), keys.folder.path(), true);
    evict(opened, 0);
    obtain(keys.options, "1");
    ModelOptions options = keys.options;
    change(options);
    obtain(options, "1");
    ASSERT_EQ(explained.size(), 1u) << expected;
    EXPECT_NE(explained[0].find("differs in\n  " + expected), std::string::npos) << explained[0];
    EXPECT_EQ(std::ranges::count(explained[0], '\n'), expected.starts_with("target") ? 2 : 1) << explained[0];
  }
  obtain(keys.options, "2");
  EXPECT_NE(explained.at(0).find("\n  compiler: 2, not 1"), std::string::npos) << explained[0];
}

TEST(ModelRequest, ExternalDataAreAPartOfTheModel) {
  ModelKeys keys;
  // ModelProto.graph.initializer.external_data: location = "w.bin".
  std::string pair = "\x0a\x08location\x12\x05w.bin";
  std::string tensor = "\x6a" + std::string(1, char(pair.size())) + pair;
  std::string graph = "\x2a" + std::string(1, char(tensor.size())) + tensor;
  writeText(keys.options.path, "\x3a" + std::string(1, char(graph.size())) + graph);
  EXPECT_FALSE(requestModel(keys.store, Kind::Model, keys.options, "1")) << "a file is missing";
  writeText(keys.folder / "w.bin", "weights");
  std::string key = keys.key();
  EXPECT_EQ(keys.key(), key);
  writeText(keys.folder / "w.bin", "Weights");
  EXPECT_NE(keys.key(), key);
}
