#include "compiler/plan/ScalarWork.h"

#include "compiler/plan/RowPasses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// Whether an operation of a body does something to elements, rather than to positions in memory.
static bool touchesElements(Operation &op) {
  if (isa<arith::ConstantOp, SizeOp, IndexOp, memref::StoreOp, CheckOp>(op) || op.hasTrait<OpTrait::IsTerminator>())
    return isa<memref::StoreOp>(op);
  return llvm::none_of(op.getResultTypes(), [](Type type) { return getElementTypeOrSelf(type).isIndex(); });
}

namespace {

/// The work of written-out loops.
class WrittenLoops {
public:
  explicit WrittenLoops(OpaqueOp opaque)
      : context(opaque.getContext()), work{constant(0), constant(0)}, tile(opaque.getTileNumber()) {
    count(*opaque.getBody(), opaque.getTiles());
  }

  Work getWork() const { return work; }

private:
  Expr constant(int64_t value) { return Expr::constant(context, value); }

  void count(Block &block, Expr times) {
    for (Operation &op : block) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        count(*loop.getBody(), times * getTurns(loop));
      } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
        if (!isDecidedByVectors(branch.getCondition()))
          for (Region &region : branch->getRegions())
            for (Block &inner : region)
              count(inner, times);
      } else if (op.getNumRegions()) {
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            count(inner, times);
      } else {
        count(op, times);
      }
    }
  }

  void count(Operation &op, Expr times) {
    int64_t lanes = 0;
    for (Type type : llvm::concat<const Type>(op.getOperandTypes(), op.getResultTypes()))
      if (auto vector = dyn_cast<VectorType>(type))
        lanes = std::max(lanes, vector.getNumElements());
    if (lanes) {
      work.operations = work.operations + times * lanes;
    } else if (touchesElements(op)) {
      work.operations = work.operations + times;
      work.scalar = work.scalar + times;
    }
  }

  static bool isDecidedByVectors(Value condition) {
    SmallVector<Value> values = {condition};
    while (!values.empty()) {
      Operation *op = values.pop_back_val().getDefiningOp();
      if (!op)
        continue;
      if (isa<vector::VectorDialect>(op->getDialect()))
        return true;
      if (isa<arith::ArithDialect>(op->getDialect()))
        llvm::append_range(values, op->getOperands());
    }
    return false;
  }

  Expr getTurns(scf::ForOp loop) {
    std::optional<Expr> from = getSize(loop.getLowerBound()), to = getSize(loop.getUpperBound()),
                        step = getSize(loop.getStep());
    if (!from || !to || !step)
      return constant(1);
    return Expr::max(Expr::ceilDiv(*to - *from, *step), constant(0));
  }

  /// What a position is over the sizes of the program; nothing where data decide. Loops stand at their begin.
  std::optional<Expr> getSize(Value value) {
    if (value == tile)
      return constant(0);
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      return loop && argument == loop.getInductionVar() ? getSize(loop.getLowerBound()) : std::nullopt;
    }
    Operation *op = value.getDefiningOp();
    if (auto size = dyn_cast<SizeOp>(op))
      return size.getSize().getExpr();
    if (auto number = dyn_cast<arith::ConstantOp>(op)) {
      auto integer = dyn_cast<IntegerAttr>(number.getValue());
      return integer ? std::optional(constant(integer.getInt())) : std::nullopt;
    }
    if (op->getNumOperands() != 2)
      return std::nullopt;
    std::optional<Expr> lhs = getSize(op->getOperand(0)), rhs = getSize(op->getOperand(1));
    if (!lhs || !rhs)
      return std::nullopt;
    return TypeSwitch<Operation *, std::optional<Expr>>(op)
        .Case<arith::AddIOp>([&](auto) { return *lhs + *rhs; })
        .Case<arith::SubIOp>([&](auto) { return *lhs - *rhs; })
        .Case<arith::MulIOp>([&](auto) { return *lhs * *rhs; })
        .Case<arith::MinSIOp>([&](auto) { return Expr::min(*lhs, *rhs); })
        .Case<arith::MaxSIOp>([&](auto) { return Expr::max(*lhs, *rhs); })
        .Case<arith::DivUIOp, arith::DivSIOp>([&](auto) { return Expr::floorDiv(*lhs, *rhs); })
        .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>([&](auto) { return Expr::ceilDiv(*lhs, *rhs); })
        .Case<arith::RemUIOp, arith::RemSIOp>([&](auto) { return Expr::mod(*lhs, *rhs); })
        .Default([](Operation *) { return std::nullopt; });
  }

  MLIRContext *context;
  Work work;
  Value tile;
};

} // namespace

/// Loads, stores and the body's operations at all points.
static Expr countOperations(ComputeOp compute) {
  MLIRContext *context = compute.getContext();
  Expr one = Expr::constant(context, 1), points = one, results = one;
  for (auto [loop, extent] : llvm::enumerate(compute.getExtents())) {
    points = points * extent;
    if (compute.isParallel(loop))
      results = results * extent;
  }
  int64_t each = llvm::count_if(compute.getInputs(), llvm::IsaPred<BlockArgument>) +
                 llvm::count_if(*compute.getBody(), touchesElements);
  return points * each + results * int64_t(compute.getNumResults());
}

/// Whether the tiling computes several elements at a time.
static bool isInLanes(Attribute tiling, ComputeOp compute, const RowPasses *passes) {
  if (auto map = dyn_cast<MapTilingAttr>(tiling))
    return map.getLanes() > 1;
  if (auto rows = dyn_cast<RowsTilingAttr>(tiling)) {
    const RowPasses::Entry *entry = passes->find(compute.getResult(0));
    return entry->role != RowRole::scalar && rows.getLanes()[entry->pass] > 1;
  }
  return true;
}

Work tile::countWork(ProgramOp program) {
  for (auto opaque : program.getBody()->getOps<OpaqueOp>())
    return WrittenLoops(opaque).getWork();
  Attribute tiling = program.getPlan()->getTiling();
  FailureOr<RowPasses> passes = failure();
  std::string why;
  if (auto rows = dyn_cast<RowsTilingAttr>(tiling))
    passes = getRowPasses(program, rows.getRowLoops(), why);
  Expr zero = Expr::constant(program.getContext(), 0);
  Work work = {zero, zero};
  for (ComputeOp compute : program.getComputes()) {
    Expr operations = countOperations(compute);
    work.operations = work.operations + operations;
    if (!isInLanes(tiling, compute, succeeded(passes) ? &*passes : nullptr))
      work.scalar = work.scalar + operations;
  }
  return work;
}

StringRef tile::explainScalarWork(ProgramOp program) {
  return TypeSwitch<Attribute, StringRef>(program.getPlan()->getTiling())
      .Case([](OpaqueTilingAttr) { return "its loops are written out element by element"; })
      .Case([](RowsTilingAttr rows) {
        return llvm::is_contained(rows.getLanes(), 1) ? "it reduces rows in an order that lanes can't keep"
                                                      : "it computes much with single values of rows";
      })
      .Case([](MapTilingAttr) { return "the innermost of the loops over its results has one turn"; })
      .Default([](Attribute) { return ""; });
}
