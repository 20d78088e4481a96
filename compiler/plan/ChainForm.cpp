#include "compiler/plan/ChainForm.h"

#include "compiler/plan/Classify.h"
#include "compiler/plan/ContractionForm.h"
#include "compiler/plan/ConvolutionForm.h"
#include "compiler/plan/IndexMaps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

static Expr multiplyAll(ArrayRef<Expr> extents, MLIRContext *context) {
  Expr product = Expr::constant(context, 1);
  for (Expr extent : extents)
    product = product * extent;
  return product;
}

Expr ChainStage::getRowElements() const {
  SmallVector<Expr> extents;
  ComputeOp last = getLast();
  for (unsigned loop = 0; loop < last.getNumParallel(); ++loop)
    if (loop != getRowLoop() && !isImage(loop))
      extents.push_back(last.getExtents()[loop]);
  return multiplyAll(extents, last.getContext());
}

Expr ChainStage::getNumImages() const {
  ComputeOp anchor = getAnchor();
  SmallVector<Expr> all = anchor.getExtents();
  return multiplyAll(llvm::map_to_vector(images, [&](unsigned loop) { return all[loop]; }), anchor.getContext());
}

/// Whether rows can be cut out of a compute: its body does not ask for positions, nor checks or reads at data.
static bool canBeCut(ComputeOp compute) {
  Block *body = compute.getBody();
  return compute.getReads().empty() && body->getOps<IndexOp>().empty() && body->getOps<CheckOp>().empty() &&
         compute.getNumResults() == 1 && !compute.getResultType(0).getLayout();
}

/// Whether a compute runs over the elements of a stage: at the same parallel loops, where it reads its results.
static bool followsElements(ComputeOp compute, const ChainStage &stage) {
  ComputeOp anchor = stage.getAnchor();
  if (compute.getNumReductions() || compute.getNumParallel() != anchor.getNumParallel() ||
      ArrayRef(compute.getExtents()) != ArrayRef(anchor.getExtents()).take_front(anchor.getNumParallel()))
    return false;
  bool reads = false;
  for (auto [input, tensor] : llvm::enumerate(compute.getInputs()))
    if (llvm::is_contained(stage.computes, tensor.getDefiningOp<ComputeOp>())) {
      if (!isReadAtParallelLoops(compute, input) || compute.getFill(input))
        return false;
      reads = true;
    }
  return reads;
}

/// How the anchor of a stage reads the rows of the stage before. Fails where it reads these elsewhere than in windows
/// that move on with its own rows.
static LogicalResult setWindow(ChainStage &stage, const ChainStage &before) {
  ComputeOp anchor = stage.getAnchor();
  auto isBefore = [&](Value tensor) { return llvm::is_contained(before.computes, tensor.getDefiningOp<ComputeOp>()); };
  if (llvm::count_if(anchor.getInputs(), isBefore) != 1)
    return failure();
  stage.input = llvm::find_if(anchor.getInputs(), isBefore) - anchor.getInputs().begin();
  if (anchor.getInputs()[stage.input] != ComputeOp(before.getLast()).getResult(0))
    return failure();
  unsigned row = stage.getRowLoop();
  SmallVector<Expr> extents = anchor.getExtents();
  for (auto [dim, index] : llvm::enumerate(getIndices(anchor, stage.input))) {
    SmallVector<unsigned> loops = getLoops(index);
    if (dim != before.getRowLoop()) {
      if (llvm::is_contained(loops, row) ||
          (dim == before.getPixelLoop() && !llvm::is_contained(loops, stage.getPixelLoop())))
        return failure();
      continue;
    }
    std::optional<LinearIndex> linear = asLinear(index, anchor.getNumLoops());
    if (!linear || linear->strides[row].asConstant().value_or(0) < 1 || !linear->offset.isConstant())
      return failure();
    stage.stride = *linear->strides[row].asConstant();
    stage.offset = *linear->offset.asConstant();
    for (unsigned loop : loops) {
      if (loop == row)
        continue;
      std::optional<int64_t> step = linear->strides[loop].asConstant(), extent = extents[loop].asConstant();
      if (anchor.isParallel(loop) || !step || !extent || *step < 0 || *extent < 1)
        return failure();
      stage.span += *step * (*extent - 1);
    }
  }
  return success();
}

