#include "compiler/codegen/cpu/EmitTree.h"

#include "compiler/codegen/cpu/ContractionEmitter.h"
#include "compiler/codegen/cpu/EmitBlocks.h"
#include "compiler/codegen/cpu/EmitConvolution.h"
#include "compiler/codegen/cpu/EmitOpaque.h"
#include "compiler/codegen/cpu/EmitOuterLoop.h"
#include "compiler/codegen/cpu/EmitRows.h"
#include "compiler/codegen/cpu/EmitStages.h"
#include "compiler/codegen/cpu/EmitWeightGradient.h"
#include "compiler/codegen/cpu/EmitWindow.h"
#include "compiler/codegen/cpu/LowerToObject.h"
#include "compiler/plan/ChannelVectors.h"
#include "compiler/plan/Plans.h"
#include "compiler/plan/Variants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

namespace {

class TreeWalk {
public:
  TreeWalk(OpBuilder builder, UsedKernels &kernels) : builder(builder), kernels(kernels) {}

  /// Emits the tree of the program's plan.
  FailureOr<func::FuncOp> walk(tile::ProgramOp program, const Twine &name);

private:
  using Emitter = void (*)(tile::ProgramOp, Emission &);
  /// A function, and the sizes that a run must have for it, each with the most that it may be.
  struct Case {
    SmallVector<std::pair<Expr, Expr>> limits;
    func::FuncOp function;
    /// Whether the function's tiles go backwards where their end comes before their beginning.
    bool alternates = false;
  };

  FailureOr<func::FuncOp> walkChoice(tile::ProgramOp program, tile::ChoiceAttr node, StringRef name);
  FailureOr<SmallVector<func::FuncOp>> walkAll(ArrayRef<tile::StageProgram> stages, StringRef name);
  FailureOr<func::FuncOp> walkStages(tile::ProgramOp program, tile::StagesAttr node, StringRef name);
  FailureOr<func::FuncOp> walkOuterLoop(tile::ProgramOp program, tile::OuterLoopAttr node, StringRef name);
  func::FuncOp walkWindow(tile::ProgramOp program, tile::WindowTilingAttr node, StringRef name);
  FailureOr<func::FuncOp> walkForm(tile::ProgramOp program, StringRef name);
  func::FuncOp emit(Emitter emitter, tile::ProgramOp program, const Twine &name);
  func::FuncOp emitCases(tile::ProgramOp program, StringRef name, ArrayRef<Case> cases);

  OpBuilder builder;
  UsedKernels &kernels;
};

} // namespace

FailureOr<func::FuncOp> TreeWalk::walk(tile::ProgramOp program, const Twine &name) {
  std::string text = name.str();
  return TypeSwitch<Attribute, FailureOr<func::FuncOp>>(program.getPlan()->getTiling())
      .Case([&](tile::ChoiceAttr node) { return walkChoice(program, node, text); })
      .Case([&](tile::StagesAttr node) { return walkStages(program, node, text); })
      .Case([&](tile::OuterLoopAttr node) { return walkOuterLoop(program, node, text); })
      .Default([&](Attribute) { return walkForm(program, text); });
}

func::FuncOp TreeWalk::emit(Emitter emitter, tile::ProgramOp program, const Twine &name) {
  Emission emission(builder, program, name.str());
  emitter(program, emission);
  return emission.finish();
}

/// A function for each node, contractions among them sharing one if they can, and one that calls that of the run's
/// sizes.
FailureOr<func::FuncOp> TreeWalk::walkChoice(tile::ProgramOp program, tile::ChoiceAttr node, StringRef name) {
  tile::PlanAttr plan = program.getPlanAttr();
  func::FuncOp shared;
  if (tile::getContractions(node).size() > 1) {
    FailureOr<func::FuncOp> contraction = walkForm(program, (name + ".contraction").str());
    if (failed(contraction))
      return failure();
    shared = *contraction;
  }
  SmallVector<Case> cases;
  for (auto [number, each] : llvm::enumerate(node.getTilings())) {
    FailureOr<func::FuncOp> function = shared;
    if (!shared || !tile::ContractionTree::getMultiplyAdds(each)) {
      program.setPlanAttr(*tile::makePlan(program, each));
      function = walk(program, name + "." + Twine(number));
    }
    if (failed(function))
      return failure();
    cases.push_back({{}, *function, tile::ContractionTree::alternate(each)});
    if (number < node.getVariants().size()) {
      tile::VariantAttr variant = node.getVariants()[number];
      cases.back().limits.push_back({variant.getSize(), Expr::constant(builder.getContext(), variant.getMost())});
    }
  }
  program.setPlanAttr(plan);
  return emitCases(program, name, cases);
}

/// Calls the function of the first case whose sizes a run has; the last one is for all others.
func::FuncOp TreeWalk::emitCases(tile::ProgramOp program, StringRef name, ArrayRef<Case> cases) {
  Emission emission(builder, program, name);
  OpBuilder &inside = emission.builder;
  {
    OpBuilder::InsertionGuard guard(inside);
    ValueRange arguments = inside.getBlock()->getArguments();
    SmallVector<Value> forwards(arguments);
    if (emission.isBackwards)
      for (auto [number, tile] : {std::pair(2, emission.begin), std::pair(3, emission.end)})
        forwards[number] = arith::IndexCastOp::create(inside, emission.location, inside.getI64Type(), tile);
    for (const Case &each : cases) {
      func::FuncOp function = each.function;
      function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(inside.getContext(), LLVM::Linkage::Internal));
      auto call = [&, operands = each.alternates ? arguments : ValueRange(forwards)] {
        func::CallOp::create(inside, emission.location, function, operands);
      };
      Value holds;
      for (auto [size, most] : each.limits) {
        Value isBelow = arith::CmpIOp::create(inside, emission.location, arith::CmpIPredicate::sle,
                                              emission.getSize(size), emission.getSize(most));
        holds = holds ? arith::AndIOp::create(inside, emission.location, holds, isBelow).getResult() : isBelow;
      }
      if (!holds) {
        call();
        break;
      }
      auto branch = scf::IfOp::create(inside, emission.location, holds, /*withElseRegion=*/true);
      inside.setInsertionPointToStart(branch.thenBlock());
      call();
      inside.setInsertionPointToStart(branch.elseBlock());
    }
  }
  return emission.finish();
}

