#include "cache/Machine.h"

#include "runtime/machine/Processor.h"
#include "runtime/platform/Caches.h"
#include <nlohmann/json.hpp>

using namespace freestone;
using OrderedJson = nlohmann::ordered_json;

std::string cache::describeMachine() {
  OrderedJson json;
  for (const auto &[key, text] : runtime::architecture::identify())
    json[key] = text;
  // With an invalid environment nothing is compiled or cached.
  if (runtime::Result<runtime::Processor> here = runtime::Processor::here(); here.ok()) {
    for (const runtime::architecture::Feature &feature : runtime::architecture::features())
      json["features"][feature.name] = here->has(feature.name);
    json["seen_as"] = here->seenAs;
  }
  json["cores"] = runtime::platform::coresOfMachine();
  for (const runtime::platform::Cache &cache : runtime::platform::dataCaches())
    json["caches"].push_back({{"bytes", cache.bytes}, {"line_bytes", cache.lineBytes}, {"shared_by", cache.sharedBy}});
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}
