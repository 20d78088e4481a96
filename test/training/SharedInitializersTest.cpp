// Which nodes share a parameter, by the file and its exporter's notes.
#include "compiler/import/SharedInitializers.h"
#include "compiler/import/ModelFile.h"
#include "test/import/TextModel.h"

namespace freestone::importer {

namespace {

class SharedInitializersTest : public testing::Test {
protected:
  void read(const std::string &body, const std::string &producer = "") {
    std::string text = "<ir_version: 10, opset_import: [\"\" : 20], producer_name: \"" + producer + "\">" + body;
    onnx::OnnxParser parser(text.c_str());
    auto status = parser.Parse(model);
    ASSERT_TRUE(status.IsOK()) << status.ErrorMessage();
    // The parser makes typed elements; exporters write raw ones.
    for (onnx::TensorProto &tensor : *model.mutable_graph()->mutable_initializer())
      if (tensor.float_data_size()) {
        tensor.set_raw_data(tensor.float_data().data(), tensor.float_data_size() * sizeof(float));
        tensor.clear_float_data();
      }
  }

  /// The notes of PyTorch's exporter at a node: its module path, and its arguments in the exported program.
  void note(onnx::NodeProto &node, const std::string &scopes, const std::string &quoted) {
    auto add = [&](const char *key, const std::string &value) {
      auto *entry = node.add_metadata_props();
      entry->set_key(key);
      entry->set_value(value);
    };
    add("pkg.torch.onnx.name_scopes", scopes);
    add("pkg.torch.onnx.fx_node", "%y : [num_users=1] = call_function[target=f](args = (" + quoted + "), kwargs = {})");
  }

  void noteInitializer(const std::string &name, const char *key, const std::string &value) {
    auto &infos = *model.mutable_graph()->mutable_value_info();
    auto known = llvm::find_if(infos, [&](const auto &info) { return info.name() == name; });
    onnx::ValueInfoProto &info = known == infos.end() ? *infos.Add() : *known;
    info.set_name(name);
    auto *entry = info.add_metadata_props();
    entry->set_key(key);
    entry->set_value(value);
  }
  void callParameter(const std::string &name, const std::string &quoted) {
    noteInitializer(name, "pkg.torch.export.graph_signature.InputSpec.kind", "PARAMETER");
    noteInitializer(name, "pkg.torch.onnx.original_node_name", quoted);
  }

  /// "NAME of ORIGINAL at node.input, …" for each initializer that was untied.
  std::vector<std::string> separate(const TiePatterns &patterns = {}) {
    model.SerializeToString(&bytes);
    std::string error;
    file.emplace(*ModelFile::parse(bytes, error));
    auto origins = findOrigins(file->model().graph());
    auto separated = separateInitializers(*file, origins, patterns, unmatched);
    succeeded = llvm::succeeded(separated);
    shared = succeeded ? std::move(*separated) : SharedInitializers();
    std::vector<std::string> untied;
    for (const UntiedInitializer &initializer : shared.untied) {
      std::string text = initializer.name + " of " + initializer.of;
      for (auto [node, input] : initializer.inputs)
        text += " " + std::to_string(node) + "." + std::to_string(input);
      if (initializer.identity)
        text += " in place of " + std::to_string(*initializer.identity);
      untied.push_back(text);
    }
    return untied;
  }

