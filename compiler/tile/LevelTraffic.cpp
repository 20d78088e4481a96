#include "compiler/tile/LevelTraffic.h"

#include "compiler/plan/ChainTiles.h"
#include "compiler/plan/ConvolutionTiles.h"
#include "compiler/plan/IndexMaps.h"
#include "compiler/plan/RowPasses.h"
#include "compiler/plan/Traffic.h"
#include "compiler/plan/TreeForm.h"
#include "compiler/plan/Variants.h"
#include "compiler/tile/TileContraction.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

namespace {

/// Of intermediates of chains.
constexpr double elementBytes = 4;
/// Lines of a set of a cache, as most have.
constexpr double ways = 16;

/// The bytes of a run, as its tiling moves them.
class Prediction {
public:
  Prediction(ProgramOp program, const DeviceRates &rates, llvm::function_ref<int64_t(Expr)> valueOf)
      : program(program), rates(rates), valueOf(valueOf) {
    Traffic traffic = Traffic::get(program);
    moved = get(traffic.getTotal());
    footprint = moved + get(program.getPlan()->getScratch());
    fetchOnce(moved);
  }

  FetchedBytes getFetched() const { return fetched; }

  /// As the cost model has it, which knows nothing of an epilogue's operands.
  void addContraction(const ContractionTree &tree) {
    std::optional<ContractionForm> form = getContractionWithEpilogue(program);
    if (!form)
      return;
    ContractionProblem problem = getContractionProblem(*form, tree.kernel, tree.multiply.getWordSteps(),
                                                       [&](Expr size) { return valueOf(size); });
    TilingCost cost = estimateContraction(problem, ContractionShares::get(tree), rates, 1);
    double factors = double(problem.k) * double(problem.outer) *
                     (double(problem.m) * double(problem.lhsBytes) + double(problem.n) * double(problem.rhsBytes));
    double results = double(problem.outer) * double(problem.m) * double(problem.n) * double(problem.resultBytes);
    double once = std::min(moved, factors + results);
    footprint = moved + cost.packedBytes;
    fetched = {};
    fetchOnce(moved + cost.packedBytes);
    // The model's bytes include the first ones of every operand, from where it alone would be found.
    double fromMemory = cost.fetched.memory, beyondL2 = fromMemory + cost.fetched.l3, all = beyondL2 + cost.fetched.l2;
    fetched.l1 += fetched.l1 ? std::max(0.0, all - once) : 0;
    fetched.l2 += fetched.l2 ? std::max(0.0, beyondL2 - once) : 0;
    fetched.l3 += fetched.l3 ? std::max(0.0, fromMemory - once) : 0;
  }

  /// Passes over a row that a level does not hold fetch it again.
  void addRows(RowsTilingAttr tiling) {
    std::string why;
    FailureOr<RowPasses> passes = getRowPasses(program, tiling.getRowLoops(), why);
    if (failed(passes))
      return;
    double ofRow = 0, again = 0, rows = 1;
    SmallVector<Expr> extents = passes->entries.front().compute.getExtents();
    for (Expr extent : ArrayRef(extents).take_front(tiling.getRowLoops()))
      rows *= get(extent);
    auto addPasses = [&](Value tensor, double bytes) {
      llvm::SmallSet<unsigned, 4> readers;
      for (RowPasses::Entry &entry : passes->entries)
        if (llvm::is_contained(entry.compute.getInputs(), tensor))
          readers.insert(entry.pass);
      bool isMade = !isa<BlockArgument>(tensor);
      ofRow += bytes / rows;
      again += bytes * std::max(0.0, double(readers.size() + isMade) - 1);
    };
    for (BlockArgument argument : program.getBody()->getArguments())
      addPasses(argument, get(getReadBytes(argument)));
    for (Value kept : passes->kept)
      addPasses(kept, get(getStorageBytes(cast<graph::TensorType>(kept.getType()))));
    fetchAgain(again, ofRow);
  }

