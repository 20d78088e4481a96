#include "compiler/tile/Reachability.h"

#include "mlir/IR/Operation.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

Reachability::Reachability(Block &block, const SizeOrder &sizes) : block(block) {
  for (Operation &op : block) {
    unitOf.push_back(unitOf.size());
    numberOf[&op] = unitOf.back();
  }
  reached.resize(unitOf.size(), llvm::BitVector(unitOf.size()));
  for (Operation &op : llvm::reverse(block)) {
    llvm::BitVector &own = reached[numberOf[&op]];
    auto reach = [&](Operation *user) {
      unsigned next = numberOf[block.findAncestorOpInBlock(*user)];
      own |= reached[next];
      own.set(next);
    };
    llvm::for_each(op.getUsers(), reach);
    llvm::for_each(sizes.getUsers(&op), reach);
  }
}

bool Reachability::hasDetour(ArrayRef<Operation *> members, Operation *from, Operation *to) const {
  unsigned start = find(from), end = find(to);
  for (Operation *member : members)
    for (Operation *user : member->getUsers()) {
      unsigned next = find(block.findAncestorOpInBlock(*user));
      if (next != start && next != end && reached[next].test(end))
        return true;
    }
  return false;
}

void Reachability::unite(Operation *a, Operation *b) {
  unsigned kept = find(a), gone = find(b);
  llvm::BitVector joint = reached[kept];
  joint |= reached[gone];
  joint.reset(kept);
  joint.reset(gone);
  reached[kept] = joint;
  for (auto [unit, leadsTo] : llvm::zip_equal(unitOf, reached)) {
    if (unit == gone)
      unit = kept;
    // Predecessors of either become predecessors of both.
    if (leadsTo.test(kept) || leadsTo.test(gone)) {
      leadsTo |= joint;
      leadsTo.set(kept);
      leadsTo.set(gone);
    }
  }
}
