#include "compiler/grad/Rematerialise.h"

#include "compiler/grad/AttentionValues.h"
#include "compiler/grad/ElementWork.h"
#include "compiler/grad/RematerialiseCut.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;
using namespace freestone;
using namespace freestone::grad;

namespace {

/// For symbols without a hint.
constexpr int64_t defaultHint = 64;

/// What a core computes while it moves a byte of memory.
constexpr double multiplyAddsOfByte = 8;

/// Constants of the program, which are never kept, and parameters as operators read them, such as transposed.
bool isSource(Operation *op) {
  if (isa<graph::ReshapeOp, graph::TransposeOp>(op)) {
    Operation *moved = op->getOperand(0).getDefiningOp();
    return !moved || isSource(moved);
  }
  return isa<graph::ConstantOp, graph::WeightOp, graph::SizesOp, graph::IotaOp>(op);
}

/// Sums of floats depend on the order in which a program adds: computed again within another one, they may round
/// otherwise.
bool isRounded(graph::ReduceOp op) {
  bool isExact = op.getKind() == graph::ReduceKind::max || op.getKind() == graph::ReduceKind::min;
  return !isExact && isa<FloatType>(graph::getElementType(op.getResult()));
}

bool isProduct(Operation *op) { return isa<graph::ContractOp, graph::ConvolveOp>(op); }

/// Whether neighbours in memory are others than in the operand: whoever reads them there moves them.
bool movesInnermost(Operation *op) {
  auto transposition = dyn_cast<graph::TransposeOp>(op);
  return transposition && transposition.getPermutation().back() + 1 != int64_t(transposition.getPermutation().size());
}

bool mayRecompute(Operation *op) {
  if (auto reduction = dyn_cast<graph::ReduceOp>(op); reduction && isRounded(reduction))
    return false;
  return isa<graph::UnaryOp, graph::BinaryOp, graph::CompareOp, graph::SelectOp, graph::CastOp, graph::BroadcastOp,
             graph::ReshapeOp, graph::TransposeOp, graph::SliceOp, graph::PadOp, graph::ConcatOp, graph::GatherOp,
             graph::GatherElementsOp, graph::ReduceOp, graph::WindowArgmaxOp, graph::RandomBitsOp>(op);
}

class Rematerialiser {
public:
  Rematerialiser(func::FuncOp function, ArrayRef<unsigned> losses, const llvm::StringMap<int64_t> &hints)
      : block(function.getBody().front()), hints(hints), builder(function.getContext()) {
    findForward(losses);
  }

  Recomputed run(const RecomputePolicy &policy);

private:
  void findForward(ArrayRef<unsigned> losses);
  void collectValues(const RecomputePolicy &policy);
  bool isWidened(Operation *op) const;
  llvm::BitVector choose(const RecomputePolicy &policy);
  llvm::BitVector keepAllBut(const llvm::BitVector &recomputed) const;
  double priceTime(int64_t keptBefore) const;
  int64_t bytesOf(const llvm::BitVector &kept) const;
  double countMultiplyAdds(Operation *op) const;
  double countProducts() const;
  std::optional<int64_t> evaluate(sym::Expr size) const;
  int64_t bytesOf(Value value) const;
  double timeOf(Value value) const;
  bool isStored(Value value) const;
  bool isKept(Value value) const;
  Value again(Value value);

  Block &block;
  const llvm::StringMap<int64_t> &hints;
  OpBuilder builder;

  llvm::SetVector<Operation *> forward; ///< in their order
  llvm::SmallPtrSet<Operation *, 32> backward;
  SmallVector<Value> values; ///< of the forward pass, except sources
  DenseMap<Value, unsigned> numbers;
  llvm::BitVector required, kept;
  llvm::BitVector keptAnyway;    ///< if required
  llvm::BitVector connected;     ///< within attentions, which do not keep them
  DenseMap<Value, Value> copies; ///< recomputed values in the backward pass
  double price = 0;              ///< of a multiply-add, in bytes
  int64_t made = 0;
};

void Rematerialiser::findForward(ArrayRef<unsigned> losses) {
  llvm::SmallPtrSet<Operation *, 32> reached;
  SmallVector<Value> pending;
  for (unsigned loss : losses)
    pending.push_back(block.getTerminator()->getOperand(loss));
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != &block || !reached.insert(op).second)
      continue;
    op->walk([&](Operation *inner) { llvm::append_range(pending, inner->getOperands()); });
  }
  Operation *last = nullptr;
  for (Operation &op : block)
    if (reached.contains(&op)) {
      forward.insert(&op);
      last = &op;
    }
  if (!last)
    return;
  // Where the largest elements of windows are is found together with these.
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(std::next(last->getIterator()), block.end())))
    if (auto places = dyn_cast<graph::WindowArgmaxOp>(op);
        places && forward.contains(places.getOperand().getDefiningOp())) {
      op.moveAfter(last);
      forward.insert(&op);
      last = &op;
    }
  // Values beside the loss, such as new statistics, are no later users.
  for (Operation *op = last->getNextNode(); op && op != block.getTerminator(); op = op->getNextNode())
    backward.insert(op);
}

