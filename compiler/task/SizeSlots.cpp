#include "compiler/task/SizeSlots.h"

#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/task/Meetings.h"
#include "runtime/artifact/abi.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace freestone::task {

/// No symbol of a model begins with this prefix.
static constexpr StringLiteral slotPrefix = "#";

/// Longest sum, in terms, to show to users.
static constexpr size_t longestReadable = 16;

std::optional<int64_t> SizeSlots::getSlot(StringRef symbol) {
  int64_t slot;
  if (!symbol.consume_front(slotPrefix) || symbol.getAsInteger(10, slot))
    return std::nullopt;
  return slot;
}

/// How often a run executes the phase; nothing where data decide.
static std::optional<sym::Expr> getTimes(PhaseOp phase) {
  sym::Expr times = sym::Expr::constant(phase.getContext(), 1);
  for (Operation *op = phase->getParentOp(); !isa<ProgramOp>(op); op = op->getParentOp()) {
    auto loop = dyn_cast<LoopOp>(op);
    if (!loop || loop.getCondition())
      return std::nullopt;
    times = times * loop.getTrips()->getExpr();
  }
  return times;
}

SizeSlots::SizeSlots(ProgramOp program) {
  MLIRContext *context = program.getContext();
  for (auto symbol : program.getSymbols().getAsRange<SymbolAttr>())
    add(sym::Expr::symbol(context, symbol.getName()));
  symbols = exprs.size();
  if (auto definitions = program.getDefinitions())
    for (auto definition : definitions->getAsRange<ArrayAttr>())
      defined.insert(cast<StringAttr>(definition[0]));

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

  for (ViewOp view : program.getViews())
    add(view.getStep().getExpr());
  program.walk([&](LoopOp loop) {
    if (std::optional<sym::ExprAttr> trips = loop.getTrips())
      add(trips->getExpr());
  });

  llvm::MapVector<sym::Expr, int64_t> executed, thrownAway;
  SmallVector<sym::Expr> needed = {sym::Expr::constant(context, 0)};
  bool isCounted = true;
  for (PhaseOp phase : program.getPhases()) {
    std::optional<sym::Expr> times = getTimes(phase);
    isCounted &= times.has_value();
    for (SpaceOp space : phase.getSpaces()) {
      add(space.getTiles().getExpr());
      for (auto size : space.getSizes().getAsRange<sym::ExprAttr>())
        add(size.getExpr());
      if (auto views = space.getViews())
        for (auto view : views->getAsValueRange<TypeAttr>())
          for (sym::Expr extent : cast<graph::TensorType>(view).getShape())
            add(extent);
      needed.push_back(reference(space.getScratch().getExpr()));
      if (sym::ExprAttr count = space.getOperationsAttr(); count && times)
        ++executed[count.getExpr() * *times];
      if (sym::ExprAttr count = space.getPaddingAttr(); count && times)
        ++thrownAway[count.getExpr() * *times];
    }
  }
  scratch = sym::Expr::max(needed) + FREESTONE_SCRATCH_HEADER;
  add(scratch);
  checked = count();
  auto sum = [&](const llvm::MapVector<sym::Expr, int64_t> &counts) {
    sym::Expr total = sym::Expr::constant(context, 0);
    for (auto [count, times] : counts)
      total = total + reference(count) * times;
    return total;
  };
  SmallVector<PhaseOp, 8> phases = program.getPhases();
  for (PhaseOp phase : phases) {
    for (SpaceOp space : phase.getSpaces())
      add(space.getTime().getExpr());
    // Blocks as large as any number are as good as ones that overflow.
    auto addBlocks = [&](const std::optional<SmallVector<Meeting, 2>> &meetings) {
      for (const Meeting &meeting : meetings.value_or(SmallVector<Meeting, 2>()))
        for (const OperandTouch &touched : {meeting.later, meeting.earlier})
          if (auto [elements, tiles] = touched.getBlocks(); elements) {
            add(elements);
            add(tiles);
          }
    };
    for (int64_t before : phase.getAwaitedWindows())
      addBlocks(findMeetings(phase, phases[before]));
    for (int64_t before : phase.getWindowsAgain())
      addBlocks(findMeetingsAgain(phase, phases[before]));
  }
  operations = isCounted ? sum(executed) : sym::Expr::invalid(context);
  padding = isCounted ? sum(thrownAway) : sym::Expr::invalid(context);
  for (sym::Expr counted : {operations, padding})
    if (!counted.isInvalid())
      add(counted);
}

sym::Expr SizeSlots::reference(sym::Expr expr) {
  if (expr.isConstant() || expr.isInvalid())
    return expr;
  add(expr);
  return sym::Expr::symbol(expr.context(), (slotPrefix + Twine(of(expr))).str());
}

sym::Expr SizeSlots::getReadable(sym::Expr count) const {
  auto sizeOf = [&](StringRef symbol) {
    std::optional<int64_t> slot = getSlot(symbol);
    return slot ? std::optional(exprs[*slot]) : std::nullopt;
  };
  sym::Expr readable = sym::Expr::constant(count.context(), count.constantTerm());
  for (const sym::Term &term : count.terms()) {
    if (term.factors.empty())
      continue;
    readable = readable + term.factors.front().atom.substitute(sizeOf) * term.coefficient;
    if (readable.terms().size() > longestReadable)
      return sym::Expr::invalid(count.context());
  }
  llvm::SetVector<StringAttr> used;
  readable.collectSymbols(used);
  if (llvm::any_of(used, [&](StringAttr symbol) { return defined.contains(symbol); }))
    return sym::Expr::invalid(count.context());
  return readable;
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