  /// Every block of an axis that is dealt fetches what does not have this axis; within L1, so does every block.
  void addTree(TreeTilingAttr tiling) {
    std::string why;
    FailureOr<TreeForm> form = TreeForm::get(program, tiling, why);
    if (failed(form))
      return;
    double again = 0, between = 0;
    for (ComputeOp compute : form->computes)
      for (auto [number, input] : llvm::enumerate(compute.getInputs())) {
        auto argument = dyn_cast<BlockArgument>(input);
        if (!argument)
          continue;
        llvm::SmallSet<unsigned, 4> own = getAxes(*form, compute, number);
        double bytes = get(getReadBytes(argument)), times = 1, slices = 1;
        for (BlocksAttr blocks : form->dealt)
          (own.contains(blocks.getAxis()) ? slices : times) *=
              std::ceil(get(form->axes.getExtent(blocks.getAxis())) / get(blocks.getStep()));
        again += bytes * (times - 1);
        between += bytes / slices;
      }
    double once = fetched.l1;
    fetchAgain(again, between);
    SmallVector<double> ranges;
    for (unsigned axis = 0; axis < form->axes.size(); ++axis)
      ranges.push_back(get(form->axes.getExtent(axis)));
    fetched.l1 = std::max(fetched.l1, once + countBlocks(*form, tiling.getBody(), ranges, 1));
  }

  /// Results of stages are written and read once in scratch, which is fetched from a level that holds a tile of it.
  void addChain(StagesAttr tiling) {
    std::string why;
    FailureOr<ChainForm> form = ChainForm::get(program.getComputes(), why);
    if (failed(form))
      return;
    ChainTiles tiles = ChainTiles::get(*form, tiling.getEdges(), tiling.getRowUnit(), tiling.getLeastTiles());
    double inScratch = 0;
    for (Expr elements : tiles.between)
      inScratch += get(elements) * elementBytes;
    for (unsigned edge = 0; edge < tiles.between.size(); ++edge)
      fetchAgain(2 * get(getStorageBytes(cast<graph::TensorType>(form->getIntermediate(edge).getType()))), inScratch);
  }

  /// Each block of output channels reads the picture, each block of pixels the weights of its channels.
  void addConvolution(ConvolutionTilingAttr tiling) {
    std::optional<ConvolutionForm> form = ConvolutionForm::get(program);
    if (!form)
      return;
    ConvolutionTiles tiles = ConvolutionTiles::get(*form, tiling);
    ContractionForm &contraction = form->contraction;
    auto getOperand = [&](Value factor) {
      std::optional<unsigned> input = contraction.getInput(factor);
      auto argument = input ? dyn_cast<BlockArgument>(contraction.compute.getInputs()[*input]) : nullptr;
      return argument ? get(getReadBytes(argument)) : 0;
    };
    double weights = getOperand(contraction.lhs), picture = getOperand(contraction.rhs);
    double channels = get(tiles.columnBlocks);
    double outer = get(contraction.getExtent(tiles.otherLoops)) * get(tiles.pictureBlocks);
    double pixelBlocks = get(tiles.rowBlocks) * get(tiles.pixelBlocks);
    fetchAgain(picture * (channels - 1), picture / outer);
    fetchAgain(weights * (outer * pixelBlocks - 1), weights / channels + get(program.getPlan()->getScratch()));

    // Within a tile, each strip of pixels passes by a panel of weights, as in a contraction.
    MicroKernelAttr kernel = tiling.getKernel();
    double bytes = contraction.elementType.getIntOrFloatBitWidth() / 8.0,
           inChannels = get(tiles.channelStep) * double(form->depthTaps);
    double ofChannel = tiles.transformed ? double(tiles.transformed->getNumValues()) : double(form->taps);
    double steps = inChannels * ofChannel, panel = double(kernel.getWidth()) * steps * bytes;
    // A run of pixels begins anywhere in a line; each step has the offset of its run.
    double ofRun = double(kernel.getRows() + form->pixelSpan) * bytes + double(lineBytes) - bytes;
    double strip = panel + steps / double(form->pixelSpan) * ofRun + steps * double(sizeof(int64_t));
    double strips =
        outer * pixelBlocks *
        std::ceil(get(tiles.rowStep) * get(tiles.pixelStep) * get(tiles.pictureStep) / double(kernel.getRows()));
    double panels = std::ceil(get(contraction.getExtent(contraction.m)) / double(kernel.getWidth()));
    fetched.l1 += strips * panels * get(tiles.channelBlocks) * strip *
                  getMissingPart(strip, double(rates.l1Bytes) / 2, 1.5 * double(rates.l1Bytes));
  }

private:
  static llvm::SmallSet<unsigned, 4> getAxes(const TreeForm &form, ComputeOp compute, unsigned input) {
    llvm::SmallSet<unsigned, 4> axes;
    for (Expr index : getIndices(compute, input))
      for (unsigned loop : getLoops(index))
        axes.insert(form.axes.of(compute)[loop]);
    return axes;
  }