void Rematerialiser::collectValues(const RecomputePolicy &policy) {
  for (Operation *op : forward) {
    if (isSource(op))
      continue;
    for (Value result : op->getResults()) {
      numbers[result] = values.size();
      values.push_back(result);
    }
  }
  required.resize(values.size());
  keptAnyway.resize(values.size());
  connected.resize(values.size());
  AttentionValues attention = findAttentionValues(forward);
  for (auto [number, value] : llvm::enumerate(values)) {
    // An attention that is connected computes its scores again by itself.
    bool isLeft = policy.kind != RecomputePolicy::Kind::Blocks && attention.between.contains(value);
    if (isLeft && policy.kind == RecomputePolicy::Kind::Bounded)
      connected.set(number);
    bool mayBe = policy.kind == RecomputePolicy::Kind::Bounded && isWidened(value.getDefiningOp());
    if (!(mayBe || mayRecompute(value.getDefiningOp())) || attention.operands.contains(value) || isLeft)
      keptAnyway.set(number);
    for (Operation *user : value.getUsers()) {
      if (!backward.contains(block.findAncestorOpInBlock(*user)))
        continue;
      required.set(number);
      // Regions are not rewritten.
      if (user->getBlock() != &block)
        keptAnyway.set(number);
    }
  }
}

/// Whether a product makes more than it reads of what a run computes: recomputed ones then do not read each other, in
/// chains that would need all of the forward pass at once.
bool Rematerialiser::isWidened(Operation *op) const {
  return isProduct(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           Operation *source = operand.getDefiningOp();
           bool isComputed = source && !isSource(source);
           return !isComputed || bytesOf(operand) < bytesOf(op->getResult(0));
         });
}

std::optional<int64_t> Rematerialiser::evaluate(sym::Expr size) const {
  return size.evaluate([&](StringRef symbol) -> std::optional<int64_t> {
    auto known = hints.find(symbol);
    return known == hints.end() ? defaultHint : known->second;
  });
}

int64_t Rematerialiser::bytesOf(Value value) const {
  auto type = cast<graph::TensorType>(value.getType());
  std::optional<int64_t> elements = evaluate(type.getNumElements());
  int64_t width = std::max(8u, type.getElementType().getIntOrFloatBitWidth()) / 8;
  int64_t bytes = 0;
  return !elements || __builtin_mul_overflow(*elements, width, &bytes) ? std::numeric_limits<int64_t>::max() / 4096
                                                                       : bytes;
}

/// The time of computing a value again from its operands, in multiply-adds. Users fuse elementwise operators, which
/// then take their arithmetic alone; whatever else moves elements is taken to read and write memory.
double Rematerialiser::timeOf(Value value) const {
  Operation *op = value.getDefiningOp();
  if (isa<graph::ReshapeOp, graph::BroadcastOp>(op))
    return 0;
  if (isProduct(op))
    return countMultiplyAdds(op);
  double elements = double(evaluate(cast<graph::TensorType>(value.getType()).getNumElements()).value_or(0));
  if (isa<graph::ConcatOp, graph::GatherOp, graph::GatherElementsOp, graph::ReduceOp, graph::WindowArgmaxOp>(op) ||
      movesInnermost(op)) {
    double bytes = bytesOf(value);
    for (Value operand : op->getOperands())
      bytes += bytesOf(operand);
    double time = bytes * multiplyAddsOfByte;
    // An element of a window is compared and selected, and so is its place.
    if (auto places = dyn_cast<graph::WindowArgmaxOp>(op))
      time += 14.0 * elements * llvm::product_of(places.getSizes());
    return time;
  }
  return elements * double(getWorkOfElement(op));
}

