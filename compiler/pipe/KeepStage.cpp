#include "compiler/pipe/Passes.h"
#include "mlir/IR/SymbolTable.h"

namespace freestone::pipe {
#define GEN_PASS_DEF_KEEPSTAGE
#include "compiler/pipe/Passes.h.inc"
} // namespace freestone::pipe

using namespace mlir;
using namespace freestone;

namespace {

class KeepStage : public pipe::impl::KeepStageBase<KeepStage> {
public:
  using KeepStageBase::KeepStageBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::string prefix = "stage_" + std::to_string(stage) + "_";
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      StringRef name = function.getSymName();
      if (!name.starts_with("stage_"))
        continue;
      if (name.consume_front(prefix))
        function.setSymName(name == "forward" ? "main" : name.str());
      else if (!function.isPrivate())
        function.erase();
    }
    eraseUncalled(module);
  }

private:
  /// Erases bodies of loops and branches, then programs.
  void eraseUncalled(ModuleOp module) {
    llvm::DenseSet<StringAttr> called;
    auto collect = [&](Operation *root) {
      root->walk([&](Operation *op) {
        for (NamedAttribute attribute : op->getAttrs())
          if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue()))
            called.insert(symbol.getAttr());
      });
    };
    for (size_t before = ~size_t(0); before != called.size();) {
      before = called.size();
      for (auto function : module.getOps<func::FuncOp>())
        if (!function.isPrivate() || called.contains(function.getSymNameAttr()))
          collect(function);
    }
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      auto function = dyn_cast<func::FuncOp>(op);
      bool isUncalled = (function && function.isPrivate() && !called.contains(function.getSymNameAttr())) ||
                        (isa<tile::ProgramOp>(op) && !called.contains(SymbolTable::getSymbolName(&op)));
      if (isUncalled)
        op.erase();
    }
  }
};

} // namespace