  /// The bytes of the current ranges of what a node reads and writes, each tensor once.
  double countNode(const TreeForm &form, ArrayRef<int64_t> computes, ArrayRef<double> ranges) const {
    llvm::SmallDenseMap<Value, double> tensors;
    auto add = [&](Value tensor, const auto &axes) {
      double bytes = get(getStorageBytes(cast<graph::TensorType>(tensor.getType()))) /
                     get(cast<graph::TensorType>(tensor.getType()).getNumElements());
      for (unsigned axis : axes)
        bytes *= ranges[axis];
      tensors[tensor] = std::max(tensors[tensor], bytes);
    };
    for (int64_t number : computes) {
      ComputeOp compute = form.computes[number];
      for (auto [input, tensor] : llvm::enumerate(compute.getInputs()))
        add(tensor, getAxes(form, compute, input));
      for (Value result : compute.getResults())
        add(result, form.axes.ofResult(compute));
    }
    double bytes = 0;
    for (auto [tensor, each] : tensors)
      bytes += each;
    return bytes;
  }

  /// The bytes that pass by in the blocks of a tree, `times` times: of blocks whose nodes L1 does not hold together.
  double countBlocks(const TreeForm &form, ArrayAttr nodes, SmallVector<double> ranges, double times) const {
    double here = 0, within = 0;
    for (Attribute node : nodes) {
      if (auto blocks = dyn_cast<BlocksAttr>(node)) {
        double &range = ranges[blocks.getAxis()], whole = range, count = std::ceil(range / get(blocks.getStep()));
        range /= count;
        within += countBlocks(form, blocks.getBody(), ranges, times * count);
        range = whole;
      } else if (auto multiply = dyn_cast<MultiplyAttr>(node)) {
        here += countNode(form, multiply.getCompute(), ranges);
      } else if (auto vectors = dyn_cast<VectorsAttr>(node)) {
        here += countNode(form, cast<EvaluateAttr>(vectors.getBody()[0]).getComputes(), ranges);
      }
    }
    return within + (here > double(rates.l1Bytes) ? times * here : 0);
  }

  double get(Expr size) const { return double(valueOf(size)); }

  void fetchOnce(double bytes) { fetchAgain(bytes, footprint); }
  /// By the levels that do not hold what passes by from one use to the next. Lines fill sets evenly: one more than a
  /// set has ways, and all of it is lost.
  void fetchAgain(double bytes, double between) {
    for (auto [level, capacity] : {std::pair(&FetchedBytes::l1, rates.l1Bytes),
                                   {&FetchedBytes::l2, rates.l2Bytes},
                                   {&FetchedBytes::l3, rates.l3Bytes}})
      fetched.*level += bytes * getMissingPart(between, double(capacity), double(capacity) * (1 + 1 / ways));
  }

  ProgramOp program;
  const DeviceRates &rates;
  llvm::function_ref<int64_t(Expr)> valueOf;
  double moved, footprint;
  FetchedBytes fetched;
};

} // namespace

FetchedBytes tile::predictFetched(ProgramOp program, const DeviceRates &rates,
                                  llvm::function_ref<int64_t(Expr)> valueOf) {
  Prediction prediction(program, rates, valueOf);
  llvm::TypeSwitch<Attribute>(getChosen(program.getPlan()->getTiling(), valueOf))
      .Case([&](RowsTilingAttr tiling) { prediction.addRows(tiling); })
      .Case([&](TreeTilingAttr tiling) {
        if (std::optional<ContractionTree> contraction = ContractionTree::getMultiplyAdds(tiling))
          prediction.addContraction(*contraction);
        else if (tiling.getMicroKernel())
          prediction.addTree(tiling);
      })
      .Case([&](StagesAttr tiling) { prediction.addChain(tiling); })
      .Case([&](ConvolutionTilingAttr tiling) { prediction.addConvolution(tiling); });
  return prediction.getFetched();
}
