#include "runtime/platform/Caches.h"

#include "runtime/platform/File.h"
#include <algorithm>
#include <charconv>
#include <optional>

using namespace freestone::runtime;

namespace {

const std::string cpus = "/sys/devices/system/cpu/";

/// Removes the number at the beginning of the text and returns it.
std::optional<int64_t> takeNumber(std::string_view &text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc())
    return std::nullopt;
  text.remove_prefix(end - text.data());
  return number;
}

int64_t readNumber(const std::string &path, int64_t otherwise) {
  std::string text = platform::readSmallFile(path);
  std::string_view rest = text;
  return takeNumber(rest).value_or(otherwise);
}

/// Parses "48K" into bytes; 0 for other text.
int64_t readBytes(const std::string &path) {
  std::string text = platform::readSmallFile(path);
  std::string_view rest = text;
  int64_t number = takeNumber(rest).value_or(0);
  return number << (rest.starts_with('K') ? 10 : rest.starts_with('M') ? 20 : 0);
}

/// The number of CPUs in a list such as "0-3,8"; 1 if there is none.
unsigned countCpus(const std::string &path) {
  std::string text = platform::readSmallFile(path);
  std::string_view rest = text;
  unsigned count = 0;
  while (std::optional<int64_t> first = takeNumber(rest)) {
    int64_t last = *first;
    if (rest.starts_with('-')) {
      rest.remove_prefix(1);
      last = takeNumber(rest).value_or(*first);
    }
    count += last - *first + 1;
    if (!rest.starts_with(','))
      break;
    rest.remove_prefix(1);
  }
  return std::max(1u, count);
}

unsigned threadsOfCore(const std::string &root) {
  return countCpus(root + cpus + "cpu0/topology/thread_siblings_list");
}

} // namespace

std::vector<platform::Cache> platform::dataCaches(const std::string &root) {
  std::vector<std::pair<int64_t, Cache>> found;
  for (int index = 0; index < 8; ++index) {
    std::string folder = root + cpus + "cpu0/cache/index" + std::to_string(index);
    int64_t bytes = readBytes(folder + "/size");
    if (bytes <= 0 || readSmallFile(folder + "/type").starts_with("Instruction"))
      continue;
    unsigned sharedBy = countCpus(folder + "/shared_cpu_list") / threadsOfCore(root);
    found.push_back(
        {readNumber(folder + "/level", index),
         {bytes, static_cast<unsigned>(readNumber(folder + "/coherency_line_size", 64)), std::max(1u, sharedBy)}});
  }
  std::ranges::sort(found, {}, &std::pair<int64_t, Cache>::first);
  std::vector<Cache> caches;
  for (auto &[level, cache] : found)
    caches.push_back(cache);
  return caches;
}

unsigned platform::coresOfMachine(const std::string &root) {
  return std::max(1u, countCpus(root + cpus + "present") / threadsOfCore(root));
}
