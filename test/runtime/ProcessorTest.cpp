// Processors by name, on imaginary machines; and this machine, compared with the C++ compiler's built-ins.
#include "runtime/machine/Processor.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace freestone::runtime;

namespace {

Processor level(std::string_view target) {
  Result<Processor> processor = Processor::parse(target);
  EXPECT_TRUE(processor.ok()) << processor.status().message();
  return *processor;
}

/// A machine with exactly these features.
Processor machine(std::string_view target) {
  Processor machine = level(target);
  machine.level = "host";
  machine.isHere = true;
  return machine;
}

std::string refusal(const Result<Processor> &processor) { return processor.status().message(); }

} // namespace

TEST(Processor, TheOneAtHandAgreesWithTheCompilersBuiltins) {
  __builtin_cpu_init();
  auto isPresent = [](std::string_view name) {
    for (const architecture::Feature &feature : architecture::features())
      if (feature.name == name)
        return architecture::isPresent(feature);
    ADD_FAILURE() << name;
    return false;
  };
  EXPECT_EQ(isPresent("avx2"), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(isPresent("fma"), __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(isPresent("avx512f"), __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(isPresent("avx512bf16"), __builtin_cpu_supports("avx512bf16") != 0);
  EXPECT_TRUE(isPresent("sse2"));
  EXPECT_TRUE(isKnownFeature("sse2"));
  EXPECT_FALSE(isKnownFeature("no-such-feature"));
}

TEST(Processor, LevelsContainEachOther) {
  Processor less = level("x86-64-v3"), more = level("x86-64-v4");
  EXPECT_TRUE(less.has("avx2") && less.has("sse2") && !less.has("avx512f") && !less.isHere);
  EXPECT_TRUE(more.has("avx512vl") && !more.has("avx512bf16"));
  EXPECT_TRUE(std::ranges::includes(more.features, less.features));
}

TEST(Processor, HasALevelWithAllOfIt) {
  Processor some = machine("x86-64-v4");
  EXPECT_TRUE(some.hasLevel("x86-64-v3") && some.hasLevel("x86-64-v4"));
  some.features.erase("avx512vl");
  EXPECT_TRUE(some.hasLevel("x86-64-v3") && !some.hasLevel("x86-64-v4"));
}

TEST(Processor, IsSeenAsALesserOne) {
  Processor great = machine("x86-64-v4,+amx-bf16");
  Result<Processor> seen = Processor::see(great, "x86-64-v3");
  ASSERT_TRUE(seen.ok()) << refusal(seen);
  EXPECT_EQ(seen->features, level("x86-64-v3").features);
  EXPECT_EQ(seen->level, "x86-64-v3");
  EXPECT_EQ(seen->seenAs, "x86-64-v3");
  EXPECT_TRUE(seen->isHere);

  seen = Processor::see(great, "host,-amx-bf16");
  ASSERT_TRUE(seen.ok()) << refusal(seen);
  EXPECT_FALSE(seen->has("amx-bf16") || seen->has("amx-tile"));
  EXPECT_TRUE(seen->has("avx512bf16") && seen->has("avx512f"));
  seen = Processor::see(great, "x86-64-v4,+amx-bf16");
  ASSERT_TRUE(seen.ok()) << refusal(seen);
  EXPECT_EQ(seen->features, great.features);
}

TEST(Processor, IsNeverSeenAsAGreaterOne) {
  Result<Processor> seen = Processor::see(machine("x86-64-v3"), "x86-64-v4");
  EXPECT_EQ(refusal(seen), "FREESTONE_HOST=x86-64-v4: this machine has no avx512bw, avx512cd, avx512dq, avx512f and no "
                           "avx512vl, and the variable can only hide what a machine has");
  seen = Processor::see(machine("x86-64-v4"), "host,+amx-bf16");
  EXPECT_EQ(refusal(seen),
            "FREESTONE_HOST=host,+amx-bf16: this machine has no amx-bf16, amx-tile and no avx512bf16, and "
            "the variable can only hide what a machine has");
  seen = Processor::see(machine("x86-64-v4"), "zen3");
  EXPECT_EQ(refusal(seen), "FREESTONE_HOST=zen3: unknown target 'zen3'; it is host, x86-64-v3 or x86-64-v4");
}
