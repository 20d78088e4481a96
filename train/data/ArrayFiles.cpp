#include "train/data/ArrayFiles.h"
#include "formats/ElementType.h"
#include "formats/FormatError.h"
#include "formats/NpyHeader.h"
#include "formats/Safetensors.h"
#include "formats/ZipArchive.h"
#include "train/Error.h"
#include <fmt/format.h>

using namespace freestone::formats;

namespace freestone::train {

/// "folder/x.npy" → "x"
static std::string stem(const std::string &path) {
  std::string name = path.substr(path.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

/// Adds an array from the bytes of a .npy file, in place if possible.
void ArrayFiles::add(std::string name, Bytes npy) {
  NpyHeader header = parseNpyHeader(npy);
  if (header.isUnnamed)
    throw FormatError(
        "its elements are bytes of a type that the file does not name; convert them to one that NumPy has");
  Bytes elements = npy.subspan(header.elementsOffset);
  if (!header.isPlain()) {
    std::vector<uint8_t> converted(elements.size());
    copyNpyElements(npy, header, converted.data());
    elements = unpacked.emplace_back(std::move(converted));
  }
  views.push_back({std::move(name), header.dtype, header.shape, elements});
}

void ArrayFiles::openNpz(Bytes file) {
  for (const ZipEntry &entry : readZipDirectory(file)) {
    std::string name = entry.name.ends_with(".npy") ? entry.name.substr(0, entry.name.size() - 4) : entry.name;
    try {
      add(name, entry.deflated ? Bytes(unpacked.emplace_back(inflateEntry(entry))) : entry.packed);
    } catch (const FormatError &error) {
      throw FormatError(fmt::format("array '{}': {}", name, error.what()));
    }
  }
}

ArrayFiles ArrayFiles::open(const std::vector<std::string> &arguments) {
  ArrayFiles opened;
  for (const std::string &argument : arguments) {
    size_t equals = argument.find('=');
    bool named = equals != std::string::npos && argument.find('/') > equals;
    std::string name = named ? argument.substr(0, equals) : "", path = named ? argument.substr(equals + 1) : argument;
    runtime::Result<runtime::platform::MappedFile> file = runtime::platform::MappedFile::open(path);
    if (!file.ok())
      throw Error(file.status().message());
    Bytes bytes = opened.files.emplace_back(std::move(*file)).bytes();
    size_t first = opened.views.size();
    try {
      if (path.ends_with(".npy"))
        opened.add(stem(path), bytes);
      else if (path.ends_with(".npz"))
        opened.openNpz(bytes);
      else if (path.ends_with(".safetensors"))
        for (TensorView &tensor : parseSafetensors(bytes).tensors)
          opened.views.push_back(std::move(tensor));
      else
        throw FormatError("data are .npz, .npy or .safetensors files");
    } catch (const FormatError &error) {
      throw Error(fmt::format("{}: {}", path, error.what()));
    }
    if (named && opened.views.size() != first + 1)
      throw Error(
          fmt::format("{}: it holds {} arrays, so that '{}=' names none", path, opened.views.size() - first, name));
    if (named)
      opened.views[first].name = name;
    for (size_t i = first; i < opened.views.size(); ++i)
      if (opened.find(opened.views[i].name) != &opened.views[i])
        throw Error(fmt::format("{}: there is an array '{}' already; give it another name as name={}", path,
                                opened.views[i].name, path));
  }
  return opened;
}

void ArrayFiles::addView(TensorView array) {
  if (find(array.name))
    throw Error(fmt::format("there are two arrays '{}'", array.name));
  views.push_back(std::move(array));
}

const TensorView *ArrayFiles::find(const std::string &name) const {
  for (const TensorView &view : views)
    if (view.name == name)
      return &view;
  return nullptr;
}

std::vector<std::string> ArrayFiles::names() const {
  std::vector<std::string> names;
  for (const TensorView &view : views)
    names.push_back(view.name);
  return names;
}

std::string ArrayFiles::describe() const {
  std::string text;
  for (const TensorView &view : views)
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", view.name, formats::describe(view.dtype, view.shape));
  return text;
}

} // namespace freestone::train
