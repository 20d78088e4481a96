#include "compiler/codegen/cpu/SizeTable.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

static SizeStep kindOf(sym::Expr atom) {
  switch (atom.kind()) {
  case sym::Kind::FloorDiv:
    return SizeStep::floorDivision;
  case sym::Kind::CeilDiv:
    return SizeStep::ceilDivision;
  case sym::Kind::Min:
    return SizeStep::minimum;
  default:
    return SizeStep::maximum;
  }
}

SizeTable::SizeTable(task::ProgramOp program, const task::SizeSlots &slots) : slotCount(slots.count()) {
  for (auto [slot, symbol] : llvm::enumerate(program.getSymbols().getAsRange<task::SymbolAttr>()))
    symbols[symbol.getName()] = slot;
  if (auto definitions = program.getDefinitions())
    for (auto definition : definitions->getAsRange<ArrayAttr>()) {
      int64_t index = indexOf(cast<sym::ExprAttr>(definition[1]).getExpr());
      symbols[cast<StringAttr>(definition[0])] = index;
    }
  for (int64_t slot = slots.symbolCount(); slot < slotCount; ++slot) {
    sym::Expr size = slots.getExprs()[slot];
    add(size, slot);
    // A saturated slot doesn't tell that it has overflowed.
    if (slot < slots.checkedCount())
      known.try_emplace(size, slot);
  }
}

int64_t SizeTable::indexOf(sym::Expr expr) {
  if (std::optional<StringRef> name = expr.asSymbol()) {
    std::optional<int64_t> slot = task::SizeSlots::getSlot(*name);
    return slot ? *slot : symbols.lookup(*name);
  }
  if (auto found = known.find(expr); found != known.end())
    return found->second;
  int64_t index = slotCount + numValues++;
  add(expr, index);
  known[expr] = index;
  return index;
}

void SizeTable::addAtom(sym::Expr atom, int64_t target) {
  SmallVector<int64_t> operands = llvm::map_to_vector(atom.operands(), [&](sym::Expr each) { return indexOf(each); });
  llvm::append_values(words, kindOf(atom), target, operands.size());
  llvm::append_range(words, operands);
}

void SizeTable::add(sym::Expr expr, int64_t target) {
  bool isSymbol = expr.asSymbol().has_value();
  if (expr.isAtom() && !isSymbol && !known.contains(expr))
    return addAtom(expr, target);
  // What is known already is copied, as a sum of itself alone.
  sym::Factor itself{expr, 1};
  sym::Term copied{1, itself};
  ArrayRef<sym::Term> terms = expr.isAtom() || known.contains(expr) ? ArrayRef(copied) : expr.terms();
  SmallVector<int64_t> parts;
  for (const sym::Term &term : terms) {
    SmallVector<int64_t> factors;
    for (const sym::Factor &factor : term.factors)
      factors.append(factor.power, indexOf(factor.atom));
    llvm::append_values(parts, term.coefficient, factors.size());
    llvm::append_range(parts, factors);
  }
  llvm::append_values(words, expr.mayCancel() ? SizeStep::wideSum : SizeStep::sum, target, terms.size());
  llvm::append_range(words, parts);
}
