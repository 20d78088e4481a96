#include "tools/tensor/InlineTensor.h"
#include "tools/tensor/Npy.h"
#include "tools/tensor/Npz.h"
#include "tools/tensor/TensorProto.h"
#include "tools/tensor/TensorSource.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace freestone::tools;

static std::string errorOf(auto call) {
  try {
    call();
  } catch (const TensorError &error) {
    return error.what();
  }
  return "";
}

static bool equal(const Tensor &a, const Tensor &b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

static std::vector<Tensor> samples() {
  std::vector<Tensor> tensors;
  for (int dtype = FREESTONE_F16; dtype <= FREESTONE_U64; ++dtype)
    for (const char *shape : {"", "1x", "3x5x", "0x2x", "2x1x3x4x"})
      tensors.push_back(
          parseInlineTensor(std::string(shape).append(typeName(freestone_dtype(dtype))) + "=random:1:0:2"));
  return tensors;
}

TEST(Tensor, halfPrecisionRoundTrips) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    double half = halfToDouble(uint16_t(bits)), bfloat = bfloatToDouble(uint16_t(bits));
    if (!std::isnan(half))
      EXPECT_EQ(doubleToHalf(half), bits);
    if (!std::isnan(bfloat))
      EXPECT_EQ(doubleToBfloat(bfloat), bits);
  }
  EXPECT_TRUE(std::isnan(halfToDouble(doubleToHalf(NAN))));
}

TEST(Tensor, halfPrecisionRoundsToNearestEven) {
  EXPECT_EQ(doubleToHalf(2049), doubleToHalf(2048));
  EXPECT_EQ(doubleToHalf(2051), doubleToHalf(2052));
  EXPECT_EQ(doubleToHalf(65519.9), 0x7bff);
  EXPECT_EQ(doubleToHalf(65520), 0x7c00);
  EXPECT_EQ(doubleToHalf(0x1p-25), 0);
  EXPECT_EQ(doubleToHalf(0x1.8p-25), 1);
  EXPECT_EQ(doubleToBfloat(0x1.01p0), 0x3f80);
  EXPECT_EQ(doubleToBfloat(0x1.03p0), 0x3f82);
}

TEST(Tensor, everyCodeRoundTrips) {
  for (int number = FREESTONE_F8E4M3FN; number <= FREESTONE_U2; ++number) {
    auto dtype = freestone_dtype(number);
    int codes = 1 << freestone::formats::dlpackType(dtype).bits;
    Tensor tensor(dtype, {codes});
    for (int code = 0; code < codes; ++code)
      tensor.as<uint8_t>()[code / int(elementsPerByte(dtype))] |=
          uint8_t(code << (code % int(elementsPerByte(dtype)) * freestone::formats::dlpackType(dtype).bits));
    Tensor again(dtype, {codes});
    for (int code = 0; code < codes; ++code) {
      double value = tensor.number(code);
      again.setNumber(code, value);
      if (std::isfinite(value))
        EXPECT_EQ(again.code(code), tensor.code(code)) << typeName(dtype) << " " << code;
    }
    Tensor read = parseNpy(formatNpy(tensor));
    EXPECT_TRUE(read.isUnnamed());
    EXPECT_TRUE(equal(read.named(dtype), tensor)) << typeName(dtype);
  }
}

TEST(Tensor, storedFloatsSaturate) {
  Tensor tensor = parseInlineTensor("4xf8e4m3fn=1e9,-inf,464,0.001953125");
  EXPECT_EQ(tensor.number(0), 448);
  EXPECT_EQ(tensor.number(1), -448);
  EXPECT_EQ(tensor.number(2), 448);
  EXPECT_EQ(tensor.number(3), 0x1p-9);
  EXPECT_EQ(parseInlineTensor("3xi4=-8,7,3").bytes(), 2u);
}

TEST(Tensor, shapesThatOverflowAreRefused) {
  EXPECT_NE(errorOf([] { parseInlineTensor("9223372036854775807x3xf32=0"); }), "");
  EXPECT_NE(errorOf([] { parseInlineTensor("4611686018427387904xf32=0"); }), "");
  EXPECT_EQ(parseInlineTensor("9223372036854775807x3x0xf32=0").count(), 0);
}

TEST(Npy, roundTrips) {
  for (const Tensor &tensor : samples()) {
    std::vector<uint8_t> bytes = formatNpy(tensor);
    EXPECT_TRUE(equal(parseNpy(bytes), tensor)) << describe(tensor.dtype(), tensor.shape());
    EXPECT_EQ((bytes.size() - tensor.bytes()) % 64, 0u);
  }
}

static std::vector<uint8_t> npyOf(std::string header, std::vector<uint8_t> elements) {
  std::vector<uint8_t> bytes = {
      0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, uint8_t(header.size()), uint8_t(header.size() >> 8)};
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), elements.begin(), elements.end());
  return bytes;
}

