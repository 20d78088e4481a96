#include "runtime/machine/Architecture.h"

#include "runtime/platform/TileData.h"
#include <algorithm>
#include <array>
#include <cpuid.h>
#include <cstdio>
#include <elf.h>
#include <map>

using namespace freestone::runtime;
using namespace freestone::runtime::architecture;

namespace {

constexpr std::string_view levelNames[] = {"x86-64-v3", "x86-64-v4"};
enum Level : size_t { V3, V4, NoLevel };

enum Register { Eax, Ebx, Ecx, Edx };
/// Register state that the operating system must save and restore.
enum State { None, Ymm, Zmm, Tiles };

/// The CPUID bit of a feature.
struct Place {
  uint32_t leaf, subleaf;
  Register where;
  int bit;
};

struct KnownFeature {
  std::string_view name;
  Level level;
  Place place;
  State state;
};

constexpr KnownFeature knownFeatures[] = {
    {"sse2", V3, {1, 0, Edx, 26}, None},
    {"sse3", V3, {1, 0, Ecx, 0}, None},
    {"ssse3", V3, {1, 0, Ecx, 9}, None},
    {"sse4.1", V3, {1, 0, Ecx, 19}, None},
    {"sse4.2", V3, {1, 0, Ecx, 20}, None},
    {"cx16", V3, {1, 0, Ecx, 13}, None},
    {"movbe", V3, {1, 0, Ecx, 22}, None},
    {"popcnt", V3, {1, 0, Ecx, 23}, None},
    {"lzcnt", V3, {0x80000001, 0, Ecx, 5}, None},
    {"bmi", V3, {7, 0, Ebx, 3}, None},
    {"bmi2", V3, {7, 0, Ebx, 8}, None},
    {"adx", NoLevel, {7, 0, Ebx, 19}, None},
    {"avx", V3, {1, 0, Ecx, 28}, Ymm},
    {"f16c", V3, {1, 0, Ecx, 29}, Ymm},
    {"fma", V3, {1, 0, Ecx, 12}, Ymm},
    {"avx2", V3, {7, 0, Ebx, 5}, Ymm},
    {"gfni", NoLevel, {7, 0, Ecx, 8}, None},
    {"avxvnni", NoLevel, {7, 1, Eax, 4}, Ymm},
    {"avxifma", NoLevel, {7, 1, Eax, 23}, Ymm},
    {"avxvnniint8", NoLevel, {7, 1, Edx, 4}, Ymm},
    {"avxneconvert", NoLevel, {7, 1, Edx, 5}, Ymm},
    {"avx512f", V4, {7, 0, Ebx, 16}, Zmm},
    {"avx512dq", V4, {7, 0, Ebx, 17}, Zmm},
    {"avx512ifma", NoLevel, {7, 0, Ebx, 21}, Zmm},
    {"avx512cd", V4, {7, 0, Ebx, 28}, Zmm},
    {"avx512bw", V4, {7, 0, Ebx, 30}, Zmm},
    {"avx512vl", V4, {7, 0, Ebx, 31}, Zmm},
    {"avx512vbmi", NoLevel, {7, 0, Ecx, 1}, Zmm},
    {"avx512vbmi2", NoLevel, {7, 0, Ecx, 6}, Zmm},
    {"avx512vnni", NoLevel, {7, 0, Ecx, 11}, Zmm},
    {"avx512bitalg", NoLevel, {7, 0, Ecx, 12}, Zmm},
    {"avx512vpopcntdq", NoLevel, {7, 0, Ecx, 14}, Zmm},
    {"avx512vp2intersect", NoLevel, {7, 0, Edx, 8}, Zmm},
    {"avx512fp16", NoLevel, {7, 0, Edx, 23}, Zmm},
    {"avx512bf16", NoLevel, {7, 1, Eax, 5}, Zmm},
    {"amx-tile", NoLevel, {7, 0, Edx, 24}, Tiles},
    {"amx-int8", NoLevel, {7, 0, Edx, 25}, Tiles},
    {"amx-bf16", NoLevel, {7, 0, Edx, 22}, Tiles},
    {"amx-fp16", NoLevel, {7, 1, Eax, 21}, Tiles},
};

using Registers = std::array<uint32_t, 4>;

/// CPUID, cached by leaf: in a virtual machine each query takes microseconds.
const Registers &ask(uint32_t leaf, uint32_t subleaf = 0) {
  static const auto answers = [] {
    std::map<std::pair<uint32_t, uint32_t>, Registers> all;
    auto add = [&](uint32_t leaf, uint32_t subleaf) {
      if (auto [place, isNew] = all.try_emplace({leaf, subleaf}); isNew) {
        Registers &answer = place->second;
        __get_cpuid_count(leaf, subleaf, &answer[Eax], &answer[Ebx], &answer[Ecx], &answer[Edx]);
      }
    };
    add(0, 0);
    for (const KnownFeature &feature : knownFeatures)
      add(feature.place.leaf, feature.place.subleaf);
    return all;
  }();
  return answers.at({leaf, subleaf});
}

bool isSet(const Place &place) { return ask(place.leaf, place.subleaf)[place.where] >> place.bit & 1; }

/// The register state that the system saves (XCR0); without AVX it can't be queried.
uint64_t savedState() {
  if (constexpr Place osxsave = {1, 0, Ecx, 27}; !isSet(osxsave))
    return 0;
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

bool systemSaves(State state) {
  if (state == None)
    return true;
  constexpr uint64_t ymm = 0x6, zmm = 0xe6, tiles = 0x60000;
  uint64_t needed = state == Ymm ? ymm : state == Zmm ? zmm : tiles;
  return (savedState() & needed) == needed && (state != Tiles || platform::canHaveTileData());
}

std::string hexadecimal(uint64_t value) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%llx", static_cast<unsigned long long>(value));
  return buffer;
}

/// "GenuineIntel family 6 model 143 stepping 8": the vendors' own naming.
std::string nameProcessor() {
  const Registers &vendor = ask(0), &basic = ask(1);
  std::string name;
  for (Register part : {Ebx, Edx, Ecx})
    for (int shift : {0, 8, 16, 24})
      name += static_cast<char>(vendor[part] >> shift);
  uint32_t family = basic[Eax] >> 8 & 15, model = basic[Eax] >> 4 & 15;
  if (family == 6 || family == 15)
    model += (basic[Eax] >> 16 & 15) << 4;
  if (family == 15)
    family += basic[Eax] >> 20 & 255;
  return name + " family " + std::to_string(family) + " model " + std::to_string(model) + " stepping " +
         std::to_string(basic[Eax] & 15);
}

} // namespace

