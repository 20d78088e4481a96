// Models that violate a rule: each is refused with one sentence that names it.
#include "test/import/TextModel.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <gmock/gmock.h>

using namespace freestone;
using namespace freestone::test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

void expectInvalid(const std::string &body, const std::string &message) {
  Imported imported = importText(body);
  EXPECT_FALSE(imported.succeeded);
  EXPECT_THAT(imported.error.message, AllOf(HasSubstr(message), Not(HasSubstr("\n"))));
}

void expectUnsupported(const std::string &body, const std::string &reason) {
  Imported imported = importText(body);
  ASSERT_TRUE(imported.succeeded) << imported.error.message;
  EXPECT_FALSE(imported.model.module);
  EXPECT_THAT(imported.reason(), HasSubstr(reason));
}

TEST(BadModel, BytesThatAreNoModel) {
  EXPECT_THAT(importBytes("").error.message, HasSubstr("is empty"));
  EXPECT_THAT(importBytes(std::string(100, '\xff')).error.message, HasSubstr("damaged, truncated or no ONNX model"));
  std::string good = serialize("agraph (float[n] x) => (float[n] y) { y = Relu(x) }");
  EXPECT_TRUE(importBytes(good).succeeded);
  for (size_t length = 1; length < good.size(); ++length)
    EXPECT_FALSE(importBytes(good.substr(0, length)).model.module) << length;
}

TEST(BadModel, OperatorSets) {
  Imported newer = importBytes(serialize("agraph (float[n] x) => (float[n] y) { y = Relu(x) }",
                                         "<ir_version: 10, opset_import: [\"\" : 1000]>"));
  EXPECT_THAT(newer.error.message, AllOf(HasSubstr("opset 1000"), HasSubstr("opsets 1 to 28 are known")));
  expectInvalid("agraph (float[n] x) => (float[n] y) { y = Frobnicate(x) }",
                "has no operator 'Frobnicate' at opset 20");
  expectInvalid("agraph (float[n] x) => (float[n] y) { y = com.example.Relu(x) }", "of domain 'com.example'");
}

TEST(BadModel, Names) {
  expectInvalid("agraph (float[n] x) => (float[n] y) { y = Relu(nowhere) }", "reads 'nowhere', which no node");
  expectInvalid("agraph (float[n] x) => (float[n] y) { z = Relu(x) }", "output 'y' is made by no node");
  expectInvalid("agraph (float[n] x) => (float[n] y) { y = Relu(x) y = Neg(x) }", "makes 'y', which was made before");
  expectInvalid("agraph (float[n] x) => (float[n] y) { a = Relu(b) b = Relu(a) y = Relu(b) }", "is part of a cycle");
  expectInvalid("agraph (float[n] x) => (float[n] y) { y = Relu(a) a = Relu(x) }", "before node 'a' (Relu) makes it");
}

TEST(BadModel, Branches) {
  const std::string some = "g () => (float[n] a) { a = Relu(x) }", none = "g () => () { a = Relu(x) }";
  for (auto [whenTrue, whenFalse] : {std::pair(some, none), std::pair(none, some)})
    expectInvalid("agraph (bool c, float[n] x) => (float[n] y) { y = If(c) <then_branch = " + whenTrue +
                      ", else_branch = " + whenFalse + "> }",
                  "node 'y' (If, opset 20): its branches give different numbers of results");
  expectInvalid("agraph (int8[1] c, float[n] x) => (float[n] y) { y = If(c) <then_branch = " + some +
                    ", else_branch = " + some + "> }",
                "input 0 ('cond') holds integers, but the operator takes bools");
}

TEST(BadModel, ShapesAndTypes) {
  expectInvalid("agraph (float[3, 4] x) => (float[3, 4] y) { y = MatMul(x, x) }",
                "node 'y' (MatMul, opset 20): sizes of dimensions that are multiplied must be equal, but are");
  expectInvalid("agraph (float[n] x, int64[n] i) => (float[n] y) { y = Add(x, i) }", "different types: f32 and i64");
  expectInvalid("agraph (bool[n] x) => (bool[n] y) { y = Relu(x) }",
                "input 0 ('X') holds bools, but the operator takes integers, real numbers");
  expectInvalid("agraph (float[n] x) => (float[n] y) { y = Add(x) }", "Add");
  expectInvalid("agraph (float[2] x) => (float[2] y) { y = Softmax<axis = 7>(x) }", "axis 7 does not exist");
  expectInvalid("agraph (int64[n] x) => (int64[n] y) { y = Exp(x) }",
                "input 0 ('input') holds integers, but the operator takes real numbers");
  expectInvalid("agraph (float[6] x) => (float[a, b] y) { s = Constant<value_ints = [4, -1]>() y = Reshape(x, s) }",
                "numbers of elements before and after a reshape must be equal");
}

