#include "compiler/codegen/cpu/Emission.h"

#include "compiler/dialect/sym/Bounds.h"
#include "compiler/dialect/sym/Lowering.h"
#include "compiler/plan/ContractionTree.h"
#include "compiler/plan/Scratch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "runtime/artifact/abi.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;
using sym::Expr;

Emission::Emission(OpBuilder builderAtModule, tile::ProgramOp program, StringRef name)
    : builder(builderAtModule), location(program.getLoc()), program(program),
      scratchTaken(Expr::constant(program.getContext(), FREESTONE_SCRATCH_HEADER)) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  function =
      func::FuncOp::create(builder, location, name, builder.getFunctionType({pointer, pointer, i64, i64, pointer}, {}));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  sizesPointer = entry->getArgument(1);
  scratchPointer = entry->getArgument(4);
  begin = arith::IndexCastOp::create(builder, location, builder.getIndexType(), entry->getArgument(2));
  end = arith::IndexCastOp::create(builder, location, builder.getIndexType(), entry->getArgument(3));
  if (tile::ContractionTree::alternate(program.getPlan()->getTiling())) {
    isBackwards = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, begin, end);
    Value first = minimum(begin, end);
    end = maximum(begin, end);
    begin = first;
  }
  for (auto [number, symbol] : llvm::enumerate(program.getSymbols())) {
    symbolValues.push_back(loadWord(sizesPointer, number, i64));
    preamble = symbolValues.back().getDefiningOp();
  }
  if (!preamble)
    preamble = end.getDefiningOp();
  program.walk([&](tile::CheckOp check) { checks.push_back(check); });

  int64_t slot = 0;
  auto load = [&](Type type) {
    auto tensor = cast<graph::TensorType>(type);
    Value memory = loadWord(entry->getArgument(0), slot++, pointer);
    return getMemory(memory, tile::getStorageType(tensor.getElementType()), getSize(tile::getStorageElements(tensor)));
  };
  for (BlockArgument argument : program.getBody()->getArguments())
    buffers[argument] = load(argument.getType());
  for (Type type : program.getResultTypes())
    resultBuffers.push_back(load(type));
  for (auto [value, memory] : llvm::zip_equal(program.getBody()->getTerminator()->getOperands(), resultBuffers))
    buffers.try_emplace(value, memory);
}

func::FuncOp Emission::finish() {
  func::ReturnOp::create(builder, location);
  return function;
}

