#include "compiler/plan/TreeForm.h"

#include "compiler/plan/MaskedBlocks.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

namespace freestone::tile {

/// Reads a tree: checks it against the program, and finds where values live.
class TreeReader {
public:
  TreeReader(TreeForm &form, ProgramOp program, std::string &why) : form(form), program(program), why(why) {}

  LogicalResult read();

private:
  /// A node that computes or packs, and the blocks that enclose it, with their numbers in the tree's order.
  struct Leaf {
    Attribute node;
    SmallVector<std::pair<unsigned, BlocksAttr>> path;
  };

  LogicalResult refuse(const Twine &reason) {
    why = reason.str();
    return failure();
  }
  LogicalResult readBody(ArrayAttr body, Leaf &above, bool mayDeal);
  LogicalResult readBlocks(BlocksAttr blocks, Leaf &above, bool mayDeal);
  LogicalResult readVectors(VectorsAttr vectors);
  LogicalResult readLeaf(const Leaf &leaf);
  LogicalResult readRunning();
  LogicalResult placeBuffers();
  LogicalResult placeBuffer(ComputeOp compute, Value value);
  void shareStorage();
  LogicalResult readPack(const Leaf &leaf);
  LogicalResult readTransposed(PackedAttr node, EvaluateAttr evaluate, const Leaf &leaf, const Leaf &used);
  LogicalResult readMask(BlocksAttr blocks, ArrayRef<ComputeOp> inside);
  LogicalResult readMaskOfMaximum(ComputeOp maximum, ArrayRef<ComputeOp> inside);
  LogicalResult readMaskOfMap(ComputeOp map, ArrayRef<ComputeOp> inside);
  LogicalResult readMultiply(const Leaf &leaf);
  LogicalResult readEvaluate(const Leaf &leaf);
  Expr getRange(unsigned axis, const Leaf &within);
  unsigned getStorage(Expr elements) {
    form.storages.push_back(elements);
    return form.storages.size() - 1;
  }
  Expr constant(int64_t value) { return Expr::constant(program.getContext(), value); }
  const Leaf *getLeaf(Operation *op) {
    auto found = leafOf.find(op);
    return found == leafOf.end() ? nullptr : &leaves[found->second];
  }
  bool isReadLater(Value value, EvaluateAttr node);

  TreeForm &form;
  ProgramOp program;
  std::string &why;
  SmallVector<Leaf> leaves;
  DenseMap<Operation *, unsigned> leafOf;
  unsigned numBlocks = 0;
};

} // namespace freestone::tile

LogicalResult TreeReader::read() {
  Leaf root;
  form.tiles = constant(1);
  form.stepsDown = form.stepsAcross = form.panelRows = constant(0);
  if (failed(readBody(form.tiling.getBody(), root, /*mayDeal=*/true)))
    return failure();
  if (leafOf.size() != form.computes.size())
    return refuse("a compute is missing in its tree");
  if (failed(readRunning()) || failed(placeBuffers()))
    return failure();
  for (const Leaf &leaf : leaves)
    if (failed(readLeaf(leaf)))
      return failure();
  return success();
}

LogicalResult TreeReader::readBody(ArrayAttr body, Leaf &above, bool mayDeal) {
  bool hasDealt = false;
  for (Attribute node : body) {
    if (hasDealt)
      return refuse("a node stands behind blocks that are dealt");
    if (auto blocks = dyn_cast<BlocksAttr>(node)) {
      hasDealt = blocks.getDealt();
      if (failed(readBlocks(blocks, above, mayDeal)))
        return failure();
      continue;
    }
    if (auto vectors = dyn_cast<VectorsAttr>(node)) {
      if (failed(readVectors(vectors)))
        return failure();
      node = vectors.getBody()[0];
    } else if (isa<EvaluateAttr>(node)) {
      return refuse("what is evaluated stands within vectors");
    }
    above.node = node;
    auto add = [&](int64_t number) {
      bool isFirst = number < int64_t(form.computes.size()) && number >= 0 &&
                     leafOf.try_emplace(form.computes[number], leaves.size()).second;
      return isFirst ? success() : refuse("compute " + Twine(number) + " does not exist or is computed twice");
    };
    if (auto multiply = dyn_cast<MultiplyAttr>(node)) {
      if (multiply.getSkipTaps())
        return refuse("taps that are skipped are those of a convolution");
      if (multiply.getBringBeyond())
        return refuse("results that are brought are those of a single contraction");
      if (multiply.getDirect())
        return refuse("results that dot products write are those of a single contraction");
      if (failed(add(multiply.getCompute())))
        return failure();
    } else if (auto evaluate = dyn_cast<EvaluateAttr>(node)) {
      for (int64_t number : evaluate.getComputes())
        if (failed(add(number)))
          return failure();
    } else if (auto packed = dyn_cast<PackedAttr>(node); !packed || packed.getInPlace() || packed.getApart()) {
      return refuse(packed
                        ? "operands in place are those of a single contraction, and of pictures that are copied apart"
                        : "a tree has no such nodes");
    }
    leaves.push_back(above);
  }
  return success();
}

