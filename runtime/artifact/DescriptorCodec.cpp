// Descriptor ↔ CBOR. `visitFields` lists the fields of every struct once; encoding and decoding are two visitors.
#include "runtime/artifact/CborSyntax.h"
#include "runtime/artifact/Descriptor.h"
#include <concepts>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>

using namespace freestone::runtime;
using Json = nlohmann::json;

namespace {

/// The text of an enumeration's values, in order from 0.
template <typename Enum> constexpr std::string_view spellings[1] = {};
template <> constexpr std::string_view spellings<SymbolSource>[] = {"input-dim", "input-element", "run-time"};
template <>
constexpr std::string_view spellings<ValueKind>[] = {"tensor", "sequence",          "optional",
                                                     "string", "optional-sequence", "part"};
template <> constexpr std::string_view spellings<Space::Dealing>[] = {"by-time", "evenly", "claimed"};
template <> constexpr std::string_view spellings<Phase::Begin>[] = {"apart", "together"};
template <>
constexpr std::string_view spellings<BufferKind>[] = {"input", "output", "weight", "state",
                                                      "arena", "alias",  "growing"};
template <> constexpr std::string_view spellings<Assertion::Relation>[] = {"eq", "le"};

/// T, const or not.
template <typename Object, typename T>
concept Either = std::same_as<std::remove_const_t<Object>, T>;

void visitFields(auto &visit, Either<Symbol> auto &symbol) {
  visit("name", symbol.name);
  visit("lower", symbol.lower);
  visit("upper", symbol.upper);
  visit("source", symbol.source);
  visit("input", symbol.input);
  visit("index", symbol.index);
  visit("bound", symbol.bound);
  visit("multiple-of", symbol.multipleOf);
  visit("scale", symbol.scale);
}

void visitFields(auto &visit, Either<TensorInfo> auto &tensor) {
  visit("name", tensor.name);
  visit("dtype", tensor.dtype);
  visit("kind", tensor.kind);
  visit("shape", tensor.shape);
  visit("dims", tensor.dimSlots);
  visit("buffer", tensor.buffer);
  visit("open-axes", tensor.openAxes);
  visit("open-names", tensor.openNames);
  visit("lacking", tensor.lacking);
  visit("sizes", tensor.sizes);
  visit("presence", tensor.presence);
}

void visitFields(auto &visit, Either<Buffer> auto &buffer) {
  visit("kind", buffer.kind);
  visit("bytes", buffer.bytesSlot);
  visit("alignment", buffer.alignment);
  visit("weight", buffer.weight);
  visit("state", buffer.state);
  visit("base", buffer.base);
  visit("offset", buffer.offsetSlot);
  visit("first", buffer.first);
  visit("freed", buffer.freed);
  visit("released", buffer.released);
  visit("slices", buffer.slices);
}

void visitFields(auto &visit, Either<Assertion> auto &assertion) {
  visit("left", assertion.left);
  visit("relation", assertion.relation);
  visit("right", assertion.right);
  visit("after", assertion.after);
  visit("text", assertion.text);
}

void visitFields(auto &visit, Either<ServiceTensor> auto &tensor) {
  visit("dtype", tensor.dtype);
  visit("dims", tensor.dimSlots);
  visit("buffer", tensor.buffer);
}

void visitFields(auto &visit, Either<ServiceCall> auto &call) {
  visit("name", call.name);
  visit("version", call.version);
  visit("inputs", call.inputs);
  visit("outputs", call.outputs);
}

void visitFields(auto &visit, Either<Space> auto &space) {
  visit("tiles", space.tilesSlot);
  visit("time", space.timeSlot);
  visit("deal", space.deal);
  visit("dealing", space.dealing);
}

void visitFields(auto &visit, Either<Blocks> auto &blocks) {
  visit("space", blocks.space);
  visit("elements", blocks.elements);
  visit("tiles", blocks.tiles);
}

void visitFields(auto &visit, Either<Meeting> auto &meeting) {
  visit("later", meeting.later);
  visit("earlier", meeting.earlier);
}

void visitFields(auto &visit, Either<Window> auto &window) {
  visit("phase", window.phase);
  visit("meetings", window.meetings);
}

void visitFields(auto &visit, Either<Phase> auto &phase) {
  visit("label", phase.label);
  visit("program", phase.program);
  visit("buffers", phase.buffers);
  visit("spaces", phase.spaces);
  visit("awaits", phase.awaits);
  visit("awaits-all", phase.awaitsAll);
  visit("windows", phase.windows);
  visit("begin", phase.begin);
}

void visitFields(auto &visit, Either<Entry> auto &entry) {
  visit("name", entry.name);
  visit("symbols", entry.symbols);
  visit("slots", entry.slotCount);
  visit("inputs", entry.inputs);
  visit("outputs", entry.outputs);
  visit("buffers", entry.buffers);
  visit("assertions", entry.assertions);
  visit("services", entry.services);
  visit("phases", entry.phases);
  visit("deals", entry.dealCount);
  visit("scratch", entry.scratchSlot);
  visit("scratch-grows", entry.scratchGrows);
  visit("operations", entry.operations);
  visit("padding", entry.padding);
  visit("operations-slot", entry.operationsSlot);
  visit("padding-slot", entry.paddingSlot);
}

void visitFields(auto &visit, Either<Weight> auto &weight) {
  visit("name", weight.name);
  visit("dtype", weight.dtype);
  visit("shape", weight.shape);
  visit("bytes", weight.bytes);
  visit("offset", weight.fileOffset);
  visit("checksum", weight.checksum);
}

void visitFields(auto &visit, Either<StateInfo> auto &state) {
  visit("name", state.name);
  visit("dtype", state.dtype);
  visit("shape", state.shape);
  visit("bytes", state.bytes);
  visit("initial", state.initial);
  visit("panel-axis", state.panelAxis);
  visit("panel-width", state.panelWidth);
}

void visitFields(auto &visit, Either<Target> auto &target) {
  visit("arch", target.arch);
  visit("cpu", target.cpu);
  visit("features", target.features);
}

void visitFields(auto &visit, Either<Descriptor> auto &descriptor) {
  visit("version", descriptor.version);
  visit("abi", descriptor.abi);
  visit("producer", descriptor.producer);
  visit("model", descriptor.modelName);
  visit("target", descriptor.target);
  visit("entries", descriptor.entries);
  visit("segments", descriptor.segments);
  visit("weights", descriptor.weights);
  visit("states", descriptor.states);
  visit("sites", descriptor.sites);
  visit("statistics", descriptor.statistics);
}

class Encoder {
public:
  template <typename T>
    requires std::is_class_v<T>
  static Json value(const T &object) {
    Encoder fields;
    visitFields(fields, object);
    return std::move(fields.object);
  }
  static Json value(const std::string &text) { return text; }
  static Json value(int64_t number) { return number; }
  static Json value(DType dtype) { return std::string(dtypeName(dtype)); }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  static Json value(Enum value) {
    return std::string(spellings<Enum>[static_cast<size_t>(value)]);
  }
  static Json value(const Checksum &checksum) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (uint8_t byte : checksum)
      text.append({digits[byte >> 4], digits[byte & 15]});
    return text;
  }
  static Json value(const std::map<std::string, int64_t> &numbers) { return numbers; }
  template <typename T> static Json value(const std::vector<T> &items) {
    Json array = Json::array();
    for (const T &item : items)
      array.push_back(value(item));
    return array;
  }

