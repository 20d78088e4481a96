#include "compiler/plan/Axes.h"
#include "compiler/plan/Plans.h"
#include "compiler/tile/Counters.h"
#include "compiler/tile/Passes.h"
#include "compiler/tile/TileContraction.h"
#include "compiler/tile/TileConvolution.h"
#include "compiler/tile/TileLoops.h"
#include "compiler/tile/TileTree.h"
#include "compiler/tile/TileWindow.h"

namespace freestone::tile {
#define GEN_PASS_DEF_CHOOSETILES
#include "compiler/tile/Passes.h.inc"
} // namespace freestone::tile

using namespace mlir;
using namespace freestone;

namespace {

struct ChooseTiles : tile::impl::ChooseTilesBase<ChooseTiles> {
  using ChooseTilesBase::ChooseTilesBase;

  void runOnOperation() override {
    llvm::Expected<DeviceDescription> device = DeviceDescription::get(target);
    if (!device) {
      getOperation().emitError(llvm::toString(device.takeError()));
      return signalPassFailure();
    }
    for (auto program : getOperation().getOps<tile::ProgramOp>()) {
      FailureOr<Attribute> tiling = choose(program, *device);
      if (failed(tiling))
        return signalPassFailure();
      FailureOr<tile::PlanAttr> plan = tile::makePlan(program, *tiling);
      if (failed(plan))
        return signalPassFailure();
      program.setPlanAttr(*plan);
    }
  }

  FailureOr<Attribute> choose(tile::ProgramOp program, const DeviceDescription &device) {
    if (Attribute tiling = chooseWithKernel(program, device))
      return tiling;
    std::string why;
    FailureOr<Attribute> tiling =
        tile::tileLoops(program, device, {sideBySide, transpositions, narrowLanes, segments}, why);
    if (failed(tiling))
      return program.emitError("no way to tile this program is known: ") << why;
    int64_t loops = 0;
    if (auto rows = dyn_cast<tile::RowsTilingAttr>(*tiling))
      loops = llvm::count_if(rows.getAccumulators(), [](int64_t vectors) { return vectors > 1; });
    else if (auto map = dyn_cast<tile::MapTilingAttr>(*tiling))
      loops = map.getVectors() > 1;
    tile::count(program->getParentOp(), "side_by_side", loops);
    if (isa<tile::TranspositionTilingAttr>(*tiling))
      tile::count(program->getParentOp(), "transpositions", 1);
    if (auto map = dyn_cast<tile::MapTilingAttr>(*tiling); map && map.getLanes() > device.getLanes(32))
      tile::count(program->getParentOp(), "narrow_lanes", 1);
    if (auto map = dyn_cast<tile::MapTilingAttr>(*tiling); map && !map.getEnds().empty())
      tile::count(program->getParentOp(), "segments", 1);
    return tiling;
  }

  /// The tiling of a program with register blocks; null if none applies.
  Attribute chooseWithKernel(tile::ProgramOp program, const DeviceDescription &device) {
    auto count = [&](StringRef what) { tile::count(program->getParentOp(), what, 1); };
    if (tile::areConnected(program.getComputes()))
      return tile::tileTree(program, device);
    std::optional<tile::ContractionForm> form = tile::getContractionWithEpilogue(program);
    std::optional<tile::ConvolutionForm> convolution = tile::ConvolutionForm::get(program);
    auto widthOf = [&](Type type) { return tile::getMicroKernel(device, type).getWidth(); };
    if (convolution && convolution->isPacked(widthOf(convolution->contraction.elementType))) {
      count("convolutions");
      return tile::tileConvolution(*convolution, device);
    }
    std::optional<tile::WeightGradientForm> gradient;
    if (form && weightGradients)
      gradient = tile::WeightGradientForm::get(form->compute);
    if (gradient) {
      count("weight_gradients");
      return tile::tileWeightGradient(*gradient, device);
    }
    bool hasDotProducts = form && dotProducts && tile::isDotProductContraction(*form, device);
    std::optional<tile::WindowForm> window;
    // Words of bytes are summed four at a time, few channels or not.
    if (windows && !(hasDotProducts && form->elementType.isInteger(32)))
      window = tile::WindowForm::get(program);
    if (window && tile::isWindowInRegisters(*window)) {
      count("windows");
      tile::WindowTilingAttr tiling = tile::tileWindow(*window, device, shareRows);
      if (tiling.getUnroll() > 1)
        count("shared_rows");
      return tiling;
    }
    if (!form)
      return {};
    if (hasDotProducts) {
      count("dot_products");
      return tile::tileDotProducts(*form, device);
    }
    if (!tile::isMicroKernelContraction(*form, widthOf(form->elementType))) {
      std::optional<tile::InnerProducts> inner;
      if (innerProducts)
        inner = tile::InnerProducts::get(*form, device);
      if (inner)
        count("inner_products");
      return inner ? Attribute(inner->getTiling(*form, device)) : Attribute();
    }
    count("contractions");
    if (pairProducts && form->multipliesPairs())
      count("pair_products");
    if (keepPacked)
      count("kept_packed");
    if (construct)
      count("constructed");
    Attribute tiling =
        tile::tileContraction(*form, tile::TypicalRuns(program), device,
                              {keepPacked, pairProducts, streamColumns, innerProducts, construct, variants});
    SmallVector<Attribute> tilings = {tiling};
    if (auto several = dyn_cast<tile::VariantsTilingAttr>(tiling)) {
      count("variants");
      tilings = several.getTilings();
    }
    if (llvm::any_of(tilings, llvm::IsaPred<tile::RowsTilingAttr>))
      count("inner_products");
    if (llvm::any_of(tilings, [](Attribute each) {
          auto contraction = dyn_cast<tile::ContractionTilingAttr>(each);
          return contraction && contraction.getStreamedRows() > 0;
        }))
      count("streamed_columns");
    return tiling;
  }
};

} // namespace
