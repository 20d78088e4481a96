#include "compiler/codegen/cpu/TransformKernels.h"

#include "compiler/dialect/tile/WinogradTransforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using tile::WinogradTransforms;

namespace {

class TransformEmitter {
public:
  TransformEmitter(OpBuilder &builder, Location location, Type elementType, int64_t lanes, int64_t width,
                   int64_t outputs)
      : builder(builder), location(location), elementType(elementType), lanes(lanes), width(width), outputs(outputs),
        points(WinogradTransforms::getNumPoints(outputs)), transforms(WinogradTransforms::get(outputs)),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())), vector(VectorType::get({lanes}, elementType)) {}

  void emit(TransformKind kind, func::FuncOp function);

private:
  void emitPicture(func::FuncOp function);
  void emitProducts(func::FuncOp function);
  void emitSquares(func::FuncOp function, const WinogradTransforms::Matrix &matrix, int64_t side);
  void emitTaps(func::FuncOp function);
  struct Term {
    double factor;
    Value value;
  };
  Value addUp(ArrayRef<Term> terms);
  Value scale(Value value, double factor);
  SmallVector<Value> transformByRows(const WinogradTransforms::Matrix &matrix, ArrayRef<Value> values);
  SmallVector<Value> transformByColumns(const WinogradTransforms::Matrix &matrix, ArrayRef<Value> values);

  void forRange(Value to, int64_t step, llvm::function_ref<void(Value)> body) {
    auto loop = scf::ForOp::create(builder, location, constant(0), to, constant(step));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }
  Value load(Value base, Value index) {
    return LLVM::LoadOp::create(builder, location, vector, element(base, index), bytes());
  }
  void store(Value value, Value base, Value index) {
    LLVM::StoreOp::create(builder, location, value, element(base, index), bytes());
  }
  unsigned bytes() const { return elementType.getIntOrFloatBitWidth() / 8; }
  Value element(Value base, Value index) {
    Value word = arith::IndexCastOp::create(builder, location, builder.getI64Type(), index);
    return LLVM::GEPOp::create(builder, location, pointer, elementType, base, ArrayRef<LLVM::GEPArg>{word});
  }
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(builder, location, value); }
  Value toIndex(Value value) { return arith::IndexCastOp::create(builder, location, builder.getIndexType(), value); }
  Value add(Value x, Value y) { return arith::AddIOp::create(builder, location, x, y); }
  Value multiply(Value x, int64_t y) { return multiply(x, constant(y)); }
  Value multiply(Value x, Value y) { return arith::MulIOp::create(builder, location, x, y); }

  OpBuilder &builder;
  Location location;
  Type elementType;
  int64_t lanes, width, outputs, points;
  WinogradTransforms transforms;
  Type pointer;
  VectorType vector;
};

} // namespace

static WinogradTransforms::Matrix transpose(const WinogradTransforms::Matrix &matrix) {
  WinogradTransforms::Matrix transposed(matrix.front().size());
  for (const auto &row : matrix)
    for (auto [column, factor] : llvm::enumerate(row))
      transposed[column].push_back(factor);
  return transposed;
}

Value TransformEmitter::scale(Value value, double factor) {
  if (factor == 1)
    return value;
  auto splat = DenseElementsAttr::get(vector, builder.getFloatAttr(elementType, factor));
  return arith::MulFOp::create(builder, location, value, arith::ConstantOp::create(builder, location, splat));
}

/// The sum of the terms with factors, one of which is positive.
Value TransformEmitter::addUp(ArrayRef<Term> given) {
  SmallVector<Term> terms;
  llvm::copy_if(given, std::back_inserter(terms), [](const Term &term) { return term.factor != 0; });
  // Products before what is only added, and no sign to change.
  llvm::stable_sort(terms, [](const Term &a, const Term &b) {
    auto getRank = [](double factor) { return factor == 1 ? 0 : factor > 0 ? 1 : 2; };
    return getRank(a.factor) < getRank(b.factor);
  });
  Value sum = scale(terms.front().value, terms.front().factor);
  for (const Term &term : ArrayRef(terms).drop_front()) {
    if (term.factor == 1)
      sum = arith::AddFOp::create(builder, location, sum, term.value);
    else if (term.factor == -1)
      sum = arith::SubFOp::create(builder, location, sum, term.value);
    else {
      auto splat = DenseElementsAttr::get(vector, builder.getFloatAttr(elementType, term.factor));
      Value factor = arith::ConstantOp::create(builder, location, splat);
      sum = vector::FMAOp::create(builder, location, term.value, factor, sum);
    }
  }
  return sum;
}