FailureOr<SmallVector<func::FuncOp>> TreeWalk::walkAll(ArrayRef<tile::StageProgram> stages, StringRef name) {
  SmallVector<func::FuncOp> functions;
  for (auto [number, stage] : llvm::enumerate(stages)) {
    FailureOr<func::FuncOp> function = walk(*stage.program, name + ".stage" + Twine(number));
    if (failed(function))
      return failure();
    functions.push_back(*function);
  }
  return functions;
}

/// A function for each stage, and one that calls them tile by tile.
FailureOr<func::FuncOp> TreeWalk::walkStages(tile::ProgramOp program, tile::StagesAttr node, StringRef name) {
  std::string why;
  FailureOr<tile::ChainForm> form = tile::ChainForm::get(program.getComputes(), why);
  FailureOr<SmallVector<tile::StageProgram>> stages = tile::makeStages(*form, program);
  if (failed(stages))
    return failure();
  FailureOr<tile::ChainTiles> tiles = tile::ChainTiles::get(*form, node, program, *stages);
  if (failed(tiles))
    return failure();
  FailureOr<SmallVector<func::FuncOp>> functions = walkAll(*stages, name);
  if (failed(functions))
    return failure();
  Emission emission(builder, program, name);
  emitStages(*form, *tiles, node, *stages, *functions, emission);
  return emission.finish();
}

/// A function for each stage, and one that calls them for each block of points.
FailureOr<func::FuncOp> TreeWalk::walkOuterLoop(tile::ProgramOp program, tile::OuterLoopAttr node, StringRef name) {
  std::string why;
  FailureOr<tile::OuterLoopForm> form = tile::OuterLoopForm::get(program, why);
  FailureOr<SmallVector<tile::StageProgram>> stages = tile::makeStages(*form, program);
  if (failed(stages))
    return failure();
  FailureOr<tile::OuterLoopTiles> tiles = tile::OuterLoopTiles::get(*form, node, program, *stages);
  if (failed(tiles))
    return failure();
  FailureOr<SmallVector<func::FuncOp>> functions = walkAll(*stages, name);
  if (failed(functions))
    return failure();
  Emission emission(builder, program, name);
  emitOuterLoop(*form, *tiles, *stages, *functions, emission);
  return emission.finish();
}

/// A function for each direction of vectors that some run's sizes ask for.
func::FuncOp TreeWalk::walkWindow(tile::ProgramOp program, tile::WindowTilingAttr node, StringRef name) {
  Case alongChannels;
  bool isPossible = node.getChannelVectors() > 0;
  if (isPossible) {
    tile::WindowForm form = *tile::WindowForm::get(program);
    for (auto limit : tile::ChannelVectors::get(form)->getLimits(form, node)) {
      if (!limit.first.isConstant() || !limit.second.isConstant())
        alongChannels.limits.push_back(limit);
      else
        isPossible &= *limit.first.asConstant() <= *limit.second.asConstant();
    }
  }
  if (!isPossible || alongChannels.limits.empty())
    return emit(isPossible ? emitChannelVectors : emitWindow, program, name);
  alongChannels.function = emit(emitChannelVectors, program, name + ".channels");
  Case alongPixels = {{}, emit(emitWindow, program, name + ".pixels")};
  // Each is optimized alone: within one function, loops of the other take registers. Where loops begin shows.
  for (func::FuncOp function : {alongChannels.function, alongPixels.function})
    function->setAttr("passthrough", builder.getStrArrayAttr({"noinline", alignedLoopsAttribute}));
  return emitCases(program, name, {alongChannels, alongPixels});
}

/// A form has an emitter of its own, which also serves the contractions of a choice.
FailureOr<func::FuncOp> TreeWalk::walkForm(tile::ProgramOp program, StringRef name) {
  if (failed(kernels.add(program)))
    return failure();
  if (auto window = program.getTiling<tile::WindowTilingAttr>())
    return walkWindow(program, window, name);
  Emitter emitter = TypeSwitch<Attribute, Emitter>(program.getPlan()->getTiling())
                        .Case([](tile::ChoiceAttr) { return emitContraction; })
                        .Case([](tile::ConvolutionTilingAttr) { return emitConvolution; })
                        .Case([](tile::WeightGradientTilingAttr) { return emitWeightGradient; })
                        .Case<tile::RowsTilingAttr, tile::MapTilingAttr, tile::TranspositionTilingAttr>(
                            [](Attribute) { return emitRows; })
                        .Case([](tile::TreeTilingAttr tiling) {
                          return tile::ContractionTree::get(tiling) ? emitContraction : emitBlocks;
                        })
                        .Case([](tile::OpaqueTilingAttr) { return emitOpaque; });
  return emit(emitter, program, name);
}

FailureOr<func::FuncOp> codegen::emitTree(OpBuilder builder, tile::ProgramOp program, StringRef name,
                                          UsedKernels &kernels) {
  return TreeWalk(builder, kernels).walk(program, name);
}
