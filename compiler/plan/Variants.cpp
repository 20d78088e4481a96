#include "compiler/plan/Variants.h"

#include "compiler/dialect/sym/Bounds.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

/// 1 in a run that does not choose the variant for its size, else 0: one atom, so that products with it stay short.
static Expr isLarger(VariantAttr variant) {
  Expr one = Expr::constant(variant.getContext(), 1);
  return Expr::min(Expr::floorDiv(variant.getSize(), variant.getMost() + 1), one);
}

Expr tile::chooseVariant(ChoiceAttr tiling, ArrayRef<Expr> values) {
  Expr chosen = values.back();
  for (auto [variant, value] : llvm::reverse(llvm::zip_equal(tiling.getVariants(), values.drop_back())))
    chosen = value + isLarger(variant) * (chosen - value);
  return chosen;
}

SmallVector<Attribute> tile::getAlternatives(Attribute node) {
  auto choice = dyn_cast<ChoiceAttr>(node);
  if (!choice)
    return {node};
  SmallVector<Attribute> alternatives;
  for (Attribute each : choice.getTilings())
    llvm::append_range(alternatives, getAlternatives(each));
  return alternatives;
}

Attribute tile::getChosen(Attribute node, llvm::function_ref<int64_t(Expr)> valueOf) {
  auto choice = dyn_cast<ChoiceAttr>(node);
  return choice ? getChosen(choice.getTilings()[getVariantOf(node, valueOf)], valueOf) : node;
}

size_t tile::getVariantOf(Attribute tiling, llvm::function_ref<int64_t(Expr)> valueOf) {
  auto variants = dyn_cast<ChoiceAttr>(tiling);
  if (!variants)
    return 0;
  ArrayRef<VariantAttr> all = variants.getVariants();
  return llvm::find_if(all, [&](VariantAttr each) { return valueOf(each.getSize()) <= each.getMost(); }) - all.begin();
}

SmallVector<ContractionTree> tile::getContractions(ChoiceAttr tiling) {
  SmallVector<ContractionTree> contractions;
  for (Attribute each : tiling.getTilings()) {
    std::optional<ContractionTree> contraction = ContractionTree::getMultiplyAdds(each);
    if (!contraction)
      continue;
    if (!contractions.empty() && !contraction->sharesCode(contractions.front()))
      return {};
    contractions.push_back(*contraction);
  }
  return contractions;
}

LogicalResult tile::verifyVariants(ProgramOp program, ChoiceAttr tiling) {
  SmallVector<StringAttr> known = program.getSymbols();
  sym::Bounds sizes(sym::Interval::size());
  for (VariantAttr variant : tiling.getVariants()) {
    llvm::SetVector<StringAttr> symbols;
    variant.getSize().collectSymbols(symbols);
    for (StringAttr symbol : symbols)
      if (!llvm::is_contained(known, symbol))
        return program.emitOpError("chooses a variant by ") << symbol << ", which is none of its sizes";
    if (!sizes.provablyNonNegative(variant.getSize()))
      return program.emitOpError("chooses a variant by ")
             << variant.getSize().attr() << ", which can be negative for sizes";
  }
  return success();
}
