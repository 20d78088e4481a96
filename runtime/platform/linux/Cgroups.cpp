#include "runtime/platform/linux/Cgroups.h"

#include "runtime/platform/File.h"
#include <sstream>

using namespace freestone::runtime;

std::vector<platform::Cgroup> platform::findCgroups(std::string_view controller, const std::string &root) {
  std::vector<Cgroup> found;
  const std::string all = root + "/sys/fs/cgroup", name(controller);
  // Lines "0::/path" (version 2) and "4:cpu,cpuacct:/path" (version 1).
  std::istringstream groups(readSmallFile(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    size_t first = line.find(':');
    size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    bool isVersion2 = controllers == ",,";
    if (!isVersion2 && controllers.find("," + name + ",") == std::string::npos)
      continue;
    std::string path = line.substr(second + 1);
    for (;; path.resize(path.rfind('/'))) {
      bool isRoot = path.empty() || path == "/";
      found.push_back({all + (isVersion2 ? "" : "/" + name) + (isRoot ? "" : path), isVersion2});
      if (isRoot)
        break;
    }
  }
  return found;
}
