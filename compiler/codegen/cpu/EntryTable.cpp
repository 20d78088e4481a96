#include "compiler/codegen/cpu/EntryTable.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using namespace freestone::task;

EntryTable::EntryTable(ProgramOp program, const SizeSlots &slots) : program(program), slots(slots) {
  for (auto [index, buffer] : llvm::enumerate(program.getBuffers()))
    bufferIndex[buffer.getBuffer()] = index;
  SmallVector<PhaseOp, 8> phases = program.getPhases();
  // A number without waiters need not be published: the next one implies it.
  llvm::SmallBitVector awaited(phases.size());
  for (PhaseOp phase : phases)
    for (int64_t before : phase.getAllAfter())
      awaited.set(before);
  if (!phases.empty())
    awaited.set(phases.size() - 1);
  for (auto [index, phase] : llvm::enumerate(phases))
    addPhase(phase, index, awaited[index]);
}

void EntryTable::addPhase(PhaseOp phase, int64_t index, bool isAwaited) {
  SmallVector<SpaceOp, 8> spaces = phase.getSpaces();
  assert(!spaces.empty() && "a phase computes something");
  size_t first = words.size(), last = first;
  for (auto [space, deal] : llvm::zip_equal(spaces, phase.getDeals())) {
    last = words.size();
    addRow(space, deal);
    words[last + phaseIndex] = index;
    words[last + tilesOfPhase] = slots.of(phase.getTiles());
  }
  if (!phase.getAllAfter().empty())
    words[first + waitFor] = *llvm::max_element(phase.getAllAfter()) + 1;
  if (isAwaited)
    words[last + publishAs] = index + 1;
  for (auto [slot, symbol] : llvm::enumerate(program.getSymbols().getAsRange<SymbolAttr>())) {
    if (symbol.getName() != phase.getBinds())
      continue;
    words[last + bindsSlot] = slot + 1;
    words[last + bindsBuffer] = symbol.getTensor();
    words[last + bindsLower] = symbol.getLower();
  }
}

void EntryTable::addRow(SpaceOp space, PhaseOp::Deal deal) {
  int64_t row[columns] = {};
  // The runtime takes the operands of services from the descriptor, which lists the calls in the order of the program.
  if (space.getService()) {
    row[callee] = ~serviceCalls++;
  } else {
    auto [known, isNew] = programIndex.try_emplace(space.getProgram(), programs.size());
    if (isNew)
      programs.push_back(space.getProgram());
    row[callee] = known->second;
  }
  row[tileCount] = slots.of(space.getTiles().getExpr());
  row[tilesBefore] = slots.of(deal.before);
  row[tilesDealt] = slots.of(deal.total);
  row[bufferCount] = space->getNumOperands();
  row[sizeCount] = space.getSizes().size();
  row[siteCount] = space.getSites().size();
  llvm::append_range(words, row);
  for (Value operand : space->getOperands())
    words.push_back(bufferIndex.lookup(operand));
  for (auto size : space.getSizes().getAsRange<sym::ExprAttr>())
    words.push_back(slots.of(size.getExpr()));
  llvm::append_range(words, space.getSites());
  mostBuffers = std::max(mostBuffers, row[bufferCount]);
  mostSizes = std::max(mostSizes, row[sizeCount] + row[siteCount]);
}
