#include "compiler/codegen/cpu/ContractionEmitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

Value ContractionEmitter::copyPanel() {
  Value start = getPanelStart(*panel, panel->place, getBlock()), areNew = areColumnsNew(*panel);
  auto copyAlone = [&] { emitIf(areNew, [&] { packColumnsOf(*panel, start, emission.getConstant(0)); }); };
  if (!packsTogether) {
    copyAlone();
    return start;
  }
  auto [first, areTogether] = getTogether(*panel, panel->place);
  Value isFirst = compare(arith::CmpIPredicate::eq, panel->place, first);
  emitIf(
      areTogether,
      [&] {
        PackedBlock columns = *panel;
        columns.count = emission.getConstant(tiles.packedTogether * width);
        Value steps = select(keepsColumns, emission.multiply(depthBlocks, depthStep), columns.depth);
        Value pitch = emission.multiply(steps, emission.getConstant(width));
        emitIf(conjoin(areNew, isFirst), [&] { packTogether(columns, start, pitch); });
      },
      copyAlone);
  return start;
}

/// Panels are together from the beginning of the run, or strip, on, where all of them are new and whole. Other runs ask
/// for none of this.
std::pair<Value, Value> ContractionEmitter::getTogether(const Panel &current, Value place) {
  auto compute = [&](OpBuilder &, Location) {
    Value begin = firstPlace, end = emission.minimum(lastPlace, endOfNew), size = emission.getConstant(width);
    if (goesByStrips) {
      begin = select(goesByStrips, current.piece.firstPlace, begin);
      end = emission.minimum(end, select(goesByStrips, current.piece.lastPlace, end));
    }
    end = emission.minimum(end, emission.multiply(emission.divide(columnTotal, size), size));
    Value columns = emission.getConstant(tiles.packedTogether * width);
    Value group = emission.divide(emission.subtract(place, begin), columns);
    Value first = emission.add(begin, emission.multiply(group, columns));
    Value areNew = compare(arith::CmpIPredicate::sle, emission.add(first, columns), end);
    scf::YieldOp::create(builder, location, ValueRange{first, areNew});
  };
  auto leaveOut = [&](OpBuilder &, Location) {
    Value no = arith::ConstantIntOp::create(builder, location, 0, 1);
    scf::YieldOp::create(builder, location, ValueRange{place, no});
  };
  auto group = scf::IfOp::create(builder, location, packsTogether, compute, leaveOut);
  return {group.getResult(0), group.getResult(1)};
}

std::pair<Value, Value> ContractionEmitter::getNextPacked(const Panel &columns) {
  std::pair<Value, Value> next = getNext(columns);
  if (!packsTogether)
    return next;
  auto [first, areTogether] = getTogether(columns, columns.place);
  auto compute = [&, first = first](OpBuilder &, Location) {
    Panel last = columns;
    last.place = emission.add(first, emission.getConstant((tiles.packedTogether - 1) * width));
    auto [place, block] = getNext(last);
    place = emission.add(place, emission.subtract(columns.place, first));
    place = emission.minimum(place, emission.subtract(columnTotal, emission.getConstant(1)));
    scf::YieldOp::create(builder, location, ValueRange{place, block});
  };
  auto leaveOut = [&](OpBuilder &, Location) {
    scf::YieldOp::create(builder, location, ValueRange{next.first, next.second});
  };
  auto packed = scf::IfOp::create(builder, location, areTogether, compute, leaveOut);
  return {packed.getResult(0), packed.getResult(1)};
}
