// The steps of sizes, executed by the builtin, against the evaluation of expressions.
#include "compiler/codegen/cpu/SizeTable.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

extern "C" int freestone_compute_sizes(const long *word, const long *end, long *slots, long slotCount,
                                       long checkedCount, StepValue *others);

namespace {

constexpr int64_t most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min();

const char *const text = R"mlir(
task.program @main symbols [#task.symbol<"b" dim 0, 0 in [0, 100]>, #task.symbol<"s" dim 0, 1 in [0, 100]>, #task.symbol<"x" dim 0, 2 in [0, 100]>]
    define [["half", #sym.expr<(s + 3) floordiv 7>], ["long", #sym.expr<b*half - 2*half - 3*b + 4>]] {
  %x = task.buffer input "x" : !graph.tensor<[b, s, x], f32>
  %y = task.buffer output "y" : !graph.tensor<[long], f32>
  task.phase "a" after all [] same [] {
    task.space @p(%x) to (%y)
      sizes [4*s + 1, b*s*x - 3*b*s + 7*s*s*x - b*x*x, s floordiv 8, s floordiv b, s ceildiv b, (b*s) mod (x + 1), s floordiv (b floordiv 3),
             min(s, 512), max(s, b, 3), 2*min(s, b)*x + max(0, s - b), long*(s floordiv 8) + half, (long + 7) floordiv 8]
      tiles (s floordiv 8) ceildiv (x + 1) time 900*b*b*(s floordiv 8) + b ceildiv x scratch long*64 reads [?] writes [?] sites []
      operations 3*long padding b*s*x : (!graph.tensor<[b, s, x], f32>) -> !graph.tensor<[long], f32>
  }
}
)mlir";

class SizeTableTest : public testing::Test {
protected:
  SizeTableTest() {
    context.loadDialect<task::TaskDialect>();
    module = parseSourceString<ModuleOp>(text, &context);
    program = *module->getOps<task::ProgramOp>().begin();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  task::ProgramOp program;
};

TEST_F(SizeTableTest, AgreesWithTheEvaluationOfExpressions) {
  task::SizeSlots slots(program);
  SizeTable table(program, slots);
  std::mt19937_64 random(1);
  auto draw = [&]() -> int64_t {
    int64_t extremes[] = {0, 1, -1, least, least + 1, most, int64_t(1) << 40};
    return random() % 4 == 0 ? extremes[random() % std::size(extremes)] : static_cast<int64_t>(random() % 101) - 50;
  };
  int64_t failed = 0, saturated = 0;
  for (int run = 0; run < 4000; ++run) {
    std::vector<long> sizes(slots.count());
    std::vector<StepValue> others(table.getNumValues());
    llvm::StringMap<std::optional<int64_t>> symbols;
    for (auto [slot, name] : llvm::enumerate(ArrayRef<StringRef>{"b", "s", "x"}))
      symbols[name] = sizes[slot] = draw();
    auto valueOf = [&](StringRef name) -> std::optional<int64_t> {
      std::optional<int64_t> slot = task::SizeSlots::getSlot(name);
      return slot ? std::optional<int64_t>(sizes[*slot]) : symbols.lookup(name);
    };
    for (auto definition : program.getDefinitions()->getAsRange<ArrayAttr>())
      symbols[cast<StringAttr>(definition[0])] = cast<sym::ExprAttr>(definition[1]).getExpr().evaluate(valueOf);
    int found = freestone_compute_sizes(table.getWords().begin(), table.getWords().end(), sizes.data(), slots.count(),
                                        slots.checkedCount(), others.data());
    bool isOverflow = false;
    for (auto [slot, expr] : llvm::enumerate(slots.getExprs())) {
      std::optional<int64_t> expected = expr.evaluate(valueOf);
      isOverflow |= !expected && static_cast<int64_t>(slot) < slots.checkedCount();
      saturated += !expected && !isOverflow;
      ASSERT_EQ(sizes[slot], expected.value_or(most)) << expr.str();
    }
    ASSERT_EQ(found, isOverflow);
    failed += isOverflow;
  }
  EXPECT_GT(failed, 100);
  EXPECT_LT(failed, 3900);
  EXPECT_GT(saturated, 0);
}

TEST_F(SizeTableTest, ComputesWhatSizesHaveInCommonOnce) {
  SizeTable table(program, task::SizeSlots(program));
  ArrayRef<int64_t> words = table.getWords();
  llvm::SmallDenseMap<int64_t, int64_t> kinds;
  while (!words.empty()) {
    int64_t kind = words[0], parts = words[2];
    ++kinds[kind];
    words = words.drop_front(3);
    bool isSum = kind == SizeStep::sum || kind == SizeStep::wideSum;
    for (; parts > 0; --parts)
      words = words.drop_front(isSum ? 2 + words[1] : 1);
  }
  // (s + 3) floordiv 7, s floordiv 8, s floordiv b, (b*s) floordiv (x + 1), b floordiv 3 and the division by it,
  // (long + 7) floordiv 8.
  EXPECT_EQ(kinds[SizeStep::floorDivision], 7);
  // s by b, s floordiv 8 by x + 1, b by x.
  EXPECT_EQ(kinds[SizeStep::ceilDivision], 3);
}

} // namespace
