#include "compiler/tile/Passes.h"

#include "compiler/plan/ConvolutionForm.h"
#include "compiler/plan/Epilogues.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/Counters.h"
#include "compiler/tile/MakeGroup.h"
#include "compiler/tile/RewriteLoops.h"
#include "compiler/tile/TileChain.h"
#include "compiler/tile/TileContraction.h"
#include "compiler/tile/TileWindow.h"

namespace freestone::tile {
#define GEN_PASS_DEF_FUSECHAINS
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

namespace {

/// The most stages of a chain: their scratch shares a cache.
constexpr size_t mostStages = 4;

/// A group, or a compute alone, that may be a stage; and how its anchor reads the one before.
struct StageUnit {
  SmallVector<ComputeOp> members;
  bool isGroup = false;
  /// How the anchor read the unit before, where this has been rewritten: the shape, and its maps.
  unsigned input = 0;
  SmallVector<Expr> shape;
  ArrayAttr maps, symbols;

  ComputeOp getAnchor() { return members.front(); }
  Value getResult() { return members.back().getResult(0); }
};

class FuseChains : public tile::impl::FuseChainsBase<FuseChains> {
public:
  using FuseChainsBase::FuseChainsBase;

  void runOnOperation() override {
    if (!enable)
      return;
    FailureOr<DeviceDescription> described = DeviceDescription::getFor(getOperation(), target);
    if (failed(described))
      return signalPassFailure();
    device = &*described;
    TypicalSizes typical(getOperation());
    sizes = &typical;
    findUnits();
    DenseSet<unsigned> seen;
    for (unsigned number = 0; number < units.size(); ++number) {
      // Units are in order: the first one that is met begins its line.
      SmallVector<unsigned> line;
      for (unsigned at = number; seen.insert(at).second;) {
        line.push_back(at);
        if (!next.contains(at))
          break;
        at = next.lookup(at);
      }
      if (line.size() > 1)
        cut(line);
    }
  }

private:
  void findUnits();
  bool mayBeStage(ArrayRef<ComputeOp> members);
  std::optional<unsigned> findReader(StageUnit &unit);
  void dissolve(StageUnit &unit);
  LogicalResult readDirectly(StageUnit &unit, StageUnit &before);
  void readAsBefore(StageUnit &unit);
  std::optional<double> getSaving(ArrayRef<unsigned> segment);
  void cut(ArrayRef<unsigned> line);