Value Emission::loadWord(Value pointer, int64_t index, Type type) {
  Value address = LLVM::GEPOp::create(builder, location, pointer.getType(), type, pointer,
                                      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
  return LLVM::LoadOp::create(builder, location, type, address);
}

Value Emission::getSize(Expr size) {
  if (std::optional<int64_t> constant = size.asConstant())
    return getConstant(*constant);
  Value &known = sizes[size];
  if (known)
    return known;
  OpBuilder entry(builder.getContext());
  entry.setInsertionPointAfter(preamble);
  auto valueOf = [&](StringRef name) {
    for (auto [symbol, value] : llvm::zip_equal(program.getSymbols(), symbolValues))
      if (symbol == name)
        return value;
    llvm_unreachable("a size of a program is made of the program's symbols");
  };
  Value value = sym::lowerExpr(entry, location, size, valueOf);
  known = arith::IndexCastOp::create(entry, location, entry.getIndexType(), value);
  preamble = known.getDefiningOp();
  return known;
}

Expr Emission::getPositionSymbol(StringRef name) {
  // No size has this name: identifiers do not begin with a percent sign.
  return Expr::symbol(builder.getContext(), ("%" + name).str());
}

static bool dependsOnAny(Expr expr, ArrayRef<Position> positions) {
  llvm::SetVector<StringAttr> symbols;
  expr.collectSymbols(symbols);
  return llvm::any_of(positions, [&](const Position &position) {
    return llvm::any_of(symbols, [&](StringAttr symbol) { return position.symbol.asSymbol() == symbol.getValue(); });
  });
}

/// Broadcasts a scalar operand to the vector shape of the other.
static void equalise(OpBuilder &builder, Location location, Value &lhs, Value &rhs) {
  auto spread = [&](Value &scalar, Type type) {
    scalar = vector::BroadcastOp::create(builder, location, type, scalar);
  };
  if (isa<VectorType>(lhs.getType()) && !isa<VectorType>(rhs.getType()))
    spread(rhs, lhs.getType());
  else if (isa<VectorType>(rhs.getType()) && !isa<VectorType>(lhs.getType()))
    spread(lhs, rhs.getType());
}

template <typename OpTy> static Value emitBinary(OpBuilder &builder, Location location, Value lhs, Value rhs) {
  equalise(builder, location, lhs, rhs);
  return OpTy::create(builder, location, lhs, rhs);
}

/// Processors have no integer division of vectors. In double precision, the quotient of two integers below 2^52 never
/// rounds past an integer, and unlike an integer division it can be hoisted out of loops.
Value Emission::divideLanes(Value dividend, Value divisor, bool roundUp) {
  equalise(builder, location, dividend, divisor);
  auto indices = cast<VectorType>(dividend.getType());
  VectorType integers = indices.clone(builder.getI64Type()), doubles = indices.clone(builder.getF64Type());
  auto toDouble = [&](Value value) -> Value {
    Value integer = arith::IndexCastOp::create(builder, location, integers, value);
    return arith::SIToFPOp::create(builder, location, doubles, integer);
  };
  Value quotient = arith::DivFOp::create(builder, location, toDouble(dividend), toDouble(divisor));
  quotient = roundUp ? math::CeilOp::create(builder, location, quotient).getResult()
                     : math::FloorOp::create(builder, location, quotient).getResult();
  Value integer = arith::FPToSIOp::create(builder, location, integers, quotient);
  return arith::IndexCastOp::create(builder, location, indices, integer);
}

Value Emission::getAtom(Expr atom, ArrayRef<Position> positions) {
  for (const Position &position : positions)
    if (position.symbol == atom)
      return position.value;
  if (!dependsOnAny(atom, positions))
    return getSize(atom);
  SmallVector<Value> operands;
  for (Expr operand : atom.operands())
    operands.push_back(getIndex(operand, positions));
  if (atom.kind() == sym::Kind::FloorDiv || atom.kind() == sym::Kind::CeilDiv) {
    Value dividend = operands[0], divisor = operands[1];
    Expr divisorSize = atom.operands()[1];
    // The canonical form of a size may have its negative as a divisor: the sign moves to the dividend.
    if (!sym::Bounds(sym::Interval::size()).provablyNonNegative(divisorSize)) {
      Value sign = emitBinary<arith::MaxSIOp>(builder, location, divisor, getConstant(-1));
      sign = emitBinary<arith::MinSIOp>(builder, location, sign, getConstant(1));
      dividend = emitBinary<arith::MulIOp>(builder, location, dividend, sign);
      divisor = emitBinary<arith::MulIOp>(builder, location, divisor, sign);
    }
    // A division by an empty extent may be hoisted above the check for work.
    if (!divisorSize.isConstant())
      divisor = emitBinary<arith::MaxSIOp>(builder, location, divisor, getConstant(1));
    if (isa<VectorType>(dividend.getType()) || isa<VectorType>(divisor.getType()))
      return divideLanes(dividend, divisor, atom.kind() == sym::Kind::CeilDiv);
    if (atom.kind() == sym::Kind::FloorDiv)
      return emitBinary<arith::FloorDivSIOp>(builder, location, dividend, divisor);
    return emitBinary<arith::CeilDivSIOp>(builder, location, dividend, divisor);
  }
  Value result = operands.front();
  for (Value operand : ArrayRef(operands).drop_front())
    result = atom.kind() == sym::Kind::Min ? emitBinary<arith::MinSIOp>(builder, location, result, operand)
                                           : emitBinary<arith::MaxSIOp>(builder, location, result, operand);
  return result;
}

Value Emission::getIndex(Expr index, ArrayRef<Position> positions) {
  if (!dependsOnAny(index, positions))
    return getSize(index);
  // Terms of outer positions are summed first, so that they can be hoisted out of inner loops.
  SmallVector<Value> sums(positions.size());
  Expr fixed = Expr::constant(builder.getContext(), 0);
  for (const sym::Term &term : index.terms()) {
    Expr scale = Expr::constant(builder.getContext(), term.coefficient);
    SmallVector<std::pair<Expr, unsigned>> moving;
    unsigned level = 0;
    for (const sym::Factor &factor : term.factors) {
      if (!dependsOnAny(factor.atom, positions)) {
        for (unsigned i = 0; i < factor.power; ++i)
          scale = scale * factor.atom;
        continue;
      }
      moving.emplace_back(factor.atom, factor.power);
      for (auto [number, position] : llvm::enumerate(positions))
        if (dependsOnAny(factor.atom, position))
          level = std::max<unsigned>(level, number);
    }
    if (moving.empty()) {
      fixed = fixed + scale;
      continue;
    }
    Value product = scale.isConstant(1) ? Value() : getSize(scale);
    for (auto [atom, power] : moving)
      for (unsigned i = 0; i < power; ++i) {
        Value value = getAtom(atom, positions);
        product = product ? emitBinary<arith::MulIOp>(builder, location, product, value) : value;
      }
    sums[level] = sums[level] ? emitBinary<arith::AddIOp>(builder, location, sums[level], product) : product;
  }
  Value result = fixed.isConstant(0) ? Value() : getSize(fixed);
  for (Value sum : sums)
    if (sum)
      result = result ? emitBinary<arith::AddIOp>(builder, location, result, sum) : sum;
  return result;
}

Value Emission::getConstant(int64_t value) { return arith::ConstantIndexOp::create(builder, location, value); }

Value Emission::getMemory(Value pointer, Type elementType, Value elements) {
  MLIRContext *context = builder.getContext();
  Type i64 = builder.getI64Type(), array = LLVM::LLVMArrayType::get(i64, 1);
  auto type = LLVM::LLVMStructType::getLiteral(context, {pointer.getType(), pointer.getType(), i64, array, array});
  auto i64Constant = [&](int64_t value) {
    return LLVM::ConstantOp::create(builder, location, i64, builder.getI64IntegerAttr(value)).getResult();
  };
  Value count = arith::IndexCastOp::create(builder, location, i64, elements);
  Value descriptor = LLVM::PoisonOp::create(builder, location, type);
  auto insert = [&](Value value, ArrayRef<int64_t> at) {
    descriptor = LLVM::InsertValueOp::create(builder, location, descriptor, value, at);
  };
  insert(pointer, 0);
  insert(pointer, 1);
  insert(i64Constant(0), 2);
  insert(count, {3, 0});
  insert(i64Constant(1), {4, 0});
  auto memory = MemRefType::get({ShapedType::kDynamic}, elementType);
  return UnrealizedConversionCastOp::create(builder, location, memory, descriptor).getResult(0);
}

Value Emission::getPointer(Value memory, Value index) {
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(builder, location, memory);
  Type i64 = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value address = arith::IndexCastOp::create(builder, location, i64, base);
  Value bare = LLVM::IntToPtrOp::create(builder, location, pointer, address);
  Value offset = arith::IndexCastOp::create(builder, location, i64, index);
  Type elementType = cast<MemRefType>(memory.getType()).getElementType();
  return LLVM::GEPOp::create(builder, location, pointer, elementType, bare, ArrayRef<LLVM::GEPArg>{offset});
}

Value Emission::takeScratch(Type elementType, Expr elements) {
  Type i64 = builder.getI64Type();
  Value offset = arith::IndexCastOp::create(builder, location, i64, getSize(scratchTaken));
  Value pointer = LLVM::GEPOp::create(builder, location, scratchPointer.getType(), builder.getI8Type(), scratchPointer,
                                      ArrayRef<LLVM::GEPArg>{offset});
  scratchTaken = scratchTaken + tile::getScratchBytes(elements, elementType.isIndex() ? i64 : elementType);
  return getMemory(pointer, elementType, getSize(elements));
}

void Emission::forTiles(function_ref<void(Value)> body) { forRange(begin, end, 1, body); }

void Emission::forTileRuns(function_ref<Value(Value)> body) {
  OpBuilder::InsertionGuard guard(builder);
  auto loop = scf::WhileOp::create(
      builder, location, TypeRange{builder.getIndexType()}, ValueRange{begin},
      [&](OpBuilder &, Location, ValueRange tile) {
        Value left = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::ult, tile[0], end);
        scf::ConditionOp::create(builder, location, left, tile);
      },
      [&](OpBuilder &, Location, ValueRange tile) {
        Value count = body(tile[0]);
        scf::YieldOp::create(builder, location, add(tile[0], count));
      });
  builder.setInsertionPointAfter(loop);
}

