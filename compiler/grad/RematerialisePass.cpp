#include "compiler/dialect/graph/RecomputeRequest.h"
#include "compiler/grad/Passes.h"
#include "compiler/grad/Rematerialise.h"

using namespace mlir;

namespace freestone::grad {

#define GEN_PASS_DEF_REMATERIALISE
#include "compiler/grad/Passes.h.inc"

static constexpr llvm::StringLiteral resultName = "graph.recomputed";

void requestRecompute(func::FuncOp function, ArrayRef<unsigned> losses, StringRef policy,
                      const llvm::StringMap<int64_t> &hints) {
  Builder builder(function.getContext());
  SmallVector<int64_t> results(losses.begin(), losses.end());
  SmallVector<NamedAttribute> sizes;
  for (const auto &hint : hints)
    sizes.push_back(builder.getNamedAttr(hint.getKey(), builder.getI64IntegerAttr(hint.getValue())));
  function->setAttr(graph::recomputeRequest,
                    builder.getDictionaryAttr({builder.getNamedAttr("policy", builder.getStringAttr(policy)),
                                               builder.getNamedAttr("losses", builder.getDenseI64ArrayAttr(results)),
                                               builder.getNamedAttr("hints", builder.getDictionaryAttr(sizes))}));
}

namespace {

struct RematerialisePass : impl::RematerialiseBase<RematerialisePass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto request = function->getAttrOfType<DictionaryAttr>(graph::recomputeRequest);
    if (!request || function.isExternal())
      return markAllAnalysesPreserved();
    auto text = request.getAs<StringAttr>("policy");
    auto losses = request.getAs<DenseI64ArrayAttr>("losses");
    std::optional<RecomputePolicy> policy = text ? RecomputePolicy::parse(text) : std::nullopt;
    if (!policy || !losses ||
        llvm::any_of(losses.asArrayRef(), [&](int64_t loss) { return loss < 0 || loss >= function.getNumResults(); })) {
      function.emitOpError(
          "graph.recompute says {policy = \"none\", \"auto\", \"blocks\" or \"auto:BYTES\", losses = results}");
      return signalPassFailure();
    }
    llvm::StringMap<int64_t> hints;
    if (auto sizes = request.getAs<DictionaryAttr>("hints"))
      for (NamedAttribute size : sizes)
        if (auto value = dyn_cast<IntegerAttr>(size.getValue()))
          hints[size.getName()] = value.getInt();
    SmallVector<unsigned> results(losses.asArrayRef().begin(), losses.asArrayRef().end());
    Recomputed recomputed = rematerialise(function, results, *policy, hints);
    Builder builder(&getContext());
    auto entry = [&](StringRef name, int64_t value) {
      return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
    };
    function->setAttr(resultName, builder.getDictionaryAttr({entry("values", recomputed.values),
                                                             entry("kept_before", recomputed.keptBefore),
                                                             entry("kept_after", recomputed.keptAfter)}));
    function->removeAttr(graph::recomputeRequest);
  }
};

} // namespace

} // namespace freestone::grad
