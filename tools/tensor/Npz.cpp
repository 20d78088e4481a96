#include "tools/tensor/Npz.h"
#include "tools/tensor/Npy.h"
#include <fmt/format.h>
#include <zlib.h>

namespace freestone::tools {

static constexpr uint32_t localSignature = 0x04034b50, centralSignature = 0x02014b50, endSignature = 0x06054b50;
static constexpr uint32_t endSignature64 = 0x06064b50, locatorSignature64 = 0x07064b50;
static constexpr size_t localBytes = 30, centralBytes = 46, endBytes = 22, endBytes64 = 56, locatorBytes64 = 20;
static constexpr uint16_t stored = 0, deflated = 8;
// 1980-01-01, the earliest day that ZIP can tell.
static constexpr uint16_t epochDate = 0x21;

namespace {

struct Entry {
  std::string name;
  uint16_t method;
  uint32_t crc;
  uint64_t packedSize, size, offset; ///< offset of the local header
};

/// Where the central directory is.
struct Directory {
  uint64_t count, offset;
};

} // namespace

/// The number at `offset`, which must exist.
template <typename T> static T number(Bytes bytes, size_t offset) {
  if (std::optional<T> value = readNumber<T>(bytes, offset))
    return *value;
  throw TensorError("it is truncated");
}

static Bytes part(Bytes bytes, uint64_t offset, uint64_t size) {
  if (std::optional<Bytes> found = readBytes(bytes, offset, size))
    return *found;
  throw TensorError("it is truncated");
}

static Directory findDirectory(Bytes bytes) {
  // The end record is followed by a comment of at most 64 KiB.
  for (size_t back = endBytes; back <= bytes.size() && back <= endBytes + 65535; ++back) {
    size_t end = bytes.size() - back;
    if (readNumber<uint32_t>(bytes, end) != endSignature)
      continue;
    Directory directory{number<uint16_t>(bytes, end + 10), number<uint32_t>(bytes, end + 16)};
    if (end >= locatorBytes64 && readNumber<uint32_t>(bytes, end - locatorBytes64) == locatorSignature64) {
      uint64_t end64 = number<uint64_t>(bytes, end - locatorBytes64 + 8);
      if (part(bytes, end64, endBytes64); number<uint32_t>(bytes, end64) != endSignature64)
        throw TensorError("its ZIP64 directory is damaged");
      directory = {number<uint64_t>(bytes, end64 + 32), number<uint64_t>(bytes, end64 + 48)};
    }
    return directory;
  }
  throw TensorError("it is not a .npz file, or it is truncated");
}

/// Sizes that did not fit into 32 bits stand in an extra field, in this order.
static void readExtra64(Bytes extra, Entry &entry) {
  while (extra.size() >= 4) {
    auto id = number<uint16_t>(extra, 0), size = number<uint16_t>(extra, 2);
    Bytes field = part(extra, 4, size);
    size_t at = 0;
    if (id == 1)
      for (uint64_t *value : {&entry.size, &entry.packedSize, &entry.offset})
        if (*value == UINT32_MAX) {
          *value = number<uint64_t>(field, at);
          at += 8;
        }
    extra = extra.subspan(4 + size);
  }
}

static Entry readEntry(Bytes bytes, uint64_t &at) {
  Bytes fixed = part(bytes, at, centralBytes);
  if (number<uint32_t>(fixed, 0) != centralSignature)
    throw TensorError("its directory is damaged");
  if (number<uint16_t>(fixed, 8) & 1)
    throw TensorError("it is encrypted");
  auto nameSize = number<uint16_t>(fixed, 28), extraSize = number<uint16_t>(fixed, 30),
       commentSize = number<uint16_t>(fixed, 32);
  Entry entry{"",
              number<uint16_t>(fixed, 10),
              number<uint32_t>(fixed, 16),
              number<uint32_t>(fixed, 20),
              number<uint32_t>(fixed, 24),
              number<uint32_t>(fixed, 42)};
  Bytes name = part(bytes, at + centralBytes, nameSize);
  entry.name.assign(name.begin(), name.end());
  readExtra64(part(bytes, at + centralBytes + nameSize, extraSize), entry);
  at += centralBytes + nameSize + extraSize + commentSize;
  return entry;
}

static std::vector<uint8_t> inflateEntry(Bytes packed, const Entry &entry) {
  // Deflate shrinks at most 1,032 times: a damaged size must not allocate without end.
  if (entry.size / 1032 > packed.size() || packed.size() > UINT32_MAX || entry.size > UINT32_MAX)
    throw TensorError(fmt::format("the size of entry '{}' is damaged or above 4 GiB", entry.name));
  std::vector<uint8_t> bytes(entry.size);
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    throw TensorError("zlib can't be initialised");
  stream.next_in = const_cast<uint8_t *>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = bytes.data();
  stream.avail_out = static_cast<uInt>(bytes.size());
  int result = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (result != Z_STREAM_END || stream.total_out != entry.size)
    throw TensorError(fmt::format("entry '{}' is damaged", entry.name));
  return bytes;
}

static Tensor readTensor(Bytes bytes, const Entry &entry) {
  if (number<uint32_t>(bytes, entry.offset) != localSignature)
    throw TensorError(fmt::format("entry '{}' is damaged", entry.name));
  // Name and extra field of the local header may differ in length from the directory's.
  uint64_t begin = entry.offset + localBytes + number<uint16_t>(bytes, entry.offset + 26) +
                   number<uint16_t>(bytes, entry.offset + 28);
  Bytes packed = part(bytes, begin, entry.packedSize);
  std::vector<uint8_t> unpacked;
  if (entry.method == deflated) {
    unpacked = inflateEntry(packed, entry);
    packed = unpacked;
  } else if (entry.method != stored) {
    throw TensorError(fmt::format("entry '{}' is packed by method {}; only stored and deflated ones are supported",
                                  entry.name, entry.method));
  }
  if (crc32_z(0, packed.data(), packed.size()) != entry.crc)
    throw TensorError(fmt::format("the checksum of entry '{}' is wrong", entry.name));
  try {
    return parseNpy(packed);
  } catch (const TensorError &error) {
    throw TensorError(fmt::format("entry '{}': {}", entry.name, error.what()));
  }
}

std::vector<NamedTensor> parseNpz(Bytes bytes) {
  Directory directory = findDirectory(bytes);
  std::vector<NamedTensor> tensors;
  uint64_t at = directory.offset;
  for (uint64_t i = 0; i < directory.count; ++i) {
    Entry entry = readEntry(bytes, at);
    std::string name = entry.name;
    if (name.ends_with(".npy"))
      name.resize(name.size() - 4);
    tensors.push_back({std::move(name), readTensor(bytes, entry)});
  }
  return tensors;
}

template <typename T> static void append(std::vector<uint8_t> &bytes, T value) {
  const auto *begin = reinterpret_cast<const uint8_t *>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof(T));
}

