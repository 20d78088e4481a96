// A folder for one test's cache, and a counting maker.
#ifndef FREESTONE_TEST_CACHE_CACHEFOLDER_H
#define FREESTONE_TEST_CACHE_CACHEFOLDER_H

#include "cache/Store.h"
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

namespace freestone::test {

class CacheFolder {
public:
  explicit CacheFolder(const std::string &base = "/tmp") : root(base + "/freestone-cache-XXXXXX") {
    if (!mkdtemp(root.data()))
      throw std::runtime_error("can't make " + root);
  }
  /// For tests with thousands of folders.
  static std::string fast() { return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; }
  ~CacheFolder() { std::filesystem::remove_all(root); }
  CacheFolder(const CacheFolder &) = delete;
  CacheFolder &operator=(const CacheFolder &) = delete;

  /// The cache's folder, missing at first.
  std::string path() const { return root + "/cache"; }
  std::string operator/(const std::string &name) const { return root + "/" + name; }
  std::string entry(const cache::Request &request) const {
    return path() + "/" + cache::nameOf(request.kind) + "/" + request.ingredients.key();
  }

  cache::Settings settings() {
    cache::Settings settings;
    settings.folder = path();
    settings.say = [this](const std::string &sentence) { said.push_back(sentence); };
    return settings;
  }

  std::vector<std::string> said;

private:
  std::string root;
};

/// A folder without locks, as some network file systems are.
struct NoLocks : cache::FileSystem {
  int lock(int, int) override {
    errno = ENOLCK;
    return -1;
  }
};

inline cache::Request requestOf(const std::string &text) {
  cache::Request request{cache::Kind::Model, {}, nullptr};
  request.ingredients.add("text", text);
  return request;
}

/// The contents of a text's entry: more than one page.
inline std::string contentOf(const std::string &text) {
  std::string content;
  while (content.size() < 10'000)
    content += text + " " + std::to_string(content.size()) + "\n";
  return content;
}

class CountingMaker {
public:
  explicit CountingMaker(std::string text) : text(std::move(text)) {}
  cache::Store::Maker get() {
    return [this](const std::string &path) {
      ++calls;
      std::ofstream file(path, std::ios::binary);
      file << contentOf(text);
      if (!file.flush())
        throw cache::CannotWrite("can't write " + path);
      return "made " + text;
    };
  }
  int calls = 0;

private:
  std::string text;
};

inline void writeText(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string readText(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace freestone::test

#endif // FREESTONE_TEST_CACHE_CACHEFOLDER_H
