// Products of matrices and of more general tensors.
#include "compiler/import/Registry.h"
#include "compiler/import/operators/FusedActivation.h"
#include "compiler/import/operators/ZeroPoints.h"

using namespace llvm;

namespace freestone::importer {
namespace {

Tensor gemm(Node &node) {
  Tensor a = node.input(0), b = node.input(1), c = node.optionalInput(2);
  if (!a || !b)
    return {};
  if (a.rank() != 2 || b.rank() != 2)
    return node.reject("A and B must be matrices");
  ContractAxes axes;
  axes.lhsContract = {node.integer("transA") ? 0 : 1};
  axes.rhsContract = {node.integer("transB") ? 1 : 0};
  Tensor product = contract(a, b, axes);
  double alpha = node.real("alpha", 1), beta = node.real("beta", 1);
  if (alpha != 1)
    product = product * alpha;
  if (!node.has(2) || beta == 0)
    return product;
  return product + (beta == 1 ? c : c * beta);
}

Tensor matmulInteger(Node &node) {
  Tensor a = node.input(0), b = node.input(1);
  if (!a || !b || (node.has(2) && !node.input(2)) || (node.has(3) && !node.input(3)))
    return {};
  return multiplyCentered(node, a, node.optionalInput(2), b, node.optionalInput(3));
}

/// One operand of an einsum: a letter for each axis.
struct Term {
  Tensor tensor;
  SmallVector<char> letters;
};

/// Splits an equation into letters per operand and of the result; '.' stands for the axes of an ellipsis, and becomes
/// digits.
class Equation {
public:
  explicit Equation(Node &node) : node(node) {}

  std::optional<Term> evaluate();

private:
  bool parse();
  bool readTerm(StringRef text, Tensor tensor, Term &term);
  /// Sums over letters of `term` that nothing else has, and takes diagonals of repeated ones.
  bool reduceAlone(Term &term, ArrayRef<char> others);
  Term multiply(Term lhs, Term rhs, ArrayRef<char> later);
  bool permute(Term &term);

