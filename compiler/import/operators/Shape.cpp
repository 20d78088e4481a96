// Shapes, and other views of the same elements.
#include "compiler/import/Registry.h"
#include "compiler/import/operators/AxisValues.h"

using namespace llvm;

namespace freestone::importer {
namespace {

Tensor shapeOf(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  auto clampAxis = [&](int64_t axis) { return std::clamp<int64_t>(axis < 0 ? axis + x.rank() : axis, 0, x.rank()); };
  int64_t start = clampAxis(node.integer("start", 0)), end = clampAxis(node.integer("end", x.rank()));
  return node.builder().vector(x.shape().slice(start, std::max<int64_t>(end - start, 0)));
}

/// A reshape to run-time sizes, each of which may be 0 or -1: 0 copies a size of x, -1 is inferred. At most one is -1,
/// so that the product of all is negative iff there is one.
Tensor reshapeByValues(Node &node, Tensor x, ArrayRef<Expr> target, bool keepsZero) {
  ModelBuilder &builder = node.builder();
  Expr zero = builder.size(0), one = builder.size(1), product = one, total = builder.define("total", x.elementCount());
  Shape shape;
  for (auto [axis, size] : enumerate(target)) {
    bool copies = !keepsZero && int64_t(axis) < x.rank();
    Expr isZero = 1 - Expr::min(size * size, one);
    shape.push_back(copies ? builder.define("given", size + isZero * x.dim(axis)) : size);
    product = product * shape.back();
  }
  Expr inferred = builder.define("inferred", Expr::floorDiv(total, -product));
  for (auto [size, result] : zip_equal(target, shape))
    result = builder.defineSize("size", result - Expr::min(size, zero) * (inferred + 1));
  return reshape(x, shape);
}

std::optional<Shape> resolveReshape(Node &node, Tensor x, Shape target, bool keepsZero) {
  ModelBuilder &builder = node.builder();
  std::optional<int64_t> inferred;
  Expr known = builder.size(1);
  for (auto [axis, size] : enumerate(target)) {
    if (size.isConstant(0) && !keepsZero) {
      if (int64_t(axis) >= x.rank()) {
        node.reject("size 0 at axis " + Twine(axis) + " has no dimension to copy");
        return std::nullopt;
      }
      size = x.dim(axis);
    }
    if (!size.isConstant(-1)) {
      known = known * size;
      continue;
    }
    if (inferred) {
      node.reject("the shape has -1 twice");
      return std::nullopt;
    }
    inferred = axis;
  }
  if (inferred) {
    Expr total = x.elementCount();
    std::optional<Expr> exact = total.exactDiv(known);
    if (!exact && known.isConstant(0)) {
      node.reject("-1 beside a size of 0 has no meaning");
      return std::nullopt;
    }
    // The long quotient of what was not proved to be one would be multiplied out.
    auto name = [&](StringRef stem, Expr size) {
      return SizeFacts::isShort(size) ? builder.sizeFacts().simplify(size)
                                      : builder.define(stem, size, sym::Interval::size());
    };
    auto quotient = [&] { return Expr::floorDiv(name("total", total), name("known", known)); };
    target[*inferred] = exact ? *exact : name("inferred", quotient());
  }
  for (Expr size : target)
    if (builder.sizeFacts().interval(size).hi < 0) {
      node.reject("the shape has a negative size");
      return std::nullopt;
    }
  return target;
}

Tensor reshapeNode(Node &node) {
  Tensor x = node.input(0);
  Shape target;
  if (node.opset() < 5) {
    for (int64_t size : node.integers("shape"))
      target.push_back(node.builder().size(size));
  } else if (std::optional<Shape> sizes = node.extentsInput(1)) {
    target = *sizes;
  } else {
    return {};
  }
  if (!x)
    return x;
  bool keepsZero = node.integer("allowzero") != 0;
  SizeFacts &facts = node.builder().sizeFacts();
  if (llvm::any_of(target, [&](Expr size) { return !size.isConstant() && facts.interval(size).lo < 0; }))
    return reshapeByValues(node, x, target, keepsZero);
  std::optional<Shape> shape = resolveReshape(node, x, target, keepsZero);
  return shape ? reshape(x, *shape) : Tensor();
}

Tensor flatten(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  int64_t axis = node.integer("axis", 1);
  if (axis < -x.rank() || axis > x.rank())
    return node.reject("axis " + Twine(axis) + " does not exist in a tensor of rank " + Twine(x.rank()));
  axis = axis < 0 ? axis + x.rank() : axis;
  Expr rows = node.builder().size(1), columns = rows;
  for (auto [index, extent] : enumerate(x.shape())) {
    Expr &side = int64_t(index) < axis ? rows : columns;
    side = side * extent;
  }
  return reshape(x, {rows, columns});
}

/// Axes are an attribute until operator set 12, then an input.
std::optional<Shape> axesOf(Node &node) {
  return node.opset() >= 13 && node.has(1) ? node.sizesInput(1)
                                           : std::optional(node.builder().sizes(node.integers("axes")));
}

/// The axes as numbers; nothing if they are known only at run time.
std::optional<SmallVector<int64_t>> asNumbers(ArrayRef<Expr> axes) {
  SmallVector<int64_t> numbers;
  for (Expr axis : axes) {
    if (!axis.isConstant())
      return std::nullopt;
    numbers.push_back(*axis.asConstant());
  }
  return numbers;
}

Tensor squeezeNode(Node &node) {
  Tensor x = node.input(0);
  std::optional<Shape> values = axesOf(node);
  if (!x || !values)
    return {};
  std::optional<SmallVector<int64_t>> axes = asNumbers(*values);
  if (!axes)
    return squeezeChosen(node, x, *values);
  if (axes->empty() && !node.has(1) && !node.hasAttribute("axes")) {
    for (int64_t axis = 0; axis < x.rank(); ++axis) {
      std::optional<bool> isOne = x.dim(axis).isConstant(1);
      if (!x.extent(axis) && node.builder().sizeFacts().interval(x.dim(axis)).lo < 2)
        isOne = node.builder().assumeAtEntry(isValue(x.dim(axis), 1),
                                             "whether axis " + Twine(axis) + " is 1, which decides a rank,");
      if (!isOne)
        return node.refuse("without axes, the rank of the result depends on whether axis " + Twine(axis) +
                           " is 1, which only the run knows");
      if (*isOne)
        axes->push_back(axis);
    }
  }
  return node.normalize(*axes, x.rank()) ? squeeze(x, *axes) : Tensor();
}

Tensor unsqueezeNode(Node &node) {
  Tensor x = node.input(0);
  std::optional<Shape> values = axesOf(node);
  if (!x || !values)
    return {};
  std::optional<SmallVector<int64_t>> axes = asNumbers(*values);
  if (!axes)
    return unsqueezeChosen(node, x, *values);
  if (!node.normalize(*axes, x.rank() + axes->size()))
    return {};
  return unsqueeze(x, *axes);
}

/// Numpy's broadcasting of the input's shape with the given one.
Tensor expand(Node &node) {
  Tensor x = node.input(0);
  std::optional<Shape> target = node.extentsInput(1);
  if (!x || !target)
    return {};
  ModelBuilder &builder = node.builder();
  Shape shape(*target);
  if (int64_t(shape.size()) < x.rank())
    shape.insert(shape.begin(), x.rank() - shape.size(), builder.size(1));
  for (int64_t axis = -1; axis >= -x.rank(); --axis) {
    Expr &size = shape[shape.size() + axis];
    if (size.isConstant(1))
      size = x.dim(axis);
    if (size.isConstant() || !x.extent(axis).has_value() || *x.extent(axis) == 1)
      continue;
    // A run-time size must be 1 or the extent.
    Expr mustBeZero = (size - 1) * (size - x.dim(axis));
    if (!builder.makeEqual(mustBeZero, builder.size(0), "sizes to which a tensor is expanded"))
      return {};
    size = x.dim(axis);
  }
  return broadcastTo(x, shape);
}

Tensor transposeNode(Node &node) {
  Tensor x = node.input(0);
  if (!x)
    return x;
  SmallVector<int64_t> permutation = node.integers("perm");
  if (!node.hasAttribute("perm"))
    for (int64_t axis = x.rank(); axis-- > 0;)
      permutation.push_back(axis);
  if (int64_t(permutation.size()) != x.rank() || !node.normalize(permutation, x.rank()))
    return node.reject("perm does not permute the axes of a tensor of rank " + Twine(x.rank()));
  return transpose(x, permutation);
}

Tensor concatNode(Node &node) {
  SmallVector<Tensor> operands = node.allInputs();
  if (operands.empty() || !operands.front())
    return {};
  std::optional<int64_t> axis = node.normalize(node.integer("axis", 1), operands.front().rank());
  return axis ? concat(operands, *axis) : Tensor();
}

} // namespace

void registerShape(Registry &registry) {
  registry.add("Shape", {1}, shapeOf);
  registry.add("Size", {1}, [](Node &node) {
    Tensor x = node.input(0);
    return x ? reshape(node.builder().vector(ArrayRef(x.elementCount())), {}) : x;
  });
  registry.add("Reshape", {1}, reshapeNode);
  registry.add("Flatten", {1}, flatten);
  registry.add("Squeeze", {1}, squeezeNode);
  registry.add("Unsqueeze", {1}, unsqueezeNode);
  registry.add("Expand", {8}, expand);
  registry.add("Transpose", {1}, transposeNode);
  registry.add("Concat", {1}, concatNode);
}

} // namespace freestone::importer
