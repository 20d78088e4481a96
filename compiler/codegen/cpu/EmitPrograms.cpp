#include "compiler/codegen/cpu/ContractionEmitter.h"
#include "compiler/codegen/cpu/DotProductKernels.h"
#include "compiler/codegen/cpu/EmitChain.h"
#include "compiler/codegen/cpu/EmitChoice.h"
#include "compiler/codegen/cpu/EmitConvolution.h"
#include "compiler/codegen/cpu/EmitOpaque.h"
#include "compiler/codegen/cpu/EmitRows.h"
#include "compiler/codegen/cpu/EmitTree.h"
#include "compiler/codegen/cpu/EmitWeightGradient.h"
#include "compiler/codegen/cpu/EmitWindow.h"
#include "compiler/codegen/cpu/MicroKernels.h"
#include "compiler/codegen/cpu/Passes.h"
#include "compiler/codegen/cpu/TransformKernels.h"
#include "compiler/plan/ContractionForm.h"
#include "compiler/plan/ConvolutionForm.h"
#include "compiler/plan/DotProductLayout.h"
#include "compiler/plan/Plans.h"
#include "compiler/plan/Variants.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace freestone::codegen {
#define GEN_PASS_DEF_EMITPROGRAMS
#include "compiler/codegen/cpu/Passes.h.inc"
} // namespace freestone::codegen

using namespace mlir;
using namespace freestone;

namespace {

struct EmitPrograms : codegen::impl::EmitProgramsBase<EmitPrograms> {
  using EmitProgramsBase::EmitProgramsBase;

  void runOnOperation() override {
    kernels.clear();
    dotProducts.clear();
    transforms.clear();
    gradientTransforms.clear();
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<tile::ProgramOp>())) {
      if (failed(tile::verifyPlan(program)) || failed(emit(program)))
        return signalPassFailure();
    }
    for (auto &[name, kernel] : kernels)
      codegen::emitMicroKernels(getOperation(), kernel.kind, kernel.elementType, kernel.shape);
    emitTransforms("transforms_", codegen::convolutionTransforms, transforms);
    emitTransforms("gradient_transforms_", codegen::gradientTransforms, gradientTransforms);
    bool usesTiles = false;
    for (const DotProducts &each : dotProducts) {
      codegen::emitDotProductKernel(getOperation(), each.factors, each.unit);
      usesTiles |= each.unit == tile::DotProductUnit::tiles;
    }
    if (usesTiles)
      codegen::emitTileFunctions(getOperation());
  }

