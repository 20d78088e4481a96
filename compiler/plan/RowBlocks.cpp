#include "compiler/plan/RowBlocks.h"

#include "compiler/plan/Combiner.h"
#include "compiler/plan/IndexMaps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// The packed operand of a rows tiling; nothing, with a reason in `why`, if it can't be packed.
static FailureOr<RowBlocks::Packed> getPacked(RowBlocks &blocks, unsigned input, int64_t lanes, std::string &why) {
  ComputeOp compute = blocks.reduction;
  if (input >= compute.getInputs().size() || !isa<BlockArgument>(compute.getInputs()[input])) {
    why = "what is packed is no operand in memory";
    return failure();
  }
  graph::TensorType type = compute.getInputType(input);
  std::optional<LinearIndex> linear = getStrides(compute, input);
  if (!linear || compute.getFill(input) || !linear->strides[blocks.rowLoop].isConstant(0) ||
      !type.getElementType().isF32()) {
    why = "an operand is packed that depends on rows, may be out of bounds or is no f32";
    return failure();
  }
  SmallVector<Expr> extents = compute.getExtents();
  RowBlocks::Packed packed{input, linear->strides[blocks.columnLoop], linear->strides[blocks.reducedLoop], {}, {}};
  packed.pitch = Expr::ceilDiv(extents[blocks.reducedLoop], lanes) * lanes;
  packed.elements = packed.pitch * extents[blocks.columnLoop];
  return packed;
}

/// The same for an operand with a border.
static FailureOr<RowBlocks::Picture> getPicture(RowBlocks &blocks, unsigned input, int64_t lanes, std::string &why) {
  ComputeOp compute = blocks.reduction;
  MLIRContext *context = compute.getContext();
  Expr zero = Expr::constant(context, 0), one = Expr::constant(context, 1);
  graph::TensorType type = compute.getInputType(input);
  SmallVector<Expr> extents = compute.getExtents(), indices = getIndices(compute, input), counts, places;
  bool isCopied = isa<BlockArgument>(compute.getInputs()[input]) && type.getElementType().isF32() && hasStrides(type);
  int64_t apart = 0;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    std::optional<LinearIndex> coordinate = asLinear(index, compute.getNumLoops());
    Expr count = one, place = zero;
    isCopied &= coordinate.has_value();
    for (unsigned loop = blocks.rowLoop; isCopied && loop < compute.getNumLoops(); ++loop) {
      std::optional<int64_t> step = coordinate->strides[loop].asConstant();
      bool isAlong = loop == blocks.reducedLoop && dim + 1 == indices.size();
      isCopied &= step && *step >= 0 && (loop != blocks.reducedLoop || (*step > 0) == isAlong);
      if (!isCopied || *step == 0)
        continue;
      count = count + Expr::max(extents[loop] - 1, zero) * *step;
      if (isAlong)
        apart = *step;
      else
        place = place + getLoopSymbol(context, loop) * *step;
    }
    counts.push_back(count);
    places.push_back(place);
  }
  if (!isCopied || indices.empty()) {
    why = "an operand is copied with its border that is no f32, or whose elements are not in a row along the sum";
    return failure();
  }
  Expr run = Expr::ceilDiv(Expr::ceilDiv(counts.back(), apart), lanes) * lanes,
       before = Expr::floorDiv(places.back(), apart);
  Expr inRun = before + getLoopSymbol(context, blocks.reducedLoop);
  RowBlocks::Picture picture{input, {}, {}, apart, run, inRun + (places.back() - before * apart) * run, {}};
  Expr stride = run * apart;
  picture.counts.assign(counts.begin(), counts.end() - 1);
  picture.strides.resize(picture.counts.size());
  for (size_t dim = picture.counts.size(); dim > 0; --dim) {
    picture.strides[dim - 1] = stride;
    picture.place = picture.place + places[dim - 1] * stride;
    stride = stride * picture.counts[dim - 1];
  }
  picture.elements = stride;
  return picture;
}

FailureOr<RowBlocks> RowBlocks::get(const RowPasses &passes, RowsTilingAttr tiling, std::string &why) {
  RowPasses::Entry first = passes.entries.front();
  unsigned rowLoops = tiling.getRowLoops();
  bool isReduction = first.role == RowRole::reduction && passes.passes == 1 && getCombiners(first.compute);
  bool areScalars = llvm::all_of(llvm::drop_begin(passes.entries), [](const RowPasses::Entry &entry) {
    return entry.role == RowRole::scalar && entry.pass == 1;
  });
  if (rowLoops < 2 || !isReduction || !areScalars) {
    why = "blocks of results are those of one reduction, with two row loops at least";
    return failure();
  }
  RowBlocks blocks{first.compute,
                   rowLoops - 2,
                   rowLoops - 1,
                   first.compute.getNumLoops() - 1,
                   tiling.getBlockRows(),
                   tiling.getBlockColumns(),
                   {},
                   {}};
  if (tiling.getPacked() < 0)
    return blocks;
  unsigned copied = tiling.getPacked();
  if (copied < first.compute.getInputs().size() && first.compute.getFill(copied)) {
    FailureOr<Picture> picture = getPicture(blocks, copied, tiling.getLanes().front(), why);
    if (failed(picture))
      return failure();
    blocks.picture = *picture;
    return blocks;
  }
  if (blocks.reducedLoop != rowLoops) {
    why = "columns are packed along a single loop";
    return failure();
  }
  FailureOr<Packed> packed = getPacked(blocks, tiling.getPacked(), tiling.getLanes().front(), why);
  if (failed(packed))
    return failure();
  blocks.packed = *packed;
  return blocks;
}

bool RowBlocks::mayHavePairs() const {
  std::optional<int64_t> columns = ComputeOp(reduction).getExtents()[columnLoop].asConstant();
  return mostColumns > 2 && (!columns || *columns % mostColumns > 1);
}

std::optional<unsigned> RowBlocks::getCopiedInput() const {
  if (picture)
    return picture->input;
  return packed ? std::optional(packed->input) : std::nullopt;
}

Expr RowBlocks::getCopied() const {
  if (picture)
    return picture->elements;
  return packed ? packed->elements : Expr::constant(ComputeOp(reduction).getContext(), 0);
}
