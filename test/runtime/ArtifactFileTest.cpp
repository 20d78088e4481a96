#include "runtime/artifact/Artifact.h"
#include "runtime/artifact/ArtifactLayout.h"
#include "runtime/artifact/abi.h"
#include "runtime/machine/Processor.h"
#include "test/runtime/Programs.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sys/syscall.h>
#include <unistd.h>

using namespace freestone;
using namespace freestone::runtime;

namespace {

std::vector<uint8_t> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
}

std::string refusal(const std::vector<uint8_t> &bytes, Code code) {
  auto loaded = Artifact::loadMemory(bytes, false);
  EXPECT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.status().code(), code) << loaded.status().message();
  return loaded.status().message();
}

#define EXPECT_MENTIONS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

} // namespace

TEST(ArtifactFile, IsWrittenAndRead) {
  std::string path = testing::TempDir() + "freestone_written.stone";
  float packed[4] = {1, 2, 3, 4};
  const void *weights[] = {packed};
  std::vector<uint8_t> code = test::codeOf("Reverse");
  ASSERT_TRUE(writeArtifact(path, code, test::describeReverse(), weights).ok());
  std::vector<uint8_t> bytes = readFile(path);
  EXPECT_EQ(bytes, *packArtifact(code, test::describeReverse(), weights));
  std::filesystem::remove(path);

  Result<ArtifactParts> parts = readArtifact(bytes);
  ASSERT_TRUE(parts.ok()) << parts.status().message();
  EXPECT_TRUE(std::equal(code.begin(), code.end(), parts->code.begin(), parts->code.end()));
  const Weight &weight = parts->descriptor.weights[0];
  EXPECT_EQ(weight.fileOffset % 64, 0);
  EXPECT_EQ(parts->weightsOffset % 4096, 0);
  EXPECT_EQ(std::memcmp(bytes.data() + weight.fileOffset, packed, sizeof(packed)), 0);
  EXPECT_EQ(weight.checksum, checksum({reinterpret_cast<uint8_t *>(packed), sizeof(packed)}));
}

TEST(ArtifactFile, WritingReportsWhatFailed) {
  const void *weights[] = {nullptr};
  Status status = writeArtifact("/no/such/folder/x.stone", {}, test::describeReverse(), weights);
  EXPECT_EQ(status.code(), Code::Io);
  EXPECT_MENTIONS(status.message(), "/no/such/folder/x.stone");
  EXPECT_EQ(writeArtifact("x.stone", {}, test::describeReverse(), {}).code(), Code::InvalidArgument);
}

TEST(ArtifactFile, EveryDamageOutsideTheWeightsIsRefused) {
  std::vector<uint8_t> original = test::packReverse();
  Result<ArtifactParts> parts = readArtifact(original);
  ASSERT_TRUE(parts.ok());
  size_t weightsBegin = parts->weightsOffset, weightsEnd = weightsBegin + parts->weights.size();
  std::mt19937 random(4);
  for (int damage = 0; damage < 1000;) {
    // Half of the damages hit the last page, with the descriptor and the trailer.
    size_t at = random() % 2 ? random() % original.size() : weightsEnd + random() % (original.size() - weightsEnd);
    uint8_t value = random();
    if (value == original[at] || (at >= weightsBegin && at < weightsEnd))
      continue;
    std::vector<uint8_t> bytes = original;
    bytes[at] = value;
    auto loaded = Artifact::loadMemory(bytes, false);
    EXPECT_FALSE(loaded.ok()) << "byte " << at;
    EXPECT_FALSE(loaded.status().message().empty());
    ++damage;
  }
}

TEST(ArtifactFile, EveryTruncationIsRefused) {
  std::vector<uint8_t> original = test::packReverse();
  for (size_t length = 0; length < original.size(); length += length < original.size() - 600 ? 97 : 1)
    EXPECT_FALSE(Artifact::loadMemory({original.begin(), original.begin() + length}, false).ok()) << length;
  std::vector<uint8_t> longer = original;
  longer.push_back(0);
  EXPECT_FALSE(Artifact::loadMemory(longer, false).ok());
}

