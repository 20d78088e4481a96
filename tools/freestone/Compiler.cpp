#include "tools/freestone/Compiler.h"

#include "compilation/CompilerLibrary.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace freestone::tools {

static void printLine(const std::string &sentence) { fmt::print(stderr, "freestone: {}\n", sentence); }

cache::Settings cacheSettings() {
  std::string error;
  cache::Settings settings = cache::Settings::fromEnvironment(error);
  if (!error.empty())
    throw Failure(Exit::Usage, error);
  return settings;
}

/// Turns errors of the compilation into failures of the command.
template <typename Body> static auto asFailures(Body body) {
  try {
    return body();
  } catch (const compilation::Refusal &refusal) {
    if (refusal.reason == FREESTONE_COMPILER_UNSUPPORTED)
      throw Unsupported(refusal.what());
    throw Failure(refusal.reason == FREESTONE_COMPILER_USAGE ? Exit::Usage : Exit::Failed, refusal.what());
  } catch (const freestone::Error &error) {
    throw Failure(error.status() == FREESTONE_INVALID_ARGUMENT ? Exit::Usage : Exit::Failed, error.what());
  }
}

Compiler::Compiler(const CompileArguments &arguments, train::Acceptance accept)
    : arguments(arguments), accept(std::move(accept)) {}

compilation::Order Compiler::order(const std::string &model, const std::string &training,
                                   const std::vector<std::string> &graphs) {
  compilation::Order order = arguments.order(model);
  order.what.training = training;
  order.what.graphs = graphs;
  order.what.rates = machine.value_or("");
  order.hasRates = machine.has_value();
  order.onWarning = [this](const std::string &sentence) {
    if (!std::exchange(hasWarned, true))
      printLine(sentence);
  };
  if (arguments.explainMiss)
    order.onMiss = printLine;
  order.onMeasured = [this](double seconds) { calibration = seconds; };
  return order;
}

/// Runs a compilation with its progress shown, and its model accepted.
template <typename Body> auto Compiler::run(compilation::Order order, Body body) {
  std::unique_ptr<CompileProgress> progress;
  train::AcceptCall call(accept);
  order.onProgress = [&](const std::string &phase, int64_t done, int64_t total) {
    if (!progress)
      progress = std::make_unique<CompileProgress>();
    progress->report(phase, done, total);
  };
  order.complete = [&call, complete = std::move(order.complete)](freestone_compile_options &options) {
    complete(options);
    call.addTo(options);
  };
  return asFailures([&] {
    try {
      return body(order);
    } catch (const freestone::Error &) {
      // The acceptance knows more than the compiler that it ended.
      call.rethrow();
      throw;
    }
  });
}

cache::Entry Compiler::compile(const std::string &model, const std::string &training,
                               const std::vector<std::string> &graphs) {
  return run(order(model, training, graphs),
             [](const compilation::Order &order) { return compilation::obtain(order); });
}

/// Shares the blocks where the file system can; else writes pieces of a huge page, so that the system keeps, and maps,
/// huge pages. False if not all bytes can be written.
static bool copyBytes(int from, int to, uint64_t bytes) {
  if (ioctl(to, FICLONE, from) == 0)
    return ftruncate(to, static_cast<off_t>(bytes)) == 0;
  constexpr uint64_t hugePage = uint64_t(2) << 20;
  void *source = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, from, 0);
  if (source == MAP_FAILED)
    return false;
  uint64_t copied = 0;
  for (ssize_t count = 1; copied < bytes && count > 0; copied += std::max<ssize_t>(count, 0))
    do
      count = write(to, static_cast<const char *>(source) + copied,
                    std::min(bytes - copied, hugePage - copied % hugePage));
    while (count < 0 && errno == EINTR);
  int code = errno;
  munmap(source, bytes);
  errno = code;
  return copied == bytes;
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

std::string Compiler::compileTo(const std::string &output, const std::string &model, const std::string &training,
                                bool &wasKept, const std::vector<std::string> &graphs) {
  compilation::Order wanted = order(model, training, graphs);
  wasKept = false;
  // Without a copy, for which a temporary folder may have no room.
  if (wanted.noCache)
    return run(wanted, [&](const compilation::Order &order) { return compilation::compileInto(order, output); });
  cache::Entry entry = compile(model, training, graphs);
  copyPayload(entry, output);
  wasKept = entry.wasKept();
  return entry.about();
}

std::string Compiler::compileUnkept(const std::string &output, const std::string &model) {
  return run(order(model), [&](const compilation::Order &order) { return compilation::compileInto(order, output); });
}

std::string Compiler::inspect(const std::string &model, const std::string &level, const std::string &training,
                              const std::vector<std::string> &graphs) {
  return asFailures([&] { return compilation::inspect(order(model, training, graphs), level); });
}

compilation::Description Compiler::check(const std::string &model) {
  return asFailures([&] { return compilation::describe(order(model)); });
}

/// Adds what the interpreter hands out: a tensor, an element of a sequence that has begun, or its beginning.
static void takeOutput(void *user, const freestone_plain_tensor *output) {
  auto &outputs = *static_cast<std::vector<NamedValue> *>(user);
  if (!output->type || output->rank < 0) {
    outputs.push_back({output->name, output->type ? NamedValue::Kind::Sequence : NamedValue::Kind::Absent, {}});
    return;
  }
  Tensor tensor(typeFromName(output->type).value(), {output->dims, output->dims + output->rank});
  std::memcpy(tensor.data(), output->data, tensor.bytes());
  if (!outputs.empty() && outputs.back().kind == NamedValue::Kind::Sequence && outputs.back().name == output->name)
    outputs.back().elements.push_back(std::move(tensor));
  else
    outputs.push_back(NamedValue::of({output->name, std::move(tensor)}));
}

std::vector<NamedValue> Compiler::interpret(const std::string &model, const std::vector<NamedValue> &inputs,
                                            bool wide) {
  std::vector<freestone_plain_tensor> plain;
  for (const NamedValue &input : inputs) {
    if (input.kind == NamedValue::Kind::Sequence)
      plain.push_back({input.name.c_str(), "", -1, nullptr, nullptr});
    for (const Tensor &tensor : input.elements)
      plain.push_back({input.name.c_str(), typeName(tensor.dtype()).data(), static_cast<int64_t>(tensor.shape().size()),
                       tensor.shape().data(), tensor.data()});
  }
  std::vector<NamedValue> outputs;
  asFailures([&] { compilation::interpret(order(model), plain, wide, takeOutput, &outputs); });
  return outputs;
}

std::string Compiler::describeDevice(const std::string &rates) {
  compilation::Order wanted = order("");
  wanted.what.rates = rates;
  return asFailures([&] { return compilation::describeDevice(wanted); });
}

const std::string &Compiler::rates() {
  if (!machine)
    machine = asFailures([&] { return compilation::findRates(order("")); });
  return *machine;
}

std::string Compiler::describeCalibration() const {
  return calibration > 0 ? fmt::format("this machine was measured, once for all, in {:.2f} s\n", calibration) : "";
}

void Compiler::warmUp() {
  asFailures([] { compilation::openCompiler().warm_up(); });
}

std::string Compiler::measureMachine() { return asFailures(compilation::measureMachine); }

std::string Compiler::listOperators() { return asFailures(compilation::listOperators); }

} // namespace freestone::tools