std::string_view architecture::name() { return "x86_64"; }

uint16_t architecture::elfMachine() { return EM_X86_64; }

std::span<const std::string_view> architecture::levels() { return levelNames; }

std::span<const Feature> architecture::features() {
  static const std::vector<Feature> all = [] {
    std::vector<Feature> features;
    for (const KnownFeature &feature : knownFeatures)
      features.push_back({feature.name, feature.level});
    return features;
  }();
  return all;
}

bool architecture::isPresent(const Feature &feature) {
  const KnownFeature *known = std::ranges::find(knownFeatures, feature.name, &KnownFeature::name);
  return isSet(known->place) && systemSaves(known->state);
}

bool architecture::request(std::string_view feature) { return feature != "amx-tile" || platform::requestTileData(); }

std::span<const Change> architecture::changes() {
  // Every processor with bf16 tiles also rounds vectors to bf16, which only code for tiles uses.
  static const std::vector<Change> all = {
      {"amx-bf16", {"amx-tile", "amx-bf16", "avx512bf16"}, {"amx-tile", "amx-int8", "amx-bf16", "amx-fp16"}, V4},
      {"amx-int8", {"amx-tile", "amx-int8"}, {"amx-int8"}, V4},
      {"avx512bf16", {"avx512bf16"}, {"avx512bf16"}, V4},
      {"avx512vnni", {"avx512vnni"}, {"avx512vnni"}, V4}};
  return all;
}

std::vector<std::pair<std::string, std::string>> architecture::identify() {
  const Registers &basic = ask(1), &structured = ask(7), &more = ask(7, 1), &extended = ask(0x80000001);
  // Without ebx of leaf 1, which has the number of the current CPU.
  std::string bits;
  for (uint32_t part : {basic[Eax], basic[Ecx], basic[Edx], structured[Ebx], structured[Ecx], structured[Edx],
                        more[Eax], more[Ecx], more[Edx], extended[Ecx], extended[Edx]})
    bits += (bits.empty() ? "" : " ") + hexadecimal(part);
  return {{"processor", nameProcessor()},
          {"cpuid", bits},
          {"saved_registers", hexadecimal(savedState()) + " " + hexadecimal(platform::savedOnRequest())}};
}