void Emission::forRange(Value from, Value to, Value step, function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(builder, location, from, to, step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void Emission::forPoints(Value from, Value to, ArrayRef<Expr> extents,
                         function_ref<void(Value, ArrayRef<Value>)> body) {
  auto loop = scf::ForOp::create(builder, location, from, to, getConstant(1), unravel(from, extents));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> digits = llvm::to_vector_of<Value>(loop.getRegionIterArgs());
  body(loop.getInductionVar(), digits);
  scf::YieldOp::create(builder, location, countOn(std::move(digits), getConstant(1), extents));
}

void Emission::forPointRuns(Value from, Value to, ArrayRef<Expr> extents,
                            function_ref<Value(Value, ArrayRef<Value>)> body) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Value> start = {from};
  llvm::append_range(start, unravel(from, extents));
  auto loop = scf::WhileOp::create(
      builder, location, SmallVector<Type>(start.size(), builder.getIndexType()), start,
      [&](OpBuilder &, Location, ValueRange point) {
        Value left = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, point[0], to);
        scf::ConditionOp::create(builder, location, left, point);
      },
      [&](OpBuilder &, Location, ValueRange point) {
        SmallVector<Value> digits = llvm::to_vector_of<Value>(point.drop_front());
        Value count = body(point[0], digits);
        SmallVector<Value> next = {add(point[0], count)};
        llvm::append_range(next, countOn(std::move(digits), count, extents));
        scf::YieldOp::create(builder, location, next);
      });
  builder.setInsertionPointAfter(loop);
}

