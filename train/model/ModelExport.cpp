#include "train/model/ModelExport.h"
#include "formats/ElementType.h"
#include "formats/FormatError.h"
#include "formats/HalfFloats.h"
#include "formats/OnnxElementType.h"
#include "formats/ProtobufFields.h"
#include "runtime/platform/File.h"
#include "train/Error.h"
#include "train/model/ModelInitializers.h"
#include <deque>
#include <fmt/ranges.h>
#include <map>

using namespace freestone::formats;
using freestone::runtime::platform::MappedFile;

namespace freestone::train {
namespace {

/// Smaller tensors stay in the model's file: shapes and scalars, which readers need at once.
constexpr size_t smallestExternal = 1024;
/// Tensors in the second file are page-aligned, so that readers can map them.
constexpr uint64_t externalAlignment = 4096;

double loadFloat(freestone_dtype dtype, const uint8_t *source) {
  if (dtype == FREESTONE_F16 || dtype == FREESTONE_BF16) {
    uint16_t bits;
    std::memcpy(&bits, source, sizeof(bits));
    return dtype == FREESTONE_F16 ? halfToDouble(bits) : bfloatToDouble(bits);
  }
  if (dtype == FREESTONE_F64) {
    double value;
    std::memcpy(&value, source, sizeof(value));
    return value;
  }
  float value;
  std::memcpy(&value, source, sizeof(value));
  return value;
}

void storeFloat(freestone_dtype dtype, double value, uint8_t *target) {
  if (dtype == FREESTONE_F16 || dtype == FREESTONE_BF16) {
    uint16_t bits = dtype == FREESTONE_F16 ? doubleToHalf(value) : doubleToBfloat(value);
    std::memcpy(target, &bits, sizeof(bits));
  } else if (dtype == FREESTONE_F64) {
    std::memcpy(target, &value, sizeof(value));
  } else {
    auto single = static_cast<float>(value);
    std::memcpy(target, &single, sizeof(single));
  }
}

/// An initializer with its new elements.
struct Entry {
  Initializer initializer;
  std::string copyName; ///< for a copy of the previous initializer: the name that its message gets
  bool changes = false; ///< its message is rewritten with these elements
  Bytes elements;
};

/// Views to write one after another.
struct Pieces {
  std::vector<Bytes> views;
  uint64_t size = 0;

  void add(Bytes bytes) {
    if (!bytes.empty())
      views.push_back(bytes);
    size += bytes.size();
  }
  void add(const Pieces &other) {
    views.insert(views.end(), other.views.begin(), other.views.end());
    size += other.size;
  }
};

class Exporter {
public:
  Exporter(Bytes model, std::span<const TensorView> weights, const std::string &path, const ExportOptions &options)
      : model(model), path(path), options(options), renames(options.separate) {
    for (const TensorView &weight : weights)
      replacements[weight.name] = &weight;
    for (const auto &[copy, original] : options.transposed)
      if (auto weight = replacements.find(original); weight != replacements.end())
        replacements[copy] = &transposedWeights.emplace_back(transpose(*weight->second, copy));
  }

  void run() {
    survey();
    Pieces file = rewriteModel();
    if (!data.views.empty())
      write(path + ".data", data);
    write(path, file);
  }

private:
  Bytes keep(std::string text) {
    const std::string &kept = texts.emplace_back(std::move(text));
    return {reinterpret_cast<const uint8_t *>(kept.data()), kept.size()};
  }

  /// Calls `visit` for every field of a message.
  template <typename Visit> static void forEachField(Bytes message, Visit visit) {
    for (ProtobufReader reader(message); !reader.atEnd();)
      visit(reader.next());
  }

  static bool isMessage(const ProtobufField &field, uint64_t number) {
    return field.number == number && field.type == WireType::Delimited;
  }

  /// Finds the elements of every initializer, and whether they all fit into one file.
  void survey() {
    uint64_t size = model.size();
    forEachField(model, [&](const ProtobufField &graph) {
      if (!isMessage(graph, onnx_field::modelGraph))
        return;
      forEachField(graph.payload, [&](const ProtobufField &tensor) {
        if (!isMessage(tensor, onnx_field::graphInitializer))
          return;
        Entry &entry = entries.emplace_back(surveyInitializer(tensor.payload));
        if (entry.changes)
          size += entry.elements.size() - entry.initializer.rawData.value_or(Bytes()).size();
        for (const std::string &name : renames.copiesOf(std::string(entry.initializer.name)))
          size += entries.emplace_back(surveyInitializer(tensor.payload, name)).elements.size();
      });
    });
    if (!replacements.empty()) {
      std::vector<std::string> names;
      for (const auto &[name, weight] : replacements)
        names.push_back(fmt::format("'{}'", name));
      throw Error(fmt::format("the model has no initializer {}", fmt::join(names, ", ")));
    }
    isSplit = size > options.largestFile;
    for (Entry &entry : entries)
      entry.changes |= isSplit && entry.elements.size() >= smallestExternal;
  }

