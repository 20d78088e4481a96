// The rows of loops: how many an iteration passes, and what it publishes.
#include "compiler/codegen/cpu/EntryTable.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

namespace {

/// Three phases in a loop; `waits` is what the second one waits for.
std::string makeProgram(StringRef waits) {
  std::string space = R"mlir({
      task.space @p(%x) to (%y) sizes [n] tiles n ceildiv 8 time n scratch 0 reads [8] writes [8] sites [] operations n padding 0
        : (!graph.tensor<[n], f32>) -> !graph.tensor<[n], f32>
    }
  )mlir";
  return R"mlir(
task.program @main symbols [#task.symbol<"n" dim 0, 0 in [0, 100]>, #task.symbol<"t" dim 1, 0 in [0, 100]>] {
  %x = task.buffer input "x" : !graph.tensor<[n], f32>
  %s = task.buffer input "s" : !graph.tensor<[t], f32>
  %y = task.buffer output "y" : !graph.tensor<[n], f32>
  task.phase "first" after all [] same [] )mlir" +
         space + "task.loop 0 \"loop\" trips t after all [0] { task.phase \"a\" after all [] same [] " + space +
         "task.phase \"b\" after all [" + waits.str() + "] same [] " + space +
         "task.phase \"c\" after all [] same [] " + space + "} task.phase \"last\" after all [3] same [] " + space + "}";
}

class EntryTableTest : public testing::Test {
protected:
  /// The kinds of the rows of an iteration, its test last.
  std::vector<int64_t> walk(StringRef waits) {
    context.loadDialect<task::TaskDialect>();
    module = parseSourceString<ModuleOp>(makeProgram(waits), &context);
    task::ProgramOp program = *module->getOps<task::ProgramOp>().begin();
    task::SizeSlots slots(program);
    EntryTable table(program, slots);
    ArrayRef<int64_t> words = table.getWords();
    // The first row is a space, the second one enters the loop.
    size_t row = words[EntryTable::next];
    EXPECT_EQ(words[row], EntryTable::enter);
    size_t test = words[row + EntryTable::target];
    EXPECT_EQ(words[test], EntryTable::test);
    EXPECT_EQ(words[test + EntryTable::published], 4);
    std::vector<int64_t> kinds;
    for (row = words[test + EntryTable::target]; row != test; row += words[row + EntryTable::next]) {
      kinds.push_back(words[row]);
      publishedAs.push_back(words[row + EntryTable::publishAs]);
    }
    kinds.push_back(words[row]);
    return kinds;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::vector<int64_t> publishedAs;
};

TEST_F(EntryTableTest, AnIterationPassesOneRowBesideItsPhases) {
  EXPECT_EQ(walk(""), (std::vector<int64_t>{EntryTable::space, EntryTable::space, EntryTable::space, EntryTable::test}));
  EXPECT_EQ(publishedAs, (std::vector<int64_t>{0, 0, 0}));
}

TEST_F(EntryTableTest, PublishesInIterationsWhereWorkersWaitWithin) {
  EXPECT_EQ(walk("1"),
            (std::vector<int64_t>{EntryTable::meeting, EntryTable::meeting, EntryTable::meeting, EntryTable::test}));
  EXPECT_EQ(publishedAs, (std::vector<int64_t>{2, 0, 4}));
}

} // namespace
