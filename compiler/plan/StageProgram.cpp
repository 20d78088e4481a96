#include "compiler/plan/StageProgram.h"

#include "compiler/plan/IndexMaps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

void StageProgram::make(ProgramOp around, unsigned number, Block &body, ValueRange returned, ArrayRef<Expr> symbols) {
  MLIRContext *context = around.getContext();
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(&body);
  ReturnOp::create(builder, around.getLoc(), returned);
  SmallVector<StringAttr> names = around.getSymbols();
  for (Expr symbol : symbols)
    names.push_back(StringAttr::get(context, *symbol.asSymbol()));
  OpBuilder detached(context);
  auto type = builder.getFunctionType(body.getArgumentTypes(), TypeRange(returned));
  std::string name = (around.getSymName() + ".stage" + Twine(number)).str();
  program = ProgramOp::create(detached, around.getLoc(), name, names, type);
  Block *into = program->getBody();
  for (auto [from, to] : llvm::zip_equal(body.getArguments(), into->getArguments()))
    from.replaceAllUsesWith(to);
  into->getOperations().splice(into->end(), body.getOperations());
}

LogicalResult tile::setOperands(ComputeOp copy, ValueRange operands, ArrayRef<SmallVector<Expr>> indices,
                                ArrayRef<Expr> extents) {
  MLIRContext *context = copy.getContext();
  IndexMapBuilder builder(context, extents.size());
  SmallVector<AffineMap> maps;
  for (ArrayRef<Expr> each : indices) {
    FailureOr<AffineMap> map = builder.getMap(each);
    if (failed(map))
      return failure();
    maps.push_back(*map);
  }
  copy->setOperands(operands);
  copy.setLoopExtentsAttr(getExprArrayAttr(context, extents));
  copy.setMapSymbolsAttr(getExprArrayAttr(context, builder.getSymbols()));
  for (AffineMap &map : maps)
    map = AffineMap::get(map.getNumDims(), builder.getSymbols().size(), map.getResults(), context);
  copy.setIndexMapsAttr(OpBuilder(context).getAffineMapArrayAttr(maps));
  return success();
}
