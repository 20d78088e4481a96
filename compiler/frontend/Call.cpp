#include "compiler/frontend/Call.h"
#include "compiler/dialect/sym/Syntax.h"
#include "compiler/frontend/FrontendGraph.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace freestone::frontend {

bool Call::takes(size_t count) {
  return operands.size() == count || refuse("takes " + Twine(count) + " operands, not " + Twine(operands.size()));
}

Tensor Call::operand(size_t index) {
  if (index < operands.size())
    return operands[index];
  refuse("needs an operand " + Twine(index));
  return {};
}

int64_t Call::integer(StringRef key, std::optional<int64_t> otherwise) {
  if (std::optional<int64_t> value = attributes.getInteger(key))
    return *value;
  if (!otherwise || has(key))
    refuse("needs an integer '" + key + "'");
  return otherwise.value_or(0);
}

double Call::real(StringRef key) {
  if (std::optional<double> value = attributes.getNumber(key))
    return *value;
  std::optional<double> special = StringSwitch<std::optional<double>>(attributes.getString(key).value_or(""))
                                      .Case("inf", INFINITY)
                                      .Case("-inf", -INFINITY)
                                      .Case("nan", NAN)
                                      .Default(std::nullopt);
  if (!special)
    refuse("needs a number '" + key + "'");
  return special.value_or(0);
}

StringRef Call::text(StringRef key) {
  std::optional<StringRef> value = attributes.getString(key);
  if (!value)
    refuse("needs a text '" + key + "'");
  return value.value_or("");
}

SmallVector<int64_t> Call::integers(StringRef key) {
  SmallVector<int64_t> values;
  const json::Array *array = attributes.getArray(key);
  for (const json::Value &value : array ? *array : json::Array())
    if (std::optional<int64_t> number = value.getAsInteger())
      values.push_back(*number);
  if (!array || array->size() != values.size())
    refuse("needs integers '" + key + "'");
  return values;
}

Expr Call::sizeOf(const json::Value &value) {
  if (std::optional<int64_t> number = value.getAsInteger())
    return builder.size(*number);
  std::string error = "it is no number and no text";
  FailureOr<Expr> expr = failure();
  if (std::optional<StringRef> text = value.getAsString())
    expr = sym::parseExpr(builder.getContext(), *text, &error);
  if (failed(expr)) {
    refuse("has a size that can't be read: " + error);
    return builder.size(0);
  }
  return builder.current(*expr);
}

Expr Call::size(StringRef key) {
  if (const json::Value *value = attributes.get(key))
    return sizeOf(*value);
  refuse("needs a size '" + key + "'");
  return builder.size(0);
}

Shape Call::sizes(StringRef key) {
  Shape values;
  const json::Array *array = attributes.getArray(key);
  if (!array)
    refuse("needs sizes '" + key + "'");
  for (const json::Value &value : array ? *array : json::Array())
    values.push_back(sizeOf(value));
  return values;
}

mlir::Type Call::type(StringRef key) {
  StringRef name = text(key);
  mlir::Type type = elementTypeNamed(builder.getContext(), name);
  if (!type)
    refuse("has elements of type '" + name + "', which are not supported");
  return type ? type : builder.getF32Type();
}

int64_t Call::normalize(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    refuse("has an axis " + Twine(axis) + " beyond the rank " + Twine(rank));
    return 0;
  }
  return axis < 0 ? axis + rank : axis;
}

int64_t Call::axis(StringRef key, int64_t rank) { return normalize(integer(key), rank); }

SmallVector<int64_t> Call::axes(StringRef key, int64_t rank) {
  return map_to_vector(integers(key), [&](int64_t axis) { return normalize(axis, rank); });
}

} // namespace freestone::frontend