/// Whether the forward pass has a value in memory in any case: products read their operands there, and so do reductions
/// what others read as well. Other values are fused with their users, as are transpositions of whole rows, and written
/// only to be kept.
bool Rematerialiser::isStored(Value value) const {
  Value source = value;
  while (auto reshape = source.getDefiningOp<graph::ReshapeOp>())
    source = reshape.getOperand();
  if (source.getDefiningOp<graph::TransposeOp>() && !movesInnermost(source.getDefiningOp()))
    return false;
  SmallVector<Operation *> users;
  SmallVector<Value> aliases = {value};
  while (!aliases.empty())
    for (Operation *user : aliases.pop_back_val().getUsers()) {
      if (!forward.contains(user))
        continue;
      if (isa<graph::ReshapeOp, graph::TransposeOp>(user))
        aliases.push_back(user->getResult(0));
      else
        users.push_back(user);
    }
  return llvm::any_of(users, isProduct) || (users.size() > 1 && llvm::any_of(users, llvm::IsaPred<graph::ReduceOp>));
}

int64_t Rematerialiser::bytesOf(const llvm::BitVector &chosen) const {
  int64_t bytes = 0;
  for (unsigned number : chosen.set_bits())
    bytes += connected[number] ? 0 : bytesOf(values[number]);
  return bytes;
}

/// Of a product; none for other operators.
double Rematerialiser::countMultiplyAdds(Operation *op) const {
  auto sizeOf = [&](Value operand, int64_t axis) {
    return double(evaluate(cast<graph::TensorType>(operand.getType()).getShape()[axis]).value_or(defaultHint));
  };
  double steps = 1;
  if (auto product = dyn_cast<graph::ContractOp>(op)) {
    for (int64_t axis : product.getLhsContract())
      steps *= sizeOf(product.getLhs(), axis);
  } else if (auto convolution = dyn_cast<graph::ConvolveOp>(op)) {
    Value kernel = convolution.getKernel();
    for (int64_t axis = 1; axis < cast<graph::TensorType>(kernel.getType()).getRank(); ++axis)
      steps *= sizeOf(kernel, axis);
  } else {
    return 0;
  }
  return steps * double(evaluate(cast<graph::TensorType>(op->getResult(0).getType()).getNumElements()).value_or(0));
}

/// The multiply-adds of the forward pass's products.
double Rematerialiser::countProducts() const {
  double count = 0;
  for (Operation *op : forward)
    count += countMultiplyAdds(op);
  return count;
}

/// The bytes that a multiply-add has to save: a hundredth of a step's time four hundredths of what would be kept.
double Rematerialiser::priceTime(int64_t keptBefore) const {
  constexpr double partOfMemory = 4;
  // The products three times; what is kept is written and read, and so are as many gradients.
  double time = 3 * countProducts() + 4 * multiplyAddsOfByte * double(keptBefore);
  return time > 0 ? partOfMemory * double(keptBefore) / time : 0;
}

/// The cheapest set to keep, if all later needed values except `recomputed` are kept in any case.
llvm::BitVector Rematerialiser::keepAllBut(const llvm::BitVector &recomputed) const {
  KeepProblem problem;
  for (Value value : values) {
    int64_t bytes = bytesOf(value);
    double writing = isStored(value) ? 0 : price * multiplyAddsOfByte * double(bytes);
    problem.add(bytes + int64_t(std::min(writing, double(bytes) * 1024)));
  }
  for (auto [number, value] : llvm::enumerate(values)) {
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      if (auto known = numbers.find(operand); known != numbers.end())
        problem.needs(number, known->second);
    // A reshape aliases its operand.
    bool isChosen = !required[number] || recomputed[number] || isa<graph::ReshapeOp>(op);
    if (keptAnyway[number] || !isChosen)
      problem.forbid(number);
    else if (price > 0)
      problem.takes(number, price * timeOf(value));
    if (required[number])
      problem.require(number);
  }
  return problem.solve();
}