/// Adds to the last digit, which reaches its extent at most.
SmallVector<Value> Emission::countOn(SmallVector<Value> digits, Value count, ArrayRef<Expr> extents) {
  Value one = getConstant(1), carry;
  for (unsigned i = extents.size(); i-- > 0;) {
    if (i > 0 && extents[i].isConstant(1))
      continue;
    Value next = add(digits[i], i + 1 == extents.size() ? count : one);
    if (carry)
      next = arith::SelectOp::create(builder, location, carry, next, digits[i]);
    if (i > 0) {
      carry = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, next, getSize(extents[i]));
      next = arith::SelectOp::create(builder, location, carry, getConstant(0), next);
    }
    digits[i] = next;
  }
  return digits;
}

SmallVector<Value> Emission::unravel(Value number, ArrayRef<Expr> extents) {
  SmallVector<Value> digits(extents.size());
  for (unsigned i = extents.size(); i > 1; --i) {
    Expr extent = extents[i - 1];
    if (extent.isConstant(1)) {
      digits[i - 1] = getConstant(0);
      continue;
    }
    Value size = getSize(extent);
    Value quotient = divide(number, size);
    digits[i - 1] = subtract(number, multiply(quotient, size));
    number = quotient;
  }
  if (!digits.empty())
    digits.front() = number;
  return digits;
}

Value Emission::getTailMask(unsigned lanes, Value active) {
  auto type = VectorType::get({lanes}, builder.getI1Type());
  return vector::CreateMaskOp::create(builder, location, type, ValueRange{active});
}

Value Emission::getRangeMask(unsigned lanes, Value first, Value size) {
  Value zero = getConstant(0), end = maximum(zero, subtract(size, first));
  Value begin = minimum(end, maximum(zero, subtract(zero, first)));
  return arith::XOrIOp::create(builder, location, getTailMask(lanes, begin), getTailMask(lanes, end));
}

void Emission::check(tile::CheckOp check, Value holds) {
  int64_t number = llvm::find(checks, check) - checks.begin();
  Value fails = arith::XOrIOp::create(builder, location, holds,
                                      arith::ConstantIntOp::create(builder, location, 1, 1).getResult());
  auto branch = scf::IfOp::create(builder, location, fails, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Value site = loadWord(sizesPointer, program.getSymbols().size() + number, builder.getI64Type());
  LLVM::StoreOp::create(builder, location, site, scratchPointer);
}

Value Emission::add(Value lhs, Value rhs) { return arith::AddIOp::create(builder, location, lhs, rhs); }
Value Emission::subtract(Value lhs, Value rhs) { return arith::SubIOp::create(builder, location, lhs, rhs); }
Value Emission::multiply(Value lhs, Value rhs) { return arith::MulIOp::create(builder, location, lhs, rhs); }
Value Emission::minimum(Value lhs, Value rhs) { return arith::MinSIOp::create(builder, location, lhs, rhs); }
Value Emission::maximum(Value lhs, Value rhs) { return arith::MaxSIOp::create(builder, location, lhs, rhs); }
Value Emission::divide(Value lhs, Value rhs) { return arith::DivUIOp::create(builder, location, lhs, rhs); }
Value Emission::ceilDivide(Value lhs, Value rhs) { return divide(add(lhs, subtract(rhs, getConstant(1))), rhs); }
