#include "train/model/ModelExport.h"
#include "formats/ProtobufFields.h"
#include "test/train/Files.h"
#include "train/Error.h"
#include "train/model/ModelInitializers.h"

using namespace freestone;
using namespace freestone::formats;
using namespace freestone::test;
using namespace freestone::train;

namespace {

/// A TensorProto.
std::string tensor(const std::string &name, int dataType, const std::vector<int64_t> &shape,
                   const std::string &elements) {
  std::string out;
  for (int64_t size : shape)
    writeVarintField(out, onnx_field::dims, uint64_t(size));
  writeVarintField(out, onnx_field::dataType, uint64_t(dataType));
  writeDelimitedField(out, onnx_field::name, name);
  out += elements;
  writeDelimitedField(out, 12, "documentation of " + name);
  return out;
}

std::string raw(const std::string &bytes) {
  std::string out;
  writeDelimitedField(out, onnx_field::rawData, bytes);
  return out;
}

/// A ModelProto with a node, unknown fields everywhere, and these initializers.
std::string modelOf(const std::vector<std::string> &tensors) {
  std::string graph, model;
  writeDelimitedField(graph, 1, "a node");
  for (const std::string &tensor : tensors)
    writeDelimitedField(graph, onnx_field::graphInitializer, tensor);
  writeVarintField(graph, 999, 5);
  writeVarintField(model, 1, 10);
  writeDelimitedField(model, onnx_field::modelGraph, graph);
  writeDelimitedField(model, 8, "an operator set");
  writeVarintField(model, 1000, 7);
  return model;
}

std::string exported(const std::string &model, const std::vector<TensorView> &weights, const Folder &folder,
                     ExportOptions options = {}) {
  exportModel(asBytes(model), weights, folder / "out.onnx", options);
  return readText(folder / "out.onnx");
}

std::vector<Initializer> initializersOf(const std::string &model) {
  std::vector<Initializer> initializers;
  for (ProtobufReader reader(asBytes(model)); !reader.atEnd();) {
    ProtobufField graph = reader.next();
    if (graph.number != onnx_field::modelGraph)
      continue;
    for (ProtobufReader members(graph.payload); !members.atEnd();)
      if (ProtobufField member = members.next(); member.number == onnx_field::graphInitializer)
        initializers.push_back(parseInitializer(member.payload));
  }
  return initializers;
}

const std::vector<float> before = {1, 2, 3, 4, 5, 6}, after = {6, 5, 4, 3, 2, 1};

} // namespace

TEST(ModelExport, changesTheElementsAndNothingElse) {
  Folder folder;
  std::string shape = tensor("shape", 7, {1}, raw(bytesOf<int64_t>({3})));
  std::string model = modelOf({tensor("w", 1, {2, 3}, raw(bytesOf(before))), shape});
  std::string expected = modelOf({tensor("w", 1, {2, 3}, raw(bytesOf(after))), shape});
  EXPECT_EQ(exported(model, {viewOf("w", FREESTONE_F32, {2, 3}, after)}, folder), expected);
  EXPECT_EQ(exported(model, {}, folder), model);
  EXPECT_FALSE(std::filesystem::exists(folder / "out.onnx.data"));
}

TEST(ModelExport, typedElementsBecomeRaw) {
  Folder folder;
  std::string typed;
  writeDelimitedField(typed, 4, bytesOf(before));
  for (const std::string &elements : {typed, std::string()}) // protobuf writes nothing for an empty field
    EXPECT_EQ(initializersOf(exported(modelOf({tensor("w", 1, {6}, elements)}),
                                      {viewOf("w", FREESTONE_F32, {6}, after)}, folder))[0]
                  .rawData->size(),
              24u);
}

