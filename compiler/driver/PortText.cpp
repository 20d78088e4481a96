#include "compiler/driver/PortText.h"

using namespace freestone;

llvm::json::Array driver::describePorts(const std::vector<PortReport> &ports) {
  llvm::json::Array array;
  for (const PortReport &port : ports) {
    llvm::json::Array shape;
    for (const std::string &size : port.shape) {
      int64_t number;
      if (llvm::StringRef(size).getAsInteger(10, number))
        shape.push_back(size);
      else
        shape.push_back(number);
    }
    llvm::json::Object object{{"name", port.name}, {"type", port.type}, {"shape", std::move(shape)}};
    if (!port.kind.empty())
      object["kind"] = port.kind;
    array.push_back(std::move(object));
  }
  return array;
}
