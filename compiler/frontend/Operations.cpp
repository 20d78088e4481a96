// The operations that front ends ask for by name: the core of the graph dialect.
#include "compiler/frontend/Operations.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace freestone::frontend {
namespace {

using Build = SmallVector<Tensor> (*)(Call &);
struct Operation {
  /// -1: any number.
  int operands;
  Build build;
};

/// The number of an enumeration's case by its name; refuses where there is none.
template <typename Kind> Kind kindOf(Call &call, std::optional<Kind> (*find)(StringRef), Kind otherwise) {
  std::optional<Kind> kind = find(call.text("kind"));
  if (!kind)
    call.refuse("knows no kind '" + call.text("kind") + "'");
  return kind.value_or(otherwise);
}
ReduceKind reduceKind(Call &call) { return kindOf<ReduceKind>(call, graph::symbolizeReduceKind, ReduceKind::add); }
ScatterKind scatterKind(Call &call) { return kindOf<ScatterKind>(call, graph::symbolizeScatterKind, ScatterKind::add); }

Window windowOf(Call &call, size_t spatial) {
  Window window{{}, call.integers("strides"), call.integers("dilations"), call.sizes("low"), call.sizes("high")};
  if (call.has("sizes"))
    window.sizes = call.integers("sizes");
  for (size_t count : {window.strides.size(), window.dilations.size(), window.low.size(), window.high.size()})
    if (count != spatial)
      call.refuse("needs strides, dilations and padding for " + Twine(spatial) + " axes");
  return window;
}

SmallVector<Tensor> convolution(Call &call) {
  Tensor x = call.operand(0), kernel = call.operand(1);
  if (x.rank() < 3 || x.rank() != kernel.rank())
    return (call.refuse("needs images and filters of one rank, at least 3"), SmallVector<Tensor>());
  size_t spatial = x.rank() - 2;
  Window window = windowOf(call, spatial);
  SmallVector<int64_t> spread =
      call.has("operand_dilation") ? call.integers("operand_dilation") : SmallVector<int64_t>(spatial, 1);
  if (spread.size() != spatial)
    call.refuse("needs a dilation of the operand for every axis");
  int64_t groups = call.integer("groups", 1);
  if (groups < 1)
    call.refuse("needs at least one group");
  if (call.builder.stopped())
    return {};
  return {convolve(x, kernel, window, spread, groups, call.optionalType("type"))};
}

SmallVector<Tensor> windows(Call &call, Tensor (*function)(Call &, Tensor, const Window &)) {
  Tensor x = call.operand(0);
  SmallVector<int64_t> sizes = call.integers("sizes");
  if (sizes.empty() || static_cast<int64_t>(sizes.size()) > x.rank())
    call.refuse("needs a window of at most the operand's rank");
  Window window = windowOf(call, sizes.size());
  if (call.builder.stopped())
    return {};
  return {function(call, x, window)};
}

const StringMap<Operation> &operationTable() {
  static const StringMap<Operation> table = [] {
    StringMap<Operation> table;
    auto add = [&](StringRef name, int operands, Build build) { table[name] = {operands, build}; };
    // Elementwise.
    add("select", 3, [](Call &call) -> SmallVector<Tensor> {
      if (!call.operand(0).isBool())
        call.refuse("needs a condition of bools");
      return {select(call.operand(0), call.operand(1), call.operand(2))};
    });
    add("cast", 1, [](Call &call) -> SmallVector<Tensor> { return {cast(call.operand(0), call.type("type"))}; });
    add("saturating_cast", 1,
        [](Call &call) -> SmallVector<Tensor> { return {saturatingCast(call.operand(0), call.type("type"))}; });
    // Sources.
    add("splat", 0, [](Call &call) -> SmallVector<Tensor> {
      return {call.builder.splat(call.real("value"), call.type("type"), call.sizes("shape"))};
    });
    add("size", 0,
        [](Call &call) -> SmallVector<Tensor> { return {call.builder.scalar(call.size("value"), call.type("type"))}; });
    add("iota", 0, [](Call &call) -> SmallVector<Tensor> {
      Shape shape = call.sizes("shape");
      int64_t axis = call.axis("axis", shape.size());
      mlir::Type type = call.type("type");
      if (call.builder.stopped())
        return {};
      return {iota(call.builder, shape, axis, type)};
    });
    add("random_bits", 1, [](Call &call) -> SmallVector<Tensor> {
      mlir::Type word = call.type("type");
      return {call.builder.emit<graph::RandomBitsOp>(graph::TensorType::get(call.sizes("shape"), word),
                                                     call.operand(0).value())};
    });
    // Shape.
    add("broadcast_to", 1,
        [](Call &call) -> SmallVector<Tensor> { return {broadcastTo(call.operand(0), call.sizes("shape"))}; });
    add("broadcast", 1, [](Call &call) -> SmallVector<Tensor> {
      Shape shape = call.sizes("shape");
      return {broadcast(call.operand(0), shape, call.axes("dims", shape.size()))};
    });
    add("reshape", 1,
        [](Call &call) -> SmallVector<Tensor> { return {reshape(call.operand(0), call.sizes("shape"))}; });
    add("transpose", 1, [](Call &call) -> SmallVector<Tensor> {
      SmallVector<int64_t> order = call.axes("permutation", call.operand(0).rank()), sorted = order;
      llvm::sort(sorted);
      if (sorted != to_vector(seq<int64_t>(call.operand(0).rank())))
        return (call.refuse("needs a permutation of the operand's axes"), SmallVector<Tensor>());
      return {transpose(call.operand(0), order)};
    });
    add("slice", 1, [](Call &call) -> SmallVector<Tensor> {
      Shape starts = call.sizes("starts"), sizes = call.sizes("sizes");
      SmallVector<int64_t> steps = call.integers("steps");
      int64_t rank = call.operand(0).rank();
      if (static_cast<int64_t>(starts.size()) != rank || static_cast<int64_t>(sizes.size()) != rank ||
          static_cast<int64_t>(steps.size()) != rank)
        return (call.refuse("needs a start, a size and a step for each axis"), SmallVector<Tensor>());
      return {slice(call.operand(0), starts, sizes, steps)};
    });
    add("reverse", 1, [](Call &call) -> SmallVector<Tensor> {
      return {reverse(call.operand(0), call.axes("axes", call.operand(0).rank()))};
    });
    add("pad", 2, [](Call &call) -> SmallVector<Tensor> {
      Shape low = call.sizes("low"), high = call.sizes("high");
      int64_t rank = call.operand(0).rank();
      SmallVector<int64_t> interior = call.has("interior") ? call.integers("interior") : SmallVector<int64_t>(rank, 0);
      if (static_cast<int64_t>(low.size()) != rank || static_cast<int64_t>(high.size()) != rank ||
          static_cast<int64_t>(interior.size()) != rank)
        return (call.refuse("needs padding for each axis"), SmallVector<Tensor>());
      return {pad(call.operand(0), low, high, call.operand(1), interior)};
    });
    add("concat", -1, [](Call &call) -> SmallVector<Tensor> {
      if (call.operands.empty())
        return (call.refuse("needs operands"), SmallVector<Tensor>());
      return {concat(call.operands, call.axis("axis", call.operand(0).rank()))};
    });
    // Indexing.
    add("gather", 2, [](Call &call) -> SmallVector<Tensor> {
      return {gather(call.operand(0), call.operand(1), call.axis("axis", call.operand(0).rank()),
                     call.integer("batch_dims", 0))};
    });
    add("gather_elements", 2, [](Call &call) -> SmallVector<Tensor> {
      return {gatherElements(call.operand(0), call.operand(1), call.axis("axis", call.operand(0).rank()))};
    });
    add("gather_nd", 2, [](Call &call) -> SmallVector<Tensor> {
      return {gatherNd(call.operand(0), call.operand(1), call.integer("batch_dims", 0))};
    });
    add("scatter_elements", 3, [](Call &call) -> SmallVector<Tensor> {
      return {scatterElements(call.operand(0), call.operand(1), call.operand(2),
                              call.axis("axis", call.operand(0).rank()), scatterKind(call))};
    });
    add("scatter_nd", 3, [](Call &call) -> SmallVector<Tensor> {
      return {scatterNd(call.operand(0), call.operand(1), call.operand(2), scatterKind(call))};
    });
    // Reduction.
    add("reduce", 1, [](Call &call) -> SmallVector<Tensor> {
      Tensor x = call.operand(0);
      return {reduce(reduceKind(call), x, call.axes("axes", x.rank()), call.flag("keep"))};
    });
    add("arg_reduce", 1, [](Call &call) -> SmallVector<Tensor> {
      Tensor x = call.operand(0);
      return {argReduce(call.flag("largest"), x, call.axis("axis", x.rank()), call.flag("last"), call.flag("keep"))};
    });
    add("cumulate", 1, [](Call &call) -> SmallVector<Tensor> {
      Tensor x = call.operand(0);
      return {cumulate(reduceKind(call), x, call.axis("axis", x.rank()), call.flag("exclusive"), call.flag("reverse"))};
    });
    add("top_k", 1, [](Call &call) -> SmallVector<Tensor> {
      Tensor x = call.operand(0);
      auto [values, indices] = topK(x, call.size("k"), call.axis("axis", x.rank()), call.flag("largest"));
      return {values, indices};
    });
    // Contraction.
    add("contract", 2, [](Call &call) -> SmallVector<Tensor> {
      int64_t lhs = call.operand(0).rank(), rhs = call.operand(1).rank();
      ContractAxes axes{call.axes("lhs_batch", lhs), call.axes("rhs_batch", rhs), call.axes("lhs_contract", lhs),
                        call.axes("rhs_contract", rhs)};
      if (call.builder.stopped())
        return {};
      return {contract(call.operand(0), call.operand(1), axes, call.optionalType("type"))};
    });
    add("matmul", 2, [](Call &call) -> SmallVector<Tensor> {
      return {matmul(call.operand(0), call.operand(1), call.optionalType("type"))};
    });
    add("convolve", 2, convolution);
    add("window", 1, [](Call &call) {
      return windows(
          call, [](Call &call, Tensor x, const Window &window) { return windowReduce(reduceKind(call), x, window); });
    });
    add("window_argmax", 1, [](Call &call) {
      return windows(call, [](Call &, Tensor x, const Window &window) { return windowArgmax(x, window); });
    });
    // Composites.
    add("softmax", 1, [](Call &call) -> SmallVector<Tensor> {
      return {softmax(call.operand(0), call.axis("axis", call.operand(0).rank()))};
    });
    add("log_softmax", 1, [](Call &call) -> SmallVector<Tensor> {
      return {logSoftmax(call.operand(0), call.axis("axis", call.operand(0).rank()))};
    });
    add("layer_norm", 1, [](Call &call) -> SmallVector<Tensor> {
      return {layerNorm(call.operand(0), call.axis("axis", call.operand(0).rank()), call.real("epsilon"))};
    });
    add("gelu", 1, [](Call &call) -> SmallVector<Tensor> { return {gelu(call.operand(0), call.flag("tanh"))}; });
    return table;
  }();
  return table;
}

} // namespace

SmallVector<Tensor> build(Call &call) {
  if (auto found = operationTable().find(call.name); found != operationTable().end()) {
    if (found->second.operands >= 0 && !call.takes(found->second.operands))
      return {};
    SmallVector<Tensor> results = found->second.build(call);
    return results;
  }
  if (std::optional<UnaryKind> kind = graph::symbolizeUnaryKind(call.name); kind && call.operands.size() == 1)
    return {unary(*kind, call.operand(0))};
  if (std::optional<BinaryKind> kind = graph::symbolizeBinaryKind(call.name); kind && call.takes(2))
    return {binary(*kind, call.operand(0), call.operand(1))};
  if (std::optional<CompareKind> kind = graph::symbolizeCompareKind(call.name); kind && call.takes(2))
    return {compare(*kind, call.operand(0), call.operand(1))};
  call.refuse("is no operation");
  return {};
}

} // namespace freestone::frontend
