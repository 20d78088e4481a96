// This build of ONNX's own library reads, checks and infers everything that the importer relies on.
#include "onnx/checker.h"
#include "onnx/defs/schema.h"
#include "onnx/onnx_pb.h"
#include "onnx/shape_inference/implementation.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace {

onnx::ModelProto readModel(const std::string &name) {
  std::ifstream file(std::string(MODELS) + "/" + name, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(bytes)) << name;
  return model;
}

TEST(OnnxLibrary, ReadsChecksAndDeducesShapes) {
  onnx::ModelProto model = readModel("mlp.onnx");
  ASSERT_GT(model.graph().node_size(), 0);
  model.mutable_graph()->clear_value_info();
  onnx::shape_inference::InferShapes(model);
  EXPECT_GT(model.graph().value_info_size(), 0);
  EXPECT_EQ(model.graph().output(0).type().tensor_type().shape().dim_size(), 2);
}

TEST(OnnxLibrary, RefusesWhatBreaksTheSpecification) {
  onnx::ModelProto model;
  model.set_ir_version(onnx::Version::IR_VERSION);
  EXPECT_THROW(onnx::checker::check_model(model), onnx::checker::ValidationError);
}

TEST(OnnxLibrary, KnowsTheNewestOperatorSetAndItsFunctionBodies) {
  const onnx::OpSchema *relu = onnx::OpSchemaRegistry::Schema("Relu", 28, "");
  ASSERT_NE(relu, nullptr);
  const onnx::OpSchema *attention = onnx::OpSchemaRegistry::Schema("Attention", 28, "");
  ASSERT_NE(attention, nullptr);
  EXPECT_TRUE(attention->HasFunction() || attention->HasContextDependentFunction());
  EXPECT_EQ(onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second, 28);
}

} // namespace
