// Suites whose recordings are texts to read, and suites that this program cannot check.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/golden/checks.h"
#include "core/golden/stage_run.h"

namespace tg::golden {

void check_corpus(const Unit& unit, Checks& checks) {
  const Result<std::string> text = unit.read(unit.files.front());
  checks.decide("round trip", {},
                text.has_value() ? round_trip_fault(unit.id, *text) : text.error().message);
}

void check_region(const Unit& unit, Checks& checks) {
  for (const std::string& path : unit.files) {
    if (path.starts_with("region") && path.ends_with(".txt")) {
      const Result<std::string> text = unit.read(path);
      checks.decide("round trip", path,
                    text.has_value() ? round_trip_fault(path, *text) : text.error().message);
    } else if (path.starts_with("era-")) {
      checks.not_supported("translation", path, "regions are not translated to fusion definitions");
    }
  }
}

void check_definition(const Unit& unit, Checks& checks) {
  if (!unit.has("io.json")) {
    return checks.not_supported("definition", {}, "fusion definitions are not read");
  }
  const Result<std::string> json = unit.read("io.json");
  const Result<Recording> recording = json.has_value()
                                          ? read_recording(unit.id, *json)
                                          : Result<Recording>(Unexpected{json.error()});
  // Reading the recording is checked; what the definition computes is not.
  if (!recording.has_value())
    return checks.fail("io.json", "io.json", Result<Recording>(recording).error().message);
  checks.not_supported("values", {}, "fusion definitions are not read");
}

void check_fx(const Unit& unit, Checks& checks) {
  for (const std::string& path : unit.files) {
    if (path.starts_with("phases/")) checks.not_supported("phases", path, "FX graphs are not read");
  }
  if (!unit.has("values.json")) return;
  const Result<std::string> json = unit.read("values.json");
  Result<Recording> recording = json.has_value() ? read_recording(unit.id, *json)
                                                 : Result<Recording>(Unexpected{json.error()});
  if (!recording) return checks.fail("values.json", "values.json", recording.error().message);
}

}  // namespace tg::golden