  onnx::ModelProto model;
  std::string bytes;
  std::optional<ModelFile> file;
  SharedInitializers shared;
  std::string unmatched;
  bool succeeded = false;
};

using Texts = std::vector<std::string>;

TEST_F(SharedInitializersTest, ScalesAndBiasesOfSeveralLayersAreUntied) {
  read(R"(agraph (float[n, 2] x) => (float[n, 2] y) <float[2] s = {1, 2}, float[2] b = {3, 4}> {
    [first] a = LayerNormalization(x, s, b)
    [second] c = LayerNormalization(a, s, b)
    [third] d = Mul(c, s)
    [fourth] y = Add(d, b)
  })");
  EXPECT_EQ(separate(),
            (Texts{"second.weight of s 1.1", "third.s of s 2.1", "second.bias of b 1.2", "fourth.bias of b 3.1"}));
  const onnx::GraphProto &graph = file->model().graph();
  EXPECT_EQ(graph.initializer_size(), 6);
  EXPECT_EQ(graph.node(0).input(1), "s");
  EXPECT_EQ(graph.node(1).input(1), "second.weight");
  EXPECT_EQ(graph.node(1).input(2), "second.bias");
  std::string error;
  EXPECT_EQ(file->rawInitializer(0, error)->size(), 8u);
  EXPECT_EQ(*file->rawInitializer(2, error), *file->rawInitializer(0, error));
}

TEST_F(SharedInitializersTest, MatricesAndWhatIsNoScaleStayTied) {
  read(R"(agraph (float[n, 2] x, int64[n] i) => (float[n, 2] y) <float[2, 2] w = {1, 2, 3, 4}, float[2] v = {3, 4}> {
    [words] a = Gather(w, i)
    [head] b = MatMul(a, w)
    [up] c = Max(b, v)
    [down] y = Min(c, v)
  })");
  EXPECT_EQ(separate(), Texts());
  EXPECT_EQ(shared.ties.at("w"), "taken by 'words', 'head': only vectors are untied by themselves");
  EXPECT_EQ(shared.ties.at("v"), "taken by 'up', 'down': no scales and biases of layers");
}

TEST_F(SharedInitializersTest, PatternsDecideOtherwise) {
  read(R"(agraph (float[n, 2] x) => (float[n, 2] y) <float[2, 2] "a.w" = {1, 2, 3, 4}, float[2] "a.s" = {3, 4}> {
    [one] b = MatMul(x, "a.w")
    [two] c = MatMul(b, "a.w")
    [three] d = Mul(c, "a.s")
    [four] y = Mul(d, "a.s")
  })");
  EXPECT_EQ(separate({{"a.s"}, {"*.w"}}), (Texts{"two.w of a.w 1.1"}));
  EXPECT_EQ(shared.ties.at("a.s"), "taken by 'three', 'four': tied by 'a.s'");
  EXPECT_EQ(separate({{"a.*"}, {"*.w"}}), Texts()) << "what is tied stays so";
  separate({{"a.*"}, {"b.*"}});
  EXPECT_FALSE(succeeded);
  EXPECT_EQ(unmatched, "b.*");
}

TEST_F(SharedInitializersTest, NamesAreNew) {
  read(R"(agraph (float[n, 2] x, float[2] "n.s") => (float[n, 2] y) <float[2] s = {1, 2}> {
    [m] a = Mul(x, s)
    [n] b = Mul(a, s)
    y = Mul(b, "n.s")
  })");
  EXPECT_EQ(separate(), Texts{"n.s_2 of s 1.1"});
}

TEST_F(SharedInitializersTest, WhatABodyTakesKeepsItsName) {
  read(R"(agraph (float[n, 2] x, bool c) => (float[n, 2] y) <float[2] s = {1, 2}> {
    [m] a = Mul(x, s)
    y = If (c) <then_branch = t () => (float[n, 2] z) { z = Mul(a, s) }, else_branch = e () => (float[n, 2] w) { w = Neg(a) }>
  })");
  EXPECT_EQ(separate(), Texts());
}

