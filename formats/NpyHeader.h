// NumPy's .npy files. Types that NumPy lacks are as of `ml_dtypes`: bf16 is '<V2', and those whose elements are a byte
// or less are '<V1', one byte an element; f8e5m2 may be '<f1'.
#ifndef FREESTONE_FORMATS_NPYHEADER_H
#define FREESTONE_FORMATS_NPYHEADER_H

#include "formats/Bytes.h"
#include "freestone/runtime.h"
#include <string>
#include <vector>

namespace freestone::formats {

/// The description of the elements, which fill the rest of a .npy file.
struct NpyHeader {
  freestone_dtype dtype = FREESTONE_F32;
  std::vector<int64_t> shape;
  bool fortranOrder = false; ///< the first dimension is contiguous; false where both orders are equal
  bool bigEndian = false;    ///< false for single-byte elements
  bool isUnnamed = false;    ///< bytes (u8) of a type that the file does not name: '<V1'
  size_t elementsOffset = 0; ///< in bytes, from the beginning of the file

  /// Whether the elements can be used in place.
  bool isPlain() const { return !fortranOrder && !bigEndian; }
};

/// Reads versions 1 to 3. Throws FormatError, also when the number of elements differs from the header's.
NpyHeader parseNpyHeader(Bytes file);

/// Copies `countBytes` bytes of elements to `target`, in C order and little-endian. Bool keeps its byte.
void copyNpyElements(Bytes file, const NpyHeader &header, void *target);

/// The header of version 1.0 for little-endian elements in C order, of which those below a byte take one each; its size
/// is a multiple of 64 bytes.
std::string formatNpyHeader(freestone_dtype dtype, const std::vector<int64_t> &shape);

} // namespace freestone::formats

#endif // FREESTONE_FORMATS_NPYHEADER_H
