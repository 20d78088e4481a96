#include "compiler/tile/Passes.h"

#include "compiler/plan/Classify.h"
#include "compiler/plan/ContractionForm.h"
#include "compiler/plan/Epilogues.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/RowPasses.h"
#include "compiler/tile/ColumnOrder.h"
#include "compiler/tile/Connect.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/Counters.h"
#include "compiler/tile/MakeGroup.h"
#include "compiler/tile/Reachability.h"
#include "compiler/tile/RewriteLoops.h"
#include "compiler/tile/RowOrder.h"

namespace freestone::tile {
#define GEN_PASS_DEF_FUSE
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using freestone::sym::Expr;

namespace {

/// The kind of fusion at an edge: a contraction with its epilogue, passes over rows, computes over the same loops, or
/// reductions of the same elements.
enum class EdgeKind : unsigned { epilogue, row, map, sibling };
constexpr size_t edgeKinds = 4;

/// An intermediate that a consumer can read tile by tile as it is produced; or a tensor that two reductions read.
struct Edge {
  ComputeOp producer, consumer;
  /// Bytes that fusion saves: the tensor is not read again.
  int64_t bytes;
  bool areSiblings = false;
};

/// Computes to fuse into one program.
struct Group {
  Members members;
  /// A contraction; all other members run over its result.
  ComputeOp anchor;
  /// The number of leading loops that all members share as rows; set if there is a reduction.
  std::optional<unsigned> rows;
  /// Whether some members run over a slice of the anchor's columns.
  bool isSliced = false;
};

/// Decides which computes to fuse, by union of groups along edges.
class Fuser {
public:
  /// Fuses edges of the `wanted` kinds; epilogues of slices of columns that are whole panels of `sliceUnit` columns, if
  /// it is not 0.
  Fuser(func::FuncOp function, const RowLengths &lengths, std::array<bool, edgeKinds> wanted, int64_t sliceUnit);

  void fuse();
  int64_t getFused(EdgeKind kind) const { return fused[static_cast<unsigned>(kind)]; }
  /// Edges between passes over rows that are in the cache in short runs alone.
  int64_t getLongRows() const { return longRows; }
  /// Contractions whose epilogue reads several slices of columns together.
  int64_t getSliced() const {
    return llvm::count_if(groups, [](const auto &group) { return group->isSliced; });
  }
  std::deque<Members> getGroups();

private:
  void collectEdges();
  void collectSiblings();
  bool tryFuse(const Edge &edge);
  bool isCompatible(const Group &producer, const Group &consumer);
  bool areEdgesCompatible(const Group &joined);
  bool followsAnchor(Group &joined);
  bool mayHaveSlices(const Group &joined, const Epilogue &epilogue);
  RowLengths::Fit fitRows(const Group &joined);
  bool isWorthOneTile(const Group &producer, const Group &consumer);
  bool makesCycle(const Group &a, const Group &b) { return hasDetour(a, b) || hasDetour(b, a); }
  bool hasDetour(const Group &from, const Group &to) {
    SmallVector<Operation *> members(from.members.begin(), from.members.end());
    return paths.hasDetour(members, members.front(), to.members.front());
  }

