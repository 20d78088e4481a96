// The number of programs compiled in parallel, and the reported progress.
#include "compiler/driver/CompileJobs.h"
#include "compiler/driver/Interface.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

using namespace freestone::driver;

TEST(CompileJobs, AreBoundedByCpusAndMemory) {
  constexpr uint64_t mebibyte = uint64_t(1) << 20;
  EXPECT_EQ(chooseCompileJobs(0, 8, std::nullopt), 8u);
  EXPECT_EQ(chooseCompileJobs(0, 8, 100000 * mebibyte), 8u);
  EXPECT_EQ(chooseCompileJobs(0, 8, 512 * mebibyte), 4u);
  EXPECT_EQ(chooseCompileJobs(0, 8, 0), 1u);
  EXPECT_EQ(chooseCompileJobs(0, 0, std::nullopt), 1u);
  EXPECT_EQ(chooseCompileJobs(3, 2, 0), 3u) << "what is asked for";
  EXPECT_GE(chooseCompileJobs(0), 1u);
}

namespace {

struct Event {
  std::string phase;
  int64_t done, total;
};

std::vector<Event> eventsOf(int jobs) {
  std::string output = testing::TempDir() + "compile-jobs-" + std::to_string(getpid()) + ".stone";
  std::vector<Event> events;
  freestone_compile_options options = {};
  options.struct_size = sizeof(options);
  options.model_path = FREESTONE_TEST_MODEL;
  options.output_path = output.c_str();
  options.optimization_level = 2;
  options.strip_weights = 1;
  options.threads = jobs;
  options.progress_user = &events;
  options.progress = [](void *user, const freestone_compile_progress *told) {
    static_cast<std::vector<Event> *>(user)->push_back({told->phase, told->done, told->total});
  };
  freestone_compiler_result result = freestone_compiler()->compile(&options);
  EXPECT_EQ(result.status, FREESTONE_COMPILER_OK) << (result.error ? result.error : "");
  freestone_compiler()->free_result(&result);
  std::filesystem::remove(output);
  return events;
}

} // namespace

TEST(CompileJobs, EachProgramIsTold) {
  for (int jobs : {1, 3}) {
    std::vector<std::string> phases;
    int64_t done = 0, total = 0;
    for (const Event &event : eventsOf(jobs)) {
      if (phases.empty() || phases.back() != event.phase)
        phases.push_back(event.phase);
      if (event.phase != "code" || event.total == 0)
        continue;
      EXPECT_EQ(event.done, ++done);
      total = event.total;
    }
    EXPECT_EQ(phases, (std::vector<std::string>{"import", "graph", "tile", "task", "sizes", "code", "package"}));
    EXPECT_GT(total, 1);
    EXPECT_EQ(done, total);
  }
}
