// Any bytes give views of them, or an error of one sentence. The first byte selects the format.
#include "formats/ElementType.h"
#include "formats/FormatError.h"
#include "formats/NpyHeader.h"
#include "formats/ProtobufFields.h"
#include "formats/Safetensors.h"
#include "formats/ZipArchive.h"
#include <cstdlib>

using namespace freestone::formats;

/// Reads every byte of `view`, which must lie within `file`.
static void visit(Bytes view, Bytes file) {
  if (!view.empty() && (view.data() < file.data() || view.data() + view.size() > file.data() + file.size()))
    std::abort();
  [[maybe_unused]] static volatile uint8_t sink;
  for (uint8_t byte : view)
    sink = byte;
}

static void visitNpy(Bytes file) {
  NpyHeader header = parseNpyHeader(file);
  std::vector<uint8_t> elements(countBytes(header.dtype, header.shape));
  copyNpyElements(file, header, elements.data());
}

static void visitZip(Bytes file) {
  for (const ZipEntry &entry : readZipDirectory(file)) {
    visit(entry.packed, file);
    if (entry.deflated)
      visitNpy(inflateEntry(entry));
    else
      visitNpy(entry.packed);
  }
}

static void visitSafetensors(Bytes file) {
  for (const TensorView &tensor : parseSafetensors(file).tensors)
    visit(tensor.bytes, file);
}

static void visitProtobuf(Bytes message) {
  std::vector<int64_t> values;
  for (ProtobufReader reader(message); !reader.atEnd();) {
    ProtobufField field = reader.next();
    visit(field.whole, message);
    visit(field.payload, message);
    if (field.number == 1)
      appendVarints(field, values);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  Bytes file(data + 1, size - 1);
  static constexpr void (*visits[])(Bytes) = {visitNpy, visitZip, visitSafetensors, visitProtobuf};
  try {
    visits[data[0] % std::size(visits)](file);
  } catch (const FormatError &) {
  }
  return 0;
}
