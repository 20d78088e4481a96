#include "test/runtime/Hold.h"
#include "test/runtime/Models.h"

#include <atomic>
#include <thread>

using namespace freestone;
using namespace freestone::test;

namespace {

/// Indices of the states of Train.
enum : size_t { weights = 0, steps = 1 };

std::vector<float> weightsOf(const State &state) {
  const float *w = state.data<float>(weights);
  return {w, w + 4};
}

/// An instance of `main` with x bound.
Instance makeTrainer(const Artifact &artifact, const State &state, const std::vector<float> &x) {
  Instance trainer(artifact, "main", state, 2);
  trainer.setInput(0, viewOf(x));
  return trainer;
}

} // namespace

TEST(State, IsDescribed) {
  Artifact artifact = loadTrain();
  EXPECT_EQ(artifact.entries(), (std::vector<std::string>{"main", "evaluate"}));
  std::vector<StateInfo> states = artifact.states();
  ASSERT_EQ(states.size(), 2u);
  EXPECT_EQ(states[weights].name, "fc.weight");
  EXPECT_EQ(states[weights].shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(states[weights].initial, "start");
  EXPECT_EQ(states[steps].dtype, FREESTONE_I64);
  EXPECT_TRUE(states[steps].shape.empty());
  EXPECT_EQ(states[steps].initial, "");
  EXPECT_TRUE(loadReverse().states().empty());
  // The entry `init` is not public.
  EXPECT_EQ(loadReverse().entries(), std::vector<std::string>{"main"});
}

TEST(State, BeginsAsWeightsAndZeros) {
  State state(loadTrain());
  EXPECT_EQ(weightsOf(state), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(*state.data<int64_t>(steps), 0);
  for (size_t index : {weights, steps})
    EXPECT_EQ(reinterpret_cast<uintptr_t>(state.data<char>(index)) % 64, 0u);
  EXPECT_EQ(state.tensor(weights).ndim, 2);
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { state.tensor(2); }), "there is no state 2");
}

TEST(State, IsCopiedToRowsAndBackHoweverItIsStored) {
  for (int width : {0, 2}) {
    Artifact artifact = loadBytes(packTrain(/*withWeights=*/true, {0, width}));
    StateInfo info = artifact.states()[weights];
    EXPECT_EQ(info.shape, (std::vector<int64_t>{2, 2}));
    EXPECT_EQ(info.panelWidth, width);
    State state(artifact);
    EXPECT_EQ(weightsOf(state), width ? (std::vector<float>{1, 3, 2, 4}) : (std::vector<float>{1, 2, 3, 4}));
    EXPECT_EQ(state.tensor(weights).ndim, width ? 3 : 2);
    std::vector<float> rows(4);
    state.read(weights, rows.data(), 16);
    EXPECT_EQ(rows, (std::vector<float>{1, 2, 3, 4}));
    rows = {5, 6, 7, 8};
    state.write(weights, rows.data(), 16);
    EXPECT_EQ(weightsOf(state), width ? (std::vector<float>{5, 7, 6, 8}) : rows);
    EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { state.read(weights, rows.data(), 12); }),
              "state 'fc.weight' has 16 bytes, not 12");
    EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { state.write(2, rows.data(), 16); }), "there is no state 2");
  }
}

TEST(State, RunsOnVersionsOfAValue) {
  Artifact artifact = loadTrain();
  State state(artifact);
  std::vector<float> x = {1, 1, 1, 10};
  Instance trainer = makeTrainer(artifact, state, x);
  trainer.run();
  std::vector<float> first = weightsOf(state);
  alignas(64) float version[4] = {1, 2, 3, 4};
  state.place(weights, version, sizeof(version));
  EXPECT_EQ(weightsOf(state), (std::vector<float>{1, 2, 3, 4}));
  trainer.run();
  EXPECT_EQ(std::vector<float>(version, version + 4), first);
  EXPECT_EQ(*state.data<int64_t>(steps), 2);
  state.place(weights, nullptr, 0);
  EXPECT_EQ(weightsOf(state), first);
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { state.place(weights, version, 12); }),
            "state 'fc.weight' has 16 bytes, not 12");
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { state.place(weights, version + 1, 16); }),
            "the memory for state 'fc.weight' is not aligned to 64 bytes");
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { state.place(2, version, 16); }), "there is no state 2");
}

