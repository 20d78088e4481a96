// The fields of a protobuf message as they lie in its bytes: for programs that change a few of them and keep all others
// as they are, bit by bit, known or not. Views of the bytes, where protobuf's CodedInputStream would copy them, count in
// 32 bits and make everything that trains depend on libprotobuf.
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
  uint64_t value = 0; ///< of varints
  Bytes payload;      ///< of delimited fields
  Bytes whole;        ///< tag, length and payload
};

/// Reads the fields of one message in order. Throws FormatError where the encoding ends or breaks, telling the first
/// byte of the broken field, counted from the beginning of `file`, of which the message is a part.
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

/// A packed or single repeated integer field's values, appended to `values`. Throws FormatError.
void appendVarints(const ProtobufField &field, std::vector<int64_t> &values);

void writeVarint(std::string &out, uint64_t value);
void writeVarintField(std::string &out, uint64_t number, uint64_t value);
/// Tag and length of a delimited field, whose `size` bytes follow.
void writeDelimitedHead(std::string &out, uint64_t number, uint64_t size);
void writeDelimitedField(std::string &out, uint64_t number, std::string_view payload);

} // namespace freestone::formats

#endif // FREESTONE_FORMATS_PROTOBUFFIELDS_H