/// The fields that the local header and the directory share, from "version needed" to the length of the name.
static void appendShared(std::vector<uint8_t> &bytes, const Entry &entry) {
  append<uint16_t>(bytes, 20);
  append<uint16_t>(bytes, 1 << 11); // the name is UTF-8
  append<uint16_t>(bytes, stored);
  append<uint16_t>(bytes, 0);
  append<uint16_t>(bytes, epochDate);
  append<uint32_t>(bytes, entry.crc);
  append<uint32_t>(bytes, static_cast<uint32_t>(entry.packedSize));
  append<uint32_t>(bytes, static_cast<uint32_t>(entry.size));
  append<uint16_t>(bytes, static_cast<uint16_t>(entry.name.size()));
  append<uint16_t>(bytes, 0);
}

std::vector<uint8_t> formatNpz(const std::vector<const NamedTensor *> &tensors) {
  std::vector<uint8_t> bytes, directory;
  for (const NamedTensor *named : tensors) {
    std::vector<uint8_t> npy = formatNpy(named->tensor);
    Entry entry{named->name + ".npy", stored,     static_cast<uint32_t>(crc32_z(0, npy.data(), npy.size())),
                npy.size(),           npy.size(), bytes.size()};
    if (bytes.size() + npy.size() > UINT32_MAX || tensors.size() > UINT16_MAX || entry.name.size() > UINT16_MAX)
      throw TensorError("a .npz file above 4 GiB can't be written; write one .npy file per output");
    append(bytes, localSignature);
    appendShared(bytes, entry);
    bytes.insert(bytes.end(), entry.name.begin(), entry.name.end());
    bytes.insert(bytes.end(), npy.begin(), npy.end());

    append(directory, centralSignature);
    append<uint16_t>(directory, 20);
    appendShared(directory, entry);
    append<uint16_t>(directory, 0);
    append<uint16_t>(directory, 0);
    append<uint16_t>(directory, 0);
    append<uint32_t>(directory, 0);
    append<uint32_t>(directory, static_cast<uint32_t>(entry.offset));
    directory.insert(directory.end(), entry.name.begin(), entry.name.end());
  }
  auto offset = static_cast<uint32_t>(bytes.size());
  bytes.insert(bytes.end(), directory.begin(), directory.end());
  append(bytes, endSignature);
  append<uint32_t>(bytes, 0);
  append<uint16_t>(bytes, static_cast<uint16_t>(tensors.size()));
  append<uint16_t>(bytes, static_cast<uint16_t>(tensors.size()));
  append<uint32_t>(bytes, static_cast<uint32_t>(directory.size()));
  append<uint32_t>(bytes, offset);
  append<uint16_t>(bytes, 0);
  return bytes;
}

} // namespace freestone::tools