/// The matrix by the vector of values. Rows of a point and of its negative, which follow each other, share the sums of
/// even and of odd columns, up to the sign of one of them.
SmallVector<Value> TransformEmitter::transformByRows(const WinogradTransforms::Matrix &matrix, ArrayRef<Value> values) {
  SmallVector<Value> results;
  auto getTerms = [&](ArrayRef<double> row, ArrayRef<double> other, bool areEqual) {
    SmallVector<Term> terms;
    for (auto [factor, otherFactor, value] : llvm::zip_equal(row, other, values))
      if ((factor == otherFactor) == areEqual)
        terms.push_back({factor, value});
    return terms;
  };
  for (size_t number = 0; number < matrix.size(); ++number) {
    ArrayRef<double> row = matrix[number];
    bool isPair = number + 1 < matrix.size();
    for (size_t column = 0; isPair && column < row.size(); ++column)
      isPair = std::abs(row[column]) == std::abs(matrix[number + 1][column]);
    if (!isPair) {
      results.push_back(addUp(getTerms(row, row, /*areEqual=*/true)));
      continue;
    }
    ArrayRef<double> next = matrix[++number];
    Value equal = addUp(getTerms(row, next, /*areEqual=*/true));
    Value opposite = addUp(getTerms(row, next, /*areEqual=*/false));
    results.push_back(arith::AddFOp::create(builder, location, equal, opposite));
    results.push_back(arith::SubFOp::create(builder, location, equal, opposite));
  }
  return results;
}

/// The same for a matrix whose columns of a point and of its negative follow each other: rows share the sums and the
/// differences of their values.
SmallVector<Value> TransformEmitter::transformByColumns(const WinogradTransforms::Matrix &matrix,
                                                        ArrayRef<Value> values) {
  SmallVector<Value> sums(values), differences(values);
  SmallVector<bool> isFirst(values.size(), false);
  for (size_t column = 0; column + 1 < values.size(); ++column) {
    auto isPair = [&](ArrayRef<double> row) { return std::abs(row[column]) == std::abs(row[column + 1]); };
    if (!llvm::all_of(matrix, isPair))
      continue;
    sums[column] = arith::AddFOp::create(builder, location, values[column], values[column + 1]);
    differences[column] = arith::SubFOp::create(builder, location, values[column], values[column + 1]);
    isFirst[column++] = true;
  }
  return llvm::map_to_vector(matrix, [&](ArrayRef<double> row) {
    SmallVector<Term> terms;
    for (size_t column = 0; column < row.size(); ++column) {
      bool isSum = !isFirst[column] || row[column] == row[column + 1];
      terms.push_back({row[column], isSum ? sums[column] : differences[column]});
      column += isFirst[column];
    }
    return addUp(terms);
  });
}

