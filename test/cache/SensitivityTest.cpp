// Which changes affect the key of a compiled model: each field of the machine, each option of a training.

#include "cache/Machine.h"
#include "cache/ModelRequest.h"
#include "test/cache/CacheFolder.h"
#include "train/options/StepText.h"
#include <nlohmann/json.hpp>

using namespace freestone;
using namespace freestone::test;
using train::FirstNumbers;

TEST(Sensitivity, EachFieldOfTheMachineCounts) {
  CacheFolder folder;
  cache::Store store(folder.settings());
  writeText(folder / "m.onnx", "model");
  cache::ModelOptions options;
  options.path = folder / "m.onnx";
  cache::Ingredients ingredients = requestModel(store, cache::Kind::Model, options, "1")->ingredients;
  auto keyOf = [&](const std::string &machine) {
    cache::Ingredients changed;
    bool hasMachine = false;
    for (const auto &[name, text] : ingredients.list()) {
      changed.add(name, name == "machine" ? machine : text);
      hasMachine |= name == "machine" && text == cache::describeMachine();
    }
    EXPECT_TRUE(hasMachine);
    return changed.key();
  };
  auto machine = nlohmann::ordered_json::parse(cache::describeMachine());
  ASSERT_EQ(keyOf(machine.dump()), ingredients.key()) << "what is told is all that there is";
  std::set<std::string> seen = {ingredients.key()};
  nlohmann::ordered_json flat = machine.flatten();
  EXPECT_GT(flat.size(), 10u);
  for (const auto &[field, value] : flat.items()) {
    nlohmann::ordered_json changed = machine;
    nlohmann::ordered_json &place = changed[nlohmann::ordered_json::json_pointer(field)];
    place = value.is_boolean()  ? nlohmann::ordered_json(!value.get<bool>())
            : value.is_number() ? nlohmann::ordered_json(value.get<int64_t>() + 1)
                                : nlohmann::ordered_json(value.get<std::string>() + "0");
    EXPECT_TRUE(seen.insert(keyOf(changed.dump())).second) << field;
  }
  options.target = "x86-64-v3";
  ingredients = requestModel(store, cache::Kind::Model, options, "1")->ingredients;
  for (const auto &[name, text] : ingredients.list())
    if (name == "machine")
      EXPECT_EQ(text, "") << "code for every machine of a kind";
}

namespace {

/// Keys of trainings by their options.
class StepKeys {
public:
  StepKeys() : store(folder.settings()) {
    for (const char *name : {"m.onnx", "loss.onnx", "optimizer.onnx"})
      writeText(folder / name, name);
    options.loss = "softmax-cross-entropy";
    options.optimizer = "sgd";
    options.numbers = {{"momentum", 0.9}};
    options.groups = {{"head.*", {{"learning_rate", 0.1}}}};
  }
  std::string key(FirstNumbers first = FirstNumbers::Defaults) {
    cache::ModelOptions what;
    what.path = folder / "m.onnx";
    what.training = train::describeStep(options, labels, first);
    what.graphs = train::graphFiles(options);
    return requestModel(store, cache::Kind::Model, what, "1")->ingredients.key();
  }

  CacheFolder folder;
  cache::Store store;
  TrainerOptions options;
  train::LabelFacts labels;
};

using Change = std::function<void(StepKeys &)>;

} // namespace

