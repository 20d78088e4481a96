#include "train/checkpoint/Checkpoint.h"
#include "formats/ElementType.h"
#include "formats/FormatError.h"
#include "formats/Safetensors.h"
#include "train/Error.h"
#include "train/checkpoint/Durable.h"
#include <algorithm>
#include <fmt/ranges.h>
#include <set>

using freestone::formats::TensorView;

namespace freestone::train {

static constexpr size_t reasonsToTell = 4;

Checkpoint Checkpoint::open(const std::string &folder, Verify verify) {
  Checkpoint checkpoint;
  checkpoint.path = folder;
  std::string name = "manifest.json";
  try {
    std::string text = runtime::platform::readSmallFile(folder + "/" + name);
    if (text.empty())
      throw Error("it can't be read");
    checkpoint.manifest = parseManifest(text);
    checkpoint.verified.resize(checkpoint.manifest.files.size());
    for (const CheckpointFile &file : checkpoint.manifest.files) {
      name = file.name;
      runtime::Result<runtime::platform::MappedFile> mapped =
          runtime::platform::MappedFile::open(folder + "/" + file.name);
      if (!mapped.ok())
        throw Error(mapped.status().message());
      formats::Bytes bytes = checkpoint.files.emplace_back(std::move(*mapped)).bytes();
      if (bytes.size() != file.bytes)
        throw Error(fmt::format("it has {} bytes instead of {}", bytes.size(), file.bytes));
      if (verify == Verify::All && !checkpoint.isIntact(checkpoint.files.size() - 1))
        throw Error("its checksum is wrong");
      for (TensorView &tensor : formats::parseSafetensors(bytes).tensors)
        checkpoint.groups[file.group].push_back(std::move(tensor));
    }
  } catch (const std::runtime_error &error) { // Error or FormatError
    throw Error(fmt::format("{}/{}: {}", folder, name, error.what()));
  }
  return checkpoint;
}

bool Checkpoint::isIntact(size_t file) const {
  if (verified[file])
    return true;
  verified[file] = checksumOf(files[file].bytes()) == manifest.files[file].checksum;
  // Much of it is not read again, such as the optimizer's state by what writes the model.
  files[file].release();
  return verified[file];
}

const std::vector<TensorView> &Checkpoint::tensors(const std::string &group) const {
  static const std::vector<TensorView> none;
  auto found = groups.find(group);
  return found == groups.end() ? none : found->second;
}

/// Throws Error if there are reasons.
void Checkpoint::refuse(const std::string &what, const std::vector<std::string> &reasons) const {
  if (reasons.empty())
    return;
  size_t told = std::min(reasons.size(), reasonsToTell);
  throw Error(fmt::format("the {} of {} are not this model's: {}{}", what, path,
                          fmt::join(reasons.begin(), reasons.begin() + static_cast<ptrdiff_t>(told), ", "),
                          told < reasons.size() ? fmt::format(", and {} more", reasons.size() - told) : ""));
}

void Checkpoint::requireNames(const std::set<std::string> &names) const {
  std::set<std::string> missing = names;
  std::vector<std::string> reasons;
  for (const auto &[group, tensors] : groups)
    for (const TensorView &tensor : tensors)
      if (!missing.erase(tensor.name))
        reasons.push_back(fmt::format("'{}' is unknown", tensor.name));
  for (const std::string &name : missing)
    reasons.push_back(fmt::format("'{}' is missing", name));
  refuse("states", reasons);
}

void Checkpoint::restore(const std::string &group, std::span<const TensorTarget> targets, Extent extent) const {
  std::map<std::string, const TensorView *> stored;
  for (const TensorView &tensor : tensors(group))
    stored[tensor.name] = &tensor;

  std::vector<std::string> reasons;
  std::vector<std::pair<const TensorView *, const TensorTarget *>> copies;
  for (const TensorTarget &target : targets) {
    auto found = stored.find(target.name);
    if (found == stored.end()) {
      reasons.push_back(fmt::format("'{}' is missing", target.name));
      continue;
    }
    const TensorView &tensor = *found->second;
    if (tensor.dtype != target.dtype || tensor.shape != target.shape)
      reasons.push_back(fmt::format("'{}' is {} instead of {}", target.name,
                                    formats::describe(tensor.dtype, tensor.shape),
                                    formats::describe(target.dtype, target.shape)));
    copies.emplace_back(&tensor, &target);
    stored.erase(found);
  }
  if (extent == Extent::Part)
    stored.clear();
  for (const auto &[name, tensor] : stored)
    reasons.push_back(fmt::format("'{}' is unknown", name));
  refuse(group, reasons);
  for (size_t file = 0; file < files.size(); ++file) {
    formats::Bytes bytes = files[file].bytes();
    auto isWithin = [&](const auto &copy) {
      const uint8_t *data = copy.first->bytes.data();
      return data >= bytes.data() && data < bytes.data() + bytes.size();
    };
    if (std::ranges::any_of(copies, isWithin) && !isIntact(file))
      throw Error(fmt::format("{}/{}: its checksum is wrong", path, manifest.files[file].name));
  }
  for (auto [tensor, target] : copies) {
    if (target->panels.width)
      target->panels.pack(tensor->bytes.data(), target->data, target->shape, formats::countBytes(target->dtype, {}));
    else
      std::copy(tensor->bytes.begin(), tensor->bytes.end(), static_cast<uint8_t *>(target->data));
  }
}

} // namespace freestone::train
