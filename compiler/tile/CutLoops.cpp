#include "compiler/tile/CutLoops.h"

#include "compiler/tile/IndexMaps.h"
#include "compiler/tile/RowPasses.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

namespace {

/// Elements of a tile: a sixty-fourth of the second-level cache in f32, so that workers share evenly, and still far
/// more work than it costs to begin a tile.
int64_t getTileElements(const DeviceDescription &device) { return std::max<int64_t>(1024, device.getL2Bytes() / 256); }

Expr product(ArrayRef<Expr> extents, MLIRContext *context) {
  Expr result = Expr::constant(context, 1);
  for (Expr extent : extents)
    result = result * extent;
  return result;
}

/// Collects the entries of a plan.
class Plan {
public:
  Plan(ProgramOp program, StringRef emitter) : program(program), builder(program.getContext()) {
    entries.append("emitter", builder.getStringAttr(emitter));
  }

  void set(StringRef name, Expr expr) { entries.append(name, expr.attr()); }
  void set(StringRef name, int64_t value) { entries.append(name, builder.getI64IntegerAttr(value)); }

  /// Which elements a tile of `rows` outer points touches of each operand and result, over the first `outer` loops.
  void setAccesses(unsigned outer, Expr perOuterPoint) {
    SmallVector<Attribute> reads, chunks;
    for (BlockArgument argument : program.getBody()->getArguments())
      reads.push_back(getRead(argument, outer, perOuterPoint));
    for (Value result : program.getBody()->getTerminator()->getOperands())
      chunks.push_back(getRun(cast<graph::TensorType>(result.getType()), outer, perOuterPoint));
    entries.append("reads", builder.getArrayAttr(reads));
    entries.append("chunk", builder.getArrayAttr(chunks));
  }
  void setUnknownAccesses() {
    auto unknown = [&](size_t count) {
      return builder.getArrayAttr(SmallVector<Attribute>(count, builder.getUnitAttr()));
    };
    entries.append("reads", unknown(program.getBody()->getNumArguments()));
    entries.append("chunk", unknown(program.getResultTypes().size()));
  }

  DictionaryAttr get() { return entries.getDictionary(builder.getContext()); }

private:
  /// `count` outer points of a tensor whose first dimensions are the outer loops.
  Attribute getRun(graph::TensorType type, unsigned outer, Expr count) {
    if (type.getLayout() || type.getRank() < static_cast<int64_t>(outer))
      return builder.getUnitAttr();
    return (count * product(type.getShape().drop_front(outer), builder.getContext())).attr();
  }

  /// All uses read the tensor's first dimensions at the outer loops.
  Attribute getRead(BlockArgument argument, unsigned outer, Expr count) {
    auto type = cast<graph::TensorType>(argument.getType());
    if (type.getRank() < static_cast<int64_t>(outer))
      return builder.getUnitAttr();
    for (OpOperand &use : argument.getUses()) {
      auto compute = dyn_cast<ComputeOp>(use.getOwner());
      unsigned number = use.getOperandNumber();
      if (!compute || number >= compute.getInputs().size())
        return builder.getUnitAttr();
      SmallVector<Expr> indices = getIndices(compute, number);
      for (unsigned loop = 0; loop < outer; ++loop)
        if (indices[loop] != getLoopSymbol(builder.getContext(), loop) ||
            compute.getExtents()[loop] != type.getDim(loop))
          return builder.getUnitAttr();
    }
    return getRun(type, outer, count);
  }

