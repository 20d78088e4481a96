#include "compiler/codegen/cpu/UsedKernels.h"

#include "compiler/codegen/cpu/EmitBlocks.h"
#include "compiler/plan/ConvolutionForm.h"
#include "compiler/plan/MatrixInPlace.h"
#include "compiler/plan/Variants.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

void UsedKernels::add(Type elementType, tile::MicroKernelAttr shape, KernelKind kind) {
  auto name = StringAttr::get(shape.getContext(), getKernelName(kind, elementType, shape));
  auto [known, isNew] = kernels.insert({name, Kernel{kind, elementType, shape}});
  // One with blocks for last panels serves programs without such panels too.
  if (shape.getLastVectors() > 0)
    known->second.shape = shape;
}

LogicalResult UsedKernels::add(tile::ProgramOp program) {
  auto addKernel = [&](tile::MicroKernelAttr shape, KernelKind kind) {
    add(tile::ContractionForm::get(program.getComputes().front())->elementType, shape, kind);
  };
  std::optional<tile::ContractionTree> contraction = tile::ContractionTree::get(program.getPlan()->getTiling());
  if (auto choice = program.getTiling<tile::ChoiceAttr>())
    contraction = tile::getContractions(choice).front();
  if (contraction && contraction->dotProducts)
    return addDotProducts(program, *contraction);
  if (contraction) {
    addKernel(contraction->kernel, getKernelKind(contraction->multiply.getWordSteps()));
    if (contraction->streamedRows > 0) {
      if (tile::ContractionForm::get(program.getComputes().front())->getStreamedInput())
        for (KernelKind kind : {KernelKind::stream, KernelKind::update})
          addKernel(contraction->kernel, kind);
      else
        addKernel(contraction->kernel, KernelKind::inner);
    }
    if (contraction->streamedColumns > 0)
      addKernel(contraction->kernel, KernelKind::unpacked);
  }
  if (auto tiling = program.getTiling<tile::ConvolutionTilingAttr>()) {
    addKernel(tiling.getKernel(), KernelKind::window);
    if (tiling.getSkipTaps())
      addKernel(tiling.getKernel(), KernelKind::listed);
    if (tile::WinogradAttr layout = tile::ConvolutionForm::get(program)->getTransformed())
      transforms.insert({layout.getOutputs(), tiling.getKernel()});
  }
  if (auto tiling = program.getTiling<tile::WeightGradientTilingAttr>()) {
    addKernel(tiling.getKernel(), getGradientKernel(tiling.getApart()));
    if (tiling.getOutputs())
      gradientTransforms.insert({tiling.getOutputs(), tiling.getKernel()});
  }
  if (auto tiling = program.getTiling<tile::TreeTilingAttr>(); tiling && !contraction)
    for (KernelKind kind : getBlockKernels(program))
      add(Float32Type::get(program.getContext()), tiling.getMicroKernel(), kind);
  return success();
}

LogicalResult UsedKernels::addDotProducts(tile::ProgramOp program, const tile::ContractionTree &tree) {
  tile::ContractionForm form = *tile::ContractionForm::get(program.getComputes().front());
  tile::DotProductLayout layout = tile::DotProductLayout::get(form, tree.dotProducts);
  Type result = tree.multiply.getDirect() ? tile::DotProductLayout::getDirectType(form, tree.dotProducts) : Type();
  auto addInPlace = [&](InPlaceKind kind) {
    InPlaceKernel used{kind, layout, kind == InPlaceKind::innerProducts ? result : Type()};
    auto isUsed = [&](const InPlaceKernel &each) {
      return each.kind == kind && each.layout.factors == layout.factors && each.result == used.result;
    };
    if (llvm::none_of(inPlace, isUsed))
      inPlace.push_back(used);
  };
  tile::ReadsInPlace reads = tile::ReadsInPlace::get(form);
  if (reads.mayUpdate && tree.streamedRows > 0)
    addInPlace(InPlaceKind::updates);
  if (tile::ReadsInPlace::hasInner(form, tree.streamedRows, tree.streamedColumns))
    addInPlace(InPlaceKind::innerProducts);
  auto isOfOther = [&](const DotProducts &each) {
    return each.kernel.factors == layout.multiplied && each.kernel.unit != layout.summedBy;
  };
  if (llvm::any_of(dotProducts, isOfOther))
    return program.emitOpError("sums dot products by another unit than a program before it");
  SmallVector<RowsOfDotProducts> rows = {RowsOfDotProducts::packed};
  if (tile::ReadsInPlace::hasRowsInPlace(form, tree.streamedColumns))
    rows.push_back(getRowsInPlace(layout));
  for (RowsOfDotProducts each : rows) {
    DotProductKernel kernel{layout.multiplied, layout.summedBy, result, each};
    auto known = llvm::find_if(dotProducts, [&](const DotProducts &other) { return other.kernel == kernel; });
    if (known == dotProducts.end())
      known = dotProducts.insert(known, {kernel, /*hasNarrow=*/false});
    known->hasNarrow |= layout.lastVectors > 0;
  }
  return success();
}

void UsedKernels::emit(ModuleOp module) const {
  for (auto &[name, kernel] : kernels)
    emitMicroKernels(module, kernel.kind, kernel.elementType, kernel.shape);
  auto emitEach = [&](StringRef name, ArrayRef<TransformKind> kinds, const Transforms &used) {
    for (auto &[outputs, shape] : used)
      emitTransforms(module, (name + Twine(outputs)).str(), kinds, Float32Type::get(module.getContext()), shape,
                     outputs);
  };
  emitEach("transforms_", convolutionTransforms, transforms);
  emitEach("gradient_transforms_", codegen::gradientTransforms, gradientTransforms);
  bool usesTiles = false;
  for (const DotProducts &each : dotProducts) {
    emitDotProductKernel(module, each.kernel, each.hasNarrow);
    usesTiles |= each.kernel.unit == tile::DotProductUnit::tiles;
  }
  for (const InPlaceKernel &each : inPlace)
    emitInPlaceKernel(module, each);
  if (usesTiles)
    emitTileFunctions(module);
}