TEST(BadModel, InitializersThatContradictThemselves) {
  for (auto [dims, data, message] :
       {std::tuple(std::vector<int64_t>{1ll << 40, 1ll << 40}, 0, "does not fit into 64 bits"),
        std::tuple(std::vector<int64_t>{-1}, 4, "negative dimension -1"),
        std::tuple(std::vector<int64_t>{4, 4}, 63, "have 63 bytes, but its shape and type need 64")}) {
    onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(serialize("agraph (float[n] x) => (float[n] y) { y = Relu(x) }")));
    onnx::TensorProto *tensor = model.mutable_graph()->add_initializer();
    tensor->set_name("w");
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    tensor->mutable_dims()->Assign(dims.begin(), dims.end());
    tensor->set_raw_data(std::string(data, '\0'));
    std::string bytes;
    model.SerializeToString(&bytes);
    EXPECT_THAT(importBytes(bytes).error.message, AllOf(HasSubstr("initializer 'w'"), HasSubstr(message)));
  }
}

TEST(BadModel, WhatIsValidButCantBeCompiled) {
  expectUnsupported("agraph (string[n] x) => (string[n] y) { y = Identity(x) }", "elements of type string");
  expectUnsupported("agraph (uint8[n] x) => (uint8[h, w, 3] y) { y = ImageDecoder(x) }",
                    "the operator is not supported");
  expectUnsupported("agraph (float[t, 1, 2] x, float[1, 3, 2] w, float[1, 3, 3] r) => (float[t, 1, 1, 3] y) { y = "
                    "RNN<hidden_size = 3, activations = [\"Swish\"]>(x, w, r) }",
                    "the activation 'Swish' is not supported");
}

TEST(BadModel, ExternalDataOutsideOfTheFolder) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("external", folder));
  for (std::string location : {"../../etc/passwd", "/etc/passwd", "missing.bin", "inside.bin"}) {
    onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(serialize("agraph (float[n] x) => (float[n] y) { y = Relu(x) }")));
    onnx::TensorProto *tensor = model.mutable_graph()->add_initializer();
    tensor->set_name("w");
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    tensor->add_dims(1000);
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    onnx::StringStringEntryProto *entry = tensor->add_external_data();
    entry->set_key("location");
    entry->set_value(location);
    std::string path = (folder + "/model.onnx").str(), bytes;
    model.SerializeToString(&bytes);
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << bytes;
    llvm::raw_fd_ostream((folder + "/inside.bin").str(), error) << std::string(4000, '\0');
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    ImportError complaint;
    auto imported = importOnnx(&context, path, {}, complaint);
    if (location == "inside.bin")
      EXPECT_TRUE(mlir::succeeded(imported)) << complaint.message;
    else if (location == "missing.bin")
      EXPECT_THAT(complaint.message, AllOf(HasSubstr("initializer 'w'"), HasSubstr("missing.bin")));
    else
      EXPECT_THAT(complaint.message, HasSubstr("outside of the model's folder"));
  }
  llvm::sys::fs::remove_directories(folder);
}

TEST(BadModel, OptionsThatDoNotFit) {
  std::string bytes = serialize("agraph (float[n, 4] x) => (float[n, 4] y) { y = Relu(x) }");
  Imported unknown = importBytes(bytes, {{{"batch", 1, 8}}});
  EXPECT_EQ(unknown.error.kind, ImportError::Kind::Usage);
  EXPECT_THAT(unknown.error.message, AllOf(HasSubstr("no symbol 'batch'"), HasSubstr("it has n")));
  EXPECT_EQ(importBytes(bytes, {{{"n", 8, 1}}}).error.kind, ImportError::Kind::Usage);
}

} // namespace