  Reachability paths;
  TypicalSizes sizes;
  const RowLengths &lengths;
  std::array<bool, edgeKinds> wanted;
  int64_t sliceUnit;
  std::array<int64_t, edgeKinds> fused = {};
  int64_t longRows = 0;
  SmallVector<std::unique_ptr<Group>> groups;
  DenseMap<Operation *, Group *> groupOf;
  SmallVector<Edge> edges;
};

/// Whether another compute reads the tensor that is no contraction.
bool isReadAlong(Value tensor, ComputeOp op) {
  return llvm::any_of(tensor.getUsers(), [&](Operation *user) {
    auto other = dyn_cast<ComputeOp>(user);
    return other && other != op && !getContractionDims(other);
  });
}

/// A weighted sum over every row, such as that of gradients times the scale of a normalization: as a contraction it
/// would have one column. Rows that are given and read by nothing else are a matrix, whose product has better tilings.
bool isWeightedSum(ComputeOp op) {
  ContractionDims dims = *getContractionDims(op);
  Value rows = op.getInputs()[dims.rhs];
  std::optional<LinearIndex> linear = getStrides(op, dims.rhs);
  return dims.m.empty() && op.getInputType(dims.lhs).getRank() == 1 && linear && linear->strides.back().isConstant(1) &&
         !isWeightOnly(rows) && (!isa<BlockArgument>(rows) || isReadAlong(rows, op));
}

Fuser::Fuser(func::FuncOp function, const RowLengths &lengths, std::array<bool, edgeKinds> wanted, int64_t sliceUnit)
    : paths(function.getBody().front(), SizeOrder(function.getBody().front())), sizes(function), lengths(lengths),
      wanted(wanted), sliceUnit(sliceUnit) {
  for (auto op : function.getBody().front().getOps<ComputeOp>()) {
    // Computes with data-dependent reads have an emitter of their own; those of weights alone are hoisted.
    if (!op.getReads().empty() || isWeightOnly(op))
      continue;
    auto group = std::make_unique<Group>();
    group->members.push_back(op);
    if (getContractionDims(op) && !isWeightedSum(op))
      group->anchor = op;
    else if (op.getNumReductions())
      group->rows = op.getNumParallel();
    groupOf[op] = group.get();
    groups.push_back(std::move(group));
  }
  collectEdges();
}

void Fuser::collectEdges() {
  for (auto &group : groups) {
    ComputeOp consumer = group->members.front();
    for (auto [input, tensor] : llvm::enumerate(consumer.getInputs())) {
      auto producer = tensor.getDefiningOp<ComputeOp>();
      if (producer && groupOf.contains(producer) && !consumer.getFill(input))
        edges.push_back({producer, consumer, sizes.getBytes(cast<graph::TensorType>(tensor.getType()))});
    }
  }
  // Epilogues of contractions first, since there is only one chance for them; then by savings.
  llvm::stable_sort(edges, [](Edge a, Edge b) {
    bool aIsSum = getContractionDims(a.producer).has_value(), bIsSum = getContractionDims(b.producer).has_value();
    return aIsSum != bIsSum ? aIsSum : a.bytes > b.bytes;
  });
  collectSiblings();
}

/// Reductions with the same loops that read a tensor at the same indices.
void Fuser::collectSiblings() {
  llvm::MapVector<std::pair<Value, AffineMap>, SmallVector<ComputeOp>> readers;
  for (auto &group : groups) {
    ComputeOp op = group->members.front();
    if (!op.getNumReductions() || group->anchor)
      continue;
    for (auto [input, tensor] : llvm::enumerate(op.getInputs()))
      if (!op.getFill(input) && op.getSymbolSizes().empty())
        readers[{tensor, op.getMap(input)}].push_back(op);
  }
  for (auto &[read, ops] : readers)
    for (unsigned first = 0; first < ops.size(); ++first)
      for (unsigned second = first + 1; second < ops.size(); ++second)
        if (ops[first].getExtents() == ops[second].getExtents() &&
            ops[first].getNumReductions() == ops[second].getNumReductions())
          edges.push_back({ops[first], ops[second], sizes.getBytes(cast<graph::TensorType>(read.first.getType())),
                           /*areSiblings=*/true});
}

/// Whether an operand is read at the loops themselves, in order and at all row loops: rows are then independent.
/// `atColumns`: also in its further dimensions.
bool isReadAtRows(ComputeOp op, unsigned input, unsigned rows, bool atColumns) {
  AffineMap map = op.getMap(input);
  if (map.getNumResults() < rows || op.getNumParallel() < rows)
    return false;
  for (auto [position, result] : llvm::enumerate(map.getResults().take_front(atColumns ? map.getNumResults() : rows))) {
    auto loop = dyn_cast<AffineDimExpr>(result);
    if (!loop || loop.getPosition() != position)
      return false;
  }
  return true;
}

/// Whether a reader runs over exactly the row elements that a producer computes.
bool runsOverElements(ComputeOp reader, ComputeOp producer, unsigned rows) {
  if (producer.getNumParallel() == rows)
    return true;
  bool isScalar = reader.getNumParallel() == rows && !reader.getNumReductions();
  return !isScalar && getRowLength(reader, rows) == getRowLength(producer, rows);
}

bool haveSameRows(ComputeOp a, ComputeOp b, unsigned rows) {
  return a.getNumParallel() >= rows && b.getNumParallel() >= rows &&
         ArrayRef(a.getExtents()).take_front(rows) == ArrayRef(b.getExtents()).take_front(rows);
}

bool Fuser::isCompatible(const Group &producer, const Group &consumer) {
  if (producer.anchor && (consumer.anchor || consumer.rows))
    return false;
  if (consumer.anchor)
    return false;
  return !producer.rows || !consumer.rows || producer.rows == consumer.rows;
}

bool Fuser::areEdgesCompatible(const Group &joined) {
  ComputeOp first = joined.anchor ? joined.anchor : joined.members.front();
  unsigned rows = joined.rows.value_or(first.getNumParallel());
  // Of an epilogue, which says where members read each other, columns of a known number may be slices.
  bool mayBeSlices = joined.anchor && rows > 0 && first.getExtents()[rows - 1].isConstant();
  unsigned shared = mayBeSlices ? rows - 1 : rows;
  for (ComputeOp member : joined.members) {
    if (!haveSameRows(first, member, shared) || (mayBeSlices && member.getNumParallel() != rows) ||
        (mayBeSlices && !member.getExtents()[rows - 1].isConstant()))
      return false;
    // Without reductions along rows, all members have the same points.
    if (!joined.rows && member.getNumParallel() != rows)
      return false;
    for (auto [input, tensor] : llvm::enumerate(member.getInputs())) {
      auto producer = tensor.getDefiningOp<ComputeOp>();
      if (!llvm::is_contained(joined.members, producer))
        continue;
      if (member.getFill(input) || !isReadAtRows(member, input, shared, /*atColumns=*/!mayBeSlices))
        return false;
      if (joined.rows && !runsOverElements(member, producer, rows))
        return false;
    }
  }
  return true;
}

/// Whether a contraction computes neighbouring slices of its columns together: of a single row, columns that are not
/// packed are summed in place, in one pass.
bool Fuser::mayHaveSlices(const Group &joined, const Epilogue &epilogue) {
  std::optional<ContractionForm> form = sliceUnit ? ContractionForm::get(joined.anchor) : std::nullopt;
  if (!form || epilogue.countRead() < 2 || !form->mayHaveSlices(epilogue.slices, sliceUnit))
    return false;
  return !form->getExtent(form->m).isConstant(1) || isWeightOnly(form->compute.getInputs()[*form->getInput(form->rhs)]);
}

/// Whether all members but the contraction are its epilogue: in a group with others it would be no contraction any more,
/// but a sum for each element.
bool Fuser::followsAnchor(Group &joined) {
  if (!joined.anchor)
    return true;
  SmallVector<ComputeOp> later;
  llvm::copy_if(joined.members, std::back_inserter(later), [&](ComputeOp member) { return member != joined.anchor; });
  llvm::sort(later, [](ComputeOp a, ComputeOp b) { return a->isBeforeInBlock(b); });
  std::optional<Epilogue> epilogue = Epilogue::get(joined.anchor, later);
  if (!epilogue)
    return false;
  joined.isSliced = epilogue->slices > 1;
  return !joined.isSliced || mayHaveSlices(joined, *epilogue);
}

/// A program without rows is a single tile for one worker: larger results than this get tiles of their own.
constexpr int64_t mostInOneTile = 8192;

/// A row's intermediates must stay in the cache, or fusion saves nothing.
RowLengths::Fit Fuser::fitRows(const Group &joined) {
  if (!joined.rows)
    return RowLengths::Fit::typically;
  if (*joined.rows == 0 && llvm::any_of(joined.members, [](ComputeOp member) {
        return getRowLength(member, 0).asConstant().value_or(0) > mostInOneTile && !member.getNumReductions();
      }))
    return RowLengths::Fit::never;
  return lengths.fit(llvm::to_vector(joined.members), *joined.rows);
}

/// A program without rows is a single tile for one worker. If only scalars pass from one group to the other, fusion
/// saves little, unless both read the same elements or the consumer computes only scalars.
bool Fuser::isWorthOneTile(const Group &producer, const Group &consumer) {
  llvm::SmallPtrSet<Value, 16> seen;
  bool isScalar = true;
  for (ComputeOp member : producer.members) {
    seen.insert(member->operand_begin(), member->operand_end());
    seen.insert(member->result_begin(), member->result_end());
  }
  for (ComputeOp member : consumer.members) {
    isScalar &= member.getNumLoops() == 0;
    for (Value operand : member->getOperands())
      if (cast<graph::TensorType>(operand.getType()).getRank() > 0 && seen.contains(operand))
        return true;
  }
  return isScalar;
}

bool Fuser::tryFuse(const Edge &edge) {
  Group *producer = groupOf[edge.producer], *consumer = groupOf[edge.consumer];
  if (producer == consumer || !isCompatible(*producer, *consumer))
    return false;
  Group joined = *producer;
  llvm::append_range(joined.members, consumer->members);
  if (consumer->rows)
    joined.rows = consumer->rows;
  EdgeKind kind = edge.areSiblings ? EdgeKind::sibling
                  : joined.anchor  ? EdgeKind::epilogue
                  : joined.rows    ? EdgeKind::row
                                   : EdgeKind::map;
  if (!wanted[static_cast<unsigned>(kind)] || !areEdgesCompatible(joined) || !followsAnchor(joined))
    return false;
  RowLengths::Fit fit = fitRows(joined);
  if (fit == RowLengths::Fit::never || (joined.rows == 0 && !isWorthOneTile(*producer, *consumer)) ||
      makesCycle(*producer, *consumer))
    return false;
  longRows += fit == RowLengths::Fit::inShortRuns;
  paths.unite(producer->members.front(), consumer->members.front());
  for (ComputeOp member : consumer->members)
    groupOf[member] = producer;
  *producer = std::move(joined);
  consumer->members.clear();
  ++fused[static_cast<unsigned>(kind)];
  return true;
}

void Fuser::fuse() {
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Edge &edge : edges)
      changed |= tryFuse(edge);
  }
}

