#include "tools/tensor/Npy.h"
#include <algorithm>
#include <charconv>
#include <fmt/ranges.h>

namespace freestone::tools {

static constexpr std::string_view magic = "\x93NUMPY";

namespace {

/// The header: a Python dictionary, of which NumPy writes only this subset.
struct Header {
  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;
};

class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : rest(text) {}

  Header parse() {
    Header header;
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
        throw TensorError(fmt::format("the header has an unknown key '{}'", key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!descr || !order || !shape)
      throw TensorError("the header lacks descr, fortran_order or shape");
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
      throw TensorError(fmt::format("the header is malformed: '{}' expected", c));
  }

  std::string string() {
    skipSpace();
    if (!rest.empty() && rest[0] == '[')
      throw TensorError("structured types are not supported");
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"'))
      throw TensorError("the header is malformed: a string expected");
    size_t end = rest.find(rest[0], 1);
    if (end == std::string_view::npos)
      throw TensorError("the header is malformed: a string does not end");
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
    throw TensorError("the header is malformed: True or False expected");
  }

  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!accept(')')) {
      skipSpace();
      int64_t value;
      auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
      if (error != std::errc() || value < 0)
        throw TensorError("the header is malformed: the shape is not made of sizes");
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
    {"f2", FREESTONE_F16}, {"V2", FREESTONE_BF16}, {"f4", FREESTONE_F32}, {"f8", FREESTONE_F64}, {"b1", FREESTONE_I1},
    {"i1", FREESTONE_I8},  {"i2", FREESTONE_I16},  {"i4", FREESTONE_I32}, {"i8", FREESTONE_I64}, {"u1", FREESTONE_U8},
    {"u2", FREESTONE_U16}, {"u4", FREESTONE_U32},  {"u8", FREESTONE_U64}};

static freestone_dtype parseDescr(const std::string &descr, bool &swapped) {
  size_t order = descr.find_first_of("<>|=") == 0 ? 1 : 0;
  swapped = descr[0] == '>';
  for (const NpyType &type : npyTypes)
    if (descr.substr(order) == type.descr)
      return type.dtype;
  throw TensorError(fmt::format("the element type '{}' is not supported", descr));
}

static void swapBytes(Tensor &tensor) {
  size_t width = elementBytes(tensor.dtype());
  auto *bytes = tensor.as<uint8_t>();
  for (size_t at = 0; at < tensor.bytes(); at += width)
    std::reverse(bytes + at, bytes + at + width);
}

/// Copies elements stored with the first dimension running fastest.
static void copyFortranOrder(const uint8_t *source, Tensor &tensor) {
  size_t width = elementBytes(tensor.dtype());
  const std::vector<int64_t> &shape = tensor.shape();
  std::vector<int64_t> index(shape.size(), 0);
  auto *target = tensor.as<uint8_t>();
  for (int64_t element = 0; element < tensor.count(); ++element) {
    int64_t offset = 0;
    for (size_t dim = shape.size(); dim-- > 0;)
      offset = offset * shape[dim] + index[dim];
    std::memcpy(target + element * width, source + offset * width, width);
    for (size_t dim = shape.size(); dim-- > 0 && ++index[dim] == shape[dim];)
      index[dim] = 0;
  }
}

Tensor parseNpy(Bytes bytes) {
  if (bytes.size() < magic.size() + 2 || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
    throw TensorError("it is not a .npy file");
  uint8_t version = bytes[magic.size()];
  if (version < 1 || version > 3)
    throw TensorError(fmt::format("version {} of the .npy format is not known", version));
  size_t lengthAt = magic.size() + 2, lengthBytes = version == 1 ? 2 : 4;
  std::optional<uint32_t> length = version == 1 ? std::optional<uint32_t>(readNumber<uint16_t>(bytes, lengthAt))
                                                : readNumber<uint32_t>(bytes, lengthAt);
  std::optional<Bytes> text = length ? readBytes(bytes, lengthAt + lengthBytes, *length) : std::nullopt;
  if (!text)
    throw TensorError("it ends within its header");

  Header header = HeaderParser({reinterpret_cast<const char *>(text->data()), text->size()}).parse();
  bool swapped = false;
  if (header.descr.empty())
    throw TensorError("the header names no element type");
  freestone_dtype dtype = parseDescr(header.descr, swapped);
  size_t begin = lengthAt + lengthBytes + *length, stored = bytes.size() - begin;
  // Compare in floating point first: a damaged shape must not allocate terabytes.
  int64_t count = countElements(header.shape);
  if (static_cast<double>(count) * static_cast<double>(elementBytes(dtype)) != static_cast<double>(stored))
    throw TensorError(
        fmt::format("it holds {} bytes of elements, but its header says {}", stored, describe(dtype, header.shape)));
  Tensor tensor(dtype, header.shape);
  if (header.fortranOrder && header.shape.size() > 1)
    copyFortranOrder(bytes.data() + begin, tensor);
  else
    std::memcpy(tensor.data(), bytes.data() + begin, tensor.bytes());
  if (swapped)
    swapBytes(tensor);
  if (dtype == FREESTONE_I1)
    std::for_each_n(tensor.as<uint8_t>(), tensor.count(), [](uint8_t &value) { value = value != 0; });
  return tensor;
}

std::vector<uint8_t> formatNpy(const Tensor &tensor) {
  const NpyType *type = std::find_if(std::begin(npyTypes), std::end(npyTypes),
                                     [&](const NpyType &t) { return t.dtype == tensor.dtype(); });
  std::string shape = fmt::format("{}", fmt::join(tensor.shape(), ", "));
  if (tensor.shape().size() == 1)
    shape += ',';
  char order = elementBytes(tensor.dtype()) == 1 ? '|' : '<';
  std::string header =
      fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}", order, type->descr, shape);
  // NumPy ends the header with a newline and aligns the elements to 64 bytes.
  size_t prefix = magic.size() + 4;
  header.append((64 - (prefix + header.size() + 1) % 64) % 64, ' ').push_back('\n');

  std::vector<uint8_t> bytes(prefix + header.size() + tensor.bytes());
  std::copy(magic.begin(), magic.end(), bytes.begin());
  bytes[magic.size()] = 1;
  bytes[magic.size() + 2] = static_cast<uint8_t>(header.size() & 255);
  bytes[magic.size() + 3] = static_cast<uint8_t>(header.size() >> 8);
  std::copy(header.begin(), header.end(), bytes.begin() + static_cast<ptrdiff_t>(prefix));
  if (tensor.count() != 0)
    std::memcpy(bytes.data() + prefix + header.size(), tensor.data(), tensor.bytes());
  return bytes;
}

} // namespace freestone::tools
