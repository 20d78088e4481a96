// Stands in for libfreestone_compiler.so in tests of the command line: a "model" is a text file whose first word
// selects the compiler's behaviour.

#include "compiler/driver/Interface.h"
#include "test/runtime/Programs.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <unistd.h>

using namespace freestone;

static freestone_compiler_result ok(const std::string &text) {
  return {FREESTONE_COMPILER_OK, strdup(text.c_str()), nullptr};
}

static freestone_compiler_result fail(freestone_compiler_status status, const std::string &error,
                                      const char *text = nullptr) {
  return {status, text ? strdup(text) : nullptr, strdup(error.c_str())};
}

static std::string behaviour(const freestone_compile_options *options) {
  std::string word;
  std::ifstream(options->model_path) >> word;
  return word;
}

[[noreturn]] static void crash() {
  std::fprintf(stderr, "first line\nAssertion `rank == 2' failed.\n");
  std::abort();
}

static freestone_compiler_result check(const freestone_compile_options *options) {
  std::string word = behaviour(options);
  if (word == "crash-in-check")
    crash();
  if (word == "unsupported")
    return fail(FREESTONE_COMPILER_UNSUPPORTED,
                "ai.onnx.Foo (opset 20), node 'n1': there is no entry for this operator",
                R"({"ok": false, "opsets": {"": 20}, "nodes": 1, "inputs": [], "outputs": [], "unsupported":
                    [{"node": "n1", "op": "ai.onnx.Foo", "opset": 20, "reason": "there is no entry for this operator"}]})");
  if (word.empty())
    return fail(FREESTONE_COMPILER_FAILED, std::string("can't read ") + options->model_path);
  for (size_t i = 0; i < options->dim_bound_count; ++i)
    if (std::strcmp(options->dim_bounds[i].symbol, "n") != 0)
      return fail(FREESTONE_COMPILER_USAGE,
                  std::string("the model has no size '") + options->dim_bounds[i].symbol + "'");
  return ok(R"({"ok": true, "opsets": {"": 20}, "nodes": 2, "unsupported": [],
                "slow": [{"node": "sort", "shape": "f32[n]", "scalar": 90, "operations": 100, "reason": "it is so"}],
                "inputs": [{"name": "x", "type": "f32", "shape": ["n"]}], "outputs": [{"name": "y", "type": "f32", "shape": ["n"]}]})");
}

/// Takes long enough for a progress message.
static void goSlowly(const freestone_compile_options *options) {
  freestone_compile_progress progress = {sizeof(progress), "code", 1, 3};
  options->progress(options->progress_user, &progress);
  while (lseek(STDERR_FILENO, 0, SEEK_CUR) <= 0)
    usleep(10000);
}

/// The random nodes in the report of `check`.
static std::string randomNodes(const std::string &word) {
  if (word == "random")
    return R"([{"node": "noise", "switches": [], "outputs": ["y"]}])";
  if (word == "dropout")
    return R"([{"node": "drop", "switches": ["x"], "outputs": ["y"]}])";
  if (word == "partly-random")
    return R"([{"node": "noise", "switches": ["ratio"], "outputs": ["positions"]}])";
  if (word == "unused-random")
    return R"([{"node": "noise", "switches": [], "outputs": []}])";
  return "[]";
}

static freestone_compiler_result compile(const freestone_compile_options *options) {
  freestone_compiler_result checked = check(options);
  if (checked.status != FREESTONE_COMPILER_OK)
    return checked;
  std::string word = behaviour(options);
  if (word == "crash-in-compile")
    crash();
  if (word == "hang")
    while (true)
      pause();
  if (word == "slow")
    goSlowly(options);
  std::vector<uint8_t> artifact = word == "lookup"  ? test::packProgram("Lookup", test::describeLookup())
                                  : word == "train" ? test::packTrain()
                                  : word == "twice" ? test::packProgram("Twice", test::describeTwice())
                                  : word == "partly-random"
                                      ? test::packProgram("Nonzero", test::describeNonzero())
                                      : test::packReverse(/*withWeights=*/!options->strip_weights);
  std::ofstream(options->output_path, std::ios::binary)
      .write(reinterpret_cast<const char *>(artifact.data()), static_cast<std::streamsize>(artifact.size()));
  return ok("{\"random\": " + randomNodes(word) +
            R"(, "target": "x86-64-v4", "phases": [{"name": "import", "seconds": 0.5}], "seconds": 0.75, "programs": 2,
                "programs_shared": 1, "bytes": {"file": 30, "code": 20, "weights": 10}, "counters": {"reused buffers": 4}})");
}

static freestone_compiler_result inspect(const freestone_compile_options *options, const char *level) {
  return ok(std::string("the program at level ") + level + "\n");
}

static freestone_compiler_result interpret(const freestone_compile_options *, const freestone_plain_tensor *inputs,
                                           size_t count, int32_t wide, freestone_take_tensor take, void *user) {
  if (count != 1)
    return fail(FREESTONE_COMPILER_USAGE, "one input expected");
  freestone_plain_tensor output = inputs[0];
  output.name = "y";
  take(user, &output);
  return {FREESTONE_COMPILER_OK, nullptr, nullptr};
}

static freestone_compiler_result operators() { return ok("| Add |\n"); }

static freestone_compiler_result describeDevice(const freestone_compile_options *) { return ok("{}"); }

static freestone_compiler_result measureMachine() { return ok("{}"); }

static void freeResult(freestone_compiler_result *result) {
  std::free(result->text);
  std::free(result->error);
  *result = {};
}

extern "C" const freestone_compiler_interface *freestone_compiler() {
  static const freestone_compiler_interface interface = {FREESTONE_COMPILER_INTERFACE_VERSION,
                                                         "scripted",
                                                         [] {},
                                                         check,
                                                         compile,
                                                         inspect,
                                                         interpret,
                                                         operators,
                                                         describeDevice,
                                                         measureMachine,
                                                         freeResult};
  return &interface;
}