LogicalResult TreeReader::readBlocks(BlocksAttr blocks, Leaf &above, bool mayDeal) {
  unsigned axis = blocks.getAxis();
  if (axis >= form.axes.size())
    return refuse("it has no axis " + Twine(axis));
  if (blocks.getAlternate())
    return refuse("columns that alternate are those of a single contraction");
  bool isDealtTwice = llvm::any_of(form.dealt, [&](BlocksAttr each) { return each.getAxis() == axis; });
  if (!(blocks.getDealt() ? mayDeal && !isDealtTwice : form.blocks.try_emplace(axis, blocks).second))
    return refuse("axis " + Twine(axis) + " is divided into blocks twice, or dealt within others");
  if (blocks.getShare() || blocks.getTogether() > 1 || blocks.getMostDepth())
    return refuse("a share of rows, tiles together, and strips are those of a single contraction");
  if (blocks.getDealt()) {
    form.dealt.push_back(blocks);
    form.tiles = form.tiles * Expr::ceilDiv(form.axes.getExtent(axis), blocks.getStep());
  }
  above.path.emplace_back(numBlocks++, blocks);
  LogicalResult result = readBody(blocks.getBody(), above, mayDeal && blocks.getDealt());
  above.path.pop_back();
  return result;
}

/// Vectors of the micro-kernel's lanes, along which one node evaluates.
LogicalResult TreeReader::readVectors(VectorsAttr vectors) {
  ArrayRef<Attribute> body = vectors.getBody().getValue();
  auto evaluate = body.size() == 1 ? dyn_cast<EvaluateAttr>(body.front()) : EvaluateAttr();
  int64_t lanes = form.tiling.getMicroKernel().getLanes();
  if (!evaluate || evaluate.getLanes() != vectors.getAxis() || vectors.getLanes() != lanes ||
      !vectors.getEnds().empty())
    return refuse("vectors of an axis have " + Twine(lanes) + " lanes, and one node that evaluates along these");
  return success();
}

/// The most elements of an axis within the blocks that enclose a node.
Expr TreeReader::getRange(unsigned axis, const Leaf &within) {
  for (auto [number, blocks] : llvm::reverse(within.path))
    if (blocks.getAxis() == axis)
      return blocks.getStep();
  return form.axes.getExtent(axis);
}

static unsigned countBlocks(unsigned axis, const auto &path) {
  return llvm::count_if(path, [&](const auto &each) { return each.second.getAxis() == axis; });
}

LogicalResult TreeReader::readRunning() {
  SmallVector<std::pair<BlocksAttr, SmallVector<ComputeOp>>> masked;
  for (auto [axis, blocks] : form.blocks) {
    SmallVector<ComputeOp> inside;
    for (ComputeOp compute : form.computes)
      if (llvm::any_of(getLeaf(compute)->path, [&](auto &each) { return each.second == blocks; }))
        inside.push_back(compute);
    FailureOr<RunningReductions> found = RunningReductions::get(inside, form.axes, axis, why);
    if (failed(found))
      return failure();
    form.running.try_emplace(axis, *found);
    if (blocks.getMaskedBy() >= 0)
      masked.emplace_back(blocks, inside);
    // A value that is corrected is final behind the last block.
    for (ComputeOp compute : form.computes)
      for (Value input : compute.getInputs())
        if (auto producer = input.getDefiningOp<ComputeOp>();
            producer && found->getMaximum(input) && !llvm::is_contained(inside, compute) &&
            llvm::is_contained(inside, producer) && llvm::is_contained(form.axes.ofResult(producer), axis))
          return refuse("a compute needs all blocks of axis " + Twine(axis) + " at once");
  }
  for (auto &[blocks, inside] : masked)
    if (failed(readMask(blocks, inside)))
      return failure();
  return success();
}

