#include "formats/ProtobufFields.h"
#include "formats/FormatError.h"
#include "test/train/Files.h"

using namespace freestone::formats;
using namespace freestone::test;

TEST(ProtobufFields, fieldsComeBackAsTheyWereWritten) {
  std::string message;
  writeVarintField(message, 1, 300);
  writeDelimitedField(message, 2, "abc");
  writeVarintField(message, 100, UINT64_MAX);
  message += std::string("\x1d\1\2\3\4", 5); // field 3, fixed32

  std::string copy;
  std::vector<uint64_t> numbers;
  for (ProtobufReader reader(asBytes(message)); !reader.atEnd();) {
    ProtobufField field = reader.next();
    numbers.push_back(field.number);
    copy.append(field.whole.begin(), field.whole.end());
    if (field.number == 1)
      EXPECT_EQ(field.value, 300u);
    if (field.number == 2)
      EXPECT_EQ(std::string(field.payload.begin(), field.payload.end()), "abc");
    if (field.number == 100)
      EXPECT_EQ(field.value, UINT64_MAX);
  }
  EXPECT_EQ(copy, message);
  EXPECT_EQ(numbers, (std::vector<uint64_t>{1, 2, 100, 3}));
}

TEST(ProtobufFields, packedAndSingleIntegersAreOne) {
  std::string message("\x0a\x03\x01\xac\x02\x08\x07", 7); // field 1: [1, 300] packed, then 7
  std::vector<int64_t> values;
  for (ProtobufReader reader(asBytes(message)); !reader.atEnd();)
    appendVarints(reader.next(), values);
  EXPECT_EQ(values, (std::vector<int64_t>{1, 300, 7}));
}

TEST(ProtobufFields, brokenEncodingsAreRefused) {
  for (std::string message : {std::string("\x0a\x05"), std::string("\x08"), std::string("\x08\xff"),
                              std::string("\x0b"), std::string("\x00\x01", 2), std::string("\x0d\x01"),
                              std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")})
    expectError<FormatError>(
        [&] {
          for (ProtobufReader reader(asBytes(message)); !reader.atEnd();)
            reader.next();
        },
        {"broken"});
}

TEST(ProtobufFields, errorsTellTheByteInTheFile) {
  std::string file("\x08\x01\x12\x04\x08\x01\x10\xff", 8); // field 2 at byte 2; its own second field at byte 6
  ProtobufReader outer(asBytes(file));
  outer.next();
  ProtobufReader inner(outer.next().payload, asBytes(file));
  inner.next();
  expectError<FormatError>([&] { inner.next(); }, {"byte 6 of 8"});
}
