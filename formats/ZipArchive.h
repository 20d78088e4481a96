// ZIP archives, as far as NumPy's .npz files need them: stored and deflated entries, and ZIP64. ZIP libraries (libzip,
// minizip) read entries as streams and do not give the offset of a stored entry in a mapped file.
#ifndef FREESTONE_FORMATS_ZIPARCHIVE_H
#define FREESTONE_FORMATS_ZIPARCHIVE_H

#include "formats/Bytes.h"
#include <string>
#include <vector>

namespace freestone::formats {

/// A file within an archive; views the archive's bytes.
struct ZipEntry {
  std::string name;
  bool deflated = false;
  uint32_t crc = 0;  ///< CRC-32 of the unpacked bytes
  uint64_t size = 0; ///< unpacked, in bytes
  Bytes packed;      ///< as in the archive; of a stored entry the file itself
};

/// The entries in the order of the archive's directory. Throws FormatError, naming the entry.
std::vector<ZipEntry> readZipDirectory(Bytes archive);

/// Unpacks a deflated entry and verifies its checksum. Throws FormatError.
std::vector<uint8_t> inflateEntry(const ZipEntry &entry);

/// Verifies the checksum of a stored entry, which reads it whole. Throws FormatError.
void verifyChecksum(const ZipEntry &entry);

/// An archive of stored entries without times: equal arguments give equal bytes. Uses `name` and `packed` of each.
/// Throws FormatError above 4 GiB.
std::vector<uint8_t> formatZip(const std::vector<ZipEntry> &entries);

} // namespace freestone::formats

#endif // FREESTONE_FORMATS_ZIPARCHIVE_H
