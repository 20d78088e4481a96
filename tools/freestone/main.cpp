// The command line of Freestone.

#include "freestone/runtime.h"
#include "tools/freestone/Failure.h"
#include "tools/freestone/UsageFault.h"
#include "tools/freestone/Verbs.h"
#include "tools/tensor/Tensor.h"
#include <cstdio>
#include <fmt/format.h>

using namespace freestone::tools;

static int fail(Exit exit, const char *message) {
  if (*message)
    fmt::print(stderr, "freestone: {}\n", message);
  return static_cast<int>(exit);
}

int main(int argc, char **argv) {
  CLI::App app("Freestone compiles ONNX models once for every shape, and runs them.", "freestone");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("freestone ") + freestone_version());
  app.footer("Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 numbers differ.");
  addCheckVerb(app);
  addCompileVerb(app);
  addRunVerb(app);
  addVerifyVerb(app);
  addTrainVerb(app);
  addPlanVerb(app);
  addBenchVerb(app);
  addInspectVerb(app);
  addOperatorsVerb(app);
  addCacheVerb(app);
  addMachineVerb(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // CLI11 reports --help and --version as errors with exit code 0.
    if (error.get_exit_code() == 0)
      return app.exit(error);
    return fail(Exit::Usage, describeUsageFault(app, error).c_str());
  } catch (const Failure &failure) {
    return fail(failure.exit, failure.what());
  } catch (const TensorError &error) {
    return fail(Exit::Failed, error.what());
  } catch (const std::bad_alloc &) {
    return fail(Exit::Failed, "out of memory");
  } catch (const std::exception &error) {
    return fail(Exit::Failed, fmt::format("internal error: {}", error.what()).c_str());
  }
  return 0;
}
