#include "compiler/tile/MakeGroup.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::tile;

GroupOp freestone::tile::makeGroup(SmallVector<ComputeOp> members) {
  llvm::sort(members, [](ComputeOp a, ComputeOp b) { return a->isBeforeInBlock(b); });
  OpBuilder builder(members.back());
  SmallVector<Value> results;
  SmallVector<Location> locations;
  for (ComputeOp member : members) {
    locations.push_back(member.getLoc());
    for (Value result : member.getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !llvm::is_contained(members, dyn_cast<ComputeOp>(user)); }))
        results.push_back(result);
  }
  auto group = GroupOp::create(builder, FusedLoc::get(builder.getContext(), locations), TypeRange(ValueRange(results)));
  Block *body = builder.createBlock(&group.getRegion());
  for (ComputeOp member : members)
    member->moveBefore(body, body->end());
  for (auto [result, outside] : llvm::zip_equal(results, group.getResults()))
    result.replaceUsesWithIf(outside, [&](OpOperand &use) { return use.getOwner()->getBlock() != body; });
  builder.setInsertionPointToEnd(body);
  YieldOp::create(builder, group.getLoc(), results);
  return group;
}
