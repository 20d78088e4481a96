#include "compiler/pipe/ProfileNodes.h"

#include "compiler/pipe/PlaceOperations.h"
#include "compiler/task/PhaseFormer.h"
#include "compiler/task/TileTimes.h"
#include "compiler/tile/Cost.h"
#include "mlir/IR/SymbolTable.h"
#include <map>

using namespace mlir;
using namespace freestone;
using namespace freestone::pipe;

namespace {

/// The costs of one node.
struct Node {
  std::string name;
  int64_t forward = 0, backward = 0, weights = 0; ///< ns
  int64_t activations = 0, kept = 0, parameters = 0;
};

class Profiler {
public:
  Profiler(ModuleOp module, const DeviceDescription &device, const llvm::StringMap<int64_t> &sizes)
      : programs(module), device(device), sizes(sizes) {}

  /// Adds the times of a function of the stage.
  void addTimes(func::FuncOp function);
  /// Adds what the forward pass makes and reads.
  void addValues(func::FuncOp forward);
  llvm::json::Object describe() const;

private:
  tile::TypicalSizes sizesIn(func::FuncOp function) const;
  Node *nodeOf(Operation *op);
  int64_t timeOf(Operation *op, const tile::TypicalSizes &typical);
  int64_t timeOf(SymbolRefAttr body);
  void addReads(Operation *reader, func::FuncOp forward, const tile::TypicalSizes &typical);

  SymbolTable programs;
  const DeviceDescription &device;
  const llvm::StringMap<int64_t> &sizes;
  std::map<int64_t, Node> nodes;
  std::map<std::pair<int64_t, int64_t>, int64_t> edges;
  llvm::DenseMap<Operation *, sym::Expr> times; ///< of programs
  llvm::DenseSet<Value> counted;                ///< parameters, and results that other nodes read
};

tile::TypicalSizes Profiler::sizesIn(func::FuncOp function) const {
  tile::TypicalSizes typical(function);
  typical.assume(sizes);
  return typical;
}

Node *Profiler::nodeOf(Operation *op) {
  auto number = op ? op->getAttrOfType<IntegerAttr>("pipe.node") : IntegerAttr();
  return number ? &nodes[number.getInt()] : nullptr;
}

int64_t Profiler::timeOf(SymbolRefAttr body) {
  auto function = programs.lookup<func::FuncOp>(body.getRootReference());
  tile::TypicalSizes typical = sizesIn(function);
  int64_t time = 0;
  for (Operation &op : function.getBody().front())
    time += timeOf(&op, typical);
  return time;
}

int64_t Profiler::timeOf(Operation *op, const tile::TypicalSizes &typical) {
  if (auto loop = dyn_cast<tile::LoopOp>(op))
    return timeOf(loop.getBodyAttr()) *
           (loop.getTrips() ? typical.evaluate(loop.getTrips()->getExpr()).value_or(1) : 1);
  if (auto branch = dyn_cast<tile::BranchOp>(op))
    return std::max(timeOf(branch.getThenBodyAttr()), timeOf(branch.getElseBodyAttr()));
  auto call = dyn_cast<tile::CallOp>(op);
  if (!call)
    return 0;
  auto program = programs.lookup<tile::ProgramOp>(call.getCallee());
  sym::Expr &time = times[program];
  if (!time)
    time = task::estimateTime(program, device);
  if (time.isInvalid())
    return 0;
  llvm::StringMap<sym::Expr> sizes;
  for (auto [symbol, size] : llvm::zip_equal(program.getSymbols(), call.getSizes()))
    sizes[symbol.getValue()] = size;
  return time.evaluate([&](StringRef symbol) { return typical.evaluate(sizes.lookup(symbol)); }).value_or(0);
}

void Profiler::addTimes(func::FuncOp function) {
  tile::TypicalSizes typical = sizesIn(function);
  for (Operation &op : function.getBody().front())
    if (Node *node = nodeOf(&op)) {
      auto pass = static_cast<PassKind>(op.getAttrOfType<IntegerAttr>("pipe.pass").getInt());
      int64_t time = timeOf(&op, typical);
      (pass == PassKind::Forward ? node->forward : node->backward) += time;
      node->weights += pass == PassKind::WeightGradient ? time : 0;
    }
}

/// Reads go through aliases and other free operations.
void Profiler::addReads(Operation *reader, func::FuncOp forward, const tile::TypicalSizes &typical) {
  int64_t to = reader->getAttrOfType<IntegerAttr>("pipe.node").getInt();
  SmallVector<Value> values = getOperandsFromOutside(reader);
  llvm::DenseSet<Value> seen;
  while (!values.empty()) {
    Value value = values.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *maker = value.getDefiningOp();
    if (!maker) {
      if (std::optional<State> state = getState(forward, value); state && counted.insert(value).second)
        nodes[to].parameters += typical.getBytes(cast<graph::TensorType>(value.getType()));
    } else if (Node *node = nodeOf(maker)) {
      int64_t from = maker->getAttrOfType<IntegerAttr>("pipe.node").getInt();
      int64_t bytes = typical.getBytes(cast<graph::TensorType>(value.getType()));
      if (from == to)
        continue;
      edges[{from, to}] += bytes;
      if (counted.insert(value).second)
        node->activations += bytes;
    } else {
      llvm::append_range(values, getOperandsFromOutside(maker));
    }
  }
}

void Profiler::addValues(func::FuncOp forward) {
  tile::TypicalSizes typical = sizesIn(forward);
  for (Operation &op : forward.getBody().front())
    if (Node *node = nodeOf(&op)) {
      if (node->name.empty())
        node->name = task::getNodeName(op.getLoc());
      addReads(&op, forward, typical);
    }
  for (Value kept : forward.getBody().front().getTerminator()->getOperands())
    if (Node *node = nodeOf(kept.getDefiningOp()))
      node->kept += typical.getBytes(cast<graph::TensorType>(kept.getType()));
}

llvm::json::Object Profiler::describe() const {
  llvm::json::Array listed, joined;
  for (const auto &[number, node] : nodes)
    listed.push_back(llvm::json::Object{{"name", node.name},
                                        {"forward", node.forward},
                                        {"backward", node.backward},
                                        {"weights", node.weights},
                                        {"activations", node.activations},
                                        {"kept", node.kept},
                                        {"parameters", node.parameters}});
  for (const auto &[ends, bytes] : edges)
    joined.push_back(llvm::json::Array{ends.first, ends.second, bytes});
  return llvm::json::Object{{"nodes", std::move(listed)}, {"edges", std::move(joined)}};
}

} // namespace

llvm::json::Object pipe::profileNodes(ModuleOp module, const DeviceDescription &device,
                                      const llvm::StringMap<int64_t> &sizes) {
  Profiler profiler(module, device, sizes);
  for (StringRef name : {"main", "backward"})
    if (auto function = module.lookupSymbol<func::FuncOp>(name))
      profiler.addTimes(function);
  if (auto forward = module.lookupSymbol<func::FuncOp>("main"))
    profiler.addValues(forward);
  return profiler.describe();
}
