#include "formats/ZipArchive.h"
#include "formats/FormatError.h"
#include <algorithm>
#include <fmt/format.h>
#include <zlib.h>

namespace freestone::formats {

static constexpr uint32_t localSignature = 0x04034b50, centralSignature = 0x02014b50, endSignature = 0x06054b50;
static constexpr uint32_t endSignature64 = 0x06064b50, locatorSignature64 = 0x07064b50;
static constexpr size_t localBytes = 30, centralBytes = 46, endBytes = 22, endBytes64 = 56, locatorBytes64 = 20;
static constexpr uint16_t stored = 0, deflated = 8;
// 1980-01-01, the earliest date of the ZIP format.
static constexpr uint16_t epochDate = 0x21;

namespace {

/// An entry of the central directory.
struct Record {
  std::string name;
  uint16_t method;
  uint32_t crc;
  uint64_t packedSize, size, offset; ///< offset of the local header
};

/// The position of the central directory.
struct Directory {
  uint64_t count, offset;
};

} // namespace

/// The number at `offset`, which must be in bounds.
template <typename T> static T number(Bytes bytes, size_t offset) {
  if (std::optional<T> value = readNumber<T>(bytes, offset))
    return *value;
  throw FormatError("it is truncated");
}

static Bytes part(Bytes bytes, uint64_t offset, uint64_t size) {
  if (std::optional<Bytes> found = readBytes(bytes, offset, size))
    return *found;
  throw FormatError("it is truncated");
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
        throw FormatError("its ZIP64 directory is damaged");
      directory = {number<uint64_t>(bytes, end64 + 32), number<uint64_t>(bytes, end64 + 48)};
    }
    return directory;
  }
  throw FormatError("it is not a .npz file, or it is truncated");
}

/// Sizes of more than 32 bits are in an extra field, in this order.
static void readExtra64(Bytes extra, Record &record) {
  while (extra.size() >= 4) {
    auto id = number<uint16_t>(extra, 0), size = number<uint16_t>(extra, 2);
    Bytes field = part(extra, 4, size);
    size_t at = 0;
    if (id == 1)
      for (uint64_t *value : {&record.size, &record.packedSize, &record.offset})
        if (*value == UINT32_MAX) {
          *value = number<uint64_t>(field, at);
          at += 8;
        }
    extra = extra.subspan(4 + size);
  }
}

static Record readRecord(Bytes bytes, uint64_t &at) {
  Bytes fixed = part(bytes, at, centralBytes);
  if (number<uint32_t>(fixed, 0) != centralSignature)
    throw FormatError("its directory is damaged");
  if (number<uint16_t>(fixed, 8) & 1)
    throw FormatError("it is encrypted");
  auto nameSize = number<uint16_t>(fixed, 28), extraSize = number<uint16_t>(fixed, 30),
       commentSize = number<uint16_t>(fixed, 32);
  Record record{"",
                number<uint16_t>(fixed, 10),
                number<uint32_t>(fixed, 16),
                number<uint32_t>(fixed, 20),
                number<uint32_t>(fixed, 24),
                number<uint32_t>(fixed, 42)};
  Bytes name = part(bytes, at + centralBytes, nameSize);
  record.name.assign(name.begin(), name.end());
  readExtra64(part(bytes, at + centralBytes + nameSize, extraSize), record);
  at += centralBytes + nameSize + extraSize + commentSize;
  return record;
}

static FormatError damaged(const std::string &name) { return FormatError(fmt::format("entry '{}' is damaged", name)); }

static ZipEntry locate(Bytes archive, const Record &record) {
  if (number<uint32_t>(archive, record.offset) != localSignature)
    throw damaged(record.name);
  if (record.method != stored && record.method != deflated)
    throw FormatError(fmt::format("entry '{}' is packed by method {}; only stored and deflated ones are supported",
                                  record.name, record.method));
  // Name and extra field may differ in length between local header and directory.
  uint64_t begin = record.offset + localBytes + number<uint16_t>(archive, record.offset + 26) +
                   number<uint16_t>(archive, record.offset + 28);
  ZipEntry entry{record.name, record.method == deflated, record.crc, record.size,
                 part(archive, begin, record.packedSize)};
  // Deflate shrinks by at most 1,032: a damaged size must not cause a huge allocation.
  if (entry.deflated ? entry.size / 1032 > entry.packed.size() : entry.size != entry.packed.size())
    throw damaged(entry.name);
  return entry;
}