TEST(ArtifactFile, TellsAnotherVersionArchitectureOrCpu) {
  std::vector<uint8_t> version = test::packReverse();
  version[version.size() - sizeof(ArtifactTrailer) + offsetof(ArtifactTrailer, version)] = 9;
  EXPECT_MENTIONS(refusal(version, Code::Incompatible), "format 9");

  Descriptor descriptor = test::describeLookup();
  descriptor.abi = FREESTONE_ABI_VERSION + 1;
  EXPECT_MENTIONS(refusal(test::packProgram("Lookup", descriptor), Code::Incompatible),
                  "ABI " + std::to_string(FREESTONE_ABI_VERSION + 1));
  descriptor = test::describeLookup();
  descriptor.target.arch = "aarch64";
  EXPECT_MENTIONS(refusal(test::packProgram("Lookup", descriptor), Code::Incompatible), "compiled for aarch64");
  descriptor = test::describeLookup();
  descriptor.target.features = {"sse2", "quantum"};
  EXPECT_MENTIONS(refusal(test::packProgram("Lookup", descriptor), Code::Incompatible), "'quantum'");
}

/// The same artifact on this machine, on a restricted one, and with an invalid FREESTONE_HOST.
TEST(ArtifactFile, AMachineThatIsSeenAsALesserOneRefusesWhatThatWould) {
  const char *value = std::getenv(hostVariable);
  const std::string before = value ? value : "";
  Descriptor descriptor = test::describeLookup();
  descriptor.target.features = {"avx2"};
  std::vector<uint8_t> common = test::packProgram("Lookup", descriptor);
  descriptor.target.features = {"avx2", "avx512f"};
  std::vector<uint8_t> wide = test::packProgram("Lookup", descriptor);

  setenv(hostVariable, "x86-64-v3", 1);
  EXPECT_TRUE(Artifact::loadMemory(common, false).ok());
  EXPECT_MENTIONS(refusal(wide, Code::Incompatible),
                  "'avx512f', which this machine does not have as FREESTONE_HOST=x86-64-v3 shows it");
  setenv(hostVariable, "zen3", 1);
  EXPECT_MENTIONS(refusal(common, Code::Incompatible), "FREESTONE_HOST=zen3: unknown target 'zen3'");
  unsetenv(hostVariable);
  EXPECT_TRUE(Artifact::loadMemory(common, false).ok());
  EXPECT_EQ(Artifact::loadMemory(wide, false).ok(), Processor::here()->has("avx512f"));
  if (!before.empty())
    setenv(hostVariable, before.c_str(), 1);
}

TEST(ArtifactFile, CodeThatUsesTilesIsGivenThem) {
  Descriptor descriptor = test::describeLookup();
  descriptor.target.features = {"amx-tile"};
  bool hasTiles = Processor::here()->has("amx-tile");
  auto loaded = Artifact::loadMemory(test::packProgram("Lookup", descriptor), false);
  EXPECT_EQ(loaded.ok(), hasTiles) << loaded.status().message();
  constexpr int getPermitted = 0x1022, tileData = 18;
  uint64_t permitted = 0;
  syscall(SYS_arch_prctl, getPermitted, &permitted);
  EXPECT_EQ(permitted >> tileData & 1, uint64_t(hasTiles));
}

TEST(ArtifactFile, CodeMustBeALibraryWithTheTable) {
  Descriptor descriptor = test::describeLookup();
  std::vector<uint8_t> noise(5000, 'x');
  EXPECT_MENTIONS(refusal(*packArtifact(noise, descriptor, {}), Code::Incompatible), "not a shared library");
  std::vector<uint8_t> headerOnly = test::codeOf("Lookup");
  headerOnly.resize(64);
  refusal(*packArtifact(headerOnly, descriptor, {}), Code::BadArtifact);
  EXPECT_MENTIONS(refusal(test::packProgram("Reverse", descriptor), Code::BadArtifact), "number of entries");
}

TEST(ArtifactFile, WeightsAreCheckedOnDemand) {
  std::vector<uint8_t> bytes = test::packReverse();
  Result<ArtifactParts> parts = readArtifact(bytes);
  bytes[parts->weightsOffset + 3] ^= 1;
  auto loaded = Artifact::loadMemory(bytes, false);
  ASSERT_TRUE(loaded.ok());
  EXPECT_MENTIONS((*loaded)->checkWeights().message(), "'packed'");
  EXPECT_FALSE(Artifact::loadMemory(bytes, true).ok());
}

TEST(ArtifactFile, SeveralArtifactsAreOpenAtOnce) {
  std::vector<std::shared_ptr<Artifact>> open;
  for (int round = 0; round < 8; ++round) {
    open.push_back(*Artifact::loadMemory(test::packReverse(), false));
    open.push_back(*Artifact::loadMemory(test::packProgram("Lookup", test::describeLookup()), false));
    if (round % 3 == 2)
      open.erase(open.begin(), open.begin() + 2);
  }
  for (const auto &artifact : open)
    EXPECT_NE(artifact->function(artifact->descriptor().entries[0]).run, nullptr);
}
