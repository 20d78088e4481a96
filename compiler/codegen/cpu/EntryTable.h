#ifndef FREESTONE_COMPILER_CODEGEN_CPU_ENTRYTABLE_H
#define FREESTONE_COMPILER_CODEGEN_CPU_ENTRYTABLE_H

#include "compiler/task/SizeSlots.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::codegen {

/// The table that the `run` of an entry executes, row by row. After the columns of a space come the phases that it
/// waits for, the indices of its buffers, the slots of its sizes, and its sites. Loops and branches have rows that tell
/// the next one; the phases that a loop or branch waits for come after their columns. A loop's test comes behind its
/// body, so that an iteration passes one row beside those of its phases. Indices of views come after those of buffers.
class EntryTable {
public:
  enum Kind : int64_t {
    space,   ///< computes a share of tiles and goes on
    meeting, ///< a space that waits, or has something to tell: publishes, binds a size, calls a service
    test,    ///< begins an iteration, or leaves the loop; after its columns come the loop's views
    enter,   ///< goes to a loop's test, which counts on: to the first iteration from the one before
    fork,    ///< goes on with the next row, or with another one if its condition is false
    join,    ///< ends a side of a branch
    turn     ///< takes a turn; after its columns come the views that follow it
  };
  enum Column : int64_t {
    kind,
    next, ///< the words of the row, behind which the next one begins
    phaseIndex,
    waitCount,
    againCount, ///< of the waits: the last ones are windows of the iteration before
    publishAs,  ///< 1 + the phase that ends here, if others wait for it or watch the run; 0: none
    callee,     ///< index of the program, or ~ of the number of the service call
    tileCount,  ///< slot
    deal,
    bufferCount,
    sizeCount,
    siteCount,
    bindsSlot, ///< 1 + the slot whose value is element 0 of `bindsBuffer`; 0: none
    bindsBuffer,
    bindsLower,   ///< the value if there are no tiles
    isClaimed,    ///< 1: workers may claim its tiles; 0: not
    awaitedAgain, ///< 1 + the phase that all workers must have finished in the iteration before; 0: none
    aroundLoop,   ///< with waits for the iteration before: the loops around the innermost one
    iteration,    ///< with waits for the iteration before: the phases of an iteration
    alternates,   ///< the number of loops around a space whose tiles go backwards in odd iterations; 0: never
    columns
  };
  /// The columns of rows of loops and branches, behind `kind`. A row is named by the number of words before it.
  enum ControlColumn : int64_t {
    loop = 1,  ///< the loops around it; turn: the index of its counter, behind those of loops
    awaited,   ///< test: 1 + the phase that all workers must have finished in the iteration before; 0: none
    published, ///< join, test: 1 + the last phase of the branch or loop, published on leaving
    phases,    ///< of an iteration
    trips,     ///< 1 + the slot of the number of iterations; 0: unlimited
    condition, ///< 1 + the index of the buffer; 0: none
    target,    ///< the first row of the body; of the test; of the other side; behind the branch
    viewCount,
    waits, ///< enter, fork: the number of phases that it waits for
    controlColumns
  };
  enum ViewColumn : int64_t { viewIndex, viewSource, viewStep, viewShift, viewMask, viewColumns };

  EntryTable(task::ProgramOp program, const task::SizeSlots &slots);

  llvm::ArrayRef<int64_t> getWords() const { return words; }
  /// Names of programs, by index.
  llvm::ArrayRef<llvm::StringRef> getPrograms() const { return programs; }
  /// Maxima over all rows, at least 1; sizes include sites.
  int64_t getMostBuffers() const { return mostBuffers; }
  int64_t getMostSizes() const { return mostSizes; }
  int64_t getNumPhases() const { return awaitedPhases.size(); }
  int64_t getNumBuffers() const { return numBuffers; }
  /// Whether there are loops, branches or views.
  bool hasControl() const { return !views.empty() || depth > 0 || forks > 0; }
  /// Whether there are phases whose tiles may be claimed.
  bool hasClaims() const { return claims > 0; }
  int64_t getNumViews() const { return views.size(); }
  /// The greatest number of loops within each other.
  int64_t getDepth() const { return depth; }
  /// How many different turns there are, whose counters come behind those of loops and begin at 0; behind these comes
  /// the progress number at which the iteration of each loop around began.
  int64_t getNumTurns() const { return turns.size(); }
  /// Views that follow no loop, as in a row of a test; and others as they are before the first turn.
  llvm::ArrayRef<int64_t> getFixedViews() const { return fixedViews; }

private:
  void awaitAll(llvm::ArrayRef<int64_t> phases);
  void findAwaited();
  void addBlock(mlir::Block &block, int64_t loops);
  void addLoop(task::LoopOp loop, int64_t loops);
  void addBranch(task::BranchOp branch, int64_t loops);
  void addTurn(task::TurnOp turn);
  size_t addViews(llvm::function_ref<bool(task::ViewOp)> areOf);
  void addPhase(task::PhaseOp phase, int64_t loops);
  void addRow(task::SpaceOp space, llvm::ArrayRef<int64_t> waits);
  llvm::SmallVector<int64_t> getWaits(task::PhaseOp phase);
  llvm::SmallVector<int64_t> getWaits(llvm::ArrayRef<int64_t> all, llvm::ArrayRef<int64_t> tiles,
                                      llvm::ArrayRef<int64_t> windows);
  size_t addControl(Kind kind, int64_t loops, llvm::ArrayRef<int64_t> waits = {});
  void addView(task::ViewOp view, llvm::SmallVectorImpl<int64_t> &to);

  task::ProgramOp program;
  const task::SizeSlots &slots;
  llvm::SmallVector<int64_t> words;
  llvm::SmallVector<llvm::StringRef> programs;
  llvm::StringMap<int64_t> programIndex;
  llvm::DenseMap<mlir::Value, int64_t> bufferIndex;
  llvm::SmallVector<task::ViewOp> views;
  llvm::SmallVector<int64_t> fixedViews;
  /// The indices of turns, by their numbers.
  llvm::DenseMap<int64_t, int64_t> turns;
  llvm::SmallBitVector awaitedPhases;
  /// Last phases of loops, which their tests publish on leaving.
  llvm::SmallVector<int64_t> publishedBehind;
  int64_t numBuffers = 0, depth = 0, forks = 0, nextPhase = 0, numWindows = 0;
  int64_t claims = 0, serviceCalls = 0, mostBuffers = 1, mostSizes = 1;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_ENTRYTABLE_H
