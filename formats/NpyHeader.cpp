#include "formats/NpyHeader.h"
#include "formats/ElementType.h"
#include "formats/FormatError.h"
#include <algorithm>
#include <charconv>
#include <fmt/ranges.h>

namespace freestone::formats {

static constexpr std::string_view magic = "\x93NUMPY";

namespace {

/// The header's text: a Python dictionary, of which NumPy writes only this subset.
struct Dictionary {
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

class DictionaryParser {
public:
  explicit DictionaryParser(std::string_view text) : rest(text) {}

  Dictionary parse() {
    Dictionary header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      if (key == "descr") {
        header.descr = string();
        descr = true;
      } else if (key == "fortran_order") {
        header.fortranOrder = boolean();
        order = true;
      } else if (key == "shape") {
        header.shape = tuple();
        shape = true;
      } else {
        throw FormatError(fmt::format("the header has an unknown key '{}'", key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!descr || !order || !shape)
      throw FormatError("the header lacks descr, fortran_order or shape");
    return header;
  }

private:
  void skipSpace() { rest.remove_prefix(std::min(rest.find_first_not_of(" \n\t"), rest.size())); }

  bool accept(char c) {
    skipSpace();
    if (rest.empty() || rest[0] != c)
      return false;
    rest.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c))
      throw FormatError(fmt::format("the header is malformed: '{}' expected", c));
  }