void TransformEmitter::emitPicture(func::FuncOp function) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(function.addEntryBlock());
  ValueRange arguments = function.getArguments();
  Value rows = toIndex(arguments[0]), columns = toIndex(arguments[1]), picture = arguments[2];
  Value pitch = toIndex(arguments[3]), run = toIndex(arguments[4]), values = arguments[5];
  Value stride = toIndex(arguments[6]);
  forRange(rows, 1, [&](Value row) {
    Value firstRow = multiply(multiply(row, outputs), pitch), firstSquare = multiply(row, columns);
    forRange(columns, lanes, [&](Value column) {
      SmallVector<SmallVector<Value>> downs;
      for (int64_t pixel = 0; pixel < points; ++pixel) {
        Value at = add(add(firstRow, column), add(multiply(run, pixel % outputs), constant(pixel / outputs)));
        SmallVector<Value> pixels;
        for (int64_t line = 0; line < points; ++line)
          pixels.push_back(load(picture, add(at, multiply(pitch, line))));
        downs.push_back(transformByRows(transforms.picture, pixels));
      }
      Value square = add(firstSquare, column);
      for (int64_t down = 0; down < points; ++down) {
        auto line = llvm::map_to_vector(downs, [&](ArrayRef<Value> each) { return each[down]; });
        for (auto [along, value] : llvm::enumerate(transformByRows(transforms.picture, line)))
          store(value, values, add(square, multiply(stride, down * points + static_cast<int64_t>(along))));
      }
    });
  });
  func::ReturnOp::create(builder, location);
}

void TransformEmitter::emitProducts(func::FuncOp function) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(function.addEntryBlock());
  ValueRange arguments = function.getArguments();
  Value rows = toIndex(arguments[0]), columns = toIndex(arguments[1]), products = arguments[2];
  Value stride = toIndex(arguments[3]), sums = arguments[4], pitch = toIndex(arguments[5]);
  forRange(rows, 1, [&](Value row) {
    forRange(columns, 1, [&](Value column) {
      Value from = multiply(add(multiply(row, columns), column), width);
      Value to = add(multiply(multiply(row, outputs), pitch), multiply(column, outputs * width));
      forRange(constant(width), lanes, [&](Value part) {
        SmallVector<SmallVector<Value>> downs;
        for (int64_t along = 0; along < points; ++along) {
          SmallVector<Value> values;
          for (int64_t down = 0; down < points; ++down)
            values.push_back(load(products, add(add(from, part), multiply(stride, down * points + along))));
          downs.push_back(transformByColumns(transforms.result, values));
        }
        for (int64_t line = 0; line < outputs; ++line) {
          auto values = llvm::map_to_vector(downs, [&](ArrayRef<Value> each) { return each[line]; });
          for (auto [pixel, value] : llvm::enumerate(transformByColumns(transforms.result, values)))
            store(value, sums,
                  add(add(to, part), add(multiply(pitch, line), constant(static_cast<int64_t>(pixel) * width))));
        }
      });
    });
  });
  func::ReturnOp::create(builder, location);
}

/// Squares of `side` pixels with channels innermost; `matrix` is [points][side].
void TransformEmitter::emitSquares(func::FuncOp function, const WinogradTransforms::Matrix &matrix, int64_t side) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(function.addEntryBlock());
  ValueRange arguments = function.getArguments();
  Value rows = toIndex(arguments[0]), columns = toIndex(arguments[1]), channels = toIndex(arguments[2]);
  Value used = toIndex(arguments[3]), picture = arguments[4], pitch = toIndex(arguments[5]), values = arguments[6];
  Value stride = toIndex(arguments[7]);
  forRange(rows, 1, [&](Value row) {
    forRange(columns, 1, [&](Value column) {
      Value first = add(multiply(multiply(row, outputs), pitch), multiply(multiply(column, outputs), channels));
      Value square = multiply(add(multiply(row, columns), column), channels);
      forRange(used, lanes, [&](Value part) {
        SmallVector<SmallVector<Value>> downs;
        for (int64_t pixel = 0; pixel < side; ++pixel) {
          Value at = add(add(first, part), multiply(channels, pixel));
          SmallVector<Value> pixels;
          for (int64_t line = 0; line < side; ++line)
            pixels.push_back(load(picture, add(at, multiply(pitch, line))));
          downs.push_back(transformByRows(matrix, pixels));
        }
        for (int64_t down = 0; down < points; ++down) {
          auto line = llvm::map_to_vector(downs, [&](ArrayRef<Value> each) { return each[down]; });
          for (auto [along, value] : llvm::enumerate(transformByRows(matrix, line)))
            store(value, values, add(add(square, part), multiply(stride, down * points + static_cast<int64_t>(along))));
        }
      });
    });
  });
  func::ReturnOp::create(builder, location);
}

