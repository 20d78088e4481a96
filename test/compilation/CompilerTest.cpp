#include "freestone/compiler.h"

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

using namespace freestone;
namespace fs = std::filesystem;

namespace {

const std::string model = MODELS "/mlp.onnx";

std::string readAll(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<float> run(const Artifact &artifact) {
  std::vector<float> x(2 * 784, 0.5f);
  Instance instance(artifact, 1);
  instance.setInput(0, {x.data(), {2, 784}});
  instance.run();
  Tensor logits = instance.output(0);
  return {logits.data<float>(), logits.data<float>() + logits.size()};
}

/// The status and the sentence of a call that fails.
template <typename Call> std::pair<freestone_status, std::string> faultOf(Call call) {
  try {
    call();
  } catch (const Error &error) {
    return {error.status(), error.what()};
  }
  return {FREESTONE_OK, ""};
}

} // namespace

TEST(Compiler, GivesTheSameProgramForAFileAndForBytes) {
  std::string bytes = readAll(model), statistics;
  Artifact fromFile = compile(model, compilerSettings(), &statistics);
  Artifact fromBytes = compile(ModelSource(bytes.data(), bytes.size()));
  EXPECT_EQ(run(fromFile), run(fromBytes));
  EXPECT_NE(statistics.find("\"programs\""), std::string::npos);
}

TEST(Compiler, FindsWhatItHasCompiledBefore) {
  struct Seen {
    int phases = 0;
  } seen;
  freestone_compiler_settings settings = compilerSettings();
  settings.user = &seen;
  settings.progress = [](void *user, const char *, int64_t, int64_t) { ++static_cast<Seen *>(user)->phases; };
  compile(model, settings);
  seen.phases = 0;
  compile(model, settings);
  EXPECT_EQ(seen.phases, 0);
  settings.no_cache = 1;
  compile(model, settings);
  EXPECT_GT(seen.phases, 0);
}

TEST(Compiler, RestrictsSizes) {
  freestone_size_range range = {"batch", 2, 64, 2};
  freestone_compiler_settings settings = compilerSettings();
  settings.ranges = &range;
  settings.range_count = 1;
  Artifact artifact = compile(model, settings);
  freestone_symbol_info symbol = {};
  symbol.struct_size = sizeof(symbol);
  check(freestone_artifact_symbol(artifact.get(), 0, &symbol));
  EXPECT_EQ(symbol.lower, 2);
  EXPECT_EQ(symbol.upper, 64);
  EXPECT_EQ(symbol.multiple_of, 2);
  range = {"batch", 3, 3, 0};
  EXPECT_EQ(compile(model, settings).inputs()[0].shape[0], "3");
}

TEST(Compiler, SavesWhatItCompiles) {
  fs::path folder = fs::temp_directory_path() / "freestone-compiler-test";
  fs::create_directories(folder);
  std::string path = folder / "mlp.stone";
  Artifact compiled = compile(model);
  compiled.save(path);
  EXPECT_EQ(run(Artifact::load(path)), run(compiled));
  std::string bytes = readAll(path);
  Artifact::loadMemory(bytes.data(), bytes.size()).save(folder / "copy.stone");
  EXPECT_EQ(readAll(folder / "copy.stone"), bytes);
  EXPECT_EQ(faultOf([&] { compiled.save("/nowhere/m.stone"); }).first, FREESTONE_IO);
  fs::remove_all(folder);
}

TEST(Compiler, ShowsLevelsAndDescribes) {
  EXPECT_NE(inspect(model, "graph").find("graph.contract"), std::string::npos);
  EXPECT_NE(describe(model).find("\"unsupported\":[]"), std::string::npos);
  EXPECT_EQ(faultOf([] { inspect(model, "bytecode"); }).first, FREESTONE_INVALID_ARGUMENT);
}

TEST(Compiler, NamesFaults) {
  auto [status, sentence] = faultOf([] { compile("/nowhere/m.onnx"); });
  EXPECT_EQ(status, FREESTONE_INVALID_ARGUMENT);
  EXPECT_NE(sentence.find("/nowhere/m.onnx"), std::string::npos);
  std::string broken = "no model";
  std::tie(status, sentence) = faultOf([&] { compile(ModelSource(broken.data(), broken.size(), "broken.onnx")); });
  EXPECT_EQ(status, FREESTONE_INVALID_ARGUMENT);
  EXPECT_EQ(sentence.find("'broken.onnx'"), 0u) << sentence;
  freestone_compiler_settings settings = compilerSettings();
  settings.target = "pdp11";
  EXPECT_NE(faultOf([&] { compile(model, settings); }).second.find("pdp11"), std::string::npos);
  EXPECT_EQ(freestone_compile(nullptr, nullptr, nullptr, nullptr), FREESTONE_INVALID_ARGUMENT);
  EXPECT_STREQ(freestone_last_error(), "argument 'model' is null");
}

TEST(Compiler, ReadsStructsOfOlderApplications) {
  freestone_model source = ModelSource(model).get();
  freestone_compiler_settings settings = compilerSettings();
  settings.struct_size = offsetof(freestone_compiler_settings, no_cache);
  settings.no_cache = 1;
  settings.progress = [](void *, const char *, int64_t, int64_t) { FAIL() << "a field that it does not have"; };
  freestone_artifact *artifact = nullptr;
  std::string path = model;
  source.path = path.c_str();
  ASSERT_EQ(freestone_compile(&source, &settings, &artifact, nullptr), FREESTONE_OK);
  freestone_artifact_release(artifact);
}