TEST(Npy, readsFortranOrderAndBigEndian) {
  Tensor tensor = parseNpy(
      npyOf("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n", {0, 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6}));
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(tensor.as<int16_t>()[i], i + 1);
}

TEST(Npy, refusesWhatItCannotRead) {
  auto error = [](const char *header) { return errorOf([&] { parseNpy(npyOf(header, {1, 2})); }); };
  EXPECT_EQ(error("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }"),
            "the element type '|O' is not supported");
  EXPECT_EQ(error("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }"),
            "structured types are not supported");
  EXPECT_EQ(error("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }"),
            "it holds 2 bytes of elements, but its header says 3xu8");
  EXPECT_EQ(error("{'descr': '|u1', 'fortran_order': False, 'shape': (-2,), }"),
            "the header is malformed: the shape is not made of sizes");
  EXPECT_EQ(error("{'descr': '', 'fortran_order': False, 'shape': (2,), }"), "the header names no element type");
  EXPECT_EQ(errorOf([] { parseNpy({}); }), "it is not a .npy file");
}

static std::vector<uint8_t> sampleNpz() {
  static std::vector<NamedTensor> tensors;
  std::vector<NamedTensorRef> references;
  for (Tensor &tensor : samples())
    tensors.push_back({"tensor " + std::to_string(tensors.size()), std::move(tensor)});
  for (const NamedTensor &tensor : tensors)
    references.push_back({tensor.name, &tensor.tensor});
  return formatNpz(references);
}

TEST(Npz, roundTrips) {
  std::vector<uint8_t> bytes = sampleNpz();
  std::vector<NamedTensor> read = parseNpz(bytes);
  std::vector<Tensor> expected = samples();
  ASSERT_EQ(read.size(), expected.size());
  for (size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].name, "tensor " + std::to_string(i));
    EXPECT_TRUE(equal(read[i].tensor, expected[i]));
  }
}

/// A generator with fixed results, so that failures are reproducible.
static uint64_t next(uint64_t &state) {
  state = state * 6364136223846793005 + 1442695040888963407;
  return state >> 33;
}

/// SequenceProto { name: "s", elem_type: TENSOR, tensor_values: two of these }
static std::vector<uint8_t> sequenceOf(const std::vector<uint8_t> &proto) {
  std::vector<uint8_t> bytes = {10, 1, 's', 16, 1};
  for (int element = 0; element < 2; ++element) {
    bytes.insert(bytes.end(), {26, uint8_t(proto.size())});
    bytes.insert(bytes.end(), proto.begin(), proto.end());
  }
  return bytes;
}

TEST(Files, damageIsAnErrorAndNeverMore) {
  std::vector<uint8_t> proto = {8, 2, 8, 3, 16, 1, 66, 1, 'x', 74, 24};
  proto.resize(proto.size() + 24, 7);
  EXPECT_EQ(parseTensorProto(proto).tensor.count(), 6);
  std::vector<std::pair<std::vector<uint8_t>, void (*)(Bytes)>> files = {
      {sampleNpz(), [](Bytes bytes) { parseNpz(bytes); }},
      {formatNpy(parseInlineTensor("3x5xf32=random:1")), [](Bytes bytes) { parseNpy(bytes); }},
      {proto, [](Bytes bytes) { parseTensorProto(bytes); }},
      {sequenceOf(proto), [](Bytes bytes) { parseContainerProto(bytes); }}};
  uint64_t state = 1;
  for (auto &[original, parse] : files)
    for (int round = 0; round < 3000; ++round) {
      std::vector<uint8_t> bytes = original;
      if (round % 3 == 0)
        bytes.resize(next(state) % bytes.size());
      for (uint64_t i = next(state) % 4; i > 0 && !bytes.empty(); --i)
        bytes[next(state) % bytes.size()] = uint8_t(next(state));
      errorOf([&] { parse(bytes); });
    }
}

TEST(TensorProto, readsSequencesAndOptionals) {
  std::vector<uint8_t> tensor = {8, 2, 16, 1, 74, 8, 0, 0, 128, 63, 0, 0, 0, 64}, sequence = sequenceOf(tensor);
  NamedValue value = parseValueProto(sequence);
  EXPECT_EQ(value.kind, NamedValue::Kind::Sequence);
  EXPECT_EQ(value.name, "s");
  ASSERT_EQ(value.elements.size(), 2u);
  EXPECT_EQ(value.elements[1].number(1), 2);
  EXPECT_EQ(parseValueProto(tensor).kind, NamedValue::Kind::Tensor);
  EXPECT_EQ(parseContainerProto(std::vector<uint8_t>{16, 1}).kind, NamedValue::Kind::Sequence);
  // OptionalProto { elem_type: UNDEFINED }, { elem_type: SEQUENCE, sequence_value: … }, { elem_type: OPTIONAL, … }
  EXPECT_EQ(parseContainerProto(std::vector<uint8_t>{16, 0}).kind, NamedValue::Kind::Absent);
  std::vector<uint8_t> optional = {16, 3, 42, uint8_t(sequence.size())};
  optional.insert(optional.end(), sequence.begin(), sequence.end());
  EXPECT_EQ(parseContainerProto(optional).elements.size(), 2u);
  EXPECT_EQ(errorOf([] { parseContainerProto(std::vector<uint8_t>{16, 5, 58, 0}); }),
            "it holds elements that are no tensors");
  EXPECT_EQ(errorOf([] { parseContainerProto(std::vector<uint8_t>{26, 9, 8}); }),
            "it is neither a SequenceProto nor an OptionalProto, or it is truncated");
}