LogicalResult TreeReader::readMask(BlocksAttr blocks, ArrayRef<ComputeOp> inside) {
  int64_t number = blocks.getMaskedBy();
  ComputeOp masked = number < int64_t(form.computes.size()) ? form.computes[number] : ComputeOp();
  if (!llvm::is_contained(inside, masked) || (getMask(masked).isEmpty() && getVanishingMask(masked).isEmpty()))
    return refuse("compute " + Twine(number) + " has no masked values within its blocks");
  return masked.getNumReductions() ? readMaskOfMaximum(masked, inside) : readMaskOfMap(masked, inside);
}

/// What leaves blocks that may be left out is the maximum, or corrected by it.
LogicalResult TreeReader::readMaskOfMaximum(ComputeOp maximum, ArrayRef<ComputeOp> inside) {
  for (ComputeOp compute : inside)
    for (Value value : compute.getResults())
      if (form.getRunningAxis(value) && value != maximum.getResult(0) && form.getMaximum(value) != maximum.getResult(0))
        return refuse("a sum of masked blocks is not corrected by their maximum");
  return success();
}

/// What leaves blocks that may be left out is summed by contractions, and nothing is added where the map is 0.
LogicalResult TreeReader::readMaskOfMap(ComputeOp map, ArrayRef<ComputeOp> inside) {
  llvm::SmallPtrSet<Value, 8> zeros;
  zeros.insert(map.getResult(0));
  for (ComputeOp compute : inside)
    for (auto [number, value] : llvm::enumerate(compute.getResults())) {
      if (vanishes(compute, number, zeros))
        zeros.insert(value);
      if (form.getRunningAxis(value)) {
        if (!zeros.contains(value) || form.getMaximum(value) || !isa<MultiplyAttr>(getLeaf(compute)->node))
          return refuse("a sum of masked blocks is not of what compute " +
                        Twine(llvm::find(form.computes, map) - form.computes.begin()) + " masks");
        form.zeroed.insert(value);
      } else if (llvm::any_of(value.getUsers(), [&](Operation *user) {
                   return !llvm::is_contained(inside, dyn_cast<ComputeOp>(user));
                 })) {
        return refuse("a value of blocks that may be left out is read elsewhere");
      }
    }
  return success();
}

LogicalResult TreeReader::placeBuffers() {
  for (ComputeOp compute : form.computes)
    for (Value value : compute.getResults())
      if (failed(placeBuffer(compute, value)))
        return failure();
  shareStorage();
  for (ComputeOp compute : form.computes)
    for (Value value : compute.getResults())
      if (form.isCorrected(value))
        form.corrections[value] = getStorage(form.buffers.find(value)->second.elements);
  return success();
}

/// Whether a later pass of the same node reads a value.
bool TreeReader::isReadLater(Value value, EvaluateAttr node) {
  SmallVector<EvaluatedCompute> passes = form.getPasses(node);
  unsigned pass = llvm::find_if(passes, [&](auto &each) { return each.compute == value.getDefiningOp(); })->pass;
  return llvm::any_of(passes, [&](EvaluatedCompute &each) {
    return llvm::is_contained(each.compute.getInputs(), value) && each.pass > pass;
  });
}

