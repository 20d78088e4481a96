#include "runtime/CpuFeatures.h"

#include "runtime/platform/TileData.h"
#include <array>
#include <cpuid.h>
#include <cstdint>
#include <map>
#include <utility>

using namespace freestone::runtime;

namespace {

enum Register { Eax, Ebx, Ecx, Edx };
/// What the operating system must save and restore besides the general registers.
enum State { None, Ymm, Zmm, Tiles };

struct Feature {
  std::string_view name;
  uint32_t leaf, subleaf;
  Register where;
  int bit;
  State state;
};

constexpr Feature features[] = {
    {"sse2", 1, 0, Edx, 26, None},
    {"sse3", 1, 0, Ecx, 0, None},
    {"ssse3", 1, 0, Ecx, 9, None},
    {"sse4.1", 1, 0, Ecx, 19, None},
    {"sse4.2", 1, 0, Ecx, 20, None},
    {"cx16", 1, 0, Ecx, 13, None},
    {"movbe", 1, 0, Ecx, 22, None},
    {"popcnt", 1, 0, Ecx, 23, None},
    {"lzcnt", 0x80000001, 0, Ecx, 5, None},
    {"bmi", 7, 0, Ebx, 3, None},
    {"bmi2", 7, 0, Ebx, 8, None},
    {"adx", 7, 0, Ebx, 19, None},
    {"avx", 1, 0, Ecx, 28, Ymm},
    {"f16c", 1, 0, Ecx, 29, Ymm},
    {"fma", 1, 0, Ecx, 12, Ymm},
    {"avx2", 7, 0, Ebx, 5, Ymm},
    {"gfni", 7, 0, Ecx, 8, None},
    {"avxvnni", 7, 1, Eax, 4, Ymm},
    {"avxifma", 7, 1, Eax, 23, Ymm},
    {"avxvnniint8", 7, 1, Edx, 4, Ymm},
    {"avxneconvert", 7, 1, Edx, 5, Ymm},
    {"avx512f", 7, 0, Ebx, 16, Zmm},
    {"avx512dq", 7, 0, Ebx, 17, Zmm},
    {"avx512ifma", 7, 0, Ebx, 21, Zmm},
    {"avx512cd", 7, 0, Ebx, 28, Zmm},
    {"avx512bw", 7, 0, Ebx, 30, Zmm},
    {"avx512vl", 7, 0, Ebx, 31, Zmm},
    {"avx512vbmi", 7, 0, Ecx, 1, Zmm},
    {"avx512vbmi2", 7, 0, Ecx, 6, Zmm},
    {"avx512vnni", 7, 0, Ecx, 11, Zmm},
    {"avx512bitalg", 7, 0, Ecx, 12, Zmm},
    {"avx512vpopcntdq", 7, 0, Ecx, 14, Zmm},
    {"avx512vp2intersect", 7, 0, Edx, 8, Zmm},
    {"avx512fp16", 7, 0, Edx, 23, Zmm},
    {"avx512bf16", 7, 1, Eax, 5, Zmm},
    {"amx-tile", 7, 0, Edx, 24, Tiles},
    {"amx-int8", 7, 0, Edx, 25, Tiles},
    {"amx-bf16", 7, 0, Edx, 22, Tiles},
    {"amx-fp16", 7, 1, Eax, 21, Tiles},
};

using Registers = std::array<uint32_t, 4>;

/// What the CPU says where features are told, asked once: in a virtual machine each question takes microseconds.
const Registers &registersOf(const Feature &feature) {
  static const auto answers = [] {
    std::map<std::pair<uint32_t, uint32_t>, Registers> all;
    for (const Feature &each : features)
      if (auto [place, isNew] = all.try_emplace({each.leaf, each.subleaf}); isNew) {
        Registers &answer = place->second;
        __get_cpuid_count(each.leaf, each.subleaf, &answer[Eax], &answer[Ebx], &answer[Ecx], &answer[Edx]);
      }
    return all;
  }();
  return answers.at({feature.leaf, feature.subleaf});
}

bool cpuHas(const Feature &feature) { return registersOf(feature)[feature.where] >> feature.bit & 1; }

bool systemSaves(State state) {
  if (state == None)
    return true;
  constexpr Feature osxsave = {"", 1, 0, Ecx, 27, None};
  if (!cpuHas(osxsave))
    return false;
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr uint32_t ymm = 0x6, zmm = 0xe6, tiles = 0x60000;
  uint32_t needed = state == Ymm ? ymm : state == Zmm ? zmm : tiles;
  return (low & needed) == needed && (state != Tiles || platform::canHaveTileData());
}

} // namespace

std::string_view freestone::runtime::hostArch() { return "x86_64"; }

const std::vector<std::string_view> &freestone::runtime::knownCpuFeatures() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> result;
    for (const Feature &feature : features)
      result.push_back(feature.name);
    return result;
  }();
  return names;
}

std::optional<bool> freestone::runtime::hasCpuFeature(std::string_view name) {
  for (const Feature &feature : features)
    if (feature.name == name)
      return cpuHas(feature) && systemSaves(feature.state);
  return std::nullopt;
}
