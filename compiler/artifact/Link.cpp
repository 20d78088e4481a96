#include "compiler/artifact/Link.h"

#include "compiler/builtins/Builtins.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/raw_ostream.h"
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace llvm;
using namespace mlir;

namespace freestone::artifact {

namespace {

// lld's inputs and outputs are files. Files in memory need no writable folder and leave nothing behind.

/// An open file with a path under /proc, valid during its lifetime.
class Descriptor {
public:
  explicit Descriptor(int number) : number(number) {}
  Descriptor(Descriptor &&other) : number(std::exchange(other.number, -1)) {}
  ~Descriptor() {
    if (number >= 0)
      close(number);
  }
  int get() const { return number; }
  explicit operator bool() const { return number >= 0; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(number); }

private:
  int number;
};

/// A file in memory; empty, with the reason in errno, where there is no memory.
Descriptor holdInMemory(ArrayRef<char> bytes) {
  Descriptor file(memfd_create("freestone-link", MFD_CLOEXEC));
  while (file && !bytes.empty()) {
    ssize_t written = write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR)
      return Descriptor(-1);
    bytes = bytes.drop_front(std::max<ssize_t>(written, 0));
  }
  return file;
}

/// Collects the bytes written to a path.
class Pipe {
public:
  /// Null, with the reason in errno, where there are no file descriptors.
  static std::unique_ptr<Pipe> open() {
    int ends[2];
    Descriptor end(eventfd(0, EFD_CLOEXEC));
    if (!end || pipe2(ends, O_CLOEXEC) != 0)
      return nullptr;
    return std::unique_ptr<Pipe>(new Pipe(Descriptor(ends[0]), Descriptor(ends[1]), std::move(end)));
  }
  ~Pipe() { finish(); }
  std::string path() const { return writeEnd.path(); }
  /// All bytes; no writer may be left.
  Object finish() {
    // Closing the pipe would not signal the end: a child forked meanwhile may hold it open.
    eventfd_write(end.get(), 1);
    if (reader.joinable())
      reader.join();
    return std::move(bytes);
  }

private:
  Pipe(Descriptor readEnd, Descriptor writeEnd, Descriptor end)
      : readEnd(std::move(readEnd)), writeEnd(std::move(writeEnd)), end(std::move(end)), reader([this] { drain(); }) {}

  void drain() {
    pollfd waits[] = {{readEnd.get(), POLLIN, 0}, {end.get(), POLLIN, 0}};
    char buffer[1 << 16];
    while (true) {
      if (poll(waits, 2, -1) < 0)
        continue;
      if (waits[0].revents & POLLIN) {
        ssize_t got = read(readEnd.get(), buffer, sizeof(buffer));
        bytes.insert(bytes.end(), buffer, buffer + std::max<ssize_t>(got, 0));
      } else if (waits[1].revents & POLLIN) {
        return;
      }
    }
  }

  Descriptor readEnd, writeEnd, end;
  Object bytes;
  std::thread reader;
};

LogicalResult failWith(const Twine &what, std::string &error) {
  error = ("can't link: " + what + ": " + sys::StrError()).str();
  return failure();
}

} // namespace

FailureOr<Object> link(ArrayRef<Object> objects, std::string &error) {
  constexpr StringRef exports = "{ global: freestone_table; local: *; };\n";
  SmallVector<ArrayRef<char>> inputs(objects.begin(), objects.end());
  inputs.push_back(getBuiltinsObject());
  inputs.push_back(ArrayRef(exports.data(), exports.size()));
  std::vector<Descriptor> files;
  for (ArrayRef<char> input : inputs)
    if (!files.emplace_back(holdInMemory(input)))
      return failWith("no memory for an object", error);
  std::unique_ptr<Pipe> output = Pipe::open();
  if (!output)
    return failWith("no pipe", error);

  std::vector<std::string> arguments = {"ld.lld",
                                        "-shared",
                                        "-o",
                                        output->path(),
                                        "-z",
                                        "defs",
                                        "-z",
                                        "relro",
                                        "-z",
                                        "now",
                                        "-z",
                                        "noexecstack",
                                        "--gc-sections",
                                        "--hash-style=gnu",
                                        "--build-id=none",
                                        "--strip-all",
                                        "--icf=all",
                                        "--no-undefined-version",
                                        "--threads=1",
                                        "--version-script=" + files.back().path()};
  for (const Descriptor &file : ArrayRef(files).drop_back())
    arguments.push_back(file.path());
  std::vector<const char *> argv;
  for (const std::string &argument : arguments)
    argv.push_back(argument.c_str());

  std::string messages;
  // lld keeps its state in globals, so two concurrent links crash.
  static std::mutex linker;
  std::lock_guard<std::mutex> lock(linker);
  raw_string_ostream stream(messages);
  lld::Result result = lld::lldMain(argv, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode == 0)
    return output->finish();
  error = "linking the programs failed: " + messages;
  return failure();
}

} // namespace freestone::artifact