std::deque<Members> Fuser::getGroups() {
  std::deque<Members> result;
  for (auto &group : groups)
    if (!group->members.empty())
      result.push_back(group->members);
  return result;
}

class Fuse : public tile::impl::FuseBase<Fuse> {
public:
  using FuseBase::FuseBase;

  void runOnOperation() override {
    if (epilogues)
      permuteAnchors();
    RowLengths lengths(TypicalSizes(getOperation()), cacheBytes, longRows);
    if (rows && orderMaps)
      count(getOperation(), "ordered_maps", orderMapsByRows(getOperation(), lengths));
    if (epilogues && orderProducts)
      count(getOperation(), "ordered_products", orderProductsByColumns(getOperation(), columns));
    Fuser fuser(getOperation(), lengths, {epilogues, rows, maps, siblings}, slices ? columns : 0);
    fuser.fuse();
    count(getOperation(), "long_rows", fuser.getLongRows());
    for (auto [kind, name] : llvm::enumerate(std::array<StringRef, edgeKinds>{"epilogues", "rows", "maps", "siblings"}))
      count(getOperation(), name, fuser.getFused(static_cast<EdgeKind>(kind)));
    count(getOperation(), "sliced_epilogues", fuser.getSliced());
    std::deque<Members> groups = fuser.getGroups();
    if (connect)
      count(getOperation(), "connected", connectGroups(groups, {cacheBytes, splits}));
    llvm::erase_if(groups, [](Members &members) { return members.size() < 2; });
    Block &block = getOperation().getBody().front();
    SizeOrder order(block);
    for (Members &members : groups)
      makeGroup(members);
    count(getOperation(), "groups", groups.size());
    if (!order.sort(block))
      return signalPassFailure();
  }

private:
  void permuteAnchors();
};

