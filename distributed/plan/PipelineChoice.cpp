#include "distributed/plan/PipelineChoice.h"

#include "distributed/Error.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace freestone::distributed {

using Json = nlohmann::json;

PipelineChoice PipelineChoice::of(const PipelinePlan &plan) {
  PipelineChoice choice{{}, plan.schedule.stages(), {}, plan.schedule.kind, ""};
  if (choice.stages > 1)
    choice.stageOf = plan.assignment.stageOf;
  if (choice.schedule != ScheduleKind::Interleaved)
    choice.replicas = plan.assignment.replicas;
  return choice;
}

std::string PipelineChoice::print() const {
  return Json{{"stage_of", stageOf},
              {"stages", stages},
              {"replicas", replicas},
              {"schedule", nameOf(schedule)},
              {"rates", rates}}
      .dump();
}

PipelineChoice PipelineChoice::read(const std::string &json) {
  try {
    Json parsed = Json::parse(json);
    return {parsed.at("stage_of"), parsed.at("stages"), parsed.at("replicas"), scheduleKindOf(parsed.at("schedule")),
            parsed.at("rates")};
  } catch (const Json::exception &error) {
    throw Error(fmt::format("the choice of stages of rank 0 is damaged: {}", error.what()));
  }
}

} // namespace freestone::distributed