TEST(ModelExport, nodesGetInitializersOfTheirOwn) {
  Folder folder;
  auto node = [](const std::vector<std::string> &inputs) {
    std::string out;
    for (const std::string &input : inputs)
      writeDelimitedField(out, onnx_field::nodeInput, input);
    writeDelimitedField(out, 4, "Mul");
    return out;
  };
  auto model = [&](const std::vector<std::string> &nodes, const std::vector<std::string> &tensors,
                   const std::vector<std::string> &inputs) {
    std::string graph, out;
    for (const std::string &each : nodes)
      writeDelimitedField(graph, onnx_field::graphNode, each);
    for (const std::string &each : tensors)
      writeDelimitedField(graph, onnx_field::graphInitializer, each);
    for (const std::string &each : inputs) {
      std::string info;
      writeDelimitedField(info, onnx_field::valueName, each);
      writeDelimitedField(info, 2, "a type");
      writeDelimitedField(graph, onnx_field::graphInput, info);
    }
    writeDelimitedField(out, onnx_field::modelGraph, graph);
    return out;
  };
  std::string kept = tensor("w", 1, {6}, raw(bytesOf(before)));
  std::string given = model({node({"w"}), node({"x", "w"}), node({"w", "w", "w"})}, {kept}, {"x", "w"});
  // Copies have the documentation of their originals.
  auto copyOf = [&](const std::string &name, const std::vector<float> &elements) {
    std::string text = tensor("w", 1, {6}, raw(bytesOf(elements))), head, renamed;
    writeDelimitedField(head, onnx_field::name, "w");
    writeDelimitedField(renamed, onnx_field::name, name);
    return text.replace(text.find(head), head.size(), renamed);
  };
  ExportOptions options;
  options.separate = {{"i", "w", {}, 0}, {"one", "w", {{1, 1}}}, {"two", "w", {{2, 0}, {2, 2}}}};
  EXPECT_EQ(exported(given, {viewOf("one", FREESTONE_F32, {6}, after)}, folder, options),
            model({node({"x", "one"}), node({"two", "w", "two"})},
                  {kept, copyOf("i", before), copyOf("one", after), copyOf("two", before)},
                  {"x", "w", "i", "one", "two"}));
}

TEST(ModelExport, transposedCopiesFollowTheirParameters) {
  Folder folder;
  std::vector<float> turned = {6, 3, 5, 2, 4, 1};
  std::string model =
      modelOf({tensor("w", 1, {2, 3}, raw(bytesOf(before))), tensor("v", 1, {3, 2}, raw(bytesOf(before)))});
  EXPECT_EQ(exported(model, {viewOf("w", FREESTONE_F32, {2, 3}, after)}, folder, {.transposed = {{"v", "w"}}}),
            modelOf({tensor("w", 1, {2, 3}, raw(bytesOf(after))), tensor("v", 1, {3, 2}, raw(bytesOf(turned)))}));
}

TEST(ModelExport, masterWeightsAreRoundedToTheModelsType) {
  Folder folder;
  std::vector<float> master = {1.0f, 1.00048828125f, -65504, 3.14159265f};
  std::vector<uint16_t> half = {0x3c00, 0x3c00, 0xfbff, 0x4248}, bfloat = {0x3f80, 0x3f80, 0xc780, 0x4049};
  for (auto [type, expected] : {std::pair(10, half), {16, bfloat}}) {
    std::string model = modelOf({tensor("w", type, {4}, raw(std::string(8, '\0')))});
    EXPECT_EQ(exported(model, {viewOf("w", FREESTONE_F32, {4}, master)}, folder),
              modelOf({tensor("w", type, {4}, raw(bytesOf(expected)))}));
  }
}

