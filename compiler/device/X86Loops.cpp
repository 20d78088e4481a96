#include "compiler/device/Loops.h"

#include "runtime/machine/Architecture.h"
#include "llvm/ADT/STLExtras.h"
#include <immintrin.h>

using namespace freestone;

namespace {

using Vector32 [[gnu::may_alias]] = float __attribute__((vector_size(32)));
using Vector64 [[gnu::may_alias]] = float __attribute__((vector_size(64)));

// What is volatile is neither left out nor merged.

template <typename Vector> [[gnu::always_inline]] inline void readAll(const char *memory, size_t bytes) {
  auto *vectors = reinterpret_cast<const volatile Vector *>(memory);
  for (size_t i = 0; i < bytes / sizeof(Vector); i += 8)
    for (size_t j = 0; j < 8; ++j)
      (void)vectors[i + j];
}

template <typename Vector> [[gnu::always_inline]] inline void writeAll(char *memory, size_t bytes) {
  auto *vectors = reinterpret_cast<volatile Vector *>(memory);
  for (size_t i = 0; i < bytes / sizeof(Vector); ++i)
    vectors[i] = Vector{};
}

template <typename Vector> [[gnu::always_inline]] inline void copyAll(char *to, const char *from, size_t bytes) {
  auto *target = reinterpret_cast<volatile Vector *>(to);
  auto *source = reinterpret_cast<const volatile Vector *>(from);
  for (size_t i = 0; i < bytes / sizeof(Vector); ++i)
    target[i] = source[i];
}

/// Independent sums: enough to hide the latency of an instruction that begins twice a cycle.
constexpr int sumCount = 12;

#define AVX2 gnu::target("avx2,fma"), gnu::noinline
#define AVX512 gnu::target("avx512f,fma"), gnu::noinline

[[AVX2]] void read32(const char *memory, size_t bytes) { readAll<Vector32>(memory, bytes); }
[[AVX512]] void read64(const char *memory, size_t bytes) { readAll<Vector64>(memory, bytes); }
[[AVX2]] void write32(char *memory, size_t bytes) { writeAll<Vector32>(memory, bytes); }
[[AVX512]] void write64(char *memory, size_t bytes) { writeAll<Vector64>(memory, bytes); }
[[AVX2]] void copy32(char *to, const char *from, size_t bytes) { copyAll<Vector32>(to, from, bytes); }
[[AVX512]] void copy64(char *to, const char *from, size_t bytes) { copyAll<Vector64>(to, from, bytes); }

/// Blocks of so many rows by two vectors of a panel.
template <typename Vector, int rows> [[gnu::always_inline]] inline void multiplyAll(const char *memory, size_t bytes) {
  auto *vectors = reinterpret_cast<const volatile Vector *>(memory);
  volatile float elements[rows] = {};
  Vector sums[rows][2] = {};
  for (size_t i = 0; i < bytes / sizeof(Vector); i += 2) {
    Vector left = vectors[i], right = vectors[i + 1];
    _Pragma("clang loop unroll(full)") for (int row = 0; row < rows; ++row) {
      float element = elements[row];
      sums[row][0] += left * element;
      sums[row][1] += right * element;
    }
  }
  volatile Vector result;
  for (auto &row : sums)
    result = row[0] + row[1];
  (void)result;
}

[[AVX2]] void multiply32(const char *memory, size_t bytes) { multiplyAll<Vector32, 6>(memory, bytes); }
[[AVX512]] void multiply64(const char *memory, size_t bytes) { multiplyAll<Vector64, 14>(memory, bytes); }

// Adds products of unknown vectors to independent sums; a macro, since a function would have instructions of its own.
#define ADD_PRODUCTS(Vector, Factor, add)                                                                              \
  volatile Factor unknown = {};                                                                                        \
  Factor factor = unknown, other = unknown;                                                                            \
  Vector sums[sumCount] = {};                                                                                          \
  for (int step = 0; step < steps; ++step) {                                                                           \
    _Pragma("clang loop unroll(full)") for (Vector & sum : sums) sum = add;                                            \
  }                                                                                                                    \
  [[maybe_unused]] volatile Vector result;                                                                             \
  for (const Vector &sum : sums)                                                                                       \
    result = sum;

[[AVX2]] void add32(int steps) { ADD_PRODUCTS(Vector32, Vector32, sum * factor + other) }
[[AVX512]] void add64(int steps) { ADD_PRODUCTS(Vector64, Vector64, sum * factor + other) }
[[gnu::target("avx512f,avx512bf16"), gnu::noinline]] void addPairs(int steps) {
  ADD_PRODUCTS(__m512, __m512bh, _mm512_dpbf16_ps(sum, factor, other))
}
[[gnu::target("avx512f,avx512vnni"), gnu::noinline]] void addQuads(int steps) {
  ADD_PRODUCTS(__m512i, __m512i, _mm512_dpbusd_epi32(sum, factor, other))
}

/// All eight tiles at their full size, 16 rows of 64 bytes.
struct alignas(64) TileShapes {
  uint8_t palette = 1, start = 0, reserved[14] = {};
  uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// A block of two by two tiles, as in micro-kernels.
#define ADD_TILES(instruction)                                                                                         \
  TileShapes shapes;                                                                                                   \
  _tile_loadconfig(&shapes);                                                                                           \
  asm volatile("tilezero %tmm0\ntilezero %tmm1\ntilezero %tmm2\ntilezero %tmm3\n"                                      \
               "tilezero %tmm4\ntilezero %tmm5\ntilezero %tmm6\ntilezero %tmm7\n");                                    \
  for (int step = 0; step < steps; ++step)                                                                             \
    asm volatile(instruction " %tmm6, %tmm4, %tmm0\n" instruction " %tmm7, %tmm4, %tmm1\n" instruction                 \
                             " %tmm6, %tmm5, %tmm2\n" instruction " %tmm7, %tmm5, %tmm3\n");                           \
  _tile_release();

[[gnu::target("amx-tile,amx-bf16"), gnu::noinline]] void addPairTiles(int steps) { ADD_TILES("tdpbf16ps") }
[[gnu::target("amx-tile,amx-int8"), gnu::noinline]] void addQuadTiles(int steps) { ADD_TILES("tdpbusd") }

/// The multiply-adds of `steps` steps that add dot products of `wordSteps` elements on this unit; 0 without the
/// instruction set.
double runWords(const DeviceDescription &device, WordUnit unit, int steps, int wordSteps, const char *onVectors,
                void (*vectors)(int), const char *onTiles, void (*tiles)(int)) {
  constexpr double words = 16, tileRows = 16, blockTiles = 4;
  if (unit == WordUnit::vectors && llvm::is_contained(device.instructions, onVectors)) {
    vectors(steps);
    return words * wordSteps * sumCount * steps;
  }
  if (unit == WordUnit::tiles && llvm::is_contained(device.tileInstructions, onTiles) &&
      runtime::architecture::request("amx-tile")) {
    tiles(steps);
    return words * wordSteps * tileRows * words * blockTiles * steps;
  }
  return 0;
}

} // namespace

void loops::read(const DeviceDescription &device, const char *memory, size_t bytes) {
  (device.vectorBytes == 64 ? read64 : read32)(memory, bytes);
}

void loops::write(const DeviceDescription &device, char *memory, size_t bytes) {
  (device.vectorBytes == 64 ? write64 : write32)(memory, bytes);
}

void loops::copy(const DeviceDescription &device, char *to, const char *from, size_t bytes) {
  (device.vectorBytes == 64 ? copy64 : copy32)(to, from, bytes);
}

void loops::evict(const char *memory, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64)
    _mm_clflush(memory + i);
  _mm_mfence();
}

double loops::multiplyAdds(const DeviceDescription &device, int steps) {
  (device.vectorBytes == 64 ? add64 : add32)(steps);
  return static_cast<double>(device.getLanes(32)) * sumCount * steps;
}

void loops::multiplyRead(const DeviceDescription &device, const char *memory, size_t bytes) {
  (device.vectorBytes == 64 ? multiply64 : multiply32)(memory, bytes);
}

double loops::addInTurn(int steps) {
  constexpr int together = 8;
  int64_t sum = 0;
  for (int step = 0; step < steps; ++step)
    asm volatile("add $1, %0\nadd $1, %0\nadd $1, %0\nadd $1, %0\n"
                 "add $1, %0\nadd $1, %0\nadd $1, %0\nadd $1, %0\n"
                 : "+r"(sum));
  return static_cast<double>(together) * steps;
}

double loops::pairs(const DeviceDescription &device, WordUnit unit, int steps) {
  return runWords(device, unit, steps, 2, "avx512bf16", addPairs, "amx-bf16", addPairTiles);
}

double loops::quads(const DeviceDescription &device, WordUnit unit, int steps) {
  return runWords(device, unit, steps, 4, "avx512vnni", addQuads, "amx-int8", addQuadTiles);
}
