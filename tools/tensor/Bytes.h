#ifndef FREESTONE_TOOLS_TENSOR_BYTES_H
#define FREESTONE_TOOLS_TENSOR_BYTES_H

#include "formats/Bytes.h"
#include <string>
#include <vector>

namespace freestone::tools {

using formats::Bytes;

/// A whole file. Throws TensorError, naming the path.
std::vector<uint8_t> readFile(const std::string &path);

/// Writes under a temporary name in the same folder, then renames. Throws TensorError, naming the path.
void writeFile(const std::string &path, Bytes bytes);

} // namespace freestone::tools

#endif // FREESTONE_TOOLS_TENSOR_BYTES_H