/// For bounded bytes, the highest price of time with which no more are kept, found by bisection.
llvm::BitVector Rematerialiser::choose(const RecomputePolicy &policy) {
  if (policy.kind != RecomputePolicy::Kind::Bounded)
    return keepAllBut(required);
  // From what recomputes next to nothing to what saves bytes alone.
  constexpr double lowest = 1e-6, highest = 1e3;
  constexpr int rounds = 24;
  auto keepAt = [&](double givenPrice) {
    price = givenPrice;
    return keepAllBut(required);
  };
  llvm::BitVector fitting = keepAt(0);
  double low = lowest, high = highest;
  for (int round = 0; round < rounds && bytesOf(fitting) <= policy.bytes; ++round) {
    double middle = std::sqrt(low * high);
    llvm::BitVector chosen = keepAt(middle);
    bool fits = bytesOf(chosen) <= policy.bytes;
    (fits ? low : high) = middle;
    if (fits)
      fitting = chosen;
  }
  return fitting;
}

bool Rematerialiser::isKept(Value value) const {
  auto known = numbers.find(value);
  return known == numbers.end() || kept[known->second];
}

/// The value as recomputed in the backward pass. Kept values are hidden behind a barrier.
Value Rematerialiser::again(Value wanted) {
  SmallVector<Value> pending = {wanted};
  while (!pending.empty()) {
    Value value = pending.back();
    Operation *op = value.getDefiningOp();
    if (copies.contains(value)) {
      pending.pop_back();
    } else if (op && isSource(op)) {
      copies[value] = value;
    } else if (isKept(value)) {
      copies[value] = graph::BarrierOp::create(builder, value.getLoc(), value);
    } else {
      // Products read parameters where they lie, in panels.
      auto isInPlace = [&](Value operand) {
        return isProduct(op) && operand == op->getOperand(1) && !operand.getDefiningOp();
      };
      auto missing = llvm::make_filter_range(llvm::reverse(op->getOperands()), [&](Value operand) {
        return !copies.contains(operand) && !isInPlace(operand);
      });
      if (!missing.empty()) {
        llvm::append_range(pending, llvm::to_vector(missing));
        continue;
      }
      IRMapping mapping;
      for (Value operand : op->getOperands())
        mapping.map(operand, isInPlace(operand) ? operand : copies.lookup(operand));
      ++made;
      copies[value] = builder.clone(*op, mapping)->getResult(0);
    }
  }
  return copies.lookup(wanted);
}

Recomputed Rematerialiser::run(const RecomputePolicy &policy) {
  collectValues(policy);
  Recomputed recomputed;
  recomputed.keptBefore = recomputed.keptAfter = bytesOf(keepAllBut(llvm::BitVector(values.size())));
  if (policy.kind == RecomputePolicy::Kind::None || values.empty())
    return recomputed;
  if (policy.kind == RecomputePolicy::Kind::Priced)
    price = priceTime(recomputed.keptBefore);
  kept = choose(policy);
  recomputed.keptAfter = bytesOf(kept);

  for (Operation *op = forward.back()->getNextNode(); op != block.getTerminator(); op = op->getNextNode()) {
    builder.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands())
      if (!isKept(operand.get()))
        operand.set(again(operand.get()));
  }
  recomputed.values = made;
  return recomputed;
}

} // namespace

std::optional<RecomputePolicy> RecomputePolicy::parse(StringRef text) {
  if (text == "none")
    return RecomputePolicy{Kind::None};
  if (text == "blocks")
    return RecomputePolicy{Kind::Blocks};
  if (text == "auto")
    return RecomputePolicy{Kind::Priced};
  RecomputePolicy policy{Kind::Bounded};
  uint64_t bytes;
  if (!text.consume_front("auto:") || text.consumeInteger(10, bytes))
    return std::nullopt;
  unsigned shift = text.consume_front_insensitive("k")   ? 10
                   : text.consume_front_insensitive("m") ? 20
                   : text.consume_front_insensitive("g") ? 30
                                                         : 0;
  if (!text.empty() || bytes > (uint64_t(1) << 62) >> shift)
    return std::nullopt;
  policy.bytes = bytes << shift;
  return policy;
}

Recomputed grad::rematerialise(func::FuncOp function, ArrayRef<unsigned> losses, const RecomputePolicy &policy,
                               const llvm::StringMap<int64_t> &hints) {
  return Rematerialiser(function, losses, hints).run(policy);
}