LogicalResult TreeReader::placeBuffer(ComputeOp compute, Value value) {
  const Leaf &made = *getLeaf(compute);
  auto evaluate = dyn_cast<EvaluateAttr>(made.node);
  size_t shared = made.path.size();
  bool isKept = !evaluate || form.getRunningAxis(value) || isReadLater(value, evaluate);
  for (Operation *user : value.getUsers()) {
    const Leaf *used = getLeaf(user);
    if (!used && !evaluate)
      return refuse("a contraction is a result of the program");
    if (!used)
      continue;
    if (used < &made)
      return refuse("a value is read before it is computed");
    isKept |= used != &made;
    for (size_t level = 0; level < shared; ++level)
      if (level >= used->path.size() || used->path[level].first != made.path[level].first)
        shared = level;
  }
  if (!isKept)
    return success();
  Type element = cast<graph::TensorType>(value.getType()).getElementType();
  if (element != form.getElementType() && !(evaluate && element.isInteger(1)))
    return refuse("an intermediate is neither of f32 nor of bool");
  // A sum over blocks outlives each of them.
  Leaf scope{{}, {}};
  for (auto &[number, blocks] : ArrayRef(made.path).take_front(shared)) {
    if (llvm::is_contained(form.axes.ofReductions(compute), blocks.getAxis()))
      break;
    scope.path.emplace_back(number, blocks);
  }
  auto multiply = dyn_cast<MultiplyAttr>(made.node);
  unsigned columns = multiply ? multiply.getColumns() : evaluate.getLanes();
  int64_t width = form.getWidth();
  TreeForm::Buffer buffer{columns, {}, countBlocks(columns, scope.path), 0, constant(1), {}, 0};
  bool hasColumns = false;
  for (unsigned axis : form.axes.ofResult(compute)) {
    Expr range = getRange(axis, scope);
    hasColumns |= axis == columns;
    if (axis == columns || range.isConstant(1))
      continue;
    if (buffer.rowAxis)
      return refuse("an intermediate has more than two axes within its blocks");
    buffer.rowAxis = axis;
    buffer.rowBlocks = countBlocks(axis, scope.path);
    // A micro-kernel may write a row more than an odd number.
    buffer.rows = Expr::ceilDiv(range, constant(2)) * 2;
  }
  if (!hasColumns)
    return refuse("an intermediate lacks the axis of its vectors");
  buffer.elements = Expr::ceilDiv(getRange(columns, scope), constant(width)) * width * buffer.rows;
  form.buffers[value] = buffer;
  return success();
}

/// A value that an evaluation computes from one that nothing reads any more takes its place, point by point.
void TreeReader::shareStorage() {
  for (auto &[value, buffer] : form.buffers) {
    auto compute = value.getDefiningOp<ComputeOp>();
    auto node = dyn_cast<EvaluateAttr>(getLeaf(compute)->node);
    std::optional<unsigned> taken;
    if (node && !compute.getNumReductions()) {
      SmallVector<EvaluatedCompute> passes = form.getPasses(node);
      auto passOf = [&](Operation *op) {
        return llvm::find_if(passes, [&](auto &each) { return each.compute == op; });
      };
      for (Value input : compute.getInputs()) {
        auto before = form.buffers.find(input);
        if (before == form.buffers.end() || before->second.columnAxis != buffer.columnAxis ||
            before->second.rowAxis != buffer.rowAxis || before->second.elements != buffer.elements)
          continue;
        bool isLast = llvm::all_of(input.getUsers(), [&](Operation *user) {
          auto at = passOf(user);
          return at != passes.end() && at->pass <= passOf(compute)->pass;
        });
        if (isLast && !form.getRunningAxis(input))
          taken = before->second.storage;
      }
    }
    buffer.storage = taken ? *taken : getStorage(buffer.elements);
  }
}

LogicalResult TreeReader::readLeaf(const Leaf &leaf) {
  if (isa<PackedAttr>(leaf.node))
    return readPack(leaf);
  return isa<MultiplyAttr>(leaf.node) ? readMultiply(leaf) : readEvaluate(leaf);
}

