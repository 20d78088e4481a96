#include "compiler/codegen/cpu/DotProductKernelEmitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::codegen;

StringRef freestone::codegen::getTileFunctionName(TileFunction function) {
  return function == TileFunction::enter ? "freestone_dot_products_enter" : "freestone_dot_products_leave";
}

/// The parts of A and B whose products count, the small ones first; neighbours share one. Of three parts, the others
/// are below the last bit of the largest product.
static SmallVector<std::pair<int64_t, int64_t>> getPartsOfProducts(const tile::DotProductFactors &factors) {
  assert((factors.parts == 1 || factors.parts == 3) && "an f32 has three parts");
  if (factors.parts == 1)
    return {{0, 0}};
  return {{0, 2}, {0, 1}, {1, 1}, {1, 0}, {2, 0}, {0, 0}};
}

/// The tiles of a strip's accumulators, four row-major, or two of half a strip.
void DotProductKernelEmitter::forSums(Value c, int64_t count,
                                      llvm::function_ref<void(int64_t tile, Value address)> body) {
  for (int64_t tile = 0; tile < count; ++tile)
    body(tile, advance(c, static_cast<int32_t>(tile / 2 * 16 * panelRow + tile % 2 * tileRow)));
}

/// Adds the lower half of a strip's sums of f32 to the upper one.
void DotProductKernelEmitter::addHalves(Value c) {
  auto type = VectorType::get({16}, builder.getF32Type());
  auto loop = scf::ForOp::create(builder, location, constant(0), constant(stripRows / 2), constant(1), ValueRange{c});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value row = loop.getRegionIterArg(0);
  for (int32_t half = 0; half < panelRow; half += tileRow) {
    Value at = advance(row, half), other = advance(row, half + static_cast<int32_t>(stripRows / 2 * panelRow));
    Value sum = arith::AddFOp::create(builder, location, LLVM::LoadOp::create(builder, location, type, at, 64),
                                      LLVM::LoadOp::create(builder, location, type, other, 64));
    LLVM::StoreOp::create(builder, location, sum, at, 64);
  }
  scf::YieldOp::create(builder, location, ValueRange{advance(row, panelRow)});
}

/// Two panels by half a strip, with an accumulator for each 16 columns, so that neighbouring products don't wait for
/// each other and the latency of sums is that of one panel.
void DotProductKernelEmitter::emitPair(const tile::DotProductFactors &factors, ValueRange arguments,
                                       StringRef multiply) {
  Value panelPitch = word(panelRow), tilePitch = word(tileRow), groups = toIndex(arguments[1]);
  Value sums[] = {arguments[5], arguments[10]}, ahead[] = {arguments[7], arguments[11]};
  auto forBoth = [&](llvm::function_ref<void(int64_t tile, Value address)> body) {
    for (int64_t panel = 0; panel < 2; ++panel)
      forSums(sums[panel], 2, [&](int64_t tile, Value address) { body(2 * panel + tile, address); });
  };
  emitIf(
      isSet(arguments[6]),
      [&] { forBoth([&](int64_t tile, Value address) {
              call("llvm.x86.tileloadd64", tile, {address, panelPitch});
            }); },
      [&] { forBoth([&](int64_t tile, Value) { call("llvm.x86.tilezero", tile); }); });
  auto loop = scf::ForOp::create(builder, location, constant(0), groups, constant(1),
                                 ValueRange{arguments[2], arguments[4], arguments[9]});
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    auto products = getPartsOfProducts(factors);
    auto bytes = static_cast<int32_t>(factors.parts * groupBytes);
    Value a = loop.getRegionIterArg(0), b[] = {loop.getRegionIterArg(1), loop.getRegionIterArg(2)}, coming[2];
    Value number = arith::AddIOp::create(builder, location, loop.getInductionVar(), constant(1));
    Value isInside = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, number, groups);
    for (int64_t panel = 0; panel < 2; ++panel)
      coming[panel] = arith::SelectOp::create(builder, location, isInside, advance(b[panel], bytes), ahead[panel]);
    int64_t partsOfA[] = {-1, -1}, partOfB = -1, held = 1;
    for (auto [number, parts] : llvm::enumerate(products)) {
      auto [ofA, ofB] = parts;
      // Spread over the products.
      auto share = bytes / static_cast<int32_t>(products.size());
      for (int32_t at = 0; at < share; at += tileRow)
        for (Value panel : coming)
          LLVM::Prefetch::create(builder, location, advance(panel, static_cast<int32_t>(number) * share + at), /*rw=*/0,
                                 /*hint=*/3, /*cache=*/1);
      // The largest part stays in its tile.
      int64_t place = ofA > 0;
      if (std::exchange(partsOfA[place], ofA) != ofA)
        call("llvm.x86.tileloadd64", 4 + place, {advance(a, static_cast<int32_t>(ofA * groupBytes)), tilePitch});
      // The panel that is in tiles comes first.
      bool isNew = std::exchange(partOfB, ofB) != ofB;
      int64_t first = isNew ? 0 : held;
      for (int64_t panel : {first, 1 - first}) {
        for (int64_t half = 0; half < 2; ++half) {
          if (isNew || panel != first)
            call("llvm.x86.tileloadd64", 6 + half,
                 {advance(b[panel], static_cast<int32_t>(ofB * groupBytes + half * tileRow)), panelPitch});
          call(multiply, {2 * panel + half, 4 + place, 6 + half});
        }
      }
      held = 1 - first;
    }
    scf::YieldOp::create(builder, location, ValueRange{advance(a, bytes), advance(b[0], bytes), advance(b[1], bytes)});
  }
  forBoth([&](int64_t tile, Value address) { call("llvm.x86.tilestored64", tile, {address, panelPitch}); });
}

