#include "compiler/task/Passes.h"

#include "compiler/device/DeviceDescription.h"
#include "compiler/task/AssumedSizes.h"
#include "compiler/task/EarlyConditions.h"
#include "compiler/task/ListSchedule.h"
#include "compiler/tile/Counters.h"

namespace freestone::task {
#define GEN_PASS_DEF_SCHEDULEPHASES
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// The phases of a block between loops, branches and phases that bind sizes, which stay where they are.
class Segment {
public:
  /// Operators have the fewest tiles, so that their order matters, at the first of the samples. Gradients of weights
  /// take most of the memory at small sizes, activations at large ones, and between these, as much.
  explicit Segment(ArrayRef<AssumedSizes> samples) : samples(samples) {}

  void add(PhaseOp phase);
  /// Moves phases; returns the number of those that have another place.
  int64_t schedule(size_t workers);

private:
  struct Touch {
    int64_t task;
    SpaceOp space;
    Attribute elements;
  };
  void comeAfter(PlaneTask &task, const Touch &before, const Touch &touch);

  ArrayRef<AssumedSizes> samples;
  SmallVector<PhaseOp> phases;
  std::vector<PlaneTask> tasks;
  /// The numbers of arena buffers, and their bytes.
  DenseMap<Operation *, int64_t> values;
  SmallVector<SampledBytes> bytes;
  DenseMap<Operation *, SmallVector<Touch>> reads, writes;
};

/// Notes an edge: `follows` if tile t of both touches the same elements.
void Segment::comeAfter(PlaneTask &task, const Touch &before, const Touch &touch) {
  SpaceOp space = touch.space, earlier = before.space;
  bool isAligned = areAligned(touch.elements, before.elements) || space.getTiles().getExpr().isConstant(1);
  if (isAligned && space.getTiles() == earlier.getTiles() && (!task.follows || *task.follows == before.task))
    task.follows = before.task;
  else if (!llvm::is_contained(task.after, before.task))
    task.after.push_back(before.task);
}

void Segment::add(PhaseOp phase) {
  int64_t number = tasks.size();
  PlaneTask &task = tasks.emplace_back();
  task.tiles = 0;
  phases.push_back(phase);
  auto visit = [&](llvm::function_ref<void(Operation *, const Touch &, bool)> touch) {
    for (SpaceOp space : phase.getSpaces())
      for (auto [operands, accesses, isWrite] : {std::tuple(space.getInputs(), space.getReads(), false),
                                                 std::tuple(space.getOutputs(), space.getWrites(), true)})
        for (auto [operand, elements] : llvm::zip_equal(operands, accesses))
          touch(findBuffer(operand), {number, space, elements}, isWrite);
  };
  for (SpaceOp space : phase.getSpaces()) {
    task.tiles += std::max<int64_t>(0, samples.front().evaluate(space.getTiles().getExpr()));
    task.time += double(samples.front().evaluate(space.getTime().getExpr()));
  }
  visit([&](Operation *buffer, const Touch &touch, bool isWrite) {
    for (const Touch &before : writes.lookup(buffer))
      comeAfter(task, before, touch);
    if (isWrite)
      for (const Touch &before : reads.lookup(buffer))
        comeAfter(task, before, touch);
  });
  visit([&](Operation *buffer, const Touch &touch, bool isWrite) {
    (isWrite ? writes : reads)[buffer].push_back(touch);
    auto memory = cast<BufferOp>(buffer);
    if (memory.getKind() != BufferKind::arena)
      return;
    auto [known, isNew] = values.try_emplace(buffer, bytes.size());
    if (isNew)
      bytes.push_back(llvm::map_to_vector<4>(
          samples, [&](const AssumedSizes &sizes) { return sizes.evaluate(memory.getBytes()); }));
    if (!llvm::is_contained(task.values, known->second))
      task.values.push_back(known->second);
  });
}

int64_t Segment::schedule(size_t workers) {
  SmallVector<int64_t> order = scheduleTasks(tasks, bytes, workers);
  Operation *behind = phases.back()->getNextNode();
  Block *block = phases.front()->getBlock();
  int64_t moved = 0;
  for (auto [place, task] : llvm::enumerate(order)) {
    phases[task]->moveBefore(block, behind ? behind->getIterator() : block->end());
    moved += static_cast<int64_t>(place) != task;
  }
  return moved;
}

class SchedulePhases : public task::impl::SchedulePhasesBase<SchedulePhases> {
public:
  using SchedulePhasesBase::SchedulePhasesBase;

  void runOnOperation() override {
    if (!enable)
      return;
    FailureOr<DeviceDescription> device = DeviceDescription::getFor(getOperation(), target);
    if (failed(device))
      return signalPassFailure();
    workers = std::max(2u, device->units);
    for (auto program : getOperation().getOps<ProgramOp>()) {
      tile::count(getOperation(), "early_conditions", moveConditionsAhead(program));
      scheduleIn(program, {{program, 1}, {program, 8}, {program, 20}, {program, 32}, {program, 128}});
    }
  }

private:
  void scheduleIn(Operation *op, ArrayRef<AssumedSizes> samples) {
    for (Region &region : op->getRegions()) {
      std::optional<Segment> segment;
      auto end = [&] {
        if (segment)
          tile::count(getOperation(), "scheduled_phases", segment->schedule(workers));
        segment.reset();
      };
      for (Operation &inner : llvm::make_early_inc_range(region.front())) {
        auto phase = dyn_cast<PhaseOp>(inner);
        if (phase && !phase.getBinds()) {
          if (!segment)
            segment.emplace(samples);
          segment->add(phase);
          continue;
        }
        if (!phase && !isa<LoopOp, BranchOp>(inner))
          continue;
        end();
        scheduleIn(&inner, samples);
      }
      end();
    }
  }

  size_t workers = 2;
};

} // namespace
