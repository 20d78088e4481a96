// Compiled operators touch only their operands, whatever the sizes and indices are, and the compiler terminates for all
// known sizes. FREESTONE_GUARDED_SIZES is the number of sizes for each program.
#include "test/guarded/Operators.h"
#include "test/guarded/GuardedModel.h"
#include "test/guarded/SameNumbers.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace freestone::test;

namespace {

std::vector<std::string> getTargets() {
  std::vector<std::string> targets = {"x86-64-v3"};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    targets.push_back("x86-64-v4");
  return targets;
}

size_t getSizesPerProgram() {
  const char *given = std::getenv("FREESTONE_GUARDED_SIZES");
  return given ? std::strtoul(given, nullptr, 10) : 8;
}

/// Every symbol 0 or 1, each alone 0, then random small values around the number of vector lanes.
Sizes drawSizes(const std::vector<std::string> &symbols, size_t number, std::mt19937 &random) {
  constexpr int64_t some[] = {0, 1, 2, 3, 5, 19};
  Sizes sizes;
  for (size_t i = 0; i < symbols.size(); ++i) {
    bool isAlone = number >= 2 && number < 2 + symbols.size();
    sizes[symbols[i]] = number < 2 ? number : isAlone ? (i == number - 2 ? 0 : 3) : some[random() % std::size(some)];
  }
  return sizes;
}

const char *nameOf(Values values) {
  return values == Values::zeros ? "zeros" : values == Values::small ? "small numbers" : "extremes";
}

/// Runs the compiled model at these sizes, with all kinds of values.
void runGuarded(const GuardedModel &model, bool followsAll, const Sizes &sizes, std::mt19937 &random) {
  for (Values values : {Values::zeros, Values::small, Values::hostile}) {
    SCOPED_TRACE(describe(sizes) + " of " + nameOf(values));
    std::vector<HostArray> inputs = model.draw(sizes, values, random);
    Outcome outcomes[] = {model.run(inputs, Flush::begin), model.run(inputs, Flush::end)};
    for (const Outcome &outcome : outcomes)
      ASSERT_EQ(outcome.fault, "") << "memory outside of an operand was touched, or an instruction trapped";
    const Outcome &outcome = outcomes[0];
    EXPECT_EQ(outcome.status, outcomes[1].status) << outcome.message << outcomes[1].message;
    EXPECT_NE(outcome.status, FREESTONE_INTERNAL) << outcome.message;
    if (values == Values::hostile)
      continue;
    Interpretation expected = model.interpret(inputs);
    // For sizes the two differ in what they require, for indices they agree.
    bool isOutside = expected.error.find("is out of range") != std::string::npos;
    if (outcome.status == FREESTONE_RUN_FAILED)
      EXPECT_NE(expected.error, "") << "the interpreter does not fail, but the run: " << outcome.message;
    else if (outcome.status == FREESTONE_OK && followsAll)
      EXPECT_FALSE(isOutside) << "the run does not fail, but the interpreter: " << expected.error;
    if (outcome.status == FREESTONE_OK && expected.error.empty())
      expectSameNumbers(outcome.outputs, expected.outputs);
    if (testing::Test::HasFailure())
      return;
  }
}

class GuardedOperator : public testing::TestWithParam<OperatorCase> {
protected:
  std::mt19937 random{1};
};

TEST_P(GuardedOperator, StaysInsideItsOperands) {
  GuardedModel model(GetParam().graph);
  for (const std::string &target : getTargets()) {
    SCOPED_TRACE(target);
    ASSERT_EQ(model.compile(target), "");
    for (size_t number = 0; number < getSizesPerProgram() && !HasFailure(); ++number)
      runGuarded(model, GetParam().followsAll, drawSizes(model.getSymbols(), number, random), random);
  }
}

TEST_P(GuardedOperator, IsCompiledForKnownSizes) {
  GuardedModel model(GetParam().graph);
  for (size_t number = 0; number < getSizesPerProgram() / 8 && !HasFailure(); ++number) {
    Sizes sizes = drawSizes(model.getSymbols(), 2 + random() % (1 + model.getSymbols().size()), random);
    // Sizes that no run can have may be refused.
    if (model.compile(getTargets().back(), sizes).empty())
      runGuarded(model, GetParam().followsAll, sizes, random);
  }
}

TEST_P(GuardedOperator, TakesConstantsWithoutElements) {
  GuardedModel open(GetParam().graph);
  for (size_t number = 0; number < getSizesPerProgram() / 8 && !HasFailure(); ++number) {
    Sizes sizes = drawSizes(open.getSymbols(), random(), random);
    std::vector<HostArray> frozen;
    for (HostArray &array : open.draw(sizes, Values::small, random))
      if (random() % 2)
        frozen.push_back(std::move(array));
    SCOPED_TRACE("constants of " + describe(sizes));
    GuardedModel model(GetParam().graph, frozen);
    if (model.compile(getTargets().back()).empty())
      runGuarded(model, GetParam().followsAll, sizes, random);
  }
}

INSTANTIATE_TEST_SUITE_P(All, GuardedOperator, testing::ValuesIn(operatorCases),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
