#include "compiler/artifact/Link.h"

#include "compiler/builtins/Builtins.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace llvm;
using namespace mlir;

namespace freestone::artifact {

namespace {

LogicalResult writeFile(StringRef path, ArrayRef<char> bytes, std::string &error) {
  std::error_code code;
  raw_fd_ostream stream(path, code, sys::fs::OF_None);
  if (!code)
    stream.write(bytes.data(), bytes.size());
  stream.close();
  if (!code && !stream.has_error())
    return success();
  error = ("can't write " + path + ": " + (code ? code : stream.error()).message()).str();
  stream.clear_error();
  return failure();
}

} // namespace

FailureOr<Object> link(ArrayRef<Object> objects, std::string &error) {
  SmallString<128> folder;
  if (std::error_code code = sys::fs::createUniqueDirectory("freestone-link", folder)) {
    error = "can't make a temporary folder for linking: " + code.message();
    return failure();
  }
  llvm::scope_exit removeFolder([&] { sys::fs::remove_directories(folder); });

  std::string output = (folder + "/program.so").str();
  std::vector<std::string> arguments = {"ld.lld",
                                        "-shared",
                                        "-o",
                                        output,
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
                                        "--version-script=" + (folder + "/exports").str()};
  if (failed(writeFile((folder + "/exports").str(), StringRef("{ global: freestone_table; local: *; };\n"), error)))
    return failure();
  SmallVector<ArrayRef<char>> inputs(objects.begin(), objects.end());
  inputs.push_back(getBuiltinsObject());
  for (auto [index, object] : enumerate(inputs)) {
    std::string path = (folder + "/" + Twine(index) + ".o").str();
    if (failed(writeFile(path, object, error)))
      return failure();
    arguments.push_back(path);
  }
  std::vector<const char *> argv;
  for (const std::string &argument : arguments)
    argv.push_back(argument.c_str());

  std::string messages;
  {
    // lld keeps its state in globals: two links at once crash.
    static std::mutex linker;
    std::lock_guard<std::mutex> lock(linker);
    raw_string_ostream stream(messages);
    lld::Result result = lld::lldMain(argv, stream, stream, {{lld::Gnu, &lld::elf::link}});
    if (result.retCode != 0) {
      error = "linking the programs failed: " + messages;
      return failure();
    }
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> linked = MemoryBuffer::getFile(output);
  if (!linked) {
    error = "can't read the linked programs: " + linked.getError().message();
    return failure();
  }
  return Object((*linked)->getBufferStart(), (*linked)->getBufferEnd());
}

} // namespace freestone::artifact