TEST(Sensitivity, EachOptionOfATrainingThatDecidesWhatIsCompiledCounts) {
  std::vector<std::pair<const char *, Change>> changes = {
      {"label smoothing", [](StepKeys &of) { of.options.labelSmoothing = 0.1; }},
      {"class weights", [](StepKeys &of) { of.options.classWeights = {1, 2}; }},
      {"other class weights", [](StepKeys &of) { of.options.classWeights = {1, 3}; }},
      {"class axis", [](StepKeys &of) { of.options.classAxis = 1; }},
      {"ignore index", [](StepKeys &of) { of.options.ignoreIndex = 0; }},
      {"delta", [](StepKeys &of) { of.options.huberDelta = 2; }},
      {"name of the labels", [](StepKeys &of) { of.options.labels = "y"; }},
      {"type of the labels, as said", [](StepKeys &of) { of.options.labelType = "i32"; }},
      {"type of the labels, as found", [](StepKeys &of) { of.labels.type = "u8"; }},
      {"shape of the labels", [](StepKeys &of) { of.labels.sizes = {-1, 3}; }},
      {"logits", [](StepKeys &of) { of.options.logits = "z"; }},
      {"nesterov", [](StepKeys &of) { of.options.nesterov = true; }},
      {"amsgrad", [](StepKeys &of) { of.options.amsgrad = true; }},
      {"centered", [](StepKeys &of) { of.options.centered = true; }},
      {"that there is a momentum", [](StepKeys &of) { of.options.numbers.erase("momentum"); }},
      {"what sums begin with", [](StepKeys &of) { of.options.numbers["initial_accumulator_value"] = 0.1; }},
      {"other such sums", [](StepKeys &of) { of.options.numbers["initial_accumulator_value"] = 0.2; }},
      {"type of the moments", [](StepKeys &of) { of.options.moments = "bf16"; }},
      {"early updates", [](StepKeys &of) { of.options.update = "early"; }},
      {"no group", [](StepKeys &of) { of.options.groups.clear(); }},
      {"pattern of a group", [](StepKeys &of) { of.options.groups[0].pattern = "tail.*"; }},
      {"numbers that a group has", [](StepKeys &of) { of.options.groups[0].numbers = {{"weight_decay", 0.1}}; }},
      {"another group", [](StepKeys &of) { of.options.groups.push_back({"tail.*", {{"learning_rate", 0.1}}}); }},
      {"train", [](StepKeys &of) { of.options.train = {"a"}; }},
      {"freeze", [](StepKeys &of) { of.options.freeze = {"a"}; }},
      {"no decay", [](StepKeys &of) { of.options.noDecay = {"a"}; }},
      {"tie", [](StepKeys &of) { of.options.tie = {"a"}; }},
      {"untie", [](StepKeys &of) { of.options.untie = {"a"}; }},
      {"freeze norm", [](StepKeys &of) { of.options.freezeNorm = true; }},
      {"no dropout", [](StepKeys &of) { of.options.noDropout = true; }},
      {"limit of loops", [](StepKeys &of) { of.options.maxTrip = 9; }},
      {"recompute", [](StepKeys &of) { of.options.recompute = "blocks"; }},
      {"recompute for some memory", [](StepKeys &of) { of.options.recompute = "auto:200M"; }},
      {"accumulation", [](StepKeys &of) { of.options.accumulate = 2; }},
      {"bf16", [](StepKeys &of) { of.options.precision = "bf16"; }},
      {"fp16", [](StepKeys &of) { of.options.precision = "fp16"; }},
      {"loss scaling", [](StepKeys &of) { of.options.initialScale = 8; }},
      {"no loss scaling",
       [](StepKeys &of) {
         of.options.precision = "fp16";
         of.options.noLossScaling = true;
       }},
  };
  for (const char *loss : {"nll", "sigmoid-cross-entropy", "mse", "l1", "huber", "cosine", "output:loss"})
    changes.emplace_back(loss, [loss](StepKeys &of) { of.options.loss = loss; });
  for (const char *optimizer : {"adam", "amsgrad", "adamw", "adagrad", "rmsprop", "lamb", "lion"})
    changes.emplace_back(optimizer, [optimizer](StepKeys &of) { of.options.optimizer = optimizer; });
  StepKeys keys;
  const TrainerOptions first = keys.options;
  std::set<std::string> seen = {keys.key()};
  for (const auto &[what, change] : changes) {
    change(keys);
    EXPECT_TRUE(seen.insert(keys.key()).second) << what;
    keys.options = first;
    keys.labels = {};
    EXPECT_TRUE(seen.contains(keys.key()));
  }
}

TEST(Sensitivity, WhatARunSetsItselfDoesNotCount) {
  std::vector<std::pair<const char *, Change>> changes = {
      {"learning rate", [](StepKeys &of) { of.options.numbers["learning_rate"] = 0.5; }},
      {"momentum", [](StepKeys &of) { of.options.numbers["momentum"] = 0.8; }},
      {"dampening", [](StepKeys &of) { of.options.numbers["dampening"] = 0.1; }},
      {"weight decay", [](StepKeys &of) { of.options.numbers["weight_decay"] = 0.2; }},
      {"betas",
       [](StepKeys &of) { of.options.numbers.merge(std::map<std::string, double>{{"beta1", 0.8}, {"beta2", 0.9}}); }},
      {"eps", [](StepKeys &of) { of.options.numbers["eps"] = 1e-4; }},
      {"largest norm", [](StepKeys &of) { of.options.numbers["clip_norm"] = 1; }},
      {"rate of a group", [](StepKeys &of) { of.options.groups[0].numbers["learning_rate"] = 0.7; }},
      {"batches of a step",
       [](StepKeys &of) {
         of.options.usualBatch = 7;
         of.options.usualLength = 9;
       }},
      {"threads", [](StepKeys &of) { of.options.threads = 3; }},
      {"seed", [](StepKeys &of) { of.options.seed = 3; }},
  };
  StepKeys keys;
  const TrainerOptions first = keys.options;
  std::string key = keys.key();
  for (const auto &[what, change] : changes) {
    change(keys);
    EXPECT_EQ(keys.key(), key) << what;
    keys.options = first;
  }
  // A step for later use on its own begins with the given numbers.
  std::string given = keys.key(FirstNumbers::Given);
  EXPECT_NE(given, key);
  keys.options.numbers["momentum"] = 0.8;
  EXPECT_NE(keys.key(FirstNumbers::Given), given);
  // Any number of batches above one gives the same step.
  keys.options = first;
  keys.options.accumulate = 2;
  key = keys.key();
  keys.options.accumulate = 3;
  EXPECT_EQ(keys.key(), key);
  // Whether the loss is scaled affects the step; the scale is a number of the run.
  keys.options.initialScale = 8;
  key = keys.key();
  keys.options.initialScale = 16;
  keys.options.numbers["growth_interval"] = 5;
  EXPECT_EQ(keys.key(), key);
}

TEST(Sensitivity, TheGraphsOfALossAndAnOptimizerCount) {
  StepKeys keys;
  std::set<std::string> seen = {keys.key()};
  for (std::string name : {"loss", "optimizer"}) {
    (name == "loss" ? keys.options.loss : keys.options.optimizer) = "file:" + (keys.folder / (name + ".onnx"));
    EXPECT_TRUE(seen.insert(keys.key()).second) << name;
    writeText(keys.folder / (name + ".onnx"), "changed");
    EXPECT_TRUE(seen.insert(keys.key()).second) << "what is in the file of the " << name;
    EXPECT_TRUE(seen.contains(keys.key()));
  }
}
