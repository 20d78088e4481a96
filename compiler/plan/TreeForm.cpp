#include "compiler/plan/TreeForm.h"

#include "compiler/plan/Scratch.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;
using sym::Expr;

ContractionForm TreeForm::getOriented(ComputeOp compute, unsigned columns) const {
  ContractionForm form = *ContractionForm::getOfMatrices(compute);
  if (axes.of(compute)[form.n.front()] == columns)
    return form;
  std::swap(form.lhs, form.rhs);
  std::swap(form.m, form.n);
  return form;
}

const TreeForm::Pack *TreeForm::getPack(unsigned compute, unsigned input) const {
  auto found = llvm::find_if(packs, [&](const Pack &pack) { return pack.compute == compute && pack.input == input; });
  return found == packs.end() ? nullptr : found;
}

SmallVector<EvaluatedCompute> TreeForm::getPasses(EvaluateAttr node) const {
  SmallVector<EvaluatedCompute> passes;
  for (int64_t number : node.getComputes()) {
    ComputeOp compute = computes[number];
    EvaluatedCompute evaluated{compute};
    evaluated.reduces = llvm::is_contained(axes.ofReductions(compute), node.getAlong());
    evaluated.runsAlong = evaluated.reduces || llvm::is_contained(axes.of(compute), node.getAlong());
    for (const EvaluatedCompute &before : passes)
      if (llvm::is_contained(before.compute->getUsers(), compute.getOperation()))
        evaluated.pass = std::max(evaluated.pass, before.pass + before.reduces);
    passes.push_back(evaluated);
  }
  return passes;
}

Value TreeForm::getMaximum(Value value) const {
  for (auto &[axis, reductions] : running)
    if (Value maximum = reductions.getMaximum(value))
      return maximum;
  return {};
}

bool TreeForm::isCorrected(Value value) const {
  return llvm::any_of(running, [&](const auto &each) { return each.second.isCorrected(value); });
}

std::optional<unsigned> TreeForm::getRunningAxis(Value value) const {
  for (unsigned axis : axes.ofReductions(value.getDefiningOp<ComputeOp>()))
    if (blocks.contains(axis))
      return axis;
  return std::nullopt;
}

Expr TreeForm::getScratch() const {
  Type offset = IntegerType::get(tiling.getContext(), 64);
  Expr bytes = getScratchBytes(stepsDown, offset) + getScratchBytes(stepsAcross, offset);
  for (Expr elements : storages)
    bytes = bytes + getScratchBytes(elements, getElementType());
  for (const Pack &pack : packs)
    bytes = bytes + getScratchBytes(pack.elements, getElementType());
  return bytes;
}