/// The loops that count whole pictures in all stages: each is the index of the same dimension of the stage before, and
/// no weights depend on it.
static void findImages(ChainForm &chain) {
  SmallVector<SmallVector<unsigned>> paths;
  for (unsigned number = 0; number < chain.stages.size(); ++number) {
    ChainStage &stage = chain.stages[number];
    ComputeOp anchor = stage.getAnchor();
    auto isPicture = [&](unsigned loop, unsigned input) {
      return llvm::is_contained(getIndices(anchor, input), getLoopSymbol(anchor.getContext(), loop));
    };
    auto dependsOn = [&](unsigned loop, unsigned input) {
      return llvm::any_of(getIndices(anchor, input), [&](Expr at) { return llvm::is_contained(getLoops(at), loop); });
    };
    auto isCandidate = [&](unsigned loop) {
      // Of the first stage the picture is the operand that has the loops of pixels.
      unsigned picture = stage.input, inputs = anchor.getInputs().size();
      for (unsigned input = 0; number == 0 && input < inputs; ++input)
        if (dependsOn(stage.getPixelLoop(), input))
          picture = input;
      return isPicture(loop, picture) && llvm::all_of(llvm::seq(inputs), [&](unsigned input) {
               return input == picture || !dependsOn(loop, input);
             });
    };
    if (number == 0) {
      for (unsigned loop = 0; loop < stage.getRowLoop(); ++loop)
        if (isCandidate(loop))
          paths.push_back({loop});
      continue;
    }
    SmallVector<Expr> indices = getIndices(anchor, stage.input);
    llvm::erase_if(paths, [&](SmallVector<unsigned> &path) {
      std::optional<StringRef> symbol = indices[path.back()].asSymbol();
      std::optional<unsigned> loop = symbol ? asLoop(*symbol) : std::nullopt;
      ComputeOp before = chain.stages[number - 1].getAnchor();
      if (!loop || *loop >= stage.getRowLoop() || !isCandidate(*loop) ||
          anchor.getExtents()[*loop] != before.getExtents()[path.back()])
        return true;
      path.push_back(*loop);
      return false;
    });
  }
  for (const SmallVector<unsigned> &path : paths)
    for (auto [stage, loop] : llvm::zip_equal(chain.stages, path))
      stage.images.push_back(loop);
}

/// Whether rows lie one behind the other in every operand, or it depends on neither rows nor pixels.
static bool isFlat(const ChainStage &stage, bool isFirst) {
  if (stage.stride != 1 || stage.span != 1 || stage.offset != 0)
    return false;
  unsigned row = stage.getRowLoop(), pixel = stage.getPixelLoop();
  for (ComputeOp compute : stage.computes)
    for (unsigned input = 0; input < compute.getInputs().size(); ++input) {
      SmallVector<Expr> indices = getIndices(compute, input);
      SmallVector<unsigned> dims;
      for (auto [dim, index] : llvm::enumerate(indices))
        if (SmallVector<unsigned> loops = getLoops(index);
            llvm::is_contained(loops, row) || llvm::is_contained(loops, pixel))
          dims.push_back(dim);
      if (dims.empty())
        continue;
      Expr rowLoop = getLoopSymbol(compute.getContext(), row), pixelLoop = getLoopSymbol(compute.getContext(), pixel);
      graph::TensorType type = compute.getInputType(input);
      bool isInner = compute == stage.getAnchor() && input == stage.input && !isFirst;
      if (dims.size() != 2 || dims[1] != dims[0] + 1 || indices[dims[1]] != pixelLoop || compute.getFill(input) ||
          type.getLayout() || type.getDim(dims[1]) != stage.getPixels() ||
          (isInner ? indices[dims[0]] != rowLoop : dependsOnLoops(indices[dims[0]] - rowLoop)))
        return false;
    }
  return true;
}

FailureOr<ChainForm> ChainForm::get(ArrayRef<ComputeOp> computes, std::string &why) {
  auto fail = [&](StringRef reason) {
    why = reason;
    return failure();
  };
  ChainForm chain;
  for (ComputeOp compute : computes) {
    if (!canBeCut(compute))
      return fail("a compute depends on positions or data");
    if (chain.stages.empty() || !followsElements(compute, chain.stages.back())) {
      chain.stages.emplace_back();
      if (compute.getNumParallel() < 3 || compute.getNumReductions() == 0)
        return fail("a stage begins with no reduction over pictures");
    }
    chain.stages.back().computes.push_back(compute);
  }
  if (chain.stages.size() < 2)
    return fail("it is a single stage");
  if (ConvolutionForm::get(computes))
    return fail("it is a convolution with the pooling of its results");
  for (auto [number, stage] : llvm::enumerate(chain.stages)) {
    if (number > 0 && failed(setWindow(stage, chain.stages[number - 1])))
      return fail("a stage reads the one before elsewhere than in windows over its rows");
    if (number + 1 == chain.stages.size())
      break;
    for (ComputeOp compute : stage.computes) {
      Value result = compute.getResult(0);
      bool isInside = llvm::all_of(result.getUsers(), [&](Operation *user) {
        return llvm::is_contained(stage.computes, dyn_cast<ComputeOp>(user));
      });
      if (compute == stage.getLast() ? !result.hasOneUse() : !isInside)
        return fail("results of a stage are read elsewhere than in the next one");
    }
  }
  findImages(chain);
  for (auto [number, stage] : llvm::enumerate(chain.stages))
    stage.isFlat = ::isFlat(stage, number == 0);
  return chain;
}

bool tile::areChained(ArrayRef<ComputeOp> computes) {
  std::string why;
  return succeeded(ChainForm::get(computes, why));
}
