#include "compiler/plan/Epilogues.h"

#include "compiler/plan/IndexMaps.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// The loop that an index is, with a constant offset.
static std::optional<std::pair<unsigned, int64_t>> asShiftedLoop(ComputeOp compute, Expr index) {
  std::optional<LinearIndex> linear = asLinear(index, compute.getNumLoops());
  std::optional<int64_t> offset = linear ? linear->offset.asConstant() : std::nullopt;
  if (!offset)
    return std::nullopt;
  std::optional<unsigned> found;
  for (auto [loop, stride] : llvm::enumerate(linear->strides)) {
    if (stride.isConstant(0))
      continue;
    if (found || !stride.isConstant(1))
      return std::nullopt;
    found = loop;
  }
  return found ? std::optional(std::pair(*found, *offset)) : std::nullopt;
}

std::optional<std::pair<unsigned, int64_t>> Epilogue::getSlice(ComputeOp compute, Expr index, Expr columns) {
  auto shifted = asShiftedLoop(compute, index);
  if (!shifted)
    return std::nullopt;
  auto [loop, offset] = *shifted;
  Expr extent = compute.getExtents()[loop];
  // Sizes that are not known are those of the same columns.
  std::optional<int64_t> all = columns.asConstant(), part = extent.asConstant();
  if (extent == columns || !all || !part)
    return offset == 0 ? std::optional(std::pair(loop, wholeColumns)) : std::nullopt;
  int64_t of = *all, length = *part;
  if (length < 1 || of < 1 || of % length || offset < 0 || offset % length || (slices > 1 && slices != of / length))
    return std::nullopt;
  slices = of / length;
  return std::pair(loop, offset / length);
}

bool Epilogue::add(ComputeOp compute, ComputeOp first) {
  MLIRContext *context = compute.getContext();
  if (compute.getNumReductions() ||
      llvm::any_of(compute.getReads(), [&](Value read) { return places.contains(read.getDefiningOp()); }))
    return false;
  unsigned parallel = first.getNumParallel();
  Expr column = parallel ? getLoopSymbol(context, parallel - 1) : Expr();
  Place place;
  place.loops.resize(compute.getNumLoops());
  bool reads = false, isOfAll = false;
  for (auto [input, operand] : llvm::enumerate(compute.getInputs())) {
    auto known = places.find(operand.getDefiningOp());
    if (known == places.end())
      continue;
    if (compute.getFill(input))
      return false;
    reads = true;
    const Place &of = known->second;
    for (auto [index, at] : llvm::zip(getIndices(compute, input), of.loops)) {
      std::optional<unsigned> loop = index.asSymbol() ? asLoop(*index.asSymbol()) : std::nullopt;
      if (at == column && !of.isOfSlice) {
        auto slice = getSlice(compute, index, first.getExtents()[parallel - 1]);
        if (!slice)
          return false;
        loop = slice->first;
        if (slice->second == wholeColumns) {
          isOfAll = true;
        } else {
          place.isOfSlice = true;
          place.slices[input] = slice->second;
        }
      } else if (!loop && index == at) {
        continue;
      }
      if (!loop || (place.loops[*loop] && place.loops[*loop] != at))
        return false;
      place.loops[*loop] = at;
    }
    place.isOfSlice |= of.isOfSlice;
  }
  if (!reads || (place.isOfSlice && isOfAll))
    return false;
  for (auto [loop, extent] : llvm::zip_equal(place.loops, compute.getExtents())) {
    if (!loop && extent.isConstant(1))
      loop = Expr::constant(context, 0);
    if (!loop)
      return false;
  }
  places.insert({compute, std::move(place)});
  return true;
}

std::optional<Epilogue> Epilogue::get(ComputeOp first, ArrayRef<ComputeOp> later) {
  Epilogue epilogue;
  Place &own = epilogue.places[first];
  for (unsigned loop = 0; loop < first.getNumParallel(); ++loop)
    own.loops.push_back(getLoopSymbol(first.getContext(), loop));
  for (ComputeOp compute : later)
    if (!epilogue.add(compute, first))
      return std::nullopt;
  return epilogue;
}

int64_t Epilogue::countRead() const {
  llvm::SmallSet<int64_t, 8> read;
  for (auto &[compute, place] : places)
    for (auto [input, slice] : place.slices)
      read.insert(slice);
  return read.size();
}

bool freestone::tile::areEpilogues(ComputeOp first, ArrayRef<ComputeOp> later) {
  std::optional<Epilogue> epilogue = Epilogue::get(first, later);
  return epilogue && epilogue->slices == 1;
}
