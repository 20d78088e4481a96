// Compiled operators touch only their operands, whatever the sizes and indices are, and the compiler terminates for all
// known sizes. FREESTONE_GUARDED_SIZES is the number of sizes for each program.
#include "test/guarded/Operators.h"
#include "test/guarded/GuardedModel.h"
#include "test/guarded/SameNumbers.h"
#include "gtest/gtest.h"

#include <cstdlib>

using namespace freestone::test;

namespace {

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

/// Of `sizes` those of these symbols.
Sizes restrict(const Sizes &sizes, const std::vector<std::string> &symbols) {
  Sizes restricted;
  for (const std::string &symbol : symbols)
    restricted[symbol] = sizes.at(symbol);
  return restricted;
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
  ASSERT_EQ(model.compile(), "");
  for (size_t number = 0; number < getSizesPerProgram() && !HasFailure(); ++number)
    runGuarded(model, GetParam().followsAll, drawSizes(model.getSymbols(), number, random), random);
}

/// Some operands are constants, which may have no elements; the sizes of the others are known, or half of the time not.
TEST_P(GuardedOperator, TakesConstantsAndKnownSizes) {
  GuardedModel open(GetParam().graph);
  for (size_t number = 0; number < getSizesPerProgram() / 8 && !HasFailure(); ++number) {
    Sizes sizes = drawSizes(open.getSymbols(), 2 + random() % (1 + open.getSymbols().size()), random);
    std::vector<HostArray> frozen;
    std::vector<HostArray> operands = open.draw(sizes, Values::small, random);
    for (HostArray &operand : operands)
      if (random() % 2 && frozen.size() + 1 < operands.size())
        frozen.push_back(std::move(operand));
    GuardedModel model(GetParam().graph, frozen);
    Sizes known = frozen.empty() || random() % 2 ? restrict(sizes, model.getSymbols()) : Sizes();
    SCOPED_TRACE(std::to_string(frozen.size()) + " constants, known " + describe(known));
    // Sizes that no run can have may be refused.
    if (model.compile(known).empty())
      runGuarded(model, GetParam().followsAll, sizes, random);
  }
}

INSTANTIATE_TEST_SUITE_P(All, GuardedOperator, testing::ValuesIn(operatorCases),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