void TransformEmitter::emitTaps(func::FuncOp function) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(function.addEntryBlock());
  ValueRange arguments = function.getArguments();
  Value rows = toIndex(arguments[0]), sums = arguments[1], stride = toIndex(arguments[2]);
  WinogradTransforms::Matrix matrix = transpose(transforms.filter);
  constexpr int64_t taps = WinogradTransforms::taps;
  forRange(multiply(rows, width), lanes, [&](Value part) {
    SmallVector<SmallVector<Value>> downs;
    for (int64_t along = 0; along < points; ++along) {
      SmallVector<Value> values;
      for (int64_t down = 0; down < points; ++down)
        values.push_back(load(sums, add(part, multiply(stride, down * points + along))));
      downs.push_back(transformByColumns(matrix, values));
    }
    for (int64_t line = 0; line < taps; ++line) {
      auto values = llvm::map_to_vector(downs, [&](ArrayRef<Value> each) { return each[line]; });
      for (auto [tap, value] : llvm::enumerate(transformByColumns(matrix, values)))
        store(value, sums, add(part, multiply(stride, line * taps + static_cast<int64_t>(tap))));
    }
  });
  func::ReturnOp::create(builder, location);
}

void TransformEmitter::emit(TransformKind kind, func::FuncOp function) {
  switch (kind) {
  case TransformKind::picture:
    return emitPicture(function);
  case TransformKind::products:
    return emitProducts(function);
  case TransformKind::pixels:
    return emitSquares(function, transforms.picture, points);
  case TransformKind::gradient:
    return emitSquares(function, transpose(transforms.result), outputs);
  case TransformKind::taps:
    return emitTaps(function);
  }
}

/// "picture_f32_4x16": by element type, squares, and a vector or panel.
static std::string getName(TransformKind kind, Type elementType, tile::MicroKernelAttr shape, int64_t outputs) {
  constexpr StringRef names[] = {"picture", "products", "pixels", "gradient", "taps"};
  bool hasPanels = kind == TransformKind::products || kind == TransformKind::taps;
  return ("freestone_transform_" + names[static_cast<size_t>(kind)] + "_f" +
          Twine(elementType.getIntOrFloatBitWidth()) + "_" + Twine(outputs) + "x" +
          Twine(hasPanels ? shape.getWidth() : shape.getLanes()))
      .str();
}

static FunctionType getType(OpBuilder &builder, TransformKind kind) {
  Type i64 = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  switch (kind) {
  case TransformKind::picture:
    return builder.getFunctionType({i64, i64, pointer, i64, i64, pointer, i64}, {});
  case TransformKind::products:
    return builder.getFunctionType({i64, i64, pointer, i64, pointer, i64}, {});
  case TransformKind::pixels:
  case TransformKind::gradient:
    return builder.getFunctionType({i64, i64, i64, i64, pointer, i64, pointer, i64}, {});
  case TransformKind::taps:
    return builder.getFunctionType({i64, pointer, i64}, {});
  }
  llvm_unreachable("kinds are those above");
}

func::FuncOp freestone::codegen::declareTransform(ModuleOp module, TransformKind kind, Type elementType,
                                                  tile::MicroKernelAttr shape, int64_t outputs) {
  std::string name = getName(kind, elementType, shape, outputs);
  if (auto known = module.lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto function = func::FuncOp::create(builder, module.getLoc(), name, getType(builder, kind));
  function.setPrivate();
  return function;
}

void freestone::codegen::emitTransforms(ModuleOp module, StringRef name, ArrayRef<TransformKind> kinds,
                                        Type elementType, tile::MicroKernelAttr shape, int64_t outputs) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location location = module.getLoc();
  auto nested = ModuleOp::create(builder, location, name);
  builder.setInsertionPointToStart(nested.getBody());
  TransformEmitter emitter(builder, location, elementType, shape.getLanes(), shape.getWidth(), outputs);
  for (TransformKind kind : kinds)
    emitter.emit(kind, func::FuncOp::create(builder, location, getName(kind, elementType, shape, outputs),
                                            getType(builder, kind)));
}
