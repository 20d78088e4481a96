#include "compiler/plan/Plans.h"
#include "compiler/tile/Passes.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

namespace freestone::tile {
#define GEN_PASS_DEF_REPLACETILINGS
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

namespace {

struct ReplaceTilings : tile::impl::ReplaceTilingsBase<ReplaceTilings> {
  using ReplaceTilingsBase::ReplaceTilingsBase;

  void runOnOperation() override {
    auto file = llvm::MemoryBuffer::getFile(tilings, /*IsText=*/true);
    if (!file) {
      getOperation().emitError("can't read the tilings of '") << tilings << "': " << file.getError().message();
      return signalPassFailure();
    }
    SymbolTable programs(getOperation());
    for (llvm::line_iterator line(**file, /*SkipBlanks=*/true, '\0'); !line.is_at_end(); ++line)
      if (failed(replace(programs, line->trim())))
        return signalPassFailure();
  }

private:
  LogicalResult replace(SymbolTable &programs, StringRef line) {
    if (line.empty() || line.starts_with("//"))
      return success();
    auto [name, text] = line.split(' ');
    auto program = programs.lookup<ProgramOp>(name);
    if (!program)
      return getOperation().emitError("there is no program '") << name << "' to tile";
    Attribute tiling = parseAttribute(text.trim(), &getContext());
    if (!tiling)
      return program.emitError("can't be tiled as '") << text.trim() << "', which is no attribute";
    FailureOr<PlanAttr> plan = makePlan(program, tiling);
    if (failed(plan))
      return failure();
    program.setPlanAttr(*plan);
    return success();
  }
};

} // namespace
