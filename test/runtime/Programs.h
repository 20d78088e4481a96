// The small programs of test/runtime/programs as artifacts, with hand-written code in place of compiled code.
#ifndef FREESTONE_TEST_RUNTIME_PROGRAMS_H
#define FREESTONE_TEST_RUNTIME_PROGRAMS_H

#include "runtime/artifact/ArtifactFile.h"
#include <string>
#include <vector>

namespace freestone::test {

/// The machine code of a program: an ELF shared library.
std::vector<uint8_t> codeOf(const std::string &program);

runtime::Descriptor describeReverse(); ///< x: f32[n] → y: f32[n], weight "packed": f32[4], made by "init" from "plain"
runtime::Descriptor describeLookup();  ///< table: f32[n], index: i64[m] → y: f32[m]
runtime::Descriptor describePhases();  ///< count: i64[1], failing: i64[1] → y: i64[64]
runtime::Descriptor describeNonzero(); ///< x: f32[n] → positions, doubles: i64[k], k at most n
runtime::Descriptor describeLoops();   ///< x: i64[n], limit: i64[1] → y, sums: i64[n], trips: i64[2]
/// x: optional sequence of f32[m, 2], at most 8, of any m each, bias: optional f32[], → y: as x
runtime::Descriptor describeTwice();
/// x: f32[4] → y: f32[4], states "fc.weight": f32[2, 2] with first value "start", and "steps": i64; and "evaluate" → y
runtime::Descriptor describeTrain();
/// x: f32[b, 4], y: f32[b], learning_rate: f64 → loss, gradient_norm, skipped, states "w": f32[4] and "optimizer/step":
/// a minimal training step; and "evaluate": x, y → loss_sum, count
runtime::Descriptor describeLearn();

/// The bytes of whole artifacts.
std::vector<uint8_t> packReverse(bool withWeights = true); ///< packed = {10, 20, 30, 40}
/// start = {1, 2, 3, 4}; fc.weight, whose first value it is, has these panels.
std::vector<uint8_t> packTrain(bool withWeights = true, runtime::Panels panels = {});
std::vector<uint8_t> packProgram(const std::string &program, const runtime::Descriptor &descriptor);

} // namespace freestone::test

#endif // FREESTONE_TEST_RUNTIME_PROGRAMS_H