  Entry surveyInitializer(Bytes tensor, const std::string &copyName = "") {
    Entry entry{parseInitializer(tensor), copyName, false, {}};
    Initializer &initializer = entry.initializer;
    if (!copyName.empty())
      initializer.name = copyName;
    auto replacement = replacements.find(initializer.name);
    if (replacement != replacements.end()) {
      entry.changes = true;
      entry.elements = convert(*replacement->second, initializer);
      replacements.erase(replacement);
    } else if (initializer.external) {
      entry.changes = true;
      entry.elements = readExternal(initializer);
    } else if (initializer.rawData) {
      entry.elements = *initializer.rawData;
    } else if (!initializer.isTyped && countElements(initializer.shape) > 0) {
      throw Error(fmt::format("the initializer '{}' has no elements, and none are given", initializer.name));
    }
    return entry;
  }

  /// The weight's elements, in the initializer's type.
  Bytes convert(const TensorView &weight, const Initializer &initializer) {
    std::optional<freestone_dtype> dtype = elementTypeFromOnnx(initializer.dataType);
    bool sameType = dtype == weight.dtype;
    if (!dtype || weight.shape != initializer.shape || !(sameType || (isFloat(weight.dtype) && isFloat(*dtype))))
      throw Error(fmt::format("the initializer '{}' is {}, but its new value is {}", initializer.name,
                              dtype ? describe(*dtype, initializer.shape)
                                    : fmt::format("of a type with the number {}", initializer.dataType),
                              describe(weight.dtype, weight.shape)));
    if (sameType)
      return weight.bytes;
    size_t from = elementBytes(weight.dtype), to = elementBytes(*dtype), count = weight.bytes.size() / from;
    std::string converted(count * to, '\0');
    auto *target = reinterpret_cast<uint8_t *>(converted.data());
    for (size_t i = 0; i < count; ++i)
      storeFloat(*dtype, loadFloat(weight.dtype, weight.bytes.data() + i * from), target + i * to);
    return keep(std::move(converted));
  }

  /// The transposed matrix.
  TensorView transpose(const TensorView &weight, const std::string &name) {
    if (weight.shape.size() != 2)
      throw Error(fmt::format("the initializer '{}' is {}, which is no matrix that '{}' could be a transposed copy of",
                              weight.name, describe(weight.dtype, weight.shape), name));
    size_t width = elementBytes(weight.dtype), rows = weight.shape[0], columns = weight.shape[1];
    std::string turned(weight.bytes.size(), '\0');
    for (size_t row = 0; row < rows; ++row)
      for (size_t column = 0; column < columns; ++column)
        std::memcpy(&turned[(column * rows + row) * width], &weight.bytes[(row * columns + column) * width], width);
    return {name, weight.dtype, {weight.shape[1], weight.shape[0]}, keep(std::move(turned))};
  }

  Bytes readExternal(const Initializer &initializer) {
    const ExternalData &external = *initializer.external;
    if (external.location.empty() || external.location[0] == '/' || external.location.find("..") != std::string::npos)
      throw Error(
          fmt::format("the elements of the initializer '{}' are in '{}', which is not within the model's folder",
                      initializer.name, external.location));
    auto found = files.find(external.location);
    if (found == files.end()) {
      runtime::Result<MappedFile> mapped = MappedFile::open(options.modelFolder + "/" + external.location);
      if (!mapped.ok())
        throw Error(fmt::format("the elements of the initializer '{}' can't be read: {}", initializer.name,
                                mapped.status().message()));
      found = files.emplace(external.location, std::move(*mapped)).first;
    }
    Bytes file = found->second.bytes();
    uint64_t rest = external.offset < file.size() ? file.size() - external.offset : 0;
    std::optional<Bytes> elements = readBytes(file, external.offset, external.length.value_or(rest));
    if (!elements)
      throw Error(fmt::format("the elements of the initializer '{}' are beyond the end of '{}'", initializer.name,
                              external.location));
    return *elements;
  }