private:
  /// A micro-kernel called by programs.
  struct Kernel {
    codegen::KernelKind kind;
    Type elementType;
    tile::MicroKernelAttr shape;
  };
  /// Dot products called by programs.
  struct DotProducts {
    tile::DotProductFactors factors;
    tile::DotProductUnit unit;
  };

  LogicalResult emit(tile::ProgramOp program) {
    OpBuilder builder(program);
    auto module = ModuleOp::create(builder, program.getLoc(), program.getSymName());
    builder.setInsertionPointToStart(module.getBody());
    auto variants = program.getTiling<tile::VariantsTilingAttr>();
    auto chain = program.getTiling<tile::ChainTilingAttr>();
    LogicalResult emitted = variants ? emitVariants(builder, program, variants)
                            : chain  ? emitStages(builder, program, chain)
                                     : LogicalResult(emitTiling(builder, program, program.getSymName()));
    program.erase();
    return emitted;
  }

  /// A function for each variant, contractions among them sharing one if they can, and one that calls that of the
  /// run's sizes.
  LogicalResult emitVariants(OpBuilder builder, tile::ProgramOp program, tile::VariantsTilingAttr variants) {
    std::string name = program.getSymName().str();
    FailureOr<func::FuncOp> shared = func::FuncOp();
    if (tile::getContractions(variants).size() > 1)
      shared = emitTiling(builder, program, name + ".contraction");
    SmallVector<func::FuncOp> functions;
    for (auto [number, tiling] : llvm::enumerate(variants.getTilings())) {
      FailureOr<func::FuncOp> function = shared;
      if (!*shared || !isa<tile::ContractionTilingAttr>(tiling)) {
        program.setPlanAttr(*tile::makePlan(program, tiling));
        function = emitTiling(builder, program, name + "." + std::to_string(number));
      }
      if (failed(function))
        return failure();
      functions.push_back(*function);
    }
    codegen::Emission emission(builder, program, program.getSymName());
    codegen::emitChoice(variants, functions, emission);
    emission.finish();
    return success();
  }

  /// A function for each stage of a chain, and one that calls them tile by tile.
  LogicalResult emitStages(OpBuilder builder, tile::ProgramOp program, tile::ChainTilingAttr tiling) {
    std::string why;
    FailureOr<tile::ChainForm> form = tile::ChainForm::get(program.getComputes(), why);
    FailureOr<SmallVector<tile::StageProgram>> stages = tile::makeStages(*form, program);
    if (failed(stages))
      return failure();
    FailureOr<tile::ChainTiles> tiles = tile::ChainTiles::get(*form, tiling, program, *stages);
    if (failed(tiles))
      return failure();
    SmallVector<func::FuncOp> functions;
    for (tile::StageProgram &stage : *stages) {
      FailureOr<func::FuncOp> function = emitTiling(builder, *stage.program, stage.program->getSymName());
      if (failed(function))
        return failure();
      functions.push_back(*function);
    }
    codegen::Emission emission(builder, program, program.getSymName());
    codegen::emitChain(*form, *tiles, tiling, *stages, functions, emission);
    emission.finish();
    return success();
  }

  /// The function of the given name, for a program with one tiling or the contractions among its variants.
  FailureOr<func::FuncOp> emitTiling(OpBuilder builder, tile::ProgramOp program, StringRef name) {
    if (failed(collectKernels(program)))
      return failure();
    if (program.getTiling<tile::WindowTilingAttr>() && !codegen::areAlongChannels(program))
      return emitWindows(builder, program, name);
    using Emitter = void (*)(tile::ProgramOp, codegen::Emission &);
    Emitter emitter = TypeSwitch<Attribute, Emitter>(program.getPlan()->getTiling())
                          .Case<tile::ContractionTilingAttr, tile::DotProductTilingAttr, tile::VariantsTilingAttr>(
                              [](Attribute) { return codegen::emitContraction; })
                          .Case([](tile::ConvolutionTilingAttr) { return codegen::emitConvolution; })
                          .Case([](tile::WeightGradientTilingAttr) { return codegen::emitWeightGradient; })
                          .Case([&](tile::WindowTilingAttr) {
                            return *codegen::areAlongChannels(program) ? codegen::emitChannelVectors
                                                                       : codegen::emitWindow;
                          })
                          .Case<tile::RowsTilingAttr, tile::MapTilingAttr, tile::TranspositionTilingAttr>(
                              [](Attribute) { return codegen::emitRows; })
                          .Case([](tile::TreeTilingAttr) { return codegen::emitTree; })
                          .Case([](tile::OpaqueTilingAttr) { return codegen::emitOpaque; });
    codegen::Emission emission(builder, program, name);
    emitter(program, emission);
    return emission.finish();
  }

  /// A function for each direction of vectors, and one that calls what suits the sizes of the run.
  FailureOr<func::FuncOp> emitWindows(OpBuilder builder, tile::ProgramOp program, StringRef name) {
    codegen::Emission channels(builder, program, (name + ".channels").str());
    codegen::emitChannelVectors(program, channels);
    func::FuncOp alongChannels = channels.finish();
    codegen::Emission pixels(builder, program, (name + ".pixels").str());
    codegen::emitWindow(program, pixels);
    func::FuncOp alongPixels = pixels.finish();
    codegen::Emission emission(builder, program, name);
    codegen::emitWindowChoice(alongChannels, alongPixels, emission);
    return emission.finish();
  }

  using Transforms = llvm::MapVector<int64_t, tile::MicroKernelAttr>;

  void emitTransforms(StringRef name, ArrayRef<codegen::TransformKind> kinds, const Transforms &used) {
    for (auto &[outputs, shape] : used)
      codegen::emitTransforms(getOperation(), (name + Twine(outputs)).str(), kinds, Float32Type::get(&getContext()),
                              shape, outputs);
  }

  LogicalResult collectKernels(tile::ProgramOp program) {
    auto addKernelOf = [&](Type elementType, tile::MicroKernelAttr shape, codegen::KernelKind kind) {
      auto name = StringAttr::get(&getContext(), codegen::getKernelName(kind, elementType, shape));
      kernels.insert({name, Kernel{kind, elementType, shape}});
    };
    auto addKernel = [&](tile::MicroKernelAttr shape, codegen::KernelKind kind) {
      addKernelOf(tile::ContractionForm::get(program.getComputes().front())->elementType, shape, kind);
    };
    auto contraction = program.getTiling<tile::ContractionTilingAttr>();
    if (auto variants = program.getTiling<tile::VariantsTilingAttr>())
      contraction = tile::getContractions(variants).front();
    if (contraction) {
      addKernel(contraction.getKernel(), codegen::getKernelKind(contraction.getWordSteps()));
      if (contraction.getStreamedRows() > 0)
        for (codegen::KernelKind kind : {codegen::KernelKind::stream, codegen::KernelKind::update})
          addKernel(contraction.getKernel(), kind);
    }
    if (auto tiling = program.getTiling<tile::ConvolutionTilingAttr>()) {
      addKernel(tiling.getKernel(), codegen::KernelKind::window);
      if (tiling.getSkipTaps())
        addKernel(tiling.getKernel(), codegen::KernelKind::listed);
      if (tile::WinogradAttr layout = tile::ConvolutionForm::get(program)->getTransformed())
        transforms.insert({layout.getOutputs(), tiling.getKernel()});
    }
    if (auto tiling = program.getTiling<tile::WeightGradientTilingAttr>()) {
      addKernel(tiling.getKernel(), codegen::getKernelKind(tiling));
      if (tiling.getOutputs())
        gradientTransforms.insert({tiling.getOutputs(), tiling.getKernel()});
    }
    if (auto tiling = program.getTiling<tile::TreeTilingAttr>())
      for (codegen::KernelKind kind : codegen::getTreeKernels(program))
        addKernelOf(Float32Type::get(&getContext()), tiling.getKernel(), kind);
    auto tiling = program.getTiling<tile::DotProductTilingAttr>();
    if (!tiling)
      return success();
    tile::ContractionForm form = *tile::ContractionForm::get(program.getComputes().front());
    DotProducts used{tile::DotProductLayout::get(form, tiling).multiplied, tiling.getUnit()};
    auto known = llvm::find_if(dotProducts, [&](const DotProducts &each) { return each.factors == used.factors; });
    if (known == dotProducts.end())
      dotProducts.push_back(used);
    else if (known->unit != used.unit)
      return program.emitOpError("sums dot products by another unit than a program before it");
    return success();
  }

  llvm::MapVector<StringAttr, Kernel> kernels;
  SmallVector<DotProducts> dotProducts;
  /// Squares of transformed filters, or gradients of filters, and the shape of vectors and panels.
  Transforms transforms, gradientTransforms;
};

} // namespace
