#ifndef FREESTONE_TEST_TASK_ORDERCHECKS_H
#define FREESTONE_TEST_TASK_ORDERCHECKS_H

#include "compiler/task/AllSizesProof.h"
#include "compiler/task/HappensBefore.h"
#include "compiler/task/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/sizes/FirstFit.h"
#include "gtest/gtest.h"
#include <random>

namespace freestone::test {

/// Programs with planned edges and memory, at sizes n, m and k, and what the checker says of them.
class OrderChecks : public testing::Test {
protected:
  OrderChecks() : passes(&context) {
    context.disableMultithreading();
    context.loadDialect<task::TaskDialect>();
    passes.addNestedPass<task::ProgramOp>(task::createOrderPhases());
    passes.addNestedPass<task::ProgramOp>(task::createPlanMemory());
    passes.addNestedPass<task::ProgramOp>(task::createNarrowWaits());
  }

  /// The program of `text`, with planned edges and memory.
  task::ProgramOp plan(const std::string &text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module || mlir::failed(passes.run(*module)))
      return {};
    return *module->getOps<task::ProgramOp>().begin();
  }

  std::optional<int64_t> valueOf(llvm::StringRef symbol) const { return symbol == "n" ? n : symbol == "m" ? m : k; }

  std::vector<runtime::Lifetime> lifetimesOf(task::ProgramOp program) const {
    std::vector<runtime::Lifetime> lifetimes;
    for (task::BufferOp buffer : program.getBuffers())
      if (buffer.getKind() == task::BufferKind::arena)
        lifetimes.push_back({buffer.getBytes().evaluate([&](llvm::StringRef symbol) { return valueOf(symbol); }).value(), 64,
                             static_cast<int64_t>(*buffer.getFirst()), static_cast<int64_t>(*buffer.getFreed())});
    return lifetimes;
  }

  std::vector<int64_t> place(task::ProgramOp program) const { return runtime::placeFirstFit(lifetimesOf(program))->offsets; }

  /// Arena offsets without shared memory.
  std::vector<int64_t> placeApart(task::ProgramOp program) const {
    std::vector<int64_t> apart;
    int64_t end = 0;
    for (const runtime::Lifetime &lifetime : lifetimesOf(program)) {
      apart.push_back(end);
      end += (lifetime.bytes + 63) / 64 * 64;
    }
    return apart;
  }

  task::Dealing dealEvenly(task::ProgramOp program, int64_t workers) const {
    return task::Dealing::evenly(program, workers, [&](llvm::StringRef symbol) { return valueOf(symbol); });
  }
  task::Dealing dealAtRandom(task::ProgramOp program, int64_t workers, std::mt19937_64 &random) const {
    auto choose = [&](int64_t most) { return static_cast<int64_t>(random() % (most + 1)); };
    return task::Dealing::randomly(program, workers, [&](llvm::StringRef symbol) { return valueOf(symbol); }, choose);
  }

  /// The checker's result at n and m.
  std::optional<std::string> check(task::ProgramOp program, int64_t workers) const {
    return check(program, dealEvenly(program, workers));
  }
  std::optional<std::string> check(task::ProgramOp program, const task::Dealing &dealing, bool claims = false) const {
    auto values = [&](llvm::StringRef symbol) { return valueOf(symbol); };
    task::Execution execution(program, values, task::Decisions(program));
    std::vector<int64_t> offsets = place(program);
    return task::findConflict(execution, task::collectAccesses(program, execution, dealing, offsets, values),
                        task::AwaitedWorkers(program, dealing, offsets, values, claims));
  }

  /// The results for 1 to 8 workers. What is proved for all sizes and workers has no conflict at any.
  std::optional<std::string> checkAll(task::ProgramOp program) const {
    bool isProved = !task::findUnproved(program);
    for (int64_t workers = 1; workers <= 8; ++workers)
      if (std::optional<std::string> conflict = check(program, workers)) {
        EXPECT_FALSE(isProved) << *conflict;
        return conflict;
      }
    return std::nullopt;
  }

  void setAllAfter(task::PhaseOp phase, llvm::ArrayRef<int64_t> before) {
    phase.setAllAfterAttr(mlir::Builder(&context).getDenseI64ArrayAttr(before));
  }
  mlir::DenseI64ArrayAttr makeEdge(int64_t before) { return mlir::Builder(&context).getDenseI64ArrayAttr(before); }
  mlir::IntegerAttr makeNumber(int64_t value) { return mlir::Builder(&context).getI64IntegerAttr(value); }

  mlir::MLIRContext context;
  mlir::PassManager passes;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  int64_t n = 37, m = 29, k = 5;
};

} // namespace freestone::test

#endif // FREESTONE_TEST_TASK_ORDERCHECKS_H
