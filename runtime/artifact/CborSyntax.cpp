#include "runtime/artifact/CborSyntax.h"

namespace {

/// Validates consecutive items.
class Scanner {
public:
  explicit Scanner(std::span<const uint8_t> bytes) : rest(bytes) {}

  bool skipItem(int depth) {
    uint64_t argument = 0;
    int type = 0;
    if (depth > 16 || !readHead(type, argument))
      return false;
    switch (type) {
    case UnsignedInteger:
    case NegativeInteger:
      return true;
    case Text:
      return skipBytes(argument);
    case Array:
      for (; argument > 0; --argument)
        if (!skipItem(depth + 1))
          return false;
      return true;
    case Map:
      for (; argument > 0; --argument)
        if (rest.empty() || rest[0] >> 5 != Text || !skipItem(depth + 1) || !skipItem(depth + 1))
          return false;
      return true;
    default:
      return false;
    }
  }
  bool atEnd() const { return rest.empty(); }

private:
  enum MajorType { UnsignedInteger = 0, NegativeInteger = 1, Text = 3, Array = 4, Map = 5 };

  bool skipBytes(uint64_t count) {
    if (count > rest.size())
      return false;
    rest = rest.subspan(count);
    return true;
  }

  /// The first byte holds the major type and either a small argument or the number of bytes that hold it.
  bool readHead(int &type, uint64_t &argument) {
    if (rest.empty())
      return false;
    type = rest[0] >> 5;
    int low = rest[0] & 31;
    rest = rest.subspan(1);
    argument = low;
    if (low < 24)
      return true;
    if (low > 27)
      return false;
    size_t count = size_t(1) << (low - 24);
    if (count > rest.size())
      return false;
    argument = 0;
    for (size_t i = 0; i < count; ++i)
      argument = argument << 8 | rest[i];
    rest = rest.subspan(count);
    return true;
  }

  std::span<const uint8_t> rest;
};

} // namespace

bool freestone::runtime::isPlainCbor(std::span<const uint8_t> bytes) {
  Scanner scanner(bytes);
  return scanner.skipItem(0) && scanner.atEnd();
}
