#include "compiler/task/SizeSlots.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "runtime/abi.h"

using namespace mlir;

namespace freestone::task {

SizeSlots::SizeSlots(ProgramOp program) {
  MLIRContext *context = program.getContext();
  for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>())
    add(sym::Expr::symbol(context, symbol.getName()));
  symbols = exprs.size();

  for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>())
    if (auto bound = dyn_cast_or_null<sym::ExprAttr>(symbol.getBound()))
      add(bound.getExpr());
  for (BufferOp buffer : program.getBuffers()) {
    add(buffer.getBytes());
    if (buffer.getKind() == BufferKind::input || buffer.getKind() == BufferKind::output)
      for (sym::Expr extent : cast<graph::TensorType>(buffer.getBuffer().getType()).getShape())
        add(extent);
  }
  if (auto assertions = program.getAssertions())
    for (auto assertion : assertions->getAsRange<ArrayAttr>())
      for (Attribute side : assertion.getValue().take_front(2))
        add(cast<sym::ExprAttr>(side).getExpr());

  operations = padding = sym::Expr::constant(context, 0);
  SmallVector<sym::Expr> needed = {sym::Expr::constant(context, 0)};
  for (PhaseOp phase : program.getPhases()) {
    for (SpaceOp space : phase.getSpaces()) {
      add(space.getTiles().getExpr());
      for (auto size : space.getSizes().getAsRange<sym::ExprAttr>())
        add(size.getExpr());
      if (auto views = space.getViews())
        for (auto view : views->getAsValueRange<TypeAttr>())
          for (sym::Expr extent : cast<graph::TensorType>(view).getShape())
            add(extent);
      needed.push_back(space.getScratch().getExpr());
      if (sym::ExprAttr executed = space.getOperationsAttr())
        operations = operations + executed.getExpr();
      if (sym::ExprAttr thrownAway = space.getPaddingAttr())
        padding = padding + thrownAway.getExpr();
    }
  }
  scratch = sym::Expr::max(needed) + FREESTONE_SCRATCH_HEADER;
  add(scratch);
  checked = count();
  for (sym::Expr counted : {operations, padding})
    if (!counted.isInvalid())
      add(counted);
}

void SizeSlots::add(sym::Expr expr) {
  if (slots.try_emplace(expr, exprs.size()).second)
    exprs.push_back(expr);
}

int64_t SizeSlots::of(sym::Expr expr) const {
  auto found = slots.find(expr);
  assert(found != slots.end() && "every size of the program was numbered");
  return found->second;
}

} // namespace freestone::task
