#ifndef FREESTONE_FORMATS_BYTES_H
#define FREESTONE_FORMATS_BYTES_H

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace freestone::formats {

using Bytes = std::span<const uint8_t>;

/// The bytes of a text, which must outlive them.
inline Bytes toBytes(std::string_view text) { return {reinterpret_cast<const uint8_t *>(text.data()), text.size()}; }

/// The little-endian number at `offset`, or nothing past the end.
template <typename T> std::optional<T> readNumber(Bytes bytes, size_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
    return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// The `size` bytes at `offset`, or nothing past the end.
inline std::optional<Bytes> readBytes(Bytes bytes, size_t offset, size_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size)
    return std::nullopt;
  return bytes.subspan(offset, size);
}

} // namespace freestone::formats

#endif // FREESTONE_FORMATS_BYTES_H
