#include "compiler/task/KnownPhases.h"
#include "compiler/task/Passes.h"

#include "compiler/plan/InPlace.h"
#include "compiler/tile/Counters.h"
#include "mlir/IR/Builders.h"

namespace freestone::task {
#define GEN_PASS_DEF_OVERWRITEOPERANDS
#include "compiler/task/Passes.h.inc"
} // namespace freestone::task

using namespace mlir;
using namespace freestone;
using namespace freestone::task;

namespace {

/// An access to a buffer by a space.
struct BufferTouch {
  int64_t phase;
  SpaceOp space;
  /// Those of each tile.
  Attribute elements;
  bool isWrite;
};

/// Lays results of one program over operands.
class Overwriter {
public:
  Overwriter(ProgramOp program, SymbolTable &symbols)
      : program(program), symbols(symbols), phases(program.getPhases()), known(KnownPhases::getAtPhases(program)) {
    collectTouches();
    collectBound();
  }

  /// Returns the number of results that lie over an operand.
  int64_t overwrite();

private:
  void collectTouches();
  void collectBound();
  bool overwriteOperand(int64_t phase, SpaceOp space, unsigned result);
  bool isLastTouch(BufferOp operand, BufferOp result, int64_t phase, SpaceOp space);
  using Edges = SmallVector<std::pair<PhaseOp, int64_t>>;
  static bool areOnWorker(const BufferTouch &earlier, const BufferTouch &later);
  bool areOrderedAgain(BufferOp before, BufferOp after, Edges &onWorker);
  bool areOrdered(BufferOp operand, BufferOp result);
  std::optional<bool> getOrder(const BufferTouch &earlier, const BufferTouch &later);
  void unite(BufferOp operand, BufferOp result);
  void renumberSymbols(ArrayRef<BufferOp> before);

  ProgramOp program;
  SymbolTable &symbols;
  SmallVector<PhaseOp, 8> phases;
  /// By phases: those that are done, wherever a worker is.
  std::vector<KnownPhases::Known> known;
  DenseMap<Operation *, SmallVector<BufferTouch>> touches;
  /// Buffers that views follow, that decide the way of all workers, or whose element is a size.
  DenseSet<Operation *> bound;
};

} // namespace

void Overwriter::collectTouches() {
  for (auto [index, phase] : llvm::enumerate(phases))
    for (SpaceOp space : PhaseOp(phase).getSpaces())
      for (auto [operands, accesses, isWrite] : {std::tuple(space.getInputs(), space.getReads(), false),
                                                 std::tuple(space.getOutputs(), space.getWrites(), true)})
        for (auto [operand, elements] : llvm::zip_equal(operands, accesses))
          touches[findBuffer(operand)].push_back({static_cast<int64_t>(index), space, elements, isWrite});
}

void Overwriter::collectBound() {
  for (ViewOp view : program.getViews())
    bound.insert(view.getBuffer());
  program.walk([&](Operation *op) {
    auto loop = dyn_cast<LoopOp>(op);
    auto branch = dyn_cast<BranchOp>(op);
    if (Value condition = loop ? loop.getCondition() : branch ? branch.getCondition() : Value())
      bound.insert(findBuffer(condition));
  });
  SmallVector<BufferOp, 8> buffers = program.getBuffers();
  for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>())
    if (symbol.getSource() == SymbolSource::runtime)
      bound.insert(buffers[symbol.getTensor()]);
}

/// Whether the operand is touched by nothing behind the space, and the result by nothing before it, in one block.
bool Overwriter::isLastTouch(BufferOp operand, BufferOp result, int64_t phase, SpaceOp space) {
  Block *block = phases[phase]->getBlock();
  return llvm::all_of(touches[operand],
                      [&](const BufferTouch &touch) {
                        return touch.space == space ? !touch.isWrite
                                                    : touch.phase < phase && phases[touch.phase]->getBlock() == block;
                      }) &&
         llvm::all_of(touches[result], [&](const BufferTouch &touch) {
           return touch.space == space ? touch.isWrite
                                       : touch.phase > phase && phases[touch.phase]->getBlock() == block;
         });
}

bool Overwriter::areOnWorker(const BufferTouch &earlier, const BufferTouch &later) {
  SpaceOp one = earlier.space, other = later.space;
  bool isOnly = one.getTiles().getExpr().isConstant(1);
  return one.isDealtAs(other) && (isOnly || areAligned(earlier.elements, later.elements));
}

/// Whether two accesses to the same bytes are in order: by what is known, true, or on each worker by itself, false.
/// Else nothing. A single tile may touch any elements.
std::optional<bool> Overwriter::getOrder(const BufferTouch &earlier, const BufferTouch &later) {
  if (known[later.phase].here.test(earlier.phase))
    return true;
  return areOnWorker(earlier, later) ? std::optional(false) : std::nullopt;
}