  std::string string() {
    skipSpace();
    if (!rest.empty() && rest[0] == '[')
      throw FormatError("structured types are not supported");
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
      throw FormatError("the header is malformed: a string expected");
    size_t end = rest.find(rest[0], 1);
    if (end == std::string_view::npos)
      throw FormatError("the header is malformed: a string does not end");
    std::string text(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
    return text;
  }

  bool boolean() {
    skipSpace();
    for (auto [text, value] : {std::pair<std::string_view, bool>("True", true), {"False", false}})
      if (rest.starts_with(text)) {
        rest.remove_prefix(text.size());
        return value;
      }
    throw FormatError("the header is malformed: True or False expected");
  }

  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!accept(')')) {
      skipSpace();
      int64_t value;
      auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
      if (error != std::errc() || value < 0)
        throw FormatError("the header is malformed: the shape is not made of sizes");
      rest.remove_prefix(static_cast<size_t>(end - rest.data()));
      values.push_back(value);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  std::string_view rest;
};

struct NpyType {
  std::string_view descr; ///< without byte order
  freestone_dtype dtype;
};

} // namespace

static constexpr NpyType npyTypes[] = {
    {"f2", FREESTONE_F16}, {"V2", FREESTONE_BF16}, {"f4", FREESTONE_F32}, {"f8", FREESTONE_F64},   {"b1", FREESTONE_I1},
    {"i1", FREESTONE_I8},  {"i2", FREESTONE_I16},  {"i4", FREESTONE_I32}, {"i8", FREESTONE_I64},   {"u1", FREESTONE_U8},
    {"u2", FREESTONE_U16}, {"u4", FREESTONE_U32},  {"u8", FREESTONE_U64}, {"f1", FREESTONE_F8E5M2}};
static constexpr std::string_view unnamedType = "V1";

static freestone_dtype parseDescr(const std::string &descr, bool &swapped) {
  size_t order = descr.find_first_of("<>|=") == 0 ? 1 : 0;
  swapped = descr[0] == '>';
  for (const NpyType &type : npyTypes)
    if (descr.substr(order) == type.descr)
      return type.dtype;
  if (descr.substr(order) == unnamedType)
    return FREESTONE_U8;
  throw FormatError(fmt::format("the element type '{}' is not supported", descr));
}

static void swapBytes(uint8_t *bytes, size_t size, size_t width) {
  for (size_t at = 0; at < size; at += width)
    std::reverse(bytes + at, bytes + at + width);
}

/// Copies elements stored in Fortran order: the first dimension is contiguous.
static void copyFortranOrder(const uint8_t *source, const NpyHeader &header, uint8_t *target) {
  size_t width = elementBytes(header.dtype);
  const std::vector<int64_t> &shape = header.shape;
  std::vector<int64_t> index(shape.size(), 0);
  int64_t count = countElements(shape);
  for (int64_t element = 0; element < count; ++element) {
    int64_t offset = 0;
    for (size_t dim = shape.size(); dim-- > 0;)
      offset = offset * shape[dim] + index[dim];
    std::memcpy(target + element * width, source + offset * width, width);
    for (size_t dim = shape.size(); dim-- > 0 && ++index[dim] == shape[dim];)
      index[dim] = 0;
  }
}

NpyHeader parseNpyHeader(Bytes file) {
  if (file.size() < magic.size() + 2 || std::memcmp(file.data(), magic.data(), magic.size()) != 0)
    throw FormatError("it is not a .npy file");
  uint8_t version = file[magic.size()];
  if (version < 1 || version > 3)
    throw FormatError(fmt::format("version {} of the .npy format is not known", version));
  size_t lengthAt = magic.size() + 2, lengthBytes = version == 1 ? 2 : 4;
  std::optional<uint32_t> length = version == 1 ? std::optional<uint32_t>(readNumber<uint16_t>(file, lengthAt))
                                                : readNumber<uint32_t>(file, lengthAt);
  std::optional<Bytes> text = length ? readBytes(file, lengthAt + lengthBytes, *length) : std::nullopt;
  if (!text)
    throw FormatError("it ends within its header");

  Dictionary dictionary = DictionaryParser({reinterpret_cast<const char *>(text->data()), text->size()}).parse();
  if (dictionary.descr.empty())
    throw FormatError("the header names no element type");
  NpyHeader header;
  bool swapped = false;
  header.dtype = parseDescr(dictionary.descr, swapped);
  header.isUnnamed = dictionary.descr.ends_with(unnamedType);
  header.bigEndian = swapped && elementBytes(header.dtype) > 1;
  header.fortranOrder = dictionary.fortranOrder && dictionary.shape.size() > 1;
  header.shape = std::move(dictionary.shape);
  header.elementsOffset = lengthAt + lengthBytes + *length;
  size_t stored = file.size() - header.elementsOffset;
  if (countBytes(header.dtype, header.shape) != stored)
    throw FormatError(fmt::format("it holds {} bytes of elements, but its header says {}", stored,
                                  describe(header.dtype, header.shape)));
  return header;
}

void copyNpyElements(Bytes file, const NpyHeader &header, void *target) {
  auto *bytes = static_cast<uint8_t *>(target);
  Bytes elements = file.subspan(header.elementsOffset);
  if (elements.empty())
    return;
  if (header.fortranOrder)
    copyFortranOrder(elements.data(), header, bytes);
  else
    std::memcpy(bytes, elements.data(), elements.size());
  if (header.bigEndian)
    swapBytes(bytes, elements.size(), elementBytes(header.dtype));
}

std::string formatNpyHeader(freestone_dtype dtype, const std::vector<int64_t> &shape) {
  const NpyType *type =
      std::find_if(std::begin(npyTypes), std::end(npyTypes), [&](const NpyType &t) { return t.dtype == dtype; });
  // NumPy can't read 'f1', which it writes for ml_dtypes.
  std::string_view descr = isStorageOnly(dtype) ? unnamedType : type->descr;
  std::string sizes = fmt::format("{}", fmt::join(shape, ", "));
  if (shape.size() == 1)
    sizes += ',';
  char order = elementBytes(dtype) == 1 && !isStorageOnly(dtype) ? '|' : '<';
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}", order, descr, sizes);
  // NumPy ends the header with a newline and aligns the elements to 64 bytes.
  size_t prefix = magic.size() + 4;
  text.append((64 - (prefix + text.size() + 1) % 64) % 64, ' ').push_back('\n');
  std::string header(magic);
  header += {1, 0, static_cast<char>(text.size() & 255), static_cast<char>(text.size() >> 8)};
  return header + text;
}

} // namespace freestone::formats