TEST(TensorProto, recognisesWhatIsNotATensor) {
  // TensorProto { dims: 1, data_type: STRING, string_data: "a" }
  std::vector<uint8_t> strings = {8, 1, 16, 8, 50, 1, 'a'};
  EXPECT_EQ(errorOf([&] { parseTensorProto(strings); }), "tensors of string are not supported");
  std::vector<uint8_t> truncated = {8, 100, 16, 1, 74, 4, 0, 0, 0, 0};
  EXPECT_EQ(errorOf([&] { parseTensorProto(truncated); }), "it holds fewer elements than its shape 100xf32 says");
}

TEST(InlineTensor, readsValues) {
  EXPECT_EQ(parseInlineTensor("2x3xf32=0.5").as<float>()[5], 0.5f);
  EXPECT_EQ(parseInlineTensor("i64=9007199254740993").as<int64_t>()[0], 9007199254740993);
  EXPECT_EQ(parseInlineTensor("2xi8=-128,127").as<int8_t>()[0], -128);
  EXPECT_EQ(parseInlineTensor("i1=true").as<uint8_t>()[0], 1);
  EXPECT_TRUE(std::isnan(parseInlineTensor("bf16=nan").number(0)));
  EXPECT_EQ(parseInlineTensor("f16=-inf").number(0), -INFINITY);
  Tensor tokens = parseInlineTensor("1000xi64=random:3:0:128");
  int64_t largest = 0;
  for (int64_t i = 0; i < 1000; ++i)
    largest = std::max(largest, tokens.as<int64_t>()[i]);
  EXPECT_EQ(largest, 127);
}

TEST(InlineTensor, refusesWhatDoesNotFit) {
  EXPECT_EQ(errorOf([] { parseInlineTensor("u8=300"); }), "'300' is not a value of type u8");
  EXPECT_EQ(errorOf([] { parseInlineTensor("i32=0.5"); }), "'0.5' is not a value of type i32");
  EXPECT_EQ(errorOf([] { parseInlineTensor("3xf32=1,2"); }), "'3xf32=1,2' gives 2 values for 3 elements");
  EXPECT_EQ(errorOf([] { parseInlineTensor("2xf32=random:a"); }),
            "'random:a' is not random:SEED or random:SEED:LOW:HIGH");
  EXPECT_FALSE(isInlineTensor("x=a.npy"));
  EXPECT_FALSE(isInlineTensor("x=2xf32=1"));
  EXPECT_TRUE(isInlineTensor("f32=3"));
}

TEST(TensorSource, readsNamesAndFiles) {
  std::string folder = testing::TempDir();
  writeTensorFile(folder + "/a.npy", parseInlineTensor("2x3xf32=0.5"));
  EXPECT_EQ(readInputs("x=" + folder + "/a.npy")[0].name, "x");
  EXPECT_EQ(readInputs("x=3xf32=1")[0].tensor.count(), 3);
  EXPECT_EQ(readInputs("3xf32=1")[0].name, "");
  EXPECT_EQ(errorOf([&] { readInputs("x=" + folder + "/none.npy"); }),
            "can't read " + folder + "/none.npy: No such file or directory");
  std::vector<NamedValue> values = readValues({"s=2xf32=1", "x=f32=3", "s=3xf32=2", "e=[]"});
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[0].elements.size(), 2u);
  EXPECT_EQ(values[0].elements[1].count(), 3);
  EXPECT_EQ(values[2].kind, NamedValue::Kind::Sequence);
  EXPECT_TRUE(values[2].elements.empty());
  writeTensorArchive(folder + "/s.npz", {{"arr_0", &values[0].elements[0]}, {"arr_1", &values[0].elements[1]}});
  std::vector<NamedValue> archive = readValues({"s=" + folder + "/s.npz"});
  EXPECT_EQ(archive[0].name, "s");
  EXPECT_EQ(archive[0].kind, NamedValue::Kind::Sequence);
  EXPECT_EQ(archive[0].elements[1].count(), 3);
  EXPECT_EQ(errorOf([] { readInputs("x=3"); }), "3: a tensor is a .npy or .pb file, or written as 2x3xf32=0.5");
}
