// Small files for tests, in a temporary folder.
#ifndef FREESTONE_TEST_TRAIN_FILES_H
#define FREESTONE_TEST_TRAIN_FILES_H

#include "formats/ElementType.h"
#include "formats/NpyHeader.h"
#include "formats/TensorView.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <stdlib.h>

namespace freestone::test {

/// A temporary folder.
class Folder {
public:
  Folder() {
    char name[] = "/tmp/freestone-train-XXXXXX";
    root = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(root); }
  std::string operator/(const std::string &name) const { return root + "/" + name; }
  const std::string &path() const { return root; }

private:
  std::string root;
};

inline void writeText(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename T> std::string bytesOf(const std::vector<T> &values) {
  return {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)};
}

inline formats::Bytes asBytes(const std::string &text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

/// A .npy file's bytes.
template <typename T>
std::string npy(freestone_dtype dtype, const std::vector<int64_t> &shape, const std::vector<T> &values) {
  return formats::formatNpyHeader(dtype, shape) + bytesOf(values);
}

template <typename T>
formats::TensorView viewOf(std::string name, freestone_dtype dtype, std::vector<int64_t> shape,
                           const std::vector<T> &values) {
  return {std::move(name),
          dtype,
          std::move(shape),
          {reinterpret_cast<const uint8_t *>(values.data()), values.size() * sizeof(T)}};
}

/// The message that `call` throws as an `Error`, or nothing.
template <typename Error> std::string messageOf(auto call) {
  try {
    call();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

/// Expects that `call` throws an `Error` whose message has all `parts`.
template <typename Error> void expectError(auto call, std::initializer_list<const char *> parts) {
  std::string message = messageOf<Error>(call);
  EXPECT_NE(message, "");
  for (const char *part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in '" << message << "'";
}

} // namespace freestone::test

#endif // FREESTONE_TEST_TRAIN_FILES_H