LogicalResult TreeReader::readPack(const Leaf &leaf) {
  auto node = cast<PackedAttr>(leaf.node);
  unsigned number = node.getCompute();
  const Leaf *used = number < form.computes.size() ? getLeaf(form.computes[number]) : nullptr;
  if (!used || used < &leaf || node.getInput() >= int64_t(form.computes[number].getInputs().size()) ||
      form.getPack(number, node.getInput()))
    return refuse("what is packed is no operand of a later compute, or packed twice");
  ComputeOp compute = form.computes[number];
  if (auto evaluate = dyn_cast<EvaluateAttr>(used->node))
    return readTransposed(node, evaluate, leaf, *used);
  auto multiply = cast<MultiplyAttr>(used->node);
  std::optional<ContractionForm> contraction = ContractionForm::getOfMatrices(compute);
  if (!contraction)
    return refuse("compute " + Twine(number) + " is no contraction of matrices");
  ContractionForm oriented = form.getOriented(compute, multiply.getColumns());
  bool isRows = oriented.getInput(oriented.lhs) == node.getInput();
  ArrayRef<unsigned> axes = form.axes.of(compute);
  unsigned freeAxis = axes[isRows ? oriented.m.front() : oriented.n.front()], depthAxis = axes[oriented.k.front()];
  unsigned dealt = llvm::count_if(leaf.path, [](const auto &each) { return each.second.getDealt(); });
  if (node.getMost())
    return refuse("a copy is kept up to a number of elements, which those of a single contraction are");
  if (unsigned(node.getKept()) > dealt || (node.getKept() && dealt < form.dealt.size()))
    return refuse("a copy is kept for more axes than are dealt around it");
  for (BlocksAttr blocks : ArrayRef(form.dealt).slice(dealt - node.getKept(), node.getKept()))
    if (unsigned(blocks.getAxis()) == freeAxis || unsigned(blocks.getAxis()) == depthAxis)
      return refuse("a copy is kept for tiles of an axis that it has");
  int64_t width = form.getWidth(), rows = form.tiling.getMicroKernel().getRows(),
          lanes = form.tiling.getMicroKernel().getLanes();
  bool isKept = node.getKept() > 0;
  Expr range = isKept ? form.axes.getExtent(freeAxis) : getRange(freeAxis, leaf);
  Expr depth = isKept ? form.axes.getExtent(depthAxis) : getRange(depthAxis, leaf);
  // The transposition packs whole squares, also at the end of the reduced axis.
  Expr elements = isRows ? range * depth + lanes * std::max(rows, lanes)
                         : Expr::ceilDiv(range, constant(width)) * width * depth + lanes * width;
  form.packs.push_back({number, static_cast<unsigned>(node.getInput()),
                        isRows ? TreeForm::Pack::rows : TreeForm::Pack::panels, freeAxis, elements, std::nullopt});
  return success();
}

LogicalResult TreeReader::readTransposed(PackedAttr node, EvaluateAttr evaluate, const Leaf &leaf, const Leaf &used) {
  ComputeOp compute = form.computes[node.getCompute()];
  Type type = compute.getInputType(node.getInput()).getElementType();
  if (leaf.path != used.path || form.buffers.contains(compute.getInputs()[node.getInput()]) ||
      (!type.isF32() && !type.isInteger(1)))
    return refuse("what is transposed is no operand of f32 or bool in memory that is evaluated beside it");
  int64_t width = form.getWidth(), lanes = form.tiling.getMicroKernel().getLanes();
  unsigned columns = evaluate.getLanes(), rows = evaluate.getAlong();
  // Whole squares are transposed.
  Expr count = Expr::ceilDiv(getRange(rows, leaf), constant(lanes)) * lanes;
  TreeForm::Buffer buffer{columns, rows, countBlocks(columns, leaf.path), countBlocks(rows, leaf.path), count, {}, 0};
  buffer.elements = Expr::ceilDiv(getRange(columns, leaf), constant(width)) * width * count;
  form.packs.push_back({static_cast<unsigned>(node.getCompute()), static_cast<unsigned>(node.getInput()),
                        TreeForm::Pack::transposed, columns, buffer.elements, buffer});
  return success();
}

