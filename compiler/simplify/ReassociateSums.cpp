#include "compiler/dialect/graph/ShapeRules.h"
#include "compiler/expressions/Expressions.h"
#include "compiler/expressions/GraphBuilder.h"
#include "compiler/simplify/Counters.h"
#include "compiler/simplify/Passes.h"

using namespace mlir;
using namespace freestone::expressions;

namespace freestone::graph {

#define GEN_PASS_DEF_REASSOCIATESUMS
#include "compiler/simplify/Passes.h.inc"

namespace {

bool isNumber(Value value, double number) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && isSplatOf(constant.getValue(), number);
}

/// Whether a condition is that `value` is NaN, and something else.
bool requiresNan(Value condition, Value value) {
  auto both = condition.getDefiningOp<BinaryOp>();
  if (!both || both.getKind() != BinaryKind::and_)
    return false;
  return llvm::any_of(both->getOperands(), [&](Value operand) {
    auto test = operand.getDefiningOp<UnaryOp>();
    return test && test.getKind() == UnaryKind::isnan && test.getOperand() == value;
  });
}

/// A number of a product, or a condition under which the product is 0 unless it is met, or is not.
struct Weight {
  Value value;
  bool isUnmet = false;

  bool operator==(const Weight &) const = default;
};
using Weights = SmallVector<Weight>;

/// The factors of a product. That NaN is replaced by 0 beside a gradient of 0 is left out.
void collectFactors(Value value, Weights &factors) {
  if (auto product = value.getDefiningOp<BinaryOp>(); product && product.getKind() == BinaryKind::mul) {
    collectFactors(product.getLhs(), factors);
    return collectFactors(product.getRhs(), factors);
  }
  if (auto select = value.getDefiningOp<SelectOp>()) {
    if (isNumber(select.getOnTrue(), 0) && requiresNan(select.getCondition(), select.getOnFalse()))
      return collectFactors(select.getOnFalse(), factors);
    for (bool isUnmet : {false, true})
      if (isNumber(isUnmet ? select.getOnTrue() : select.getOnFalse(), 0)) {
        factors.push_back({select.getCondition(), isUnmet});
        return collectFactors(isUnmet ? select.getOnFalse() : select.getOnTrue(), factors);
      }
  }
  factors.push_back({value});
}

/// Orders factors, so that equal products have equal lists.
void sortFactors(Weights &factors) {
  llvm::sort(factors, [](const Weight &a, const Weight &b) {
    return std::pair(a.value.getAsOpaquePointer(), a.isUnmet) < std::pair(b.value.getAsOpaquePointer(), b.isUnmet);
  });
}

/// A side of a contraction.
struct Side {
  Value tensor;
  ArrayRef<int64_t> batch, contracted;
  SmallVector<int64_t> free;
};

std::array<Side, 2> getSides(ContractOp op) {
  return {Side{op.getLhs(), op.getLhsBatch(), op.getLhsContract(), op.getLhsFree()},
          Side{op.getRhs(), op.getRhsBatch(), op.getRhsContract(), op.getRhsFree()}};
}

/// The sum over n of W[m, n] * (sum over e of A[m, e] * V[n, e]): of A[m, e] * O[m, e] over e, where a contraction has
/// computed O[m, e], the sum over n of W[m, n] * V[n, e].
class RowSum {
public:
  explicit RowSum(ReduceOp sum) : sum(sum) {}

  bool reassociate();

private:
  bool findOther(ContractOp product, ArrayRef<Weight> weights);
  std::optional<SmallVector<int64_t>> match(ContractOp other, unsigned shared, unsigned rows, ArrayRef<Weight> weights);
  void build(ContractOp other, ArrayRef<int64_t> order);

  ReduceOp sum;
  ContractOp inner;
  std::array<Side, 2> sides;
  /// The number of V among the sides.
  unsigned reduced = 0;
};

/// Where the free dimensions of a side stand in a contraction's result.
int64_t getFreeStart(const std::array<Side, 2> &sides, unsigned side) {
  return sides[0].batch.size() + (side ? sides[0].free.size() : 0);
}

} // namespace

