#include "compiler/codegen/cpu/TreeScope.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

static SmallVector<AxisRange> getRanges(Emission &emission, const tile::TreeForm &form) {
  return llvm::map_to_vector(llvm::seq<unsigned>(0, form.axes.size()), [&](unsigned axis) {
    return AxisRange{emission.getConstant(0), emission.getSize(form.axes.getExtent(axis))};
  });
}

TreeScope::TreeScope(Emission &emission, const tile::TreeForm &form)
    : AxisRanges(getRanges(emission, form)), emission(emission), form(form) {
  for (Expr elements : form.storages)
    storages.push_back(emission.takeScratch(form.getElementType(), elements));
  for (const tile::TreeForm::Pack &pack : form.packs)
    packed.push_back({emission.takeScratch(form.getElementType(), pack.elements), emission.getConstant(0)});
}

Expr TreeScope::getSymbol(unsigned axis) { return emission.getPositionSymbol("a" + std::to_string(axis)); }

SmallVector<Expr> TreeScope::getLoops(tile::ComputeOp compute) {
  return llvm::map_to_vector(form.axes.of(compute), [&](unsigned axis) { return getSymbol(axis); });
}

/// The distance of the current range from the beginning of that within so many blocks of the axis; null for none.
Value TreeScope::getDistance(unsigned axis, unsigned blocks) {
  if (outer[axis].size() == blocks)
    return {};
  return emission.subtract(ranges[axis].first, outer[axis][blocks].first);
}

Value TreeScope::getPlace(const tile::TreeForm::Buffer &buffer, Value column, Value row) {
  if (Value distance = getDistance(buffer.columnAxis, buffer.columnBlocks))
    column = emission.add(distance, column);
  if (Value distance = buffer.rowAxis ? getDistance(*buffer.rowAxis, buffer.rowBlocks) : Value())
    row = emission.add(distance, row);
  Value width = emission.getConstant(form.getWidth()), panel = emission.divide(column, width);
  Value inside = emission.subtract(column, emission.multiply(panel, width));
  Value rows = emission.add(emission.multiply(panel, emission.getSize(buffer.rows)), row);
  return emission.add(emission.multiply(rows, width), inside);
}