/// Whether what touches one buffer in an iteration comes before what touches the other in the next one. Collects those
/// that are ordered on their workers alone.
bool Overwriter::areOrderedAgain(BufferOp before, BufferOp after, Edges &onWorker) {
  for (const BufferTouch &earlier : touches[before])
    for (const BufferTouch &later : touches[after]) {
      if ((!earlier.isWrite && !later.isWrite) || known[later.phase].before.test(earlier.phase))
        continue;
      if (!areOnWorker(earlier, later))
        return false;
      onWorker.push_back({phases[later.phase], earlier.phase});
    }
  return true;
}

/// Whether all that touches the operand comes before all that touches the result, with the waits as they are, and in a
/// loop before what touches either in the next iteration. Writes the edges that say so where no wait does.
bool Overwriter::areOrdered(BufferOp operand, BufferOp result) {
  Edges onWorker, again;
  for (const BufferTouch &earlier : touches[operand])
    for (const BufferTouch &later : touches[result]) {
      if (earlier.space == later.space || (!earlier.isWrite && !later.isWrite))
        continue;
      std::optional<bool> order = getOrder(earlier, later);
      if (!order)
        return false;
      if (!*order)
        onWorker.push_back({phases[later.phase], earlier.phase});
    }
  bool isInLoop = phases[touches[operand].front().phase]->getParentOfType<LoopOp>() != nullptr;
  if (isInLoop && (!areOrderedAgain(operand, result, again) || !areOrderedAgain(result, operand, again)))
    return false;
  auto addTo = [](ArrayRef<int64_t> edges, int64_t before) {
    SmallVector<int64_t> same(edges);
    if (!llvm::is_contained(same, before))
      same.insert(llvm::lower_bound(same, before), before);
    return same;
  };
  for (auto [phase, before] : onWorker)
    phase.setSameAfter(addTo(phase.getSameAfter(), before));
  for (auto [phase, before] : again)
    phase.setAgainSameAfter(addTo(phase.getSameAgain(), before));
  return true;
}

/// Gives both one buffer: the output, if the result is one.
void Overwriter::unite(BufferOp operand, BufferOp result) {
  BufferOp kept = result.getKind() == BufferKind::output ? result : operand,
           dropped = kept == result ? operand : result;
  SmallVector<BufferTouch> all = touches[operand];
  llvm::append_range(all, touches[result]);
  touches.erase(dropped);
  touches[kept] = std::move(all);
  dropped.getBuffer().replaceAllUsesWith(kept.getBuffer());
  dropped.erase();
}

bool Overwriter::overwriteOperand(int64_t phase, SpaceOp space, unsigned number) {
  auto callee = symbols.lookup<tile::ProgramOp>(space.getProgram());
  auto result = space.getOutputs()[number].getDefiningOp<BufferOp>();
  bool mayLieOver = result && (result.getKind() == BufferKind::arena || result.getKind() == BufferKind::output);
  if (space.getService() || !callee || !mayLieOver || bound.contains(result))
    return false;
  for (Value input : space.getInputs()) {
    auto operand = input.getDefiningOp<BufferOp>();
    if (!operand || operand.getKind() != BufferKind::arena || bound.contains(operand) ||
        operand.getBytes() != result.getBytes() || !isLastTouch(operand, result, phase, space))
      continue;
    SmallVector<unsigned> arguments;
    for (auto [index, other] : llvm::enumerate(space.getInputs()))
      if (other == input)
        arguments.push_back(index);
    if (!tile::mayOverwrite(callee, number, arguments) || !areOrdered(operand, result))
      continue;
    unite(operand, result);
    return true;
  }
  return false;
}

/// Symbols name the buffers of their values by number.
void Overwriter::renumberSymbols(ArrayRef<BufferOp> before) {
  DenseMap<Operation *, int64_t> numbers;
  for (auto [number, buffer] : llvm::enumerate(program.getBuffers()))
    numbers[buffer] = number;
  SmallVector<Attribute> renumbered;
  for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>())
    renumbered.push_back(symbol.getSource() != SymbolSource::runtime
                             ? symbol
                             : SymbolAttr::get(program.getContext(), symbol.getName(), symbol.getSource(),
                                               numbers.lookup(before[symbol.getTensor()]), symbol.getIndex(),
                                               symbol.getScale(), symbol.getLower(), symbol.getUpper(),
                                               symbol.getMultipleOf(), symbol.getBound()));
  program.setSymbolsAttr(ArrayAttr::get(program.getContext(), renumbered));
}

int64_t Overwriter::overwrite() {
  SmallVector<BufferOp, 8> before = program.getBuffers();
  int64_t overwritten = 0;
  for (auto [index, phase] : llvm::enumerate(phases))
    for (SpaceOp space : PhaseOp(phase).getSpaces())
      for (unsigned result = 0; result < space.getOutputs().size(); ++result)
        overwritten += overwriteOperand(index, space, result);
  if (overwritten)
    renumberSymbols(before);
  return overwritten;
}

namespace {

class OverwriteOperands : public task::impl::OverwriteOperandsBase<OverwriteOperands> {
public:
  using OverwriteOperandsBase::OverwriteOperandsBase;

  void runOnOperation() override {
    if (!enable)
      return;
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<ProgramOp>())
      tile::count(getOperation(), "overwritten", Overwriter(program, symbols).overwrite());
  }
};

} // namespace
