#include "compiler/tile/MakeGroup.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

GroupOp freestone::tile::makeGroup(SmallVector<Operation *> members) {
  llvm::sort(members, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  OpBuilder builder(members.back());
  SmallVector<Value> results;
  SmallVector<Location> locations;
  for (Operation *member : members) {
    locations.push_back(member->getLoc());
    for (Value result : member->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !llvm::is_contained(members, user); }))
        results.push_back(result);
  }
  auto group = GroupOp::create(builder, FusedLoc::get(builder.getContext(), locations), TypeRange(ValueRange(results)));
  Block *body = builder.createBlock(&group.getRegion());
  for (Operation *member : members)
    member->moveBefore(body, body->end());
  for (auto [result, outside] : llvm::zip_equal(results, group.getResults()))
    result.replaceUsesWithIf(outside, [&](OpOperand &use) { return use.getOwner()->getBlock() != body; });
  builder.setInsertionPointToEnd(body);
  YieldOp::create(builder, group.getLoc(), results);
  return group;
}