  template <typename T> void operator()(const char *name, const T &field) { object[name] = value(field); }

private:
  Json object = Json::object();
};

/// Reads fields until the first error; `path` then names the field.
class Decoder {
public:
  std::string path, error;
  bool failed() const { return !error.empty(); }

  template <typename T>
    requires std::is_class_v<T>
  void read(const Json &json, T &object) {
    if (!json.is_object())
      return fail("must be a map");
    Fields fields{*this, json};
    visitFields(fields, object);
    if (!failed() && fields.seen != json.size())
      fail("has an unknown field");
  }
  void read(const Json &json, std::string &text) {
    if (!json.is_string())
      return fail("must be text");
    text = json.get_ref<const std::string &>();
    if (text.find('\0') != std::string::npos)
      fail("has a zero byte");
  }
  void read(const Json &json, int64_t &number) {
    bool fits = json.is_number_integer() && !(json.is_number_unsigned() && json.get<uint64_t>() > uint64_t(INT64_MAX));
    if (!fits)
      return fail("must be an integer of 64 bits");
    number = json.get<int64_t>();
  }
  void read(const Json &json, DType &dtype) {
    std::string name;
    read(json, name);
    std::optional<DType> known = dtypeFromName(name);
    if (!failed() && !known)
      return fail("is an unknown element type '" + name + "'");
    dtype = known.value_or(DType::f32);
  }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  void read(const Json &json, Enum &value) {
    std::string name;
    read(json, name);
    int position = 0;
    for (std::string_view spelling : spellings<Enum>) {
      if (spelling == name)
        value = static_cast<Enum>(position);
      if (spelling == name)
        return;
      ++position;
    }
    if (!failed())
      fail("is an unknown value '" + name + "'");
  }
  void read(const Json &json, Checksum &checksum) {
    std::string text;
    read(json, text);
    if (failed())
      return;
    bool isHex = text.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (text.size() != 2 * checksum.size() || !isHex)
      return fail("must be 32 hexadecimal digits");
    for (size_t i = 0; i < checksum.size(); ++i)
      checksum[i] = static_cast<uint8_t>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  }
  void read(const Json &json, std::map<std::string, int64_t> &numbers) {
    if (!json.is_object())
      return fail("must be a map");
    for (const auto &[name, item] : json.items())
      within(name, [&] { read(item, numbers[name]); });
  }
  template <typename T> void read(const Json &json, std::vector<T> &items) {
    if (!json.is_array())
      return fail("must be an array");
    items.resize(json.size());
    for (size_t i = 0; i < items.size() && !failed(); ++i)
      within(std::to_string(i), [&] { read(json[i], items[i]); });
  }

private:
  struct Fields {
    Decoder &decoder;
    const Json &json;
    size_t seen = 0;

