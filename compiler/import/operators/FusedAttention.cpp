// Attention as ONNX Runtime's optimizer writes it, without a cache of earlier keys and values.
#include "compiler/import/Registry.h"

using namespace llvm;

namespace freestone::importer {
namespace {

/// Attention of several heads. Queries are [batch, length, features], keys and values [batch, keys, features].
class HeadedAttention {
public:
  explicit HeadedAttention(Node &node) : node(node), builder(node.builder()), heads(node.integer("num_heads")) {}

  Tensor attend(Tensor query, Tensor key, Tensor value, Tensor mask, Tensor bias);

private:
  Tensor split(Tensor x);
  Tensor kept(Tensor mask, Tensor scores);

  Node &node;
  ModelBuilder &builder;
  int64_t heads;
};

/// [batch, heads, length, features of a head].
Tensor HeadedAttention::split(Tensor x) {
  std::optional<Expr> own = x.dim(2).exactDiv(builder.size(heads));
  if (!own)
    return node.reject("the number of features is no multiple of the number of heads");
  return transpose(reshape(x, {x.dim(0), x.dim(1), builder.size(heads), *own}), {0, 2, 1, 3});
}

/// Which keys a mask keeps: lengths [batch], or numbers other than 0 as [batch, keys] or [batch, length, keys].
Tensor HeadedAttention::kept(Tensor mask, Tensor scores) {
  mlir::Type i64 = builder.getI64Type();
  Expr batch = scores.dim(0), one = builder.size(1), keys = scores.dim(3);
  if (mask.rank() == 1) {
    if (!(mask = conform(mask, {batch}, "the batch and the lengths of the mask")))
      return {};
    Tensor position = iota(builder, {keys}, 0, i64);
    return position < reshape(cast(mask, i64), {batch, one, one, one});
  }
  if (mask.rank() == 2)
    mask = unsqueeze(conform(mask, {batch, keys}, "the mask and the keys"), {1, 2});
  else if (mask.rank() == 3)
    mask = unsqueeze(conform(mask, {batch, scores.dim(2), keys}, "the mask and the scores"), {1});
  else
    return node.refuse("a mask of this rank is not supported");
  return mask ? notEqual(mask, 0.0) : mask;
}

Tensor HeadedAttention::attend(Tensor query, Tensor key, Tensor value, Tensor mask, Tensor bias) {
  if (!query || !key || !value)
    return {};
  if (heads < 1 || query.rank() != 3 || key.rank() != 3 || value.rank() != 3)
    return node.reject("queries, keys and values must have the shape [batch, length, features], and heads be positive");
  Tensor q = split(query), k = split(key), v = split(value);
  if (!q || !k || !v)
    return {};
  double scale = node.real("scale", 0);
  Tensor scores = matmul(q, transpose(k, {0, 1, 3, 2}));
  if (!scores)
    return {};
  scores = scale > 0 ? scores * scale : scores / sqrt(cast(builder.integer(q.dim(3)), scores.elementType()));
  if (bias)
    scores = scores + bias;
  double masked = node.real("mask_filter_value", -10000);
  if (mask) {
    Tensor keeps = kept(mask, scores);
    scores = scores + select(keeps, scalarLike(0, scores), scalarLike(masked, scores));
  }
  if (scores && node.integer("unidirectional")) {
    Shape square = {scores.dim(2), scores.dim(3)};
    Tensor row = iota(builder, square, 0, builder.getI64Type()),
           column = iota(builder, square, 1, builder.getI64Type());
    scores = select(column <= row + builder.integer(square[1] - square[0]), scores, scalarLike(masked, scores));
  }
  Tensor y = scores ? matmul(softmax(scores, 3), v) : scores;
  return y ? reshape(transpose(y, {0, 2, 1, 3}), {query.dim(0), query.dim(1), value.dim(2)}) : y;
}

bool hasNone(Node &node, ArrayRef<int64_t> inputs) {
  return llvm::none_of(inputs, [&](int64_t index) { return node.has(index); });
}

/// Queries, keys and values are one product: input, weights, bias, mask, past, bias of the scores.
Tensor attention(Node &node) {
  Tensor x = node.input(0), weights = node.input(1), bias = node.optionalInput(2), mask = node.optionalInput(3),
         scoreBias = node.optionalInput(5);
  if (!x || !weights)
    return {};
  if (!hasNone(node, {4, 6}) || node.integer("do_rotary"))
    return node.refuse("attention with earlier keys and values, or with rotated ones, is not supported");
  if (x.rank() != 3 || weights.rank() != 2)
    return node.reject("the input must have the shape [batch, length, features], and the weights be a matrix");
  ModelBuilder &builder = node.builder();
  Tensor product = matmul(x, weights);
  if (bias)
    product = product + bias;
  SmallVector<int64_t> sizes = node.integers("qkv_hidden_sizes");
  std::optional<int64_t> width = weights.extent(1);
  if (sizes.empty() && width && *width % 3 == 0)
    sizes.assign(3, *width / 3);
  if (sizes.size() != 3 || !width || sizes[0] + sizes[1] + sizes[2] != *width)
    return node.reject("the columns of the weights do not fit queries, keys and values");
  SmallVector<Tensor> parts;
  int64_t first = 0;
  for (int64_t size : sizes) {
    parts.push_back(product ? slice(product, 2, builder.size(first), builder.size(size)) : product);
    first += size;
  }
  return HeadedAttention(node).attend(parts[0], parts[1], parts[2], mask, scoreBias);
}

/// Query, key, value, their bias, mask, bias of the scores.
Tensor multiHeadAttention(Node &node) {
  SmallVector<Tensor> parts = {node.input(0)};
  if (!node.has(1) || !node.has(2) || !hasNone(node, {6, 7}))
    return node.refuse("attention with earlier keys and values, or of packed ones, is not supported");
  parts.append({node.input(1), node.input(2)});
  if (!areBuilt(parts))
    return {};
  Tensor bias = node.optionalInput(3);
  Expr first = node.builder().size(0);
  for (Tensor &part : parts) {
    if (part.rank() != 3)
      return node.refuse("attention with earlier keys and values, or of packed ones, is not supported");
    if (bias)
      part = part + slice(bias, 0, first, part.dim(2));
    if (!part)
      return {};
    first = first + part.dim(2);
  }
  return HeadedAttention(node).attend(parts[0], parts[1], parts[2], node.optionalInput(4), node.optionalInput(5));
}

} // namespace

void registerFusedAttention(Registry &registry) {
  registry.add("com.microsoft.Attention", {1}, attention);
  registry.add("com.microsoft.MultiHeadAttention", {1}, multiHeadAttention);
}

} // namespace freestone::importer
