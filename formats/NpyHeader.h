// NumPy's .npy files. bf16, which NumPy does not know, is the type '<V2' as `ml_dtypes` writes it.
#ifndef FREESTONE_FORMATS_NPYHEADER_H
#define FREESTONE_FORMATS_NPYHEADER_H

#include "formats/Bytes.h"
#include "freestone/runtime.h"
#include <string>
#include <vector>

namespace freestone::formats {

/// What a .npy file says about its elements, which fill the rest of the file.
struct NpyHeader {
  freestone_dtype dtype = FREESTONE_F32;
  std::vector<int64_t> shape;
  bool fortranOrder = false; ///< the first dimension runs fastest; false where the order makes no difference
  bool bigEndian = false;    ///< false where elements are single bytes
  size_t elementsOffset = 0; ///< in bytes, from the beginning of the file

  /// The elements can be used where they are.
  bool isPlain() const { return !fortranOrder && !bigEndian; }
};

/// Reads versions 1 to 3. Throws FormatError, also when the elements are fewer or more than the header says.
NpyHeader parseNpyHeader(Bytes file);

/// Copies the elements to `target` in C order and little-endian, as countBytes says. bool keeps its byte.
void copyNpyElements(Bytes file, const NpyHeader &header, void *target);

/// The header of version 1.0 for little-endian elements in C order; its size is a multiple of 64 bytes.
std::string formatNpyHeader(freestone_dtype dtype, const std::vector<int64_t> &shape);

} // namespace freestone::formats

#endif // FREESTONE_FORMATS_NPYHEADER_H