    template <typename T> void operator()(const char *name, T &field) {
      if (decoder.failed())
        return;
      auto found = json.find(name);
      ++seen;
      decoder.within(name, [&] { found == json.end() ? decoder.fail("is missing") : decoder.read(*found, field); });
    }
  };

  void within(const std::string &name, auto body) {
    size_t length = path.size();
    path += (path.empty() ? "" : ".") + name;
    body();
    if (!failed())
      path.resize(length);
  }
  void fail(const std::string &message) {
    if (!failed())
      error = message;
  }
};

} // namespace

std::vector<uint8_t> freestone::runtime::encode(const Descriptor &descriptor) {
  return Json::to_cbor(Encoder::value(descriptor));
}

std::string freestone::runtime::toJson(const Descriptor &descriptor) {
  return Encoder::value(descriptor).dump(2, ' ', false, Json::error_handler_t::replace);
}

Result<Descriptor> freestone::runtime::decode(std::span<const uint8_t> bytes) {
  auto refuse = [](const std::string &why) { return Status(Code::BadArtifact, "the artifact's descriptor " + why); };
  if (!isPlainCbor(bytes))
    return refuse("is not well-formed");
  Json json = Json::from_cbor(bytes.begin(), bytes.end(), /*strict=*/true, /*allow_exceptions=*/false);
  if (!json.is_object())
    return refuse("is not a map");

  // The version is checked first: others may have any fields.
  auto version = json.find("version");
  if (version == json.end() || !version->is_number_integer())
    return refuse("has no version");
  if (*version != descriptorVersion)
    return Status(Code::Incompatible, "the artifact's descriptor has version " + version->dump() +
                                          ", this runtime reads version " + std::to_string(descriptorVersion) +
                                          "; compile the model again");
  Decoder decoder;
  Descriptor descriptor;
  decoder.read(json, descriptor);
  if (decoder.failed())
    return refuse("is wrong: '" + decoder.path + "' " + decoder.error);
  if (Status status = validate(descriptor); !status.ok())
    return status;
  return descriptor;
}