  const DeviceDescription *device = nullptr;
  const TypicalSizes *sizes = nullptr;
  SmallVector<StageUnit> units;
  /// The unit that alone reads a unit's result, by its anchor.
  DenseMap<unsigned, unsigned> next;
};

} // namespace

/// Whether a compute with what follows on its elements can be a stage: with micro-kernels, or in registers.
bool FuseChains::mayBeStage(ArrayRef<ComputeOp> members) {
  ComputeOp anchor = members.front(), last = members.back();
  auto isF32 = [](Type type) { return cast<graph::TensorType>(type).getElementType().isF32(); };
  bool areF32 = llvm::all_of(members, [&](ComputeOp compute) {
    return llvm::all_of(compute->getOperandTypes(), isF32) && llvm::all_of(compute->getResultTypes(), isF32);
  });
  if (last.getNumResults() != 1 || !areF32 || anchor.getNumParallel() < 3 ||
      !areEpilogues(anchor, members.drop_front()))
    return false;
  MicroKernelAttr kernel = getMicroKernel(*device, Float32Type::get(&getContext()));
  std::optional<ConvolutionForm> convolution = ConvolutionForm::get(anchor);
  if (convolution && convolution->contraction.elementType.isF32() && !convolution->depthDim &&
      convolution->isPacked(kernel.getWidth()))
    return true;
  // Products whose weights are in no panels pack pixels instead, in each tile anew: they are faster apart.
  std::optional<WindowForm> window = WindowForm::get(anchor);
  return windows && window && isWindowInRegisters(*window);
}

void FuseChains::findUnits() {
  units.clear();
  next.clear();
  DenseMap<Operation *, unsigned> unitOf;
  for (Operation &op : getOperation().getBody().front()) {
    StageUnit unit;
    if (auto group = dyn_cast<GroupOp>(op)) {
      // What places units in a pipeline is kept with the group.
      if (group.getNumResults() != 1 || !group->getDiscardableAttrs().empty())
        continue;
      unit.members = llvm::to_vector(group.getBody()->getOps<ComputeOp>());
      unit.isGroup = true;
      if (unit.members.empty() || group.getBody()->getTerminator()->getOperand(0) != unit.getResult())
        continue;
    } else if (auto compute = dyn_cast<ComputeOp>(op)) {
      unit.members = {compute};
    } else {
      continue;
    }
    if (!mayBeStage(unit.members))
      continue;
    unitOf[&op] = units.size();
    units.push_back(std::move(unit));
  }
  for (auto [number, unit] : llvm::enumerate(units)) {
    Operation *op = unit.isGroup ? unit.getAnchor()->getParentOp() : unit.getAnchor();
    Value result = op->getResult(0);
    while (result.hasOneUse() && isa<graph::ReshapeOp>(*result.user_begin()))
      result = (*result.user_begin())->getResult(0);
    if (!result.hasOneUse())
      continue;
    Operation *reader = *result.user_begin(), *place = reader;
    if (auto group = dyn_cast<GroupOp>(reader->getParentOp()))
      place = group;
    auto known = unitOf.find(place);
    if (known != unitOf.end() && units[known->second].getAnchor() == reader)
      next[number] = known->second;
  }
}

void FuseChains::dissolve(StageUnit &unit) {
  auto group = dyn_cast<GroupOp>(unit.getAnchor()->getParentOp());
  if (!group)
    return;
  for (ComputeOp member : unit.members)
    member->moveBefore(group);
  group.replaceAllUsesWith(group.getBody()->getTerminator()->getOperands());
  group.erase();
}

/// Makes the anchor read the unit before as it is, without the reshape that adds or leaves out dimensions of one
/// element.
LogicalResult FuseChains::readDirectly(StageUnit &unit, StageUnit &before) {
  ComputeOp anchor = unit.getAnchor();
  Value result = before.getResult();
  for (auto [input, tensor] : llvm::enumerate(anchor.getInputs())) {
    Value source = tensor;
    while (auto reshape = source.getDefiningOp<graph::ReshapeOp>())
      source = reshape->getOperand(0);
    if (source != result)
      continue;
    if (tensor == result)
      return success();
    MLIRContext *context = &getContext();
    ArrayRef<Expr> from = graph::getShape(tensor), to = graph::getShape(result);
    SmallVector<Expr> read = getIndices(anchor, input), indices;
    auto isOne = [](Expr size) { return size.isConstant(1); };
    unsigned dim = 0;
    auto leaveOut = [&] {
      for (; dim < from.size() && isOne(from[dim]); ++dim)
        if (!read[dim].isConstant(0) && (anchor.getFill(input) || !read[dim].asSymbol()))
          return failure();
      return success();
    };
    for (Expr size : to) {
      if (isOne(size)) {
        bool isBoth = dim < from.size() && isOne(from[dim]);
        indices.push_back(isBoth ? read[dim++] : Expr::constant(context, 0));
        continue;
      }
      if (failed(leaveOut()) || dim == from.size() || from[dim] != size)
        return failure();
      indices.push_back(read[dim++]);
    }
    if (failed(leaveOut()) || dim != from.size())
      return failure();
    IndexMapBuilder builder(context, anchor.getNumLoops());
    SmallVector<AffineMap> maps;
    for (unsigned other = 0; other < anchor.getInputs().size(); ++other) {
      FailureOr<AffineMap> map = builder.getMap(other == input ? indices : getIndices(anchor, other));
      if (failed(map))
        return failure();
      maps.push_back(*map);
    }
    for (AffineMap &map : maps)
      map = AffineMap::get(map.getNumDims(), builder.getSymbols().size(), map.getResults(), context);
    unit.input = input;
    unit.shape = SmallVector<Expr>(from);
    unit.maps = anchor.getIndexMapsAttr();
    unit.symbols = anchor.getMapSymbolsAttr();
    anchor.setMapSymbolsAttr(getExprArrayAttr(context, builder.getSymbols()));
    anchor.setIndexMapsAttr(OpBuilder(context).getAffineMapArrayAttr(maps));
    anchor->setOperand(input, result);
    for (Value unread = tensor; unread != result && unread.use_empty();) {
      Operation *reshape = unread.getDefiningOp();
      unread = reshape->getOperand(0);
      reshape->erase();
    }
    return success();
  }
  return failure();
}

void FuseChains::readAsBefore(StageUnit &unit) {
  if (!unit.maps)
    return;
  ComputeOp anchor = unit.getAnchor();
  OpBuilder builder(anchor);
  anchor->setOperand(unit.input, reshapeTo(builder, anchor.getLoc(), anchor.getInputs()[unit.input], unit.shape));
  anchor.setIndexMapsAttr(unit.maps);
  anchor.setMapSymbolsAttr(unit.symbols);
}

/// The seconds that a chain of these units saves; nothing if they can be none.
std::optional<double> FuseChains::getSaving(ArrayRef<unsigned> segment) {
  SmallVector<ComputeOp> members;
  for (unsigned number : segment)
    llvm::append_range(members, units[number].members);
  std::string why;
  FailureOr<ChainForm> form = ChainForm::get(members, why);
  if (failed(form) || form->stages.size() != segment.size())
    return std::nullopt;
  auto valueOf = [&](Expr size) { return double(sizes->evaluate(size).value_or(std::numeric_limits<int32_t>::max())); };
  double apart = 0;
  for (unsigned edge = 0; edge + 1 < segment.size(); ++edge)
    apart += getSecondsApart(double(sizes->getBytes(cast<graph::TensorType>(form->getIntermediate(edge).getType()))),
                             *device);
  SizesOfRun run = valueOf;
  // With more workers than that, operators apart leave some idle too.
  int64_t workers = std::min(16u, device->units);
  return apart - chooseEdges(*form, *device, run, workers).seconds;
}

/// Cuts a line of units, each of which reads the one before, into the chains that save most.
void FuseChains::cut(ArrayRef<unsigned> line) {
  for (unsigned number : line)
    dissolve(units[number]);
  SmallVector<bool> isJoined(line.size());
  for (unsigned place = 1; place < line.size(); ++place)
    isJoined[place] = succeeded(readDirectly(units[line[place]], units[line[place - 1]]));
  // The most that is saved by the units up to each, and the first one of the last chain.
  SmallVector<double> saved(line.size() + 1, 0);
  SmallVector<unsigned> begins(line.size() + 1);
  for (unsigned end = 1; end <= line.size(); ++end) {
    saved[end] = saved[end - 1];
    begins[end] = end - 1;
    for (unsigned begin = end - 1; begin-- > 0 && isJoined[begin + 1] && end - begin <= mostStages;) {
      std::optional<double> saving = getSaving(line.slice(begin, end - begin));
      if (!saving || saved[begin] + *saving <= saved[end])
        continue;
      saved[end] = saved[begin] + *saving;
      begins[end] = begin;
    }
  }
  for (unsigned end = line.size(); end > 0; end = begins[end]) {
    SmallVector<ComputeOp> members;
    for (unsigned place = begins[end]; place < end; ++place) {
      StageUnit &unit = units[line[place]];
      if (place == begins[end])
        readAsBefore(unit);
      llvm::append_range(members, unit.members);
    }
    unsigned edges = end - begins[end] - 1;
    if (edges > 0 || units[line[begins[end]]].isGroup)
      makeGroup(members);
    count(getOperation(), "chained", edges);
  }
}
