#include "cache/Counters.h"

#include <charconv>
#include <fcntl.h>

using namespace freestone::cache;

static constexpr off_t longest = 4096;

/// The number in "hits.4097.17.42"; 0 in names without one.
static uint64_t numberIn(std::string_view file) {
  uint64_t number = 0;
  if (size_t dot = file.find('.'); dot != std::string_view::npos)
    std::from_chars(file.data() + dot + 1, file.data() + file.size(), number);
  return number;
}

void Counters::add(const std::string &name, uint64_t times) const {
  File file = folder.open("count/" + name, O_WRONLY | O_CREAT | O_APPEND);
  file.append(std::string(times, '.'));
  if (file.status().st_size > longest)
    fold(name);
}

/// Concurrent folds are safe: each rename and removal succeeds for only one process, which takes over the file's count.
void Counters::fold(const std::string &name) const {
  std::string taken = Folder::unfinishedName();
  folder.rename("count/" + name, taken);
  struct stat status;
  uint64_t sum = folder.status(taken, status) ? static_cast<uint64_t>(status.st_size) : 0;
  folder.remove(taken);
  for (const std::string &file : folder.list("count"))
    if (file.starts_with(name + ".") && folder.remove("count/" + file))
      sum += numberIn(file);
  std::string unique = taken.substr(taken.find('/') + 1);
  folder.open("count/" + name + "." + std::to_string(sum) + "." + unique, O_WRONLY | O_CREAT | O_EXCL);
}

std::map<std::string, uint64_t> Counters::totals() const {
  std::map<std::string, uint64_t> totals;
  for (const std::string &file : folder.list("count"))
    if (struct stat status; folder.status("count/" + file, status))
      totals[file.substr(0, file.find('.'))] += static_cast<uint64_t>(status.st_size) + numberIn(file);
  return totals;
}