/// Permutes the loops of a contraction or reduction whose only consumer runs over its result in another order, if its
/// reads stay contiguous.
void Fuse::permuteAnchors() {
  for (auto op : llvm::make_early_inc_range(getOperation().getBody().front().getOps<ComputeOp>())) {
    if (!op.getNumReductions() || !op->hasOneUse())
      continue;
    OpOperand &use = *op->use_begin();
    auto consumer = dyn_cast<ComputeOp>(use.getOwner());
    if (!consumer || !isMap(consumer) || use.getOperandNumber() >= consumer.getInputs().size())
      continue;
    AffineMap map = consumer.getMap(use.getOperandNumber());
    if (!map.isPermutation() || map.isIdentity())
      continue;
    SmallVector<unsigned> order(map.getNumResults());
    for (auto [dim, result] : llvm::enumerate(map.getResults()))
      order[cast<AffineDimExpr>(result).getPosition()] = dim;
    if (!readsAlongMemory(op, order))
      continue;
    OpBuilder builder(op);
    FailureOr<ComputeOp> permuted = permuteLoops(builder, op, order);
    if (failed(permuted))
      continue;
    use.set(permuted->getResult(0));
    SmallVector<Attribute> maps(consumer.getIndexMaps().getValue());
    maps[use.getOperandNumber()] =
        AffineMapAttr::get(AffineMap::getMultiDimIdentityMap(map.getNumDims(), &getContext()));
    consumer.setIndexMapsAttr(builder.getArrayAttr(maps));
    op->erase();
  }
}

} // namespace