std::vector<ZipEntry> readZipDirectory(Bytes archive) {
  Directory directory = findDirectory(archive);
  std::vector<ZipEntry> entries;
  uint64_t at = directory.offset;
  for (uint64_t i = 0; i < directory.count; ++i)
    entries.push_back(locate(archive, readRecord(archive, at)));
  return entries;
}

static void verifyChecksum(const std::string &name, Bytes bytes, uint32_t crc) {
  if (crc32_z(0, bytes.data(), bytes.size()) != crc)
    throw FormatError(fmt::format("the checksum of entry '{}' is wrong", name));
}

void verifyChecksum(const ZipEntry &entry) { verifyChecksum(entry.name, entry.packed, entry.crc); }

std::vector<uint8_t> inflateEntry(const ZipEntry &entry) {
  std::vector<uint8_t> bytes(entry.size);
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    throw FormatError("zlib can't be initialised");
  // zlib's counters have 32 bits, so larger entries are decompressed in pieces.
  size_t taken = 0, made = 0;
  int result;
  do {
    auto packed = static_cast<uInt>(std::min<size_t>(entry.packed.size() - taken, UINT32_MAX));
    auto room = static_cast<uInt>(std::min<size_t>(bytes.size() - made, UINT32_MAX));
    stream.next_in = const_cast<uint8_t *>(entry.packed.data()) + taken;
    stream.avail_in = packed;
    stream.next_out = bytes.data() + made;
    stream.avail_out = room;
    result = inflate(&stream, Z_NO_FLUSH);
    taken += packed - stream.avail_in;
    made += room - stream.avail_out;
    if (result == Z_OK && stream.avail_in == packed && stream.avail_out == room)
      break;
  } while (result == Z_OK);
  inflateEnd(&stream);
  if (result != Z_STREAM_END || made != bytes.size())
    throw damaged(entry.name);
  verifyChecksum(entry.name, bytes, entry.crc);
  return bytes;
}

template <typename T> static void append(std::vector<uint8_t> &bytes, T value) {
  const auto *begin = reinterpret_cast<const uint8_t *>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof(T));
}

/// The fields that the local header and the directory share, from "version needed" to the length of the extra field.
static void appendShared(std::vector<uint8_t> &bytes, const ZipEntry &entry) {
  append<uint16_t>(bytes, 20);
  append<uint16_t>(bytes, 1 << 11); // the name is UTF-8
  append<uint16_t>(bytes, stored);
  append<uint16_t>(bytes, 0);
  append<uint16_t>(bytes, epochDate);
  append<uint32_t>(bytes, static_cast<uint32_t>(crc32_z(0, entry.packed.data(), entry.packed.size())));
  append<uint32_t>(bytes, static_cast<uint32_t>(entry.packed.size()));
  append<uint32_t>(bytes, static_cast<uint32_t>(entry.packed.size()));
  append<uint16_t>(bytes, static_cast<uint16_t>(entry.name.size()));
  append<uint16_t>(bytes, 0);
}

std::vector<uint8_t> formatZip(const std::vector<ZipEntry> &entries) {
  std::vector<uint8_t> bytes, directory;
  for (const ZipEntry &entry : entries) {
    auto offset = static_cast<uint32_t>(bytes.size());
    if (bytes.size() + entry.packed.size() > UINT32_MAX || entries.size() > UINT16_MAX ||
        entry.name.size() > UINT16_MAX)
      throw FormatError("an archive above 4 GiB can't be written");
    append(bytes, localSignature);
    appendShared(bytes, entry);
    bytes.insert(bytes.end(), entry.name.begin(), entry.name.end());
    bytes.insert(bytes.end(), entry.packed.begin(), entry.packed.end());

    append(directory, centralSignature);
    append<uint16_t>(directory, 20);
    appendShared(directory, entry);
    append<uint16_t>(directory, 0);
    append<uint16_t>(directory, 0);
    append<uint16_t>(directory, 0);
    append<uint32_t>(directory, 0);
    append<uint32_t>(directory, offset);
    directory.insert(directory.end(), entry.name.begin(), entry.name.end());
  }
  auto offset = static_cast<uint32_t>(bytes.size());
  bytes.insert(bytes.end(), directory.begin(), directory.end());
  append(bytes, endSignature);
  append<uint32_t>(bytes, 0);
  append<uint16_t>(bytes, static_cast<uint16_t>(entries.size()));
  append<uint16_t>(bytes, static_cast<uint16_t>(entries.size()));
  append<uint32_t>(bytes, static_cast<uint32_t>(directory.size()));
  append<uint32_t>(bytes, offset);
  append<uint16_t>(bytes, 0);
  return bytes;
}

} // namespace freestone::formats
