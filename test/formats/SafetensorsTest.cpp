#include "formats/Safetensors.h"
#include "formats/FormatError.h"
#include "test/train/Files.h"

using namespace freestone::formats;
using namespace freestone::test;

static std::string fileOf(std::string header, size_t dataBytes) {
  uint64_t length = header.size();
  return std::string(reinterpret_cast<const char *>(&length), 8) + header + std::string(dataBytes, '\1');
}

static void expectRefused(const std::string &file, const char *reason) {
  expectError<FormatError>([&] { parseSafetensors(asBytes(file)); }, {reason});
}

TEST(Safetensors, roundTrips) {
  std::vector<float> weights = {1, 2, 3, 4, 5, 6};
  std::vector<int64_t> numbers = {7};
  std::vector<TensorView> tensors = {viewOf("layer \"1\"", FREESTONE_F32, {2, 3}, weights),
                                     viewOf("empty", FREESTONE_F16, {0, 4}, std::vector<uint16_t>()),
                                     viewOf("count", FREESTONE_I64, {}, numbers)};
  std::string file = formatSafetensorsHeader(tensors, {{"format", "pt"}});
  EXPECT_EQ(file.size() % 64, 0u);
  for (const TensorView &tensor : tensors)
    file.append(tensor.bytes.begin(), tensor.bytes.end());

  SafetensorsFile parsed = parseSafetensors(asBytes(file));
  EXPECT_EQ(parsed.metadata.at("format"), "pt");
  ASSERT_EQ(parsed.tensors.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(parsed.tensors[i].name, tensors[i].name);
    EXPECT_EQ(parsed.tensors[i].dtype, tensors[i].dtype);
    EXPECT_EQ(parsed.tensors[i].shape, tensors[i].shape);
    EXPECT_TRUE(std::ranges::equal(parsed.tensors[i].bytes, tensors[i].bytes));
  }
}

TEST(Safetensors, damagedHeadersAreRefused) {
  expectRefused("", "not a safetensors");
  expectRefused(fileOf("{}", 0).substr(0, 9), "ends within its header");
  expectRefused(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10), "not a safetensors");
  expectRefused(fileOf("[1]", 0), "not a JSON object");
  expectRefused(fileOf("{", 0), "not a JSON object");
  expectRefused(fileOf(R"({"a":{"dtype":"F32","shape":[2]}})", 8), "'a' lacks");
  expectRefused(fileOf(R"({"a":{"dtype":"F6_E2M3","shape":[2],"data_offsets":[0,2]}})", 2), "\"F6_E2M3\"");
  expectRefused(fileOf(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8), "shape");
  expectRefused(fileOf(R"({"a":{"dtype":"F32","shape":[2.5],"data_offsets":[0,8]}})", 8), "shape");
  expectRefused(fileOf(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8), "begin and an end");
  expectRefused(fileOf(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})", 8),
                "too many elements");
}

TEST(Safetensors, bytesBelongToExactlyOneTensor) {
  const char *two = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},
                        "b":{"dtype":"F32","shape":[2],"data_offsets":[%d,%d]}})";
  auto header = [&](int begin, int end) {
    char text[200];
    snprintf(text, sizeof(text), two, begin, end);
    return std::string(text);
  };
  EXPECT_EQ(parseSafetensors(asBytes(fileOf(header(8, 16), 16))).tensors.size(), 2u);
  expectRefused(fileOf(header(8, 16), 15), "truncated");
  expectRefused(fileOf(header(8, 16), 17), "belong to none");
  expectRefused(fileOf(header(4, 12), 12), "overlaps");
  expectRefused(fileOf(header(12, 20), 20), "gap before tensor 'b'");
  expectRefused(fileOf(header(8, 12), 12), "has 4 bytes, but is 2xf32");
}

TEST(Safetensors, noPrefixIsAccepted) {
  std::vector<float> values(3);
  TensorView tensor = viewOf("w", FREESTONE_F32, {3}, values);
  std::string file = formatSafetensorsHeader({&tensor, 1}) + bytesOf(values);
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_NE(messageOf<FormatError>([&] { parseSafetensors(asBytes(file.substr(0, size))); }), "") << size;
}