  ProgramOp program;
  Builder builder;
  NamedAttrList entries;
};

/// Whether the innermost loop that reduces walks along memory in some operand.
bool reducesAlongMemory(ComputeOp compute) {
  for (unsigned input = 0; input < compute.getInputs().size(); ++input)
    if (std::optional<LinearIndex> linear = getStrides(compute, input))
      if (linear->strides.back().isConstant(1))
        return true;
  return false;
}

/// Whether the reductions walk along memory far enough to fill vectors; else neighbouring rows make better lanes.
bool reduceLongRuns(const RowPasses &passes, unsigned rowLoops, const DeviceDescription &device) {
  bool any = false;
  for (const RowPasses::Entry &entry : passes.entries) {
    if (entry.role != RowRole::reduction)
      continue;
    std::optional<int64_t> length = getRowLength(entry.compute, rowLoops).asConstant();
    if (length && *length < 2 * device.getLanes(32))
      return false;
    any |= reducesAlongMemory(entry.compute);
  }
  return any;
}

/// The number of row loops if the program's reductions run along rows: as many as the parallel loops of every
/// reduction.
std::optional<unsigned> findRowLoops(ArrayRef<ComputeOp> computes) {
  std::optional<unsigned> rowLoops;
  for (ComputeOp compute : computes) {
    if (!compute.getNumReductions())
      continue;
    unsigned parallel = compute.getNumParallel();
    if (rowLoops && *rowLoops != parallel)
      return std::nullopt;
    rowLoops = parallel;
  }
  return rowLoops;
}

DictionaryAttr cutRows(ProgramOp program, unsigned rowLoops, const RowPasses &passes, const DeviceDescription &device) {
  MLIRContext *context = program.getContext();
  Expr length = Expr::constant(context, 1), scratch = Expr::constant(context, 0);
  for (const RowPasses::Entry &entry : passes.entries)
    if (entry.role != RowRole::scalar)
      length = getRowLength(entry.compute, rowLoops);
  for (Value kept : passes.kept) {
    Type storage = getStorageType(cast<graph::TensorType>(kept.getType()).getElementType());
    Expr bytes = getRowLength(kept.getDefiningOp<ComputeOp>(), rowLoops) * (storage.getIntOrFloatBitWidth() / 8);
    scratch = scratch + Expr::ceilDiv(bytes, 64) * 64;
  }
  ComputeOp first = passes.entries.front().compute;
  SmallVector<Expr> extents = first.getExtents();
  Expr count = product(ArrayRef(extents).take_front(rowLoops), context);
  Expr rows =
      Expr::max(Expr::floorDiv(Expr::constant(context, getTileElements(device)), length), Expr::constant(context, 1));

  Plan plan(program, "rows");
  plan.set("row_loops", rowLoops);
  plan.set("rows", rows);
  plan.set("tiles", Expr::ceilDiv(count, rows));
  plan.set("scratch", scratch);
  plan.setAccesses(rowLoops, rows);
  return plan.get();
}

/// Elements of the result that one tile computes: fewer where each is a reduction of many, but whole vectors.
Expr getMapElements(ProgramOp program, const DeviceDescription &device) {
  MLIRContext *context = program.getContext();
  Expr elements = Expr::constant(context, getTileElements(device)), reduced = Expr::constant(context, 1);
  for (ComputeOp compute : program.getComputes())
    if (compute.getNumReductions()) {
      SmallVector<Expr> extents = compute.getExtents();
      reduced = Expr::max(reduced, product(ArrayRef(extents).drop_front(compute.getNumParallel()), context));
    }
  return reduced.isConstant(1)
             ? elements
             : Expr::max(Expr::floorDiv(elements, reduced), Expr::constant(context, 8 * device.getLanes(32)));
}

DictionaryAttr cutMap(ProgramOp program, const DeviceDescription &device) {
  MLIRContext *context = program.getContext();
  ComputeOp compute = program.getComputes().front();
  SmallVector<Expr> extents = compute.getExtents();
  ArrayRef<Expr> parallel = ArrayRef(extents).take_front(compute.getNumParallel());
  Expr one = Expr::constant(context, 1), elements = getMapElements(program, device);

  Plan plan(program, "map");
  plan.set("scratch", Expr::constant(context, 0));
  if (parallel.size() < 2) {
    plan.set("rows", one);
    plan.set("columns", elements);
    plan.set("tiles", parallel.empty() ? one : Expr::ceilDiv(parallel.front(), elements));
    plan.setAccesses(parallel.size(), elements);
    return plan.get();
  }
  // Whole rows, so that a tile is a run of consecutive elements.
  Expr rows = Expr::max(Expr::floorDiv(elements, parallel.back()), one);
  plan.set("rows", rows);
  plan.set("columns", parallel.back());
  plan.set("tiles", Expr::ceilDiv(product(parallel.drop_back(), context), rows));
  if (parallel.size() == 2)
    plan.setAccesses(1, rows);
  else
    plan.setUnknownAccesses();
  return plan.get();
}

bool shareParallelLoops(ArrayRef<ComputeOp> computes) {
  auto parallelOf = [](ComputeOp compute) {
    SmallVector<Expr> extents = compute.getExtents();
    extents.truncate(compute.getNumParallel());
    return extents;
  };
  return llvm::all_of(computes, [&](ComputeOp compute) { return parallelOf(compute) == parallelOf(computes.front()); });
}

} // namespace

FailureOr<DictionaryAttr> tile::cutLoops(ProgramOp program, const DeviceDescription &device, std::string &why) {
  MLIRContext *context = program.getContext();
  auto opaques = program.getBody()->getOps<OpaqueOp>();
  if (!opaques.empty()) {
    if (!llvm::hasSingleElement(opaques) || !program.getComputes().empty()) {
      why = "a tile.opaque is a program of its own";
      return failure();
    }
    OpaqueOp opaque = *opaques.begin();
    Expr scratch = Expr::constant(context, 0);
    for (Value result : opaque.getResults()) {
      if (!result.use_empty())
        continue;
      auto type = cast<graph::TensorType>(result.getType());
      Expr bytes = getStorageElements(type) * (getStorageType(type.getElementType()).getIntOrFloatBitWidth() / 8);
      scratch = scratch + Expr::ceilDiv(bytes, 64) * 64;
    }
    Plan plan(program, "opaque");
    plan.set("tiles", opaque.getTiles());
    plan.set("scratch", scratch);
    plan.setUnknownAccesses();
    return plan.get();
  }

  SmallVector<ComputeOp> computes = program.getComputes();
  bool share = shareParallelLoops(computes);
  if (std::optional<unsigned> rowLoops = findRowLoops(computes)) {
    FailureOr<RowPasses> passes = getRowPasses(program, *rowLoops, why);
    if (succeeded(passes) && (!share || reduceLongRuns(*passes, *rowLoops, device)))
      return cutRows(program, *rowLoops, *passes, device);
  }
  if (share)
    return cutMap(program, device);
  if (why.empty())
    why = "its computes have different parallel loops";
  return failure();
}