  Pieces rewriteModel() {
    Pieces out;
    auto entry = entries.begin();
    forEachField(model, [&](const ProtobufField &field) {
      if (!isMessage(field, onnx_field::modelGraph))
        return out.add(field.whole);
      Pieces graph;
      int64_t node = 0;
      forEachField(field.payload, [&](const ProtobufField &member) {
        if (isMessage(member, onnx_field::graphNode))
          return addNode(graph, node++, member);
        if (isMessage(member, onnx_field::graphInput))
          return addInput(graph, member);
        if (!isMessage(member, onnx_field::graphInitializer))
          return graph.add(member.whole);
        if (const Entry &current = *entry++; current.changes)
          addMessage(graph, onnx_field::graphInitializer, rewriteInitializer(member.payload, current));
        else
          graph.add(member.whole);
        for (; entry != entries.end() && !entry->copyName.empty(); ++entry)
          addMessage(graph, onnx_field::graphInitializer, rewriteInitializer(member.payload, *entry));
      });
      addMessage(out, onnx_field::modelGraph, graph);
    });
    return out;
  }

  void addNode(Pieces &graph, int64_t position, const ProtobufField &node) {
    if (renames.dropsNode(position))
      return;
    std::optional<std::string> renamed = renames.renameInputs(position, node.payload);
    if (!renamed)
      return graph.add(node.whole);
    addMessage(graph, onnx_field::graphNode, std::move(*renamed));
  }

  /// If an initializer is listed among the graph's inputs, its copies must be as well.
  void addInput(Pieces &graph, const ProtobufField &input) {
    graph.add(input.whole);
    for (const std::string &name : renames.copiesOf(readValueName(input.payload)))
      addMessage(graph, onnx_field::graphInput, renameValue(input.payload, name));
  }

  void addMessage(Pieces &out, uint64_t number, std::string message) {
    Pieces pieces;
    pieces.add(keep(std::move(message)));
    addMessage(out, number, pieces);
  }

  void addMessage(Pieces &out, uint64_t number, const Pieces &message) {
    std::string head;
    writeDelimitedHead(head, number, message.size);
    out.add(keep(std::move(head)));
    out.add(message);
  }

  /// The tensor with its elements replaced in their field, and all other fields unchanged.
  Pieces rewriteInitializer(Bytes tensor, const Entry &entry) {
    Pieces out;
    bool placed = !entry.changes;
    forEachField(tensor, [&](const ProtobufField &field) {
      if (field.number == onnx_field::name && !entry.copyName.empty()) {
        std::string name;
        writeDelimitedField(name, onnx_field::name, entry.copyName);
        return out.add(keep(std::move(name)));
      }
      if (!holdsElements(field.number) || !entry.changes)
        return out.add(field.whole);
      if (!placed)
        addElements(out, entry);
      placed = true;
    });
    if (!placed)
      addElements(out, entry);
    return out;
  }

  void addElements(Pieces &out, const Entry &entry) {
    std::string fields;
    if (!isSplit || entry.elements.size() < smallestExternal) {
      writeDelimitedHead(fields, onnx_field::rawData, entry.elements.size());
      out.add(keep(std::move(fields)));
      out.add(entry.elements);
      return;
    }
    data.add(keep(std::string((externalAlignment - data.size % externalAlignment) % externalAlignment, '\0')));
    std::string location = path.substr(path.rfind('/') + 1) + ".data";
    for (const auto &[key, value] : {std::pair<std::string, std::string>("location", location),
                                     {"offset", std::to_string(data.size)},
                                     {"length", std::to_string(entry.elements.size())}}) {
      std::string pair;
      writeDelimitedField(pair, onnx_field::entryKey, key);
      writeDelimitedField(pair, onnx_field::entryValue, value);
      writeDelimitedField(fields, onnx_field::externalData, pair);
    }
    writeVarintField(fields, onnx_field::dataLocation, 1);
    out.add(keep(std::move(fields)));
    data.add(entry.elements);
  }

  static void write(const std::string &name, const Pieces &pieces) {
    runtime::Status status = runtime::platform::writeFileAtomically(name, pieces.views);
    if (!status.ok())
      throw Error(status.message());
  }

  Bytes model;
  const std::string &path;
  const ExportOptions &options;
  const GraphRenames renames;
  std::map<std::string, const TensorView *> replacements;
  std::deque<TensorView> transposedWeights;
  std::map<std::string, MappedFile> files;
  std::deque<std::string> texts; ///< text outside of the model and the weights
  std::vector<Entry> entries;
  bool isSplit = false; ///< elements go to a second file
  Pieces data;
};

} // namespace

void exportModel(Bytes model, std::span<const TensorView> weights, const std::string &path,
                 const ExportOptions &options) {
  try {
    Exporter(model, weights, path, options).run();
  } catch (const FormatError &error) {
    throw Error(fmt::format("the model is damaged: {}", error.what()));
  }
}

} // namespace freestone::train
