#include "compiler/tile/Passes.h"

#include "compiler/tile/Counters.h"
#include "compiler/tile/ProgramSymbols.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"

namespace freestone::tile {
#define GEN_PASS_DEF_OUTLINE
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using freestone::sym::Expr;

namespace {

class Outline : public tile::impl::OutlineBase<Outline> {
public:
  using OutlineBase::OutlineBase;

  void runOnOperation() override {
    for (auto program : getOperation().getOps<ProgramOp>())
      numPrograms = std::max(numPrograms, numberAfter(program.getSymName()));
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal()) {
        outlineIn(function);
        moveCounters(function, getOperation());
      }
  }

private:
  void outlineIn(func::FuncOp function);
  void outline(Operation *unit, func::FuncOp function);
  ProgramOp shareOrKeep(ProgramOp program);

  static unsigned numberAfter(StringRef name) {
    unsigned number;
    return name.consume_front("p") && !name.getAsInteger(10, number) ? number + 1 : 0;
  }

  llvm::StringMap<ProgramOp> known;
  unsigned numPrograms = 0;
};

/// Copies a compute, opaque or reshape into the program, with sizes replaced by its symbols.
void cloneInto(OpBuilder &builder, Operation *op, ProgramSymbols &symbols, IRMapping &mapping) {
  MLIRContext *context = op->getContext();
  auto convertAll = [&](ArrayRef<Expr> sizes) {
    return getExprArrayAttr(context, llvm::map_to_vector(sizes, [&](Expr size) { return symbols.convert(size); }));
  };
  Operation *copy = builder.clone(*op, mapping);
  for (StringRef attribute : {"pipe.node", "pipe.pass"})
    copy->removeAttr(attribute);
  if (auto compute = dyn_cast<ComputeOp>(op)) {
    auto inside = cast<ComputeOp>(copy);
    SmallVector<Expr> extents;
    for (unsigned loop = 0; loop < compute.getNumLoops(); ++loop)
      extents.push_back(symbols.convertLoop(compute, loop));
    inside.setLoopExtentsAttr(getExprArrayAttr(context, extents));
    inside.setMapSymbolsAttr(convertAll(compute.getSymbolSizes()));
    for (unsigned result = 0; result < compute.getNumResults(); ++result)
      inside.getResult(result).setType(symbols.convertResult(compute, result));
    for (auto [argument, table] : llvm::zip_equal(inside.getReadArgs(), inside.getReads()))
      argument.setType(table.getType());
  } else if (isa<graph::ReshapeOp>(op)) {
    copy->getResult(0).setType(symbols.convertArgument(op->getResult(0)));
  } else {
    auto opaque = cast<OpaqueOp>(copy);
    opaque.setTileCountAttr(symbols.convert(opaque.getTiles()).attr());
    for (Value result : opaque.getResults())
      result.setType(symbols.convertArgument(result));
  }
  copy->walk([&](SizeOp size) { size.setSizeAttr(symbols.convert(size.getSize().getExpr()).attr()); });
}

/// The values that the program of a unit returns. An unused result of an opaque is scratch, unless it is a size that
/// the caller binds or compares.
SmallVector<Value> getReturned(Operation *unit) {
  bool isOpaque = isa<OpaqueOp>(unit), settles = settlesSizes(unit);
  SmallVector<Value> returned;
  for (OpResult result : unit->getResults())
    if (!isOpaque || !result.use_empty() || (settles && result.getResultNumber() == 0))
      returned.push_back(result);
  return returned;
}

void Outline::outlineIn(func::FuncOp function) {
  SmallVector<Operation *> units;
  for (Operation &op : function.getBody().front())
    if (isa<GroupOp, ComputeOp, OpaqueOp>(op))
      units.push_back(&op);
  for (Operation *unit : units)
    outline(unit, function);
}

void Outline::outline(Operation *unit, func::FuncOp function) {
  MLIRContext *context = &getContext();
  SmallVector<Operation *> members = {unit};
  SmallVector<Value> called = getReturned(unit), results = called;
  if (auto group = dyn_cast<GroupOp>(unit)) {
    members.clear();
    for (Operation &op : group.getBody()->without_terminator())
      members.push_back(&op);
    results = llvm::to_vector(group.getBody()->getTerminator()->getOperands());
  }
  SmallVector<ComputeOp> computes;
  llvm::SetVector<Value> arguments;
  for (Operation *op : members) {
    if (auto compute = dyn_cast<ComputeOp>(op))
      computes.push_back(compute);
    for (Value operand : op->getOperands())
      if (!llvm::is_contained(members, operand.getDefiningOp()))
        arguments.insert(operand);
  }

  ProgramSymbols symbols(computes, generalise, context);
  SmallVector<Type> argumentTypes;
  for (Value argument : arguments)
    argumentTypes.push_back(symbols.convertArgument(argument));

  OpBuilder builder(function);
  Block body;
  IRMapping mapping;
  for (auto [argument, type] : llvm::zip_equal(arguments, argumentTypes))
    mapping.map(argument, body.addArgument(type, unit->getLoc()));
  builder.setInsertionPointToEnd(&body);
  for (Operation *op : members)
    cloneInto(builder, op, symbols, mapping);
  SmallVector<Value> returned = llvm::map_to_vector(results, [&](Value value) { return mapping.lookup(value); });
  ReturnOp::create(builder, unit->getLoc(), returned);

  builder.setInsertionPoint(function);
  auto type = builder.getFunctionType(argumentTypes, TypeRange(ValueRange(returned)));
  auto program =
      ProgramOp::create(builder, unit->getLoc(), "p" + std::to_string(numPrograms), symbols.getNames(), type);
  for (auto [from, to] : llvm::zip_equal(body.getArguments(), program.getBody()->getArguments()))
    from.replaceAllUsesWith(to);
  program.getBody()->getOperations().splice(program.getBody()->end(), body.getOperations());
  ProgramOp callee = shareOrKeep(program);
  count(getOperation(), "generalised", llvm::count_if(symbols.getSizes(), [](Expr size) { return size.isConstant(); }));

  builder.setInsertionPoint(unit);
  auto call = CallOp::create(builder, unit->getLoc(), TypeRange(ValueRange(called)), callee.getSymName(),
                             arguments.getArrayRef(), getExprArrayAttr(context, symbols.getSizes()));
  call->setDiscardableAttrs(unit->getDiscardableAttrDictionary());
  for (auto [value, result] : llvm::zip_equal(called, call.getResults()))
    value.replaceAllUsesWith(result);
  unit->erase();
}

/// Equal programs have equal text: names of values and symbols are canonical.
ProgramOp Outline::shareOrKeep(ProgramOp program) {
  std::string text;
  llvm::raw_string_ostream os(text);
  StringAttr name = program.getSymNameAttr();
  program.setSymName("p");
  program->print(os, OpPrintingFlags().useLocalScope());
  program.setSymNameAttr(name);
  auto [entry, isNew] = known.try_emplace(text, program);
  if (isNew || !share) {
    ++numPrograms;
    count(getOperation(), "programs", 1);
    return program;
  }
  program.erase();
  count(getOperation(), "duplicates", 1);
  return entry->second;
}

} // namespace
