#include "compiler/tile/ConnectedForm.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

std::optional<ContractionForm> tile::getConnectible(ComputeOp compute) {
  std::optional<ContractionForm> form =
      getContractionDims(compute) ? ContractionForm::getOfMatrices(compute) : std::nullopt;
  if (!form || !form->elementType.isF32())
    return std::nullopt;
  for (Value factor : {form->lhs, form->rhs}) {
    std::optional<unsigned> input = form->getInput(factor);
    if (!input || !compute.getInputType(*input).getElementType().isF32() || compute.getInputType(*input).getLayout() ||
        compute.getFill(*input))
      return std::nullopt;
  }
  return form;
}

static SmallVector<unsigned> getOuter(const ContractionForm &form, const Axes &axes) {
  SmallVector<unsigned> outer =
      llvm::map_to_vector(form.outer, [&](unsigned loop) { return axes.of(form.compute)[loop]; });
  llvm::sort(outer);
  return outer;
}

bool ConnectedForm::isOuter(const ContractionForm &form, const Axes &axes) const {
  return getOuter(form, axes) == outer;
}

bool ConnectedForm::addProduct(const ContractionForm &form, const Axes &axes) {
  ArrayRef<unsigned> loops = axes.of(form.compute);
  unsigned m = loops[form.m.front()], n = loops[form.n.front()];
  if (!((m == row && n == column) || (m == column && n == row)) || !isOuter(form, axes))
    return false;
  products.push_back(form);
  return true;
}

bool ConnectedForm::addSum(const ContractionForm &form, const Axes &axes, ArrayRef<ComputeOp> computes) {
  ContractionForm copy = form;
  ArrayRef<unsigned> loops = axes.of(form.compute);
  auto getOperand = [&](Value factor) { return copy.compute.getInputs()[*copy.getInput(factor)]; };
  auto isMember = [&](Value factor) {
    return llvm::is_contained(computes, getOperand(factor).getDefiningOp<ComputeOp>());
  };
  bool isLeft = isMember(form.lhs);
  if (isLeft == isMember(form.rhs))
    return false;
  unsigned m = loops[form.m.front()], n = loops[form.n.front()], reduced = loops[form.k.front()];
  unsigned free = isLeft ? m : n, other = isLeft ? n : m;
  if (!((reduced == column && free == row) || (reduced == row && free == column)) || !isOuter(form, axes))
    return false;
  sums.push_back({form, getOperand(isLeft ? form.lhs : form.rhs), isLeft ? form.rhs : form.lhs, reduced, other, {}});
  return true;
}

bool ConnectedForm::addRest(ArrayRef<ComputeOp> computes, const Axes &axes) {
  llvm::SmallPtrSet<Operation *, 8> made, late;
  for (const ContractionForm &form : products)
    late.insert(form.compute);
  for (const Sum &sum : sums) {
    late.insert(sum.form.compute);
    made.insert(sum.form.compute);
  }
  auto reads = [](ComputeOp compute, const auto &producers) {
    return llvm::any_of(compute.getInputs(), [&](Value input) { return producers.contains(input.getDefiningOp()); });
  };
  for (ComputeOp compute : computes) {
    if (llvm::any_of(products, [&](const ContractionForm &form) { return form.compute == compute; }) ||
        made.contains(compute))
      continue;
    ArrayRef<unsigned> loops = axes.of(compute);
    bool isLate = reads(compute, late);
    if (isLate)
      late.insert(compute);
    auto fits = [&](ArrayRef<unsigned> own) {
      return llvm::all_of(
          loops, [&](unsigned axis) { return llvm::is_contained(own, axis) || llvm::is_contained(outer, axis); });
    };
    // What is computed of a sum has its column, which may be an axis of intermediates for none of them.
    auto sum = llvm::find_if(sums, [&](const Sum &each) { return llvm::is_contained(loops, each.column); });
    if (sum != sums.end()) {
      unsigned kept = sum->reduced == column ? row : column;
      if (!fits({kept, sum->column}) || compute.getNumReductions() || !compute.getReads().empty())
        return false;
      sum->epilogue.push_back(compute);
      continue;
    }
    bool hasColumns = llvm::is_contained(loops, column);
    if (!fits({row, column}) || !llvm::is_contained(axes.ofResult(compute), row) || !compute.getReads().empty() ||
        llvm::any_of(axes.ofReductions(compute), [&](unsigned axis) { return axis != column; }))
      return false;
    (hasColumns ? inside : isLate ? behind : before).push_back(compute);
  }
  return true;
}

std::optional<ConnectedForm> ConnectedForm::get(ArrayRef<ComputeOp> computes, const Axes &axes) {
  SmallVector<ContractionForm, 4> forms;
  for (ComputeOp compute : computes)
    if (std::optional<ContractionForm> form = getConnectible(compute))
      forms.push_back(*form);
  if (forms.size() < 2)
    return std::nullopt;
  ConnectedForm connected;
  const ContractionForm &first = forms.front();
  connected.row = axes.of(first.compute)[first.m.front()];
  connected.column = axes.of(first.compute)[first.n.front()];
  connected.outer = getOuter(first, axes);
  if (llvm::none_of(forms, [&](const ContractionForm &form) {
        return axes.of(form.compute)[form.k.front()] == connected.column;
      }))
    std::swap(connected.row, connected.column);
  for (const ContractionForm &form : forms) {
    ArrayRef<unsigned> result = axes.ofResult(form.compute);
    bool isProduct = llvm::is_contained(result, connected.row) && llvm::is_contained(result, connected.column);
    if (!(isProduct ? connected.addProduct(form, axes) : connected.addSum(form, axes, computes)))
      return std::nullopt;
  }
  if (connected.sums.empty() || !connected.addRest(computes, axes))
    return std::nullopt;
  return connected;
}
