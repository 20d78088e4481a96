#include "compiler/task/Passes.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/tile/Counters.h"

namespace freestone::task {
#define GEN_PASS_DEF_MERGEPHASES
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// The elements of a buffer that one tile touches, and the number of tiles.
struct Touch {
  size_t phase;
  Attribute tiles, elements;
  bool isWrite;
};

/// Merges phases that follow each other.
class Merger {
public:
  Merger(ArrayRef<PhaseOp> phases, SymbolTable &symbols) : phases(phases), symbols(symbols) {}

  /// Returns the number of phases merged into others.
  int64_t merge();

private:
  void findChains();
  bool hasEvenTiles(PhaseOp phase);
  bool isIndependent(PhaseOp phase) const;
  void addToWindow(PhaseOp phase);
  int64_t mergeWindow();

  ArrayRef<PhaseOp> phases;
  SymbolTable &symbols;
  /// Phases whose tiles stay on the worker that computed their inputs: dealt otherwise, they would have to wait. Phases
  /// of a single tile keep no worker busy, and are better merged.
  llvm::SmallDenseSet<size_t> chained;
  /// A window of neighbouring, independent phases that may be merged, and the accesses of all of them.
  SmallVector<PhaseOp> mergeable;
  DenseSet<Value> read, written;
};

void Merger::findChains() {
  DenseMap<Value, SmallVector<Touch>> touches;
  for (size_t index = 0; index < phases.size(); ++index)
    for (SpaceOp space : PhaseOp(phases[index]).getSpaces()) {
      auto touch = [&](OperandRange operands, ArrayAttr accesses, bool isWrite) {
        for (auto [operand, elements] : llvm::zip_equal(operands, accesses)) {
          if (!isa<sym::ExprAttr>(elements) || space.getTiles().getExpr().isConstant(1))
            continue;
          for (const Touch &before : touches[operand])
            if ((isWrite || before.isWrite) && before.tiles == space.getTilesAttr() && before.elements == elements &&
                before.phase != index) {
              chained.insert(before.phase);
              chained.insert(index);
            }
          touches[operand].push_back({index, space.getTilesAttr(), elements, isWrite});
        }
      };
      touch(space.getInputs(), space.getReads(), false);
      touch(space.getOutputs(), space.getWrites(), true);
    }
}

/// Tiles of elementwise and row programs take about equal time; those of contractions vary with their sizes.
bool Merger::hasEvenTiles(PhaseOp phase) {
  return llvm::all_of(phase.getSpaces(), [&](SpaceOp space) {
    auto callee = symbols.lookup<tile::ProgramOp>(space.getProgram());
    return !space.getService() && callee && callee.getPlan() &&
           isa<tile::MapTilingAttr, tile::RowsTilingAttr>(callee.getPlan()->getTiling());
  });
}

bool Merger::isIndependent(PhaseOp phase) const {
  for (SpaceOp space : phase.getSpaces())
    if (llvm::any_of(space.getInputs(), [&](Value buffer) { return written.contains(buffer); }) ||
        llvm::any_of(space.getOutputs(),
                     [&](Value buffer) { return written.contains(buffer) || read.contains(buffer); }))
      return false;
  return true;
}

void Merger::addToWindow(PhaseOp phase) {
  for (SpaceOp space : phase.getSpaces()) {
    read.insert(space.getInputs().begin(), space.getInputs().end());
    written.insert(space.getOutputs().begin(), space.getOutputs().end());
  }
}

/// Merges the window into its first phase, with calls of one program adjacent.
int64_t Merger::mergeWindow() {
  int64_t merged = 0;
  if (mergeable.size() > 1) {
    PhaseOp into = mergeable.front();
    llvm::MapVector<Attribute, SmallVector<SpaceOp>> calls;
    for (PhaseOp phase : mergeable)
      for (SpaceOp space : phase.getSpaces())
        calls[space.getProgramAttr()].push_back(space);
    Block &body = into.getBody().front();
    SmallVector<Location> locations = llvm::map_to_vector(mergeable, [](PhaseOp phase) { return phase.getLoc(); });
    for (auto &[callee, spaces] : calls)
      for (SpaceOp space : spaces)
        space->moveBefore(&body, body.end());
    for (PhaseOp phase : llvm::drop_begin(mergeable))
      phase.erase();
    into->setLoc(FusedLoc::get(into.getContext(), locations));
    merged = mergeable.size() - 1;
  }
  mergeable.clear();
  read.clear();
  written.clear();
  return merged;
}

int64_t Merger::merge() {
  findChains();
  int64_t merged = 0;
  for (size_t index = 0; index < phases.size(); ++index) {
    PhaseOp phase = phases[index];
    // Phases after one that binds a size may depend on that size.
    if (!isIndependent(phase) || phase.getBinds())
      merged += mergeWindow();
    if (phase.getBinds())
      continue;
    addToWindow(phase);
    if (!chained.contains(index) && hasEvenTiles(phase))
      mergeable.push_back(phase);
  }
  return merged + mergeWindow();
}

class MergePhases : public task::impl::MergePhasesBase<MergePhases> {
public:
  using MergePhasesBase::MergePhasesBase;

  void runOnOperation() override {
    if (!enable)
      return;
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<ProgramOp>())
      mergeIn(program, symbols);
  }

private:
  /// Phases on both sides of a loop or branch, or of its beginning or end, stay apart.
  void mergeIn(Operation *op, SymbolTable &symbols) {
    for (Region &region : op->getRegions()) {
      SmallVector<PhaseOp> neighbours;
      auto mergeNeighbours = [&] {
        tile::count(getOperation(), "merged_phases", Merger(neighbours, symbols).merge());
        neighbours.clear();
      };
      for (Operation &inner : llvm::make_early_inc_range(region.front())) {
        if (auto phase = dyn_cast<PhaseOp>(inner)) {
          neighbours.push_back(phase);
        } else if (isa<LoopOp, BranchOp>(inner)) {
          mergeNeighbours();
          mergeIn(&inner, symbols);
        }
      }
      mergeNeighbours();
    }
  }
};

} // namespace