/// Tiles 0 to 3 are accumulators, 4 and 5 rows of A, 6 and 7 columns of B.
void DotProductKernelEmitter::emitTileKernel() {
  const tile::DotProductFactors &factors = kernel.factors;
  ValueRange arguments = openKernel();
  std::string multiply = "llvm.x86.tdpbf16ps";
  if (factors.areIntegers)
    multiply =
        std::string("llvm.x86.tdpb") + (factors.isLhsSigned ? "s" : "u") + (factors.isRhsSigned ? "s" : "u") + "d";
  Value panelPitch = word(panelRow), tilePitch = word(tileRow), rows = toIndex(arguments[0]);
  auto emitStrip = [&](Value stripA, Value c, int64_t sums, bool passes, Value ahead, Value pitch) {
    // Half a strip has too few accumulators for the latency of products in turns: those of every other part have their
    // own, which are added in the end.
    bool areApart = sums < 4 && factors.parts > 1;
    emitIf(
        isSet(arguments[6]),
        [&] {
          forSums(c, sums, [&](int64_t tile, Value address) {
            call("llvm.x86.tileloadd64", tile, {address, panelPitch});
          });
        },
        [&] { forSums(c, sums, [&](int64_t tile, Value) { call("llvm.x86.tilezero", tile); }); });
    for (int64_t tile = sums; areApart && tile < 2 * sums; ++tile)
      call("llvm.x86.tilezero", tile);
    auto loop = scf::ForOp::create(builder, location, constant(0), toIndex(arguments[1]), constant(1),
                                   ValueRange{stripA, arguments[4], ahead});
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      Value a = loop.getRegionIterArg(0), b = loop.getRegionIterArg(1), next = loop.getRegionIterArg(2);
      auto load = [&](int64_t tile, Value base, int64_t bytes, Value pitch) {
        call("llvm.x86.tileloadd64", tile, {advance(base, static_cast<int32_t>(bytes)), pitch});
      };
      auto bytes = static_cast<int32_t>(factors.parts * groupBytes);
      Value coming;
      if (passes) {
        // The next group; behind the last comes the first of the next panel.
        Value number = arith::AddIOp::create(builder, location, loop.getInductionVar(), constant(1));
        Value isInside =
            arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, number, toIndex(arguments[1]));
        coming = arith::SelectOp::create(builder, location, isInside, advance(b, bytes), arguments[7]);
      }
      auto products = getPartsOfProducts(factors);
      // Spread over the products.
      auto prefetch = [&](size_t number) {
        auto share = [&](int64_t all, size_t done) { return static_cast<int32_t>(all * done / products.size()); };
        constexpr int32_t line = tileRow;
        for (int32_t at = share(bytes / line, number); passes && at < share(bytes / line, number + 1); ++at)
          LLVM::Prefetch::create(builder, location, advance(coming, at * line), /*rw=*/0, /*hint=*/3, /*cache=*/1);
        bool hasRows = factors.parts > 1 && !passes && !areApart;
        for (int32_t row = share(rowsAhead, number); hasRows && row < share(rowsAhead, number + 1); ++row)
          next = prefetchRow(next, pitch);
      };
      auto multiplyApart = [&] {
        int64_t partsOfA[] = {-1, -1}, partOfB = -1;
        for (auto [number, parts] : llvm::enumerate(products)) {
          auto [ofA, ofB] = parts;
          prefetch(number);
          if (std::exchange(partOfB, ofB) != ofB)
            for (int64_t half = 0; half < 2; ++half)
              load(6 + half, b, ofB * groupBytes + half * tileRow, panelPitch);
          // The largest part stays in its tile.
          int64_t place = ofA > 0, first = number % 2 == 0 ? 2 : 0;
          if (std::exchange(partsOfA[place], ofA) != ofA)
            load(4 + place, a, ofA * groupBytes, tilePitch);
          call(multiply, {first, 4 + place, 6});
          call(multiply, {first + 1, 4 + place, 7});
        }
      };
      auto multiplyTogether = [&] {
        int64_t partOfA = -1, partOfB = -1;
        for (auto [number, parts] : llvm::enumerate(products)) {
          auto [ofA, ofB] = parts;
          prefetch(number);
          bool isNewA = std::exchange(partOfA, ofA) != ofA, isNewB = std::exchange(partOfB, ofB) != ofB;
          if (isNewB)
            load(6, b, ofB * groupBytes, panelPitch);
          if (isNewA)
            load(4, a, ofA * groupBytes, tilePitch);
          call(multiply, {0, 4, 6});
          if (isNewB)
            load(7, b, ofB * groupBytes + tileRow, panelPitch);
          call(multiply, {1, 4, 7});
          if (sums < 4)
            continue;
          if (isNewA)
            load(5, a, ofA * groupBytes + tileBytes, tilePitch);
          call(multiply, {2, 5, 6});
          call(multiply, {3, 5, 7});
        }
      };
      if (areApart)
        multiplyApart();
      else
        multiplyTogether();
      scf::YieldOp::create(builder, location, ValueRange{advance(a, bytes), advance(b, bytes), next});
    }
    forSums(c, areApart ? 2 * sums : sums, [&](int64_t tile, Value address) {
      call("llvm.x86.tilestored64", tile, {address, panelPitch});
    });
    if (areApart)
      addHalves(c);
  };
  auto emitStripOf = [&](Value strip, Value stripA, Value c) {
    Value before = arith::MulIOp::create(builder, location, strip, constant(stripRows));
    Value left = arith::SubIOp::create(builder, location, rows, before);
    Value isWhole = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sgt, left, constant(stripRows / 2));
    auto emitEither = [&](bool passes, Value ahead, Value pitch) {
      emitIf(
          isWhole, [&] { emitStrip(stripA, c, 4, passes, ahead, pitch); },
          [&] { emitStrip(stripA, c, 2, passes, ahead, pitch); });
    };
    // Later strips prefetch the first row again.
    Value isFirst = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::slt, strip, constant(stripsAhead));
    Value pitch = arith::SelectOp::create(builder, location, isFirst, toIndex(arguments[8]), constant(0));
    Value groups = arith::MulIOp::create(builder, location, strip, toIndex(arguments[1]));
    Value distance = arith::MulIOp::create(
        builder, location, arith::MulIOp::create(builder, location, groups, constant(rowsAhead)), pitch);
    Value ahead = advance(arguments[7], toWord(distance)), pitchWord = toWord(pitch);
    if (factors.parts == 1)
      return emitEither(/*passes=*/false, ahead, pitchWord);
    Value isOne = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, strip, constant(0));
    Value passes = arith::AndIOp::create(
        builder, location, isOne,
        arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, toIndex(arguments[8]), constant(0)));
    emitIf(
        passes, [&] { emitEither(/*passes=*/true, ahead, pitchWord); },
        [&] { emitEither(/*passes=*/false, ahead, pitchWord); });
  };
  if (factors.parts == 1)
    forStrips(arguments, arguments[3], emitStripOf);
  else
    emitIf(
        isSet(LLVM::PtrToIntOp::create(builder, location, i64, arguments[9])),
        [&] { emitPair(factors, arguments, multiply); }, [&] { forStrips(arguments, arguments[3], emitStripOf); });
  close();
}

/// Configures all tiles with 16 rows of 64 bytes.
void DotProductKernelEmitter::emitEnter() {
  open(getTileFunctionName(TileFunction::enter), builder.getFunctionType({}, {}));
  // Palette 1; from byte 16, the row length of each tile in 16 bits; from byte 48, its number of rows in 8 bits.
  constexpr int64_t rowBytes = 0x0040'0040'0040'0040, rows = 0x1010'1010'1010'1010;
  constexpr int64_t words[] = {1, 0, rowBytes, rowBytes, 0, 0, rows, 0};
  Value configuration = LLVM::AllocaOp::create(builder, location, pointer, i64, word(std::size(words)), 64);
  for (auto [number, value] : llvm::enumerate(words))
    LLVM::StoreOp::create(builder, location, word(value), advance(configuration, static_cast<int32_t>(8 * number)), 8);
  call("llvm.x86.ldtilecfg", {}, configuration);
  close();
}

void DotProductKernelEmitter::emitLeave() {
  open(getTileFunctionName(TileFunction::leave), builder.getFunctionType({}, {}));
  call("llvm.x86.tilerelease", {});
  close();
}