TEST(State, SurvivesRunsAndIsSharedByEntries) {
  Artifact artifact = loadTrain();
  State state(artifact);
  std::vector<float> x = {1, 1, 1, 10};
  Instance trainer = makeTrainer(artifact, state, x), evaluator(artifact, "evaluate", state, 1);
  for (int run = 1; run <= 3; ++run) {
    trainer.run();
    std::vector<float> expected = {1.0f + run, 2.0f + run, 3.0f + run, 4.0f + 10 * run};
    EXPECT_EQ(valuesOf<float>(trainer.output(0)), expected);
    EXPECT_EQ(*state.data<int64_t>(steps), run);
    evaluator.run();
    EXPECT_EQ(valuesOf<float>(evaluator.output(0)), expected);
  }
  // The next run reads a value written in place.
  state.data<float>(weights)[0] = -5;
  trainer.run();
  EXPECT_EQ(weightsOf(state)[0], -4);
}

TEST(State, InstancesTellTheirOwnInputsAndOutputs) {
  Artifact artifact = loadTrain();
  State state(artifact);
  Instance evaluator(artifact, "evaluate", state, 1);
  EXPECT_EQ(freestone_instance_input_count(evaluator.get()), 0u);
  ASSERT_EQ(freestone_instance_output_count(evaluator.get()), 1u);
  freestone_value_info info = {};
  info.struct_size = sizeof(info);
  check(freestone_instance_output_info(evaluator.get(), 0, &info));
  EXPECT_STREQ(info.name, "y");
  EXPECT_STREQ(info.shape[0], "4");
  EXPECT_EQ(freestone_instance_input_info(evaluator.get(), 0, &info), FREESTONE_INVALID_ARGUMENT);
}

TEST(State, EveryInstanceMayHaveItsOwn) {
  Artifact artifact = loadTrain();
  std::vector<float> x = {1, 0, 0, 0};
  Instance one(artifact, 1), other(artifact, 2);
  for (Instance *instance : {&one, &other})
    instance->setInput(0, viewOf(x));
  one.run();
  one.run();
  other.run();
  EXPECT_EQ(weightsOf(one.state())[0], 3);
  EXPECT_EQ(weightsOf(other.state())[0], 2);

  // A state outlives its instance and its artifact.
  State kept = [] { return Instance(loadTrain(), 1).state(); }();
  EXPECT_EQ(weightsOf(kept)[3], 4);

  Instance stateless(loadReverse(), 1);
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { stateless.state(); }),
            "entry 'main' keeps nothing from run to run");
}

TEST(State, RefusesWhatDoesNotFit) {
  Artifact artifact = loadTrain();
  State state(artifact), foreign(loadTrain());
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { Instance(artifact, "main", foreign, 1); }),
            "the state belongs to another artifact");
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { Instance(artifact, "infer", state, 1); }),
            "the artifact has no entry 'infer'");

  std::vector<float> x(4);
  Instance trainer = makeTrainer(artifact, state, x);
  trainer.setInput(0, {state.data<float>(weights), {4}});
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { trainer.run(); }),
            "input 'x' overlaps the state that the instance runs on");
  trainer.setInput(0, viewOf(x));
  trainer.setOutput(0, {state.data<float>(weights), {4}});
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { trainer.run(); }),
            "output 'y' overlaps the state that the instance runs on");

  Artifact incomplete = loadBytes(packTrain(/*withWeights=*/false));
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { State made(incomplete); }),
            "the artifact carries no weights: supply and finish them first");
}

TEST(State, TwoInstancesDoNotRunOnItAtOnce) {
  Artifact artifact = loadTrain();
  State state(artifact);
  std::vector<float> x = {1, 1, 1, 1};
  Hold hold;
  freestone_instance_options options = {};
  options.struct_size = sizeof(options);
  options.threads = 2;
  options.user = &hold;
  options.cancelled = Hold::poll;
  options.state = state.get();
  Instance held(artifact, options), other = makeTrainer(artifact, state, x), own(artifact, 1);
  held.setInput(0, viewOf(x));
  own.setInput(0, viewOf(x));
  std::thread runner([&] { held.run(); });
  while (!hold.isInside)
    std::this_thread::yield();
  EXPECT_EQ(errorOf(FREESTONE_INVALID_ARGUMENT, [&] { other.run(); }),
            "another instance is running on the same state; they take turns");
  own.run();
  hold.mayLeave = true;
  runner.join();
  other.run();
  EXPECT_EQ(*state.data<int64_t>(steps), 2);
}
