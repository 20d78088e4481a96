#ifndef FREESTONE_RUNTIME_ARTIFACT_CBORSYNTAX_H
#define FREESTONE_RUNTIME_ARTIFACT_CBORSYNTAX_H

#include <cstdint>
#include <span>

namespace freestone::runtime {

/// Whether `bytes` are exactly one well-formed CBOR item of the kinds that descriptors use: integers, text, arrays and
/// maps with text keys, of definite length, nested at most 16 deep, without tags. General parsers recurse over their
/// input, which this check makes safe.
bool isPlainCbor(std::span<const uint8_t> bytes);

} // namespace freestone::runtime

#endif // FREESTONE_RUNTIME_ARTIFACT_CBORSYNTAX_H
