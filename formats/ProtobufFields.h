// The fields of a protobuf message as byte ranges: for programs that change some fields and keep all others bit for
// bit, even unknown ones. They are views of the bytes: protobuf's CodedInputStream would copy them, counts in 32 bits,
// and would make everything that trains depend on libprotobuf.
#ifndef FREESTONE_FORMATS_PROTOBUFFIELDS_H
#define FREESTONE_FORMATS_PROTOBUFFIELDS_H

#include "formats/Bytes.h"
#include <string>
#include <vector>

namespace freestone::formats {

enum class WireType : uint8_t { Varint = 0, Fixed64 = 1, Delimited = 2, Fixed32 = 5 };

struct ProtobufField {
  uint64_t number = 0;
  WireType type = WireType::Varint;
  uint64_t value = 0; ///< value of a varint
  Bytes payload;      ///< payload of a delimited field
  Bytes whole;        ///< tag, length and payload
};

/// Reads the fields of one message in order. Throws FormatError where the encoding is truncated or malformed, with the
/// offset of the broken field's first byte in `file`, of which the message is a part.
class ProtobufReader {
public:
  explicit ProtobufReader(Bytes message) : ProtobufReader(message, message) {}
  ProtobufReader(Bytes message, Bytes file) : message(message), file(file) {}

  bool atEnd() const { return position == message.size(); }
  ProtobufField next();

private:
  Bytes message, file;
  size_t position = 0;
};

/// Appends the values of a repeated integer field, packed or not, to `values`. Throws FormatError.
void appendVarints(const ProtobufField &field, std::vector<int64_t> &values);

void writeVarint(std::string &out, uint64_t value);
void writeVarintField(std::string &out, uint64_t number, uint64_t value);
/// Writes tag and length of a delimited field, whose `size` bytes follow.
void writeDelimitedHead(std::string &out, uint64_t number, uint64_t size);
void writeDelimitedField(std::string &out, uint64_t number, std::string_view payload);

} // namespace freestone::formats

#endif // FREESTONE_FORMATS_PROTOBUFFIELDS_H
