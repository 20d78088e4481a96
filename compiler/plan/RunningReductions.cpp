#include "compiler/plan/RunningReductions.h"

#include "compiler/plan/BodyDependences.h"
#include "compiler/plan/Combiner.h"
#include "compiler/plan/ContractionForm.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

namespace {

/// The value that is added up to a result; null if it is no sum.
Value getSummand(ComputeOp compute, unsigned result) {
  std::optional<SmallVector<Combiner>> combiners = getCombiners(compute);
  if (!combiners || (*combiners)[result].kind != vector::CombiningKind::ADD)
    return {};
  TypedAttr init = compute.getInit(result);
  return matchPattern(Attribute(init), m_AnyZeroFloat()) ? (*combiners)[result].value : Value();
}

bool isMaximum(ComputeOp compute) {
  std::optional<SmallVector<Combiner>> combiners = getCombiners(compute);
  return combiners && combiners->size() == 1 && isa<FloatType>(compute.getResultType(0).getElementType()) &&
         (combiners->front().kind == vector::CombiningKind::MAXIMUMF ||
          combiners->front().kind == vector::CombiningKind::MAXNUMF);
}

} // namespace

FailureOr<RunningReductions> RunningReductions::get(ArrayRef<ComputeOp> computes, const Axes &axes, unsigned axis,
                                                    std::string &why) {
  RunningReductions result;
  llvm::SmallPtrSet<Value, 4> incomplete;
  for (ComputeOp compute : computes) {
    bool reduces = llvm::is_contained(axes.ofReductions(compute), axis);
    Value maximum;
    BodyDependences body;
    for (auto [input, argument] : llvm::zip_equal(compute.getInputs(), compute.getInputArgs())) {
      bool isRunning = incomplete.contains(input);
      Value theirs = isRunning ? input : result.maximumOf.lookup(input);
      if (!theirs)
        continue;
      if (maximum && maximum != theirs) {
        why = "a compute within its blocks depends on two reductions of them";
        return failure();
      }
      maximum = theirs;
      body.set(argument, isRunning ? Dependence::exponent : Dependence::factor);
    }
    for (auto [number, value] : llvm::enumerate(compute.getResults())) {
      if (reduces)
        incomplete.insert(value);
      if (!maximum)
        continue;
      Value depends = compute.getBody()->getTerminator()->getOperand(number);
      if (compute.getNumReductions())
        depends = getSummand(compute, number);
      if (depends && body.get(depends) == Dependence::none)
        continue;
      if (!isMaximum(maximum.getDefiningOp<ComputeOp>()) || !depends || !body.isProportional(depends)) {
        why = "a compute within its blocks depends on a reduction of them that is not complete";
        return failure();
      }
      result.maximumOf[value] = maximum;
    }
  }
  return result;
}
