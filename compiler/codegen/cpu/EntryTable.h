#ifndef FREESTONE_COMPILER_CODEGEN_CPU_ENTRYTABLE_H
#define FREESTONE_COMPILER_CODEGEN_CPU_ENTRYTABLE_H

#include "compiler/task/SizeSlots.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::codegen {

/// The table that the `run` of an entry executes: one row per space. After its columns come the indices of its buffers,
/// the slots of its sizes, and its sites.
class EntryTable {
public:
  enum Column : int64_t {
    phaseIndex,
    waitFor,      ///< 1 + the phase that all workers must have finished; 0: none
    publishAs,    ///< 1 + the phase that ends here, if others wait for it; 0: none
    callee,       ///< index of the program, or ~ of the number of the service call
    tileCount,    ///< slot
    tilesBefore,  ///< slot: tiles of other spaces that come before these in the deal
    tilesDealt,   ///< slot: all tiles of the deal
    tilesOfPhase, ///< slot
    bufferCount,
    sizeCount,
    siteCount,
    bindsSlot, ///< 1 + the slot whose value is element 0 of `bindsBuffer`; 0: none
    bindsBuffer,
    bindsLower, ///< the value if there are no tiles
    columns
  };

  EntryTable(task::ProgramOp program, const task::SizeSlots &slots);

  llvm::ArrayRef<int64_t> getWords() const { return words; }
  /// Names of programs, by index.
  llvm::ArrayRef<llvm::StringRef> getPrograms() const { return programs; }
  /// Maxima over all rows, at least 1; sizes include sites.
  int64_t getMostBuffers() const { return mostBuffers; }
  int64_t getMostSizes() const { return mostSizes; }

private:
  void addPhase(task::PhaseOp phase, int64_t index, bool isAwaited);
  void addRow(task::SpaceOp space, task::PhaseOp::Deal deal);

  task::ProgramOp program;
  const task::SizeSlots &slots;
  llvm::SmallVector<int64_t> words;
  llvm::SmallVector<llvm::StringRef> programs;
  llvm::StringMap<int64_t> programIndex;
  llvm::DenseMap<mlir::Value, int64_t> bufferIndex;
  int64_t serviceCalls = 0, mostBuffers = 1, mostSizes = 1;
};

} // namespace freestone::codegen

#endif // FREESTONE_COMPILER_CODEGEN_CPU_ENTRYTABLE_H