TEST_F(SharedInitializersTest, TheExportedProgramTellsWhoseAParameterIs) {
  read(R"(agraph (float[n, 2] x) => (float[n, 2] y) <float[2] "a.norm.weight" = {1, 1}, float[2] "a.norm.bias" = {0, 0},
      float[2, 2] "a.w" = {0, 0, 0, 0}> {
    a = LayerNormalization(x, "a.norm.weight", "a.norm.bias")
    b = LayerNormalization(a, "a.norm.weight", "a.norm.bias")
    c = LayerNormalization(b, "a.norm.weight", "a.norm.bias")
    d = MatMul(c, "a.w")
    y = MatMul(d, "a.w")
  })",
       "pytorch");
  auto &nodes = *model.mutable_graph()->mutable_node();
  note(nodes[0], "['', 'a', 'a.norm', 'layer_norm']", "%x, [2], %p_a_norm_weight, %p_a_norm_bias");
  note(nodes[1], "['', 'a', 'a.norm', 'layer_norm_1']", "%a, [2], %p_a_norm_weight, %p_a_norm_bias");
  note(nodes[2], "['', 'b', 'b.norm', 'layer_norm_2']", "%b, [2], %p_b_norm_weight, %p_b_norm_bias");
  note(nodes[3], "['', 'a', 'matmul']", "%c, %p_a_w");
  note(nodes[4], "['', 'b', 'matmul_1']", "%d, %p_b_w");
  callParameter("a.norm.weight", "p_a_norm_weight");
  callParameter("a.norm.bias", "p_a_norm_bias");
  callParameter("a.w", "p_a_w");
  EXPECT_EQ(separate(),
            (Texts{"b.norm.weight of a.norm.weight 2.1", "b.norm.bias of a.norm.bias 2.2", "b.w of a.w 4.1"}))
      << "a module that is called twice has one scale";
}

TEST_F(SharedInitializersTest, ALayersOwnParametersAreToldApart) {
  read(
      R"(agraph (float[n, 2, k] x) => (float[n, 2, k] y) <float[2] "n.weight" = {0, 0}, float[2] "n.running_var" = {1, 1}> {
    y = BatchNormalization(x, "n.weight", "n.weight", "n.weight", "n.running_var")
  })",
      "pytorch");
  note(*model.mutable_graph()->mutable_node(0), "['', 'n', 'batch_norm']",
       "%x, %p_n_weight, %p_n_bias, %b_n_running_mean, %b_n_running_var");
  callParameter("n.weight", "p_n_weight");
  callParameter("n.running_var", "b_n_running_var");
  EXPECT_EQ(separate(), (Texts{"n.bias of n.weight 0.2", "n.running_mean of n.weight 0.3"}));
}

TEST_F(SharedInitializersTest, IdentitiesOfPyTorchNameParameters) {
  std::string body =
      R"(agraph (float[n, 2] x) => (float[n, 2] y) <float[2] "a.bias" = {0, 0}, float[2, 2] "a.w" = {0, 0, 0, 0}> {
    [Identity_0] "b.bias" = Identity("a.bias")
    [Identity_1] "b.w" = Identity("a.w")
    c = Add(x, "a.bias")
    d = Add(c, "a.bias")
    e = Add(d, "b.bias")
    f = MatMul(e, "a.w")
    y = MatMul(f, "b.w")
  })";
  read(body, "pytorch");
  EXPECT_EQ(separate(), (Texts{"b.bias of a.bias in place of 0", "b.w of a.w in place of 1"}));
  const onnx::GraphProto &graph = file->model().graph();
  EXPECT_EQ(graph.node_size(), 5);
  EXPECT_EQ(graph.initializer(2).name(), "b.bias");
}

TEST_F(SharedInitializersTest, ATransposedCopyIsTheParameterItself) {
  std::string body = R"(agraph (int64[n] i) => (float[n, 3] y)
      <float[3, 2] words = {1, 2, 3, 4, 5, 6}, float[2, 3] val_7 = {1, 3, 5, 2, 4, 6}> {
    a = Gather(words, i)
    y = MatMul(a, val_7)
  })";
  read(body);
  separate();
  EXPECT_EQ(shared.transposed, (std::map<std::string, std::string>{{"val_7", "words"}}));
  EXPECT_EQ(shared.ties.at("words"), "'val_7' is its transposed copy");
  separate({{}, {"val_7"}});
  EXPECT_TRUE(shared.transposed.empty());
  for (const char *other : {"val_7 = {1, 3, 5, 2, 4, 7}", "copy = {1, 3, 5, 2, 4, 6}"}) {
    std::string changed = body;
    size_t at = changed.find("val_7 = ");
    changed.replace(at, changed.find('}', at) + 1 - at, other);
    if (std::string(other).starts_with("copy"))
      changed.replace(changed.find("val_7)"), 5, "copy");
    model.Clear();
    read(changed);
    separate();
    EXPECT_TRUE(shared.transposed.empty()) << other;
  }
}

} // namespace

} // namespace freestone::importer
