#include "runtime/artifact/Artifact.h"

#include "runtime/machine/Processor.h"
#include "runtime/platform/Pages.h"
#include <algorithm>
#include <cstring>

using namespace freestone::runtime;

Result<std::shared_ptr<Artifact>> Artifact::load(const std::string &path, bool checkWeights, uint64_t fileBytes) {
  Result<platform::MappedFile> mapped = platform::MappedFile::open(path);
  if (!mapped.ok())
    return mapped.status();
  std::shared_ptr<Artifact> artifact(new Artifact);
  artifact->file = std::move(*mapped);
  std::span<const uint8_t> bytes = artifact->file.bytes();
  if (fileBytes > bytes.size())
    return Status(Code::BadArtifact, "can't load '" + path + "': the file is too short");
  if (fileBytes > 0)
    bytes = bytes.first(fileBytes);
  if (Status status = artifact->open(bytes, path, checkWeights); !status.ok())
    return Status(status.code(), "can't load '" + path + "': " + status.message());
  return artifact;
}

Result<std::shared_ptr<Artifact>> Artifact::loadMemory(std::span<const uint8_t> bytes, bool checkWeights) {
  std::shared_ptr<Artifact> artifact(new Artifact);
  Result<Block> block = Memory::create({}, 0)->allocate(bytes.size(), "the artifact");
  if (!block.ok())
    return block.status();
  artifact->copy = std::move(*block);
  std::memcpy(artifact->copy.data(), bytes.data(), bytes.size());
  std::span<const uint8_t> copy(reinterpret_cast<const uint8_t *>(artifact->copy.data()), bytes.size());
  if (Status status = artifact->open(copy, "", checkWeights); !status.ok())
    return Status(status.code(), "can't load the artifact: " + status.message());
  return artifact;
}

Status Artifact::open(std::span<const uint8_t> bytes, const std::string &path, bool withWeights) {
  whole = bytes;
  Result<ArtifactParts> read = readArtifact(bytes);
  if (!read.ok())
    return read.status();
  parts = std::move(*read);
  // Weights that states begin with are read once.
  if (descriptor().states.empty())
    file.useHugePages();
  if (Status status = checkTarget(); !status.ok())
    return status;
  if (Status status = checkStripped(); !status.ok())
    return status;
  if (withWeights)
    if (Status status = checkWeights(); !status.ok())
      return status;
  for (const Weight &weight : descriptor().weights)
    weights.push_back(weight.fileOffset < 0 ? nullptr : bytes.data() + weight.fileOffset);
  return openCode(path);
}

Status Artifact::checkTarget() const {
  const Target &target = descriptor().target;
  if (target.arch != architecture::name())
    return {Code::Incompatible,
            "it was compiled for " + target.arch + ", this machine is " + std::string(architecture::name())};
  Result<Processor> here = Processor::here();
  if (!here.ok())
    return {Code::Incompatible, here.status().message()};
  const std::string seenAs =
      here->seenAs.empty() ? "" : " as " + std::string(hostVariable) + "=" + here->seenAs + " shows it";
  for (const std::string &feature : target.features) {
    const std::string needs = "it needs the CPU feature '" + feature + "', which ";
    if (!isKnownFeature(feature))
      return {Code::Incompatible, needs + "this runtime does not know"};
    if (!here->has(feature))
      return {Code::Incompatible, needs + "this machine does not have" + seenAs};
    if (!architecture::request(feature))
      return {Code::Incompatible, needs + "the system does not let this process use"};
  }
  return {};
}

/// Weights that `init` makes can't be its own inputs.
Status Artifact::checkStripped() const {
  const Entry *init = descriptor().findEntry("init");
  if (!init)
    return {};
  for (const Buffer &buffer : init->buffers) {
    if (buffer.kind != BufferKind::Weight)
      continue;
    const Weight &weight = descriptor().weights[buffer.weight];
    if (weight.fileOffset < 0 && descriptor().makes(weight))
      return {Code::BadArtifact,
              "the artifact's descriptor is wrong: 'init' needs weight '" + weight.name + "', which it makes"};
  }
  return {};
}

Status Artifact::openCode(const std::string &path) {
  Result<platform::SharedObject> opened = platform::SharedObject::open(parts.code, path, architecture::elfMachine());
  if (!opened.ok())
    return opened.status();
  code = std::move(*opened);
  table = static_cast<const freestone_table *>(code.find("freestone_table"));
  if (!table)
    return {Code::BadArtifact, "its code exports no freestone_table"};
  if (table->abi != FREESTONE_ABI_VERSION)
    return {Code::Incompatible, "its code has ABI " + std::to_string(table->abi) + ", this runtime has ABI " +
                                    std::to_string(FREESTONE_ABI_VERSION) + "; compile the model again"};
  if (table->entry_count != static_cast<int64_t>(descriptor().entries.size()))
    return {Code::BadArtifact, "its code has another number of entries than its descriptor"};
  return {};
}

bool Artifact::isComplete() const {
  return std::ranges::none_of(weights, [](const void *weight) { return weight == nullptr; });
}

void Artifact::releaseWeight(size_t index) const {
  std::span<const uint8_t> bytes = file.bytes();
  auto address = reinterpret_cast<uintptr_t>(weights[index]), begin = reinterpret_cast<uintptr_t>(bytes.data());
  if (address >= begin && address < begin + bytes.size())
    platform::releaseMapped(weights[index], descriptor().weights[index].bytes);
}

void Artifact::adoptWeight(size_t index, Block block) {
  weights[index] = block.data();
  madeWeights.push_back(std::move(block));
}

Status Artifact::checkWeights() const {
  for (const Weight &weight : descriptor().weights) {
    if (weight.fileOffset < 0)
      continue;
    if (checksum(parts.weights.subspan(weight.fileOffset - parts.weightsOffset, weight.bytes)) != weight.checksum)
      return {Code::BadArtifact, "the artifact is damaged: the checksum of weight '" + weight.name + "' is wrong"};
  }
  return {};
}
