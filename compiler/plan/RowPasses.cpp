#include "compiler/plan/RowPasses.h"

#include "compiler/plan/IndexMaps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

const RowPasses::Entry *RowPasses::find(Value result) const {
  for (const Entry &entry : entries)
    if (result.getDefiningOp() == entry.compute)
      return &entry;
  return nullptr;
}

Expr tile::getRowLength(tile::ComputeOp compute, unsigned rowLoops) {
  Expr length = Expr::constant(compute.getContext(), 1);
  SmallVector<Expr> extents = compute.getExtents();
  for (Expr extent : llvm::drop_begin(extents, rowLoops))
    length = length * extent;
  return length;
}

bool tile::isReadAtLeadingLoops(ComputeOp compute, unsigned input) {
  SmallVector<Expr> indices = tile::getIndices(compute, input);
  for (auto [number, index] : llvm::enumerate(indices))
    if (index != tile::getLoopSymbol(compute.getContext(), number))
      return false;
  return true;
}

FailureOr<RowPasses> tile::getRowPasses(tile::ProgramOp program, unsigned rowLoops, std::string &why) {
  RowPasses result;
  SmallVector<Expr> rows;
  /// Of each pass: all its computes have rows of this length.
  SmallVector<Expr> lengths;
  for (tile::ComputeOp compute : program.getComputes()) {
    SmallVector<Expr> extents = compute.getExtents();
    int64_t parallel = compute.getNumParallel();
    if (parallel < rowLoops) {
      why = "a compute has fewer parallel loops than a row has";
      return failure();
    }
    if (rows.empty())
      rows.assign(extents.begin(), extents.begin() + rowLoops);
    if (ArrayRef(extents).take_front(rowLoops) != ArrayRef(rows)) {
      why = "computes have different rows";
      return failure();
    }
    bool hasElements = parallel > rowLoops, reduces = compute.getNumReductions() > 0;
    if (hasElements && reduces) {
      why = "a compute reduces within the elements of a row";
      return failure();
    }
    RowRole role = hasElements ? RowRole::elements : reduces ? RowRole::reduction : RowRole::scalar;

    Expr length = getRowLength(compute, rowLoops);
    unsigned pass = 0;
    for (auto [number, input] : llvm::enumerate(compute.getInputs())) {
      const RowPasses::Entry *producer = result.find(input);
      if (!producer)
        continue;
      if (!isReadAtLeadingLoops(compute, number)) {
        why = "a compute reads another's row at other places";
        return failure();
      }
      if (producer->role == RowRole::reduction) {
        pass = std::max(pass, producer->pass + 1);
      } else if (producer->role == RowRole::scalar) {
        pass = std::max(pass, producer->pass);
      } else {
        if (role == RowRole::scalar || length != getRowLength(producer->compute, rowLoops)) {
          why = "a compute reads elements of rows of another length";
          return failure();
        }
        pass = std::max(pass, producer->pass);
      }
    }
    if (role != RowRole::scalar) {
      while (pass < lengths.size() && lengths[pass] && lengths[pass] != length)
        ++pass;
      lengths.resize(std::max<size_t>(lengths.size(), pass + 1));
      lengths[pass] = length;
    }
    for (Value input : compute.getReads())
      if (result.find(input)) {
        why = "a compute reads another's row at places that depend on data";
        return failure();
      }
    for (Value input : compute.getInputs())
      if (const RowPasses::Entry *producer = result.find(input);
          producer && producer->role == RowRole::elements && producer->pass < pass)
        result.kept.insert(input);
    result.entries.push_back({compute, role, pass});
    if (role != RowRole::scalar)
      result.passes = std::max(result.passes, pass + 1);
  }
  return result;
}

RowPasses tile::getMapPasses(ArrayRef<ComputeOp> computes) {
  RowPasses result;
  for (ComputeOp compute : computes) {
    bool hasElements = compute.getNumParallel() > 0;
    result.entries.push_back({compute, hasElements ? RowRole::elements : RowRole::scalar, 0});
    result.passes = hasElements;
  }
  return result;
}

std::optional<SmallVector<Expr>> tile::getPassExtents(const RowPasses &passes, unsigned pass, unsigned rowLoops) {
  std::optional<SmallVector<Expr>> common;
  for (const RowPasses::Entry &entry : passes.entries) {
    if (entry.role == RowRole::scalar || entry.pass != pass)
      continue;
    auto compute = entry.compute;
    SmallVector<Expr> extents = llvm::to_vector(ArrayRef(compute.getExtents()).drop_front(rowLoops));
    if (common && *common != extents)
      return std::nullopt;
    common = extents;
  }
  return common;
}

bool tile::goAlike(const RowPasses &passes, unsigned pass, unsigned other, unsigned rowLoops,
                   ArrayRef<int64_t> runLoops) {
  auto lengthOf = [&](unsigned number) {
    for (const RowPasses::Entry &entry : passes.entries)
      if (entry.role != RowRole::scalar && entry.pass == number)
        return getRowLength(entry.compute, rowLoops);
    llvm_unreachable("a pass has a compute");
  };
  if (runLoops[pass] != runLoops[other])
    return false;
  if (runLoops[pass] > 1)
    return getPassExtents(passes, pass, rowLoops) == getPassExtents(passes, other, rowLoops);
  return lengthOf(pass) == lengthOf(other);
}
