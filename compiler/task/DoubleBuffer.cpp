#include "compiler/device/DeviceDescription.h"
#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/task/AssumedSizes.h"
#include "compiler/task/IterationOrder.h"
#include "compiler/task/Passes.h"
#include "compiler/tile/Counters.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace freestone::task {
#define GEN_PASS_DEF_DOUBLEBUFFER
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// Sizes at which what is double must still be in the cache.
constexpr int64_t typicalSize = 128;

/// Finds the buffers of one program's loops that get a second slice.
class DoubleBufferer {
public:
  DoubleBufferer(ProgramOp program, int64_t mostBytes)
      : program(program), sizes(program, typicalSize), mostBytes(mostBytes) {
    for (PhaseOp phase : program.getPhases())
      for (const OperandTouch &touch : collectTouches(phase))
        touchedIn[findBuffer(touch.operand)].insert(phase->getParentOfType<LoopOp>());
    for (ViewOp view : program.getViews())
      kept.insert(view.getBuffer());
    program.walk([&](Operation *op) {
      auto loop = dyn_cast<LoopOp>(op);
      auto branch = dyn_cast<BranchOp>(op);
      if (Value condition = loop ? loop.getCondition() : branch ? branch.getCondition() : Value())
        kept.insert(findBuffer(condition));
    });
    SmallVector<BufferOp, 8> buffers = program.getBuffers();
    for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>())
      if (symbol.getSource() == SymbolSource::runtime)
        kept.insert(buffers[symbol.getTensor()]);
  }

  int64_t run();

private:
  bool isOfIteration(BufferOp buffer, LoopOp loop);
  bool isAwaited(PhaseOp phase);
  bool comesEarly(PhaseOp phase, LoopOp loop, const llvm::SetVector<Operation *> &doubled);
  void run(LoopOp loop, llvm::SetVector<Operation *> &doubled);
  void addSlice(BufferOp buffer, LoopOp loop);

  ProgramOp program;
  AssumedSizes sizes;
  int64_t mostBytes;
  /// By buffers: the innermost loops of the phases that touch them.
  DenseMap<Operation *, llvm::SmallPtrSet<Operation *, 2>> touchedIn;
  /// Those that views look at, that decide, or that hold sizes.
  llvm::SmallPtrSet<Operation *, 8> kept;
};

} // namespace

/// Whether a buffer holds a value of one iteration: it is touched in this loop's body alone, which writes it before it
/// reads it.
bool DoubleBufferer::isOfIteration(BufferOp buffer, LoopOp loop) {
  auto type = cast<graph::TensorType>(buffer.getBuffer().getType());
  const auto &loops = touchedIn[buffer];
  return buffer.getKind() == BufferKind::arena && !buffer.getSlices() && !type.getLayout() && !kept.contains(buffer) &&
         loops.size() == 1 && loops.contains(loop);
}

/// Whether a later phase of each iteration waits for all workers, since it isn't known which of them made what it
/// reads. Whoever has waited there knows that the iteration before is done.
bool DoubleBufferer::isAwaited(PhaseOp phase) {
  SmallVector<OperandTouch, 8> made = collectTouches(phase);
  for (Operation *op = phase->getNextNode(); op; op = op->getNextNode()) {
    auto later = dyn_cast<PhaseOp>(op);
    for (const OperandTouch &touch : later ? collectTouches(later) : SmallVector<OperandTouch, 8>())
      for (const OperandTouch &write : made)
        if (write.isWrite && !write.isOnly() && touch.operand == write.operand &&
            (!touch.isKnown() || !write.isKnown()))
          return true;
  }
  return false;
}

/// Whether a phase touches nothing that the iteration before touches, but what gets a second slice, and its own
/// elements.
bool DoubleBufferer::comesEarly(PhaseOp phase, LoopOp loop, const llvm::SetVector<Operation *> &doubled) {
  for (const OperandTouch &touch : collectTouches(phase)) {
    BufferOp buffer = findBuffer(touch.operand);
    if (doubled.contains(buffer) || (touch.isWrite && isOfIteration(buffer, loop)))
      continue;
    for (PhaseOp before : loop.getPhases())
      for (const OperandTouch &other : collectTouches(before)) {
        if ((!touch.isWrite && !other.isWrite) || findBuffer(other.operand) != buffer)
          continue;
        auto [isNext, isLater] = getDistance(touch.operand, other.operand, loop);
        bool isOwn = other.space == touch.space && touch.operand == other.operand &&
                     (touch.isOnly() || areAligned(touch.elements, other.elements));
        if ((isNext || isLater) && !isOwn)
          return false;
      }
  }
  return true;
}

void DoubleBufferer::run(LoopOp loop, llvm::SetVector<Operation *> &doubled) {
  llvm::SetVector<Operation *> own;
  int64_t bytes = 0;
  for (PhaseOp phase : loop.getBody().getOps<PhaseOp>()) {
    if (!isAwaited(phase) || !comesEarly(phase, loop, own))
      continue;
    llvm::SetVector<Operation *> written;
    int64_t more = 0;
    for (const OperandTouch &touch : collectTouches(phase))
      if (BufferOp buffer = findBuffer(touch.operand);
          touch.isWrite && isOfIteration(buffer, loop) && !own.contains(buffer))
        if (written.insert(buffer))
          more += sizes.evaluate(buffer.getBytes());
    if (bytes + more > mostBytes)
      continue;
    bytes += more;
    own.insert_range(written);
  }
  for (Operation *buffer : own)
    addSlice(cast<BufferOp>(buffer), loop);
  doubled.insert_range(own);
}

/// All phases touch the slice of their iteration, two of which are there in turns.
void DoubleBufferer::addSlice(BufferOp buffer, LoopOp loop) {
  auto slice = cast<graph::TensorType>(buffer.getBuffer().getType());
  SmallVector<sym::Expr> shape = {sym::Expr::constant(program.getContext(), 2)};
  llvm::append_range(shape, slice.getShape());
  sym::ExprAttr step = buffer.getBytes().attr();
  OpBuilder builder(program.getContext());
  builder.setInsertionPointAfter(buffer);
  auto view =
      ViewOp::create(builder, buffer.getLoc(), slice, buffer.getBuffer(), builder.getI64IntegerAttr(loop.getNumber()),
                     IntegerAttr(), /*shift=*/0, /*rotate=*/2, step);
  buffer.getBuffer().setType(slice.withShape(shape));
  buffer.getBuffer().replaceAllUsesExcept(view.getView(), view);
}

int64_t DoubleBufferer::run() {
  llvm::SetVector<Operation *> doubled;
  program.walk([&](LoopOp loop) {
    bool isInnermost = !loop.getBody().walk([](LoopOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (isInnermost && IterationOrder::mayOverlap(loop))
      run(loop, doubled);
  });
  return static_cast<int64_t>(doubled.size());
}

namespace {

class DoubleBuffer : public task::impl::DoubleBufferBase<DoubleBuffer> {
public:
  using DoubleBufferBase::DoubleBufferBase;

  void runOnOperation() override {
    if (!enable)
      return;
    FailureOr<DeviceDescription> device = DeviceDescription::getFor(getOperation(), target);
    if (failed(device))
      return signalPassFailure();
    for (auto program : getOperation().getOps<ProgramOp>())
      tile::count(getOperation(), "double_buffered", DoubleBufferer(program, device->getL2Bytes() / 4).run());
  }
};

} // namespace