TEST(ModelExport, largeModelsBecomeTwoFilesAndOneAgain) {
  Folder folder;
  std::vector<float> weight(1000, 1), other(700, 2), trained(1000, 3);
  std::string small = tensor("shape", 7, {1}, raw(bytesOf<int64_t>({3})));
  std::string model =
      modelOf({tensor("w", 1, {1000}, raw(bytesOf(weight))), small, tensor("frozen", 1, {700}, raw(bytesOf(other)))});
  TensorView view = viewOf("w", FREESTONE_F32, {1000}, trained);
  std::string split = exported(model, {view}, folder, {.largestFile = 5000});
  EXPECT_LT(split.size(), 1000u);

  std::vector<Initializer> initializers = initializersOf(split);
  std::string data = readText(folder / "out.onnx.data");
  ASSERT_EQ(initializers.size(), 3u);
  EXPECT_EQ(initializers[0].external->location, "out.onnx.data");
  EXPECT_EQ(data.substr(initializers[0].external->offset, *initializers[0].external->length), bytesOf(trained));
  EXPECT_EQ(initializers[1].rawData->size(), 8u);
  EXPECT_EQ(initializers[2].external->offset, 4096u);
  EXPECT_EQ(data.substr(4096), bytesOf(other));

  // From two files back into one.
  exportModel(asBytes(split), {}, folder / "whole.onnx", {.modelFolder = folder.path()});
  EXPECT_EQ(readText(folder / "whole.onnx"), modelOf({tensor("w", 1, {1000}, raw(bytesOf(trained))), small,
                                                      tensor("frozen", 1, {700}, raw(bytesOf(other)))}));
}

TEST(ModelExport, errorsNameTheInitializer) {
  Folder folder;
  std::string model = modelOf({tensor("w", 1, {2, 3}, raw(bytesOf(before)))});
  expectError<Error>([&] { exported(model, {viewOf("v", FREESTONE_F32, {2, 3}, after)}, folder); },
                     {"no initializer 'v'"});
  expectError<Error>([&] { exported(model, {viewOf("w", FREESTONE_F32, {3, 2}, after)}, folder); },
                     {"'w' is 2x3xf32", "3x2xf32"});
  expectError<Error>([&] { exported(model, {viewOf("w", FREESTONE_I32, {2, 3}, after)}, folder); },
                     {"'w' is 2x3xf32", "2x3xi32"});
  expectError<Error>([&] { exported(model.substr(0, model.size() - 30), {}, folder); }, {"the model is damaged"});

  // A model with stripped weights must get all of them.
  std::string stripped = modelOf({tensor("w", 1, {6}, ""), tensor("v", 1, {6}, ""), tensor("empty", 1, {0}, "")});
  expectError<Error>([&] { exported(stripped, {viewOf("w", FREESTONE_F32, {6}, after)}, folder); },
                     {"'v' has no elements, and none are given"});

  auto external = [](const std::string &location, const std::string &length) {
    std::string fields;
    for (const auto &[key, value] : {std::pair<std::string, std::string>("location", location), {"length", length}}) {
      std::string pair;
      writeDelimitedField(pair, onnx_field::entryKey, key);
      writeDelimitedField(pair, onnx_field::entryValue, value);
      writeDelimitedField(fields, onnx_field::externalData, pair);
    }
    writeVarintField(fields, onnx_field::dataLocation, 1);
    return modelOf({tensor("w", 1, {6}, fields)});
  };
  writeText(folder / "w.bin", bytesOf(before));
  ExportOptions options{.modelFolder = folder.path()};
  expectError<Error>([&] { exported(external("none.bin", "24"), {}, folder, options); },
                     {"'w' can't be read", "none.bin"});
  expectError<Error>([&] { exported(external("../w.bin", "24"), {}, folder, options); },
                     {"not within the model's folder"});
  expectError<Error>([&] { exported(external("w.bin", "25"), {}, folder, options); }, {"'w' are beyond the end"});
  expectError<Error>([&] { exported(external("w.bin", "x"), {}, folder, options); }, {"'x' is not a number"});
  EXPECT_EQ(exported(external("w.bin", "24"), {}, folder, options),
            modelOf({tensor("w", 1, {6}, raw(bytesOf(before)))}));
}
