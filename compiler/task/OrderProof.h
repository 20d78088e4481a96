#ifndef FREESTONE_COMPILER_TASK_ORDERPROOF_H
#define FREESTONE_COMPILER_TASK_ORDERPROOF_H

#include "compiler/task/AllSizesProof.h"
#include "compiler/task/HappensBefore.h"
#include "compiler/task/SizeSamples.h"
#include <memory>

namespace freestone::task {

/// Proves the edges of a program with planned memory: for all sizes where that needs no sizes, and by samples, for
/// several numbers of workers at a few sizes each, with the arena offsets of the runtime; programs with windows also with
/// tiles that are dealt at random.
class OrderProof {
public:
  explicit OrderProof(ProgramOp program, int64_t mostWorkers = 8);

  /// The number of sampled runs, each checked for all numbers of workers; 0 where no valid sizes were found.
  int64_t getRuns() const { return runs; }
  /// As in AllSizesProof.h, for the current edges.
  std::optional<std::string> findUnproved() const { return task::findUnproved(program); }
  /// As in HappensBefore.h, for the current edges; the sentence includes the sizes.
  std::optional<std::string> findConflict() const { return find(task::findConflict); }
  std::optional<std::string> findMissingEdge() const { return find(task::findMissingEdge); }

private:
  struct Situation {
    std::string description;
    std::shared_ptr<const Execution> execution;
    std::shared_ptr<const RunSizes::Values> values;
    Dealing dealing;
    std::vector<int64_t> offsets;
    std::vector<Access> accesses;
  };
  using Fault = std::optional<std::string> (*)(const Execution &, llvm::ArrayRef<Access>, const AwaitedWorkers &);
  void add(const RunSizes::Values &values, llvm::ArrayRef<int64_t> offsets, int64_t mostWorkers);
  std::optional<std::string> find(Fault fault) const;

  ProgramOp program;
  int64_t runs = 0;
  std::vector<Situation> situations;
};

} // namespace freestone::task

#endif // FREESTONE_COMPILER_TASK_ORDERPROOF_H
