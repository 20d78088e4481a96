// The part of the C ABI that deals with artifacts.
#include "runtime/interface/Interface.h"
#include <cstdlib>

using namespace freestone::runtime;

static_assert(static_cast<int>(DType::f16) == FREESTONE_F16 && static_cast<int>(DType::u64) == FREESTONE_U64);
static_assert(static_cast<int>(Code::Internal) == FREESTONE_INTERNAL &&
              static_cast<int>(Code::Mismatch) == FREESTONE_MISMATCH);

namespace {
thread_local std::string lastError;
} // namespace

freestone_status freestone::runtime::report(const Status &status) {
  if (!status.ok())
    lastError = status.message();
  return static_cast<freestone_status>(status.code());
}

const char *freestone_last_error(void) { return lastError.c_str(); }

void freestone_set_last_error(const char *sentence) {
  try {
    lastError = sentence ? sentence : "";
  } catch (const std::bad_alloc &) {
    lastError.clear();
  }
}

const char *freestone_version(void) { return FREESTONE_VERSION; }

const char *freestone_dtype_name(freestone_dtype dtype) {
  if (dtype < FREESTONE_F16 || dtype > FREESTONE_U64)
    return nullptr;
  return dtypeName(static_cast<DType>(dtype)).data();
}

static_assert(static_cast<int>(ValueKind::Sequence) == FREESTONE_SEQUENCE &&
              static_cast<int>(ValueKind::OptionalSequence) == FREESTONE_OPTIONAL_SEQUENCE);

static Status wrap(Result<std::shared_ptr<Artifact>> loaded, freestone_artifact **handle) {
  if (!loaded.ok())
    return loaded.status();
  *handle = new freestone_artifact(std::move(*loaded));
  return {};
}

freestone_status freestone_artifact_load(const char *path, const freestone_load_options *options,
                                         freestone_artifact **artifact) {
  return guarded([&] {
    if (!path || !artifact)
      return nullArgument(path ? "artifact" : "path");
    *artifact = nullptr;
    freestone_load_options chosen = readStruct(options);
    return wrap(Artifact::load(path, chosen.check_weights != 0, chosen.file_bytes), artifact);
  });
}

freestone_status freestone_artifact_load_memory(const void *bytes, size_t size, const freestone_load_options *options,
                                                freestone_artifact **artifact) {
  return guarded([&] {
    if (!bytes || !artifact)
      return nullArgument(bytes ? "artifact" : "bytes");
    *artifact = nullptr;
    std::span<const uint8_t> view(static_cast<const uint8_t *>(bytes), size);
    return wrap(Artifact::loadMemory(view, readStruct(options).check_weights != 0), artifact);
  });
}

void freestone_artifact_release(freestone_artifact *artifact) { delete artifact; }

freestone_status freestone_artifact_check_weights(const freestone_artifact *artifact) {
  return guarded([&] { return artifact ? artifact->artifact->checkWeights() : nullArgument("artifact"); });
}

freestone_status freestone_artifact_save(const freestone_artifact *artifact, const char *path) {
  return guarded([&] {
    if (!artifact || !path)
      return nullArgument(artifact ? "path" : "artifact");
    std::span<const uint8_t> bytes = artifact->artifact->bytes();
    return platform::writeFileAtomically(path, {&bytes, 1});
  });
}

size_t freestone_artifact_input_count(const freestone_artifact *artifact) {
  return artifact ? countValues(artifact->main().inputs) : 0;
}

size_t freestone_artifact_output_count(const freestone_artifact *artifact) {
  return artifact ? countValues(artifact->main().outputs) : 0;
}

freestone_status freestone_artifact_input(const freestone_artifact *artifact, size_t index,
                                          freestone_value_info *info) {
  return guarded([&] {
    return artifact ? describeValue(artifact->main().inputs, artifact->inputShapes, index, info)
                    : nullArgument("artifact");
  });
}

freestone_status freestone_artifact_output(const freestone_artifact *artifact, size_t index,
                                           freestone_value_info *info) {
  return guarded([&] {
    return artifact ? describeValue(artifact->main().outputs, artifact->outputShapes, index, info)
                    : nullArgument("artifact");
  });
}

size_t freestone_artifact_entry_count(const freestone_artifact *artifact) {
  return artifact ? artifact->entries.size() : 0;
}

const char *freestone_artifact_entry_name(const freestone_artifact *artifact, size_t index) {
  return artifact && index < artifact->entries.size() ? artifact->entries[index]->name.c_str() : nullptr;
}

size_t freestone_artifact_symbol_count(const freestone_artifact *artifact) {
  return artifact ? artifact->main().symbols.size() : 0;
}

freestone_status freestone_artifact_symbol(const freestone_artifact *artifact, size_t index,
                                           freestone_symbol_info *info) {
  return guarded([&] {
    if (!artifact)
      return nullArgument("artifact");
    const std::vector<Symbol> &symbols = artifact->main().symbols;
    if (index >= symbols.size())
      return Status(Code::InvalidArgument, "there is no symbol " + std::to_string(index));
    const Symbol &symbol = symbols[index];
    freestone_symbol_info value = {};
    value.name = symbol.name.c_str();
    value.lower = symbol.lower;
    value.upper = symbol.upper;
    value.multiple_of = symbol.multipleOf;
    value.is_result = symbol.source == SymbolSource::RunTime;
    return writeStruct(info, value);
  });
}

freestone_status freestone_artifact_describe(const freestone_artifact *artifact, char **json) {
  return guarded([&] {
    if (!artifact || !json)
      return nullArgument(artifact ? "json" : "artifact");
    std::string text = toJson(artifact->artifact->descriptor());
    *json = static_cast<char *>(std::malloc(text.size() + 1));
    if (!*json)
      return Status(Code::OutOfMemory, "out of memory");
    std::memcpy(*json, text.c_str(), text.size() + 1);
    return Status();
  });
}

void freestone_free(void *memory) { std::free(memory); }
