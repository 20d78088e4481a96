#include "tools/freestone/ModelCache.h"

#include "cache/CompilerIdentity.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace freestone::tools {

static void printLine(const std::string &sentence) { fmt::print(stderr, "freestone: {}\n", sentence); }

cache::Settings cacheSettings() {
  std::string error;
  cache::Settings settings = cache::Settings::fromEnvironment(error);
  if (!error.empty())
    throw Failure(Exit::Usage, error);
  // At most one warning, from this process or from the compiler within it.
  settings.say = [hasWarned = std::make_shared<bool>(false)](const std::string &sentence) {
    if (!std::exchange(*hasWarned, true))
      printLine(sentence);
  };
  return settings;
}

ModelCache::ModelCache(const CompileArguments &arguments, train::Acceptance accept)
    : arguments(arguments), accept(std::move(accept)), environment(cacheSettings()) {
  cache::Settings settings = environment;
  // Dumping every pass requires every pass to run; replaced tilings are no part of a model's key.
  if (arguments.noCache || !arguments.printIrTreeDir.empty() || !arguments.tilings.empty())
    settings.mode = cache::Mode::Off;
  if (arguments.explainMiss)
    settings.explain = printLine;
  settings.onWait = [this] { waiting = std::make_unique<CompileProgress>("wait"); };
  files = std::make_unique<cache::Store>(std::move(settings));
}

const std::string &ModelCache::rates() {
  if (!machine)
    machine = !arguments.device && arguments.target.starts_with("host")
                  ? cache::MachineRates::find(environment, [] { return Compiler::open().measureMachine(); })
                  : cache::MachineRates();
  return machine->text;
}

std::string ModelCache::describeCalibration() const {
  return machine && machine->seconds > 0
             ? fmt::format("this machine was measured, once for all, in {:.2f} s\n", machine->seconds)
             : "";
}

std::optional<cache::Request> ModelCache::request(cache::Kind kind, const std::string &model,
                                                  const std::string &training, const std::vector<std::string> &graphs) {
  if (!files->folder())
    return std::nullopt;
  std::string compiler = cache::CompilerIdentity::find(*files->folder(), [] { Compiler::open(); });
  cache::ModelOptions options = {model,
                                 arguments.target,
                                 arguments.level,
                                 arguments.disabled,
                                 arguments.dims,
                                 arguments.binds,
                                 arguments.stripWeights,
                                 training,
                                 graphs,
                                 arguments.device.value_or(""),
                                 rates()};
  std::optional<cache::Request> wanted = cache::requestModel(*files, kind, options, compiler);
  if (wanted && arguments.tune)
    wanted->ingredients.add("tilings", "timed");
  return wanted;
}

std::string ModelCache::make(const std::string &path, const std::string &model, const std::string &training) {
  waiting.reset();
  CompileOptions options(arguments, model, path, training);
  options.setRates(rates());
  if (files->folder())
    options.keepCode(*files);
  try {
    return Compiler::open().compile(options, accept);
  } catch (const Failure &failure) {
    // The compiler's message names the file that could not be written.
    if (std::string(failure.what()).find(path) != std::string::npos)
      throw cache::CannotWrite(failure.what());
    throw;
  }
}

cache::Entry ModelCache::compile(const std::string &model, const std::string &training,
                                 const std::vector<std::string> &graphs) {
  auto maker = [&](const std::string &path) { return make(path, model, training); };
  std::optional<cache::Request> wanted = request(cache::Kind::Model, model, training, graphs);
  try {
    cache::Entry entry = wanted ? files->obtain(*wanted, maker) : cache::Store::makeUnkept(maker);
    waiting.reset();
    return entry;
  } catch (const cache::CannotWrite &error) {
    throw Failure(Exit::Failed, error.what());
  }
}

/// Copies within the file system if it can; false if it can't write all bytes.
static bool copyBytes(int from, int to, uint64_t bytes) {
  off_t position = 0;
  while (bytes > 0) {
    ssize_t copied = copy_file_range(from, &position, to, nullptr, bytes, 0);
    if (copied < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)) {
      char buffer[1 << 16];
      copied = pread(from, buffer, std::min<uint64_t>(bytes, sizeof(buffer)), position);
      if (copied > 0)
        copied = write(to, buffer, static_cast<size_t>(copied));
      position += std::max<ssize_t>(copied, 0);
    }
    // The entry is truncated, which no call reported.
    if (copied == 0)
      errno = EIO;
    if (copied <= 0)
      return false;
    bytes -= static_cast<uint64_t>(copied);
  }
  return true;
}

/// Copies the payload of an entry, under a temporary name until it is complete.
static void copyPayload(const cache::Entry &entry, const std::string &path) {
  std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  int from = open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
  int to = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  bool copied =
      from >= 0 && to >= 0 && copyBytes(from, to, entry.payloadBytes()) && rename(temporary.c_str(), path.c_str()) == 0;
  int code = errno;
  for (int file : {from, to})
    if (file >= 0)
      close(file);
  if (copied)
    return;
  if (to >= 0)
    unlink(temporary.c_str());
  throw Failure(Exit::Failed, fmt::format("can't write '{}': {}", path, std::strerror(code)));
}

std::string ModelCache::compileTo(const std::string &output, const std::string &model, const std::string &training,
                                  bool &wasKept, const std::vector<std::string> &graphs) {
  wasKept = false;
  if (!files->folder()) {
    CompileOptions options(arguments, model, output, training);
    options.setRates(rates());
    return Compiler::open().compile(options, accept);
  }
  cache::Entry entry = compile(model, training, graphs);
  copyPayload(entry, output);
  wasKept = entry.wasKept();
  return entry.about();
}

std::string ModelCache::compileUnkept(const std::string &output, const std::string &model) {
  return make(output, model, "");
}

std::string ModelCache::inspect(const std::string &model, const std::string &level, const std::string &training,
                                const std::vector<std::string> &graphs) {
  std::optional<cache::Request> wanted = request(cache::Kind::Text, model, training, graphs);
  if (wanted) {
    wanted->ingredients.add("shows", level);
    if (std::optional<std::string> text = files->find(cache::Kind::Text, wanted->ingredients))
      return *text;
  }
  CompileOptions options(arguments, model, "", training);
  options.setRates(rates());
  std::string text = Compiler::open().inspect(options, level);
  if (wanted && wanted->stillHolds())
    files->keep(cache::Kind::Text, wanted->ingredients, text, "");
  return text;
}

} // namespace freestone::tools
