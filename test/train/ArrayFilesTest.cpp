#include "train/data/ArrayFiles.h"
#include "formats/Safetensors.h"
#include "formats/ZipArchive.h"
#include "test/train/Files.h"
#include "train/Error.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

using namespace freestone;
using namespace freestone::test;
using namespace freestone::train;

template <typename T> static std::vector<T> valuesOf(const formats::TensorView *view) {
  std::vector<T> values(view->bytes.size() / sizeof(T));
  std::memcpy(values.data(), view->bytes.data(), view->bytes.size());
  return values;
}

/// The archive with one entry, as `numpy.savez_compressed` writes it.
static std::string deflatedArchive(const std::string &name, const std::string &content) {
  std::string packed(compressBound(content.size()), '\0');
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(content.data()));
  stream.avail_in = content.size();
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = packed.size();
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  std::vector<uint8_t> zip = formats::formatZip({{.name = name, .packed = asBytes(packed)}});
  // The archive had a stored entry: method, checksum and size become those of the deflated one, in both headers.
  uint32_t crc = crc32(0, reinterpret_cast<const Bytef *>(content.data()), content.size());
  uint32_t size = content.size();
  size_t directory = 30 + name.size() + packed.size();
  for (size_t method : {size_t(8), directory + 10}) {
    zip[method] = 8;
    std::memcpy(&zip[method + 6], &crc, 4);
    std::memcpy(&zip[method + 14], &size, 4);
  }
  return {zip.begin(), zip.end()};
}

TEST(ArrayFiles, readsEveryFormat) {
  Folder folder;
  std::vector<float> x = {1, 2, 3, 4, 5, 6};
  std::vector<int64_t> y = {7, 8};
  std::string xNpy = npy(FREESTONE_F32, {2, 3}, x), yNpy = npy(FREESTONE_I64, {2}, y);
  writeText(folder / "x.npy", xNpy);
  writeText(folder / "packed.npz", deflatedArchive("z.npy", xNpy));
  std::vector<uint8_t> zip =
      formats::formatZip({{.name = "u.npy", .packed = asBytes(xNpy)}, {.name = "v.npy", .packed = asBytes(yNpy)}});
  writeText(folder / "stored.npz", bytesOf(zip));
  formats::TensorView tensor = viewOf("w", FREESTONE_I64, {2}, y);
  writeText(folder / "t.safetensors", formats::formatSafetensorsHeader({&tensor, 1}) + bytesOf(y));

  ArrayFiles files = ArrayFiles::open({folder / "x.npy", "labels=" + (folder / "x.npy"), folder / "packed.npz",
                                       folder / "stored.npz", folder / "t.safetensors"});
  EXPECT_EQ(files.describe(), "x: 2x3xf32, labels: 2x3xf32, z: 2x3xf32, u: 2x3xf32, v: 2xi64, w: 2xi64");
  for (const char *name : {"x", "labels", "z", "u"})
    EXPECT_EQ(valuesOf<float>(files.find(name)), x) << name;
  for (const char *name : {"v", "w"})
    EXPECT_EQ(valuesOf<int64_t>(files.find(name)), y) << name;
  EXPECT_EQ(files.find("nothing"), nullptr);
}

TEST(ArrayFiles, otherOrdersAreConverted) {
  Folder folder;
  std::string header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
  std::string file = std::string("\x93NUMPY\1\0", 8) + std::string{char(header.size()), 0} + header +
                     std::string("\0\1\0\4\0\2\0\5\0\3\0\6", 12);
  writeText(folder / "a.npy", file);
  ArrayFiles files = ArrayFiles::open({folder / "a.npy"});
  EXPECT_EQ(valuesOf<int16_t>(files.find("a")), (std::vector<int16_t>{1, 2, 3, 4, 5, 6}));
}

// A sparse file of 256 GiB: neither read nor copied to memory.
TEST(ArrayFiles, filesMayBeLargerThanMemory) {
  Folder folder;
  int64_t rows = int64_t(1) << 26;
  std::string header = formats::formatNpyHeader(FREESTONE_F32, {rows, 1024});
  writeText(folder / "big.npy", header);
  if (truncate((folder / "big.npy").c_str(), static_cast<off_t>(header.size() + rows * 4096)) != 0)
    GTEST_SKIP() << "the file system has no sparse files";
  ArrayFiles files = ArrayFiles::open({folder / "big.npy"});
  EXPECT_EQ(files.find("big")->shape[0], rows);
  EXPECT_EQ(files.find("big")->bytes.back(), 0);
}

TEST(ArrayFiles, errorsNameTheFile) {
  Folder folder;
  writeText(folder / "x.npy", npy(FREESTONE_F32, {2}, std::vector<float>{1, 2}));
  writeText(folder / "short.npy", npy(FREESTONE_F32, {3}, std::vector<float>{1, 2}));
  writeText(folder / "x.csv", "1,2");
  std::string zip = deflatedArchive("z.npy", npy(FREESTONE_F32, {2}, std::vector<float>{1, 2}));
  zip[40] ^= 1;
  writeText(folder / "damaged.npz", zip);
  expectError<Error>([&] { ArrayFiles::open({folder / "none.npy"}); }, {"none.npy", "No such file"});
  expectError<Error>([&] { ArrayFiles::open({folder / "short.npy"}); }, {"short.npy: ", "8 bytes", "3xf32"});
  expectError<Error>([&] { ArrayFiles::open({folder / "x.csv"}); }, {"x.csv: ", ".npz, .npy or .safetensors"});
  expectError<Error>([&] { ArrayFiles::open({folder / "damaged.npz"}); }, {"damaged.npz: ", "'z.npy'"});
  expectError<Error>([&] { ArrayFiles::open({folder / "x.npy", folder / "x.npy"}); }, {"an array 'x' already"});
}
