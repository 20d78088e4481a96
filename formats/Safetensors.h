// safetensors: an 8-byte length, a JSON header with dtype, shape and offsets of each tensor, then their bytes.
#ifndef FREESTONE_FORMATS_SAFETENSORS_H
#define FREESTONE_FORMATS_SAFETENSORS_H

#include "formats/TensorView.h"
#include <map>
#include <span>

namespace freestone::formats {

/// A parsed file; the tensors are views of its bytes.
struct SafetensorsFile {
  std::vector<TensorView> tensors; ///< in the order of their bytes
  std::map<std::string, std::string> metadata;
};

/// Validates the whole header: nothing truncated, no overlaps or gaps between tensors, sizes in agreement with shapes.
/// Throws FormatError, naming the tensor; element types that models do not have are refused by name.
SafetensorsFile parseSafetensors(Bytes file);

/// The header for `tensors`, whose bytes follow in this order without gaps; its size is a multiple of 64.
std::string formatSafetensorsHeader(std::span<const TensorView> tensors,
                                    const std::map<std::string, std::string> &metadata = {});

} // namespace freestone::formats

#endif // FREESTONE_FORMATS_SAFETENSORS_H