  Node &node;
  SmallVector<Term> terms;
  SmallVector<char> result;
  int64_t ellipsis = 0;
};

bool Equation::readTerm(StringRef text, Tensor tensor, Term &term) {
  term.tensor = tensor;
  int64_t named = llvm::count_if(text, isalpha);
  for (size_t at = 0; at < text.size(); ++at) {
    if (isalpha(text[at])) {
      term.letters.push_back(text[at]);
    } else if (text.substr(at).starts_with("...")) {
      // The last axes of all ellipses are the same: '0' is the last, '1' the one before.
      int64_t count = tensor ? tensor.rank() - named : ellipsis;
      if (count < 0 || count > 10)
        return node.reject("the equation does not fit the ranks of the inputs"), false;
      ellipsis = std::max(ellipsis, count);
      for (int64_t axis = count; axis-- > 0;)
        term.letters.push_back('0' + axis);
      at += 2;
    } else {
      return node.reject("the equation has the character '" + Twine(text[at]) + "'"), false;
    }
  }
  if (tensor && int64_t(term.letters.size()) != tensor.rank())
    return node.reject("the equation does not fit the ranks of the inputs"), false;
  return true;
}

bool Equation::parse() {
  std::string text = node.text("equation", "");
  llvm::erase(text, ' ');
  auto [left, right] = StringRef(text).split("->");
  bool isExplicit = StringRef(text).contains("->");
  SmallVector<StringRef> operands;
  left.split(operands, ',');
  if (int64_t(operands.size()) != node.inputCount())
    return node.reject("the equation has another number of operands than the node"), false;
  for (auto [index, operand] : enumerate(operands)) {
    Tensor tensor = node.input(index);
    Term term;
    if (!tensor || !readTerm(operand, tensor, term))
      return false;
    terms.push_back(term);
  }
  if (isExplicit) {
    Term term;
    if (!readTerm(right, Tensor(), term))
      return false;
    result = term.letters;
    return true;
  }
  // Without a right side: the ellipsis, then the letters that appear once, in alphabetical order.
  for (int64_t axis = ellipsis; axis-- > 0;)
    result.push_back('0' + axis);
  for (char letter = 'A'; letter <= 'z'; ++letter) {
    int64_t uses = 0;
    for (const Term &term : terms)
      uses += llvm::count(term.letters, letter);
    if (uses == 1)
      result.push_back(letter);
  }
  return true;
}

/// The diagonal of two axes of equal size, along `kept`; `dropped` is removed.
static Tensor takeDiagonal(Tensor x, int64_t kept, int64_t dropped) {
  SmallVector<int64_t> order, back;
  for (int64_t axis = 0; axis < x.rank(); ++axis)
    if (axis != kept && axis != dropped)
      order.push_back(axis);
  int64_t others = order.size();
  order.append({kept, dropped});
  x = transpose(x, order);
  // The flat n×n elements, padded by n and reshaped to rows of n + 1: the diagonal is the first column.
  GraphBuilder &builder = x.builder();
  Expr n = x.dim(others), none = builder.size(0), one = builder.size(1);
  Shape shape(x.shape().take_front(others)), low(others + 1, none), high(others, none), rows(shape);
  shape.push_back(n * n);
  high.push_back(n);
  rows.append({n, n + one});
  x = reshape(pad(reshape(x, shape), low, high, scalarLike(0, x)), rows);
  x = squeeze(slice(x, others + 1, none, one), {others + 1});
  for (int64_t axis = 0; axis <= others; ++axis)
    back.push_back(axis < kept ? axis : axis == kept ? others : axis - 1);
  return transpose(x, back);
}

bool Equation::reduceAlone(Term &term, ArrayRef<char> others) {
  ModelBuilder &builder = node.builder();
  for (int64_t axis = term.letters.size(); axis-- > 0;) {
    auto first = llvm::find(term.letters, term.letters[axis]);
    int64_t other = first - term.letters.begin();
    if (other == axis)
      continue;
    if (!builder.makeEqual(term.tensor.dim(other), term.tensor.dim(axis), "dimensions of one letter"))
      return false;
    term.tensor = takeDiagonal(term.tensor, other, axis);
    term.letters.erase(term.letters.begin() + axis);
    if (!term.tensor)
      return false;
  }
  for (int64_t axis = term.letters.size(); axis-- > 0 && term.tensor;) {
    if (is_contained(others, term.letters[axis]))
      continue;
    term.tensor = sum(term.tensor, {axis}, false);
    term.letters.erase(term.letters.begin() + axis);
  }
  return bool(term.tensor);
}

Term Equation::multiply(Term lhs, Term rhs, ArrayRef<char> later) {
  ContractAxes axes;
  Term product;
  SmallVector<char> batch, leftFree, rightFree;
  for (auto [axis, letter] : enumerate(lhs.letters)) {
    auto match = llvm::find(rhs.letters, letter);
    if (match == rhs.letters.end()) {
      leftFree.push_back(letter);
      continue;
    }
    bool survives = is_contained(later, letter);
    (survives ? axes.lhsBatch : axes.lhsContract).push_back(axis);
    (survives ? axes.rhsBatch : axes.rhsContract).push_back(match - rhs.letters.begin());
    if (survives)
      batch.push_back(letter);
  }
  for (char letter : rhs.letters)
    if (!is_contained(lhs.letters, letter))
      rightFree.push_back(letter);
  product.tensor = contract(lhs.tensor, rhs.tensor, axes);
  for (auto *letters : {&batch, &leftFree, &rightFree})
    product.letters.append(letters->begin(), letters->end());
  return product;
}

bool Equation::permute(Term &term) {
  SmallVector<int64_t> permutation;
  for (char letter : result) {
    auto match = llvm::find(term.letters, letter);
    if (match == term.letters.end() || llvm::count(result, letter) != 1)
      return node.reject("the equation's result has a letter that no operand has, or one twice"), false;
    permutation.push_back(match - term.letters.begin());
  }
  term.tensor = transpose(term.tensor, permutation);
  return bool(term.tensor);
}

std::optional<Term> Equation::evaluate() {
  if (!parse())
    return std::nullopt;
  // Ellipses broadcast: a dimension of 1 is left out where another operand has more.
  for (Term &term : terms)
    for (int64_t axis = term.letters.size(); axis-- > 0;)
      if (isdigit(term.letters[axis]) && term.tensor.dim(axis).isConstant(1)) {
        bool elsewhere = llvm::any_of(terms, [&](const Term &other) {
          auto match = llvm::find(other.letters, term.letters[axis]);
          return match != other.letters.end() && !other.tensor.dim(match - other.letters.begin()).isConstant(1);
        });
        if (!elsewhere)
          continue;
        term.tensor = squeeze(term.tensor, {axis});
        term.letters.erase(term.letters.begin() + axis);
        if (!term.tensor)
          return std::nullopt;
      }
  auto lettersFrom = [&](size_t first) {
    SmallVector<char> letters(result);
    for (const Term &term : drop_begin(terms, first))
      llvm::append_range(letters, term.letters);
    return letters;
  };
  for (size_t index = 0; index < terms.size(); ++index) {
    SmallVector<char> others(result);
    for (size_t other = 0; other < terms.size(); ++other)
      if (other != index)
        llvm::append_range(others, terms[other].letters);
    if (!reduceAlone(terms[index], others))
      return std::nullopt;
  }
  Term product = terms.front();
  for (size_t index = 1; index < terms.size(); ++index) {
    product = multiply(product, terms[index], lettersFrom(index + 1));
    if (!product.tensor)
      return std::nullopt;
  }
  return permute(product) ? std::optional(product) : std::nullopt;
}

Tensor einsum(Node &node) {
  std::optional<Term> term = Equation(node).evaluate();
  return term ? term->tensor : Tensor();
}

} // namespace

void registerContractions(Registry &registry) {
  registry.add("MatMul", {1}, [](Node &node) { return matmul(node.input(0), node.input(1)); });
  registry.add("MatMulInteger", {10}, matmulInteger);
  registry.add("Gemm", {1}, gemm);
  registry.add("com.microsoft.FusedGemm", {1}, [](Node &node) { return activate(node, gemm(node)); });
  registry.add("Einsum", {12}, einsum);
}

} // namespace freestone::importer