/// The dimensions of O in the order (batch, m, e) of A, if `other` computes it with V as operand `shared`.
std::optional<SmallVector<int64_t>> RowSum::match(ContractOp other, unsigned shared, unsigned rows,
                                                  ArrayRef<Weight> weights) {
  std::array<Side, 2> theirs = getSides(other);
  const Side &values = theirs[shared], &mine = sides[reduced], &left = theirs[1 - shared];
  Weights factors;
  collectFactors(left.tensor, factors);
  sortFactors(factors);
  if (ArrayRef(factors) != weights || values.batch.size() != mine.batch.size() ||
      values.contracted.size() != mine.free.size() || left.free.size() != sides[rows].free.size() ||
      other.getElementType() != inner.getElementType() || other->getBlock() != sum->getBlock() ||
      !other->isBeforeInBlock(sum))
    return std::nullopt;
  SmallVector<int64_t> order(mine.batch.size());
  for (auto [place, dim] : llvm::enumerate(values.batch)) {
    int64_t number = llvm::find(mine.batch, dim) - mine.batch.begin();
    if (number == int64_t(mine.batch.size()) || left.batch[place] != number)
      return std::nullopt;
    order[number] = place;
  }
  for (auto [place, dim] : llvm::enumerate(values.contracted)) {
    int64_t number = llvm::find(mine.free, dim) - mine.free.begin();
    if (number == int64_t(mine.free.size()) || left.contracted[place] != getFreeStart(sides, reduced) + number)
      return std::nullopt;
  }
  for (size_t number = 0; number < left.free.size(); ++number)
    order.push_back(getFreeStart(theirs, 1 - shared) + number);
  for (int64_t dim : mine.contracted) {
    int64_t number = llvm::find(values.free, dim) - values.free.begin();
    if (number == int64_t(values.free.size()))
      return std::nullopt;
    order.push_back(getFreeStart(theirs, shared) + number);
  }
  return order;
}

void RowSum::build(ContractOp other, ArrayRef<int64_t> order) {
  const Side &gradients = sides[1 - reduced];
  SmallVector<int64_t> own(gradients.batch);
  llvm::append_range(own, gradients.free);
  llvm::append_range(own, gradients.contracted);
  GraphBuilder builder(sum.getLoc(), sum);
  Tensor a = transpose(Tensor(builder, gradients.tensor), own),
         o = transpose(Tensor(builder, other.getResult()), order);
  // A row without any weight is NaN: its sum stays 0 where its gradient is.
  o = select(isNan(o) & equal(a, 0), 0, o);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(a.rank() - gradients.contracted.size(), a.rank()));
  sum.getResult().replaceAllUsesWith(expressions::sum(a * o, axes).value());
  sum.erase();
}

/// Whether a contraction stands for the sum of the products of `product` and the weights; if so, it is replaced.
bool RowSum::findOther(ContractOp product, ArrayRef<Weight> weights) {
  inner = product;
  sides = getSides(product);
  SmallVector<int64_t> axes(sum.getAxes());
  llvm::sort(axes);
  for (reduced = 0; reduced < 2; ++reduced) {
    SmallVector<int64_t> columns = llvm::to_vector(
        llvm::seq<int64_t>(getFreeStart(sides, reduced), getFreeStart(sides, reduced) + sides[reduced].free.size()));
    if (axes != columns)
      continue;
    for (Operation *user : sides[reduced].tensor.getUsers()) {
      auto other = dyn_cast<ContractOp>(user);
      if (!other || other == product)
        continue;
      unsigned shared = other.getLhs() == sides[reduced].tensor ? 0 : 1;
      std::optional<SmallVector<int64_t>> order = match(other, shared, 1 - reduced, weights);
      if (!order)
        continue;
      build(other, *order);
      return true;
    }
  }
  return false;
}

bool RowSum::reassociate() {
  auto type = cast<TensorType>(sum.getOperand().getType());
  if (sum.getKind() != ReduceKind::add || !isa<FloatType>(type.getElementType()))
    return false;
  Weights factors;
  collectFactors(sum.getOperand(), factors);
  for (auto [number, factor] : llvm::enumerate(factors)) {
    auto product = factor.value.getDefiningOp<ContractOp>();
    if (!product)
      continue;
    Weights weights(factors);
    weights.erase(weights.begin() + number);
    sortFactors(weights);
    if (findOther(product, weights))
      return true;
  }
  return false;
}

namespace {

class ReassociateSums : public impl::ReassociateSumsBase<ReassociateSums> {
public:
  using ReassociateSumsBase::ReassociateSumsBase;

  void runOnOperation() override {
    if (!enable)
      return;
    int64_t reassociated = 0;
    getOperation()->walk([&](ReduceOp sum) { reassociated += RowSum(sum).reassociate(); });
    count(getOperation(), "reassociated", reassociated);
  }
};

} // namespace

} // namespace freestone::graph