LogicalResult TreeReader::readMultiply(const Leaf &leaf) {
  auto node = cast<MultiplyAttr>(leaf.node);
  if (node.getWordSteps() > 1)
    return refuse("words of several steps are those of a single contraction");
  ComputeOp compute = form.computes[node.getCompute()];
  std::optional<ContractionForm> contraction = ContractionForm::getOfMatrices(compute);
  ArrayRef<unsigned> axes = form.axes.of(compute);
  if (!contraction || contraction->elementType != form.getElementType() ||
      (axes[contraction->m.front()] != node.getColumns() && axes[contraction->n.front()] != node.getColumns()))
    return refuse("compute " + Twine(node.getCompute()) + " is no contraction of f32 with such columns");
  ContractionForm oriented = form.getOriented(compute, node.getColumns());
  for (bool isRows : {true, false}) {
    std::optional<unsigned> input = oriented.getInput(isRows ? oriented.lhs : oriented.rhs);
    if (!input)
      return refuse("a factor of compute " + Twine(node.getCompute()) + " is computed from its operand");
    if (form.getPack(node.getCompute(), *input))
      continue;
    auto buffer = form.buffers.find(compute.getInputs()[*input]);
    unsigned rowAxis = axes[oriented.m.front()], depthAxis = axes[oriented.k.front()];
    bool isInPlace = isRows && buffer != form.buffers.end() &&
                     ((buffer->second.columnAxis == rowAxis && buffer->second.rowAxis == depthAxis) ||
                      (buffer->second.columnAxis == depthAxis && buffer->second.rowAxis == rowAxis));
    if (!isInPlace)
      return refuse("an operand of compute " + Twine(node.getCompute()) +
                    " is neither packed nor an intermediate of its rows");
    bool isAcross = form.readsAcross(oriented, buffer->second);
    if (isAcross && !form.panelRows.isConstant(0) && form.panelRows != buffer->second.rows)
      return refuse("intermediates that are read across their panels have different numbers of rows");
    if (isAcross)
      form.panelRows = buffer->second.rows;
    Expr &steps = isAcross ? form.stepsAcross : form.stepsDown;
    steps = Expr::max(steps, getRange(depthAxis, leaf));
  }
  if (Value maximum = form.getMaximum(compute.getResult(0)))
    if (form.buffers.find(maximum)->second.columnAxis != axes[oriented.m.front()])
      return refuse("compute " + Twine(node.getCompute()) + " is corrected by a maximum that its rows have not");
  for (auto [loop, axis] : llvm::enumerate(axes))
    if (llvm::is_contained(oriented.outer, loop) && !getRange(axis, leaf).isConstant(1))
      return refuse("axis " + Twine(axis) + " is not dealt one by one");
  return success();
}

LogicalResult TreeReader::readEvaluate(const Leaf &leaf) {
  auto node = cast<EvaluateAttr>(leaf.node);
  if (node.getComputes().empty() || node.getAhead())
    return refuse("what is evaluated are computes, without operands that are prefetched");
  for (int64_t number : node.getComputes()) {
    ComputeOp compute = form.computes[number];
    if (getContractionDims(compute) && ContractionForm::getOfMatrices(compute))
      return refuse("compute " + Twine(number) + " is a contraction");
    for (unsigned axis : form.axes.of(compute))
      if (axis != node.getLanes() && axis != node.getAlong() && !getRange(axis, leaf).isConstant(1))
        return refuse("axis " + Twine(axis) + " of compute " + Twine(number) + " is not dealt one by one");
    if (!llvm::is_contained(form.axes.ofResult(compute), node.getLanes()) || !compute.getReads().empty())
      return refuse("compute " + Twine(number) + " has no vectors along axis " + Twine(node.getLanes()));
    for (Value input : compute.getInputs())
      if (auto buffer = form.buffers.find(input); buffer != form.buffers.end() &&
                                                  buffer->second.columnAxis != node.getLanes() &&
                                                  buffer->second.columnAxis != node.getAlong())
        return refuse("compute " + Twine(number) + " reads an intermediate across its vectors");
      else if (buffer != form.buffers.end() && buffer->second.rowAxis == node.getLanes())
        return refuse("compute " + Twine(number) + " reads an intermediate across its vectors");
  }
  return success();
}

FailureOr<TreeForm> TreeForm::get(ProgramOp program, TreeTilingAttr tiling, std::string &why) {
  SmallVector<ComputeOp> computes = program.getComputes();
  FailureOr<Axes> axes = Axes::get(computes, why);
  if (failed(axes))
    return failure();
  TreeForm form(tiling, std::move(*axes));
  form.computes = std::move(computes);
  if (!tiling.getMicroKernel()) {
    why = "several contractions are multiplied and added, not summed by dot products";
    return failure();
  }
  if (failed(TreeReader(form, program, why).read()))
    return failure();
  return form;
}
