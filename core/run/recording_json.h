// What the readers of the recording schemas share. Internal to core/run.
#pragma once

#include <nlohmann/json.hpp>

#include "core/run/recording.h"

namespace tg::recording_json {

using Json = nlohmann::json;

Diagnostic bad_recording(std::string message);

// How a schema calls the parts of a tensor.
struct TensorKeys {
  const char* shape = "shape";
  const char* strides = "strides";
  const char* offset = "offset";
  const char* values = "values";
};

// A member, null when absent or when `node` is no object.
const Json* member(const Json& node, const char* key);
std::string text_of(const Json& node, const char* key);  // "" when absent
std::optional<std::vector<std::int64_t>> integers_of(const Json& node, const char* key);

// dtype, shape, strides (contiguous when absent), offset, storage, values. `where` begins the
// message.
Result<RecordedTensor> tensor_of(const Json& node, const TensorKeys& keys,
                                 const std::string& where);

// Flattens nested lists of numbers, "nan", "inf", "-inf" into tensor.values and tensor.integers.
// The error says what is wrong, without place.
std::optional<std::string> read_values(const Json& node, RecordedTensor& tensor);

// 2, 1.5, true, null, "text"
RuntimeValue number_of(const Json& node);

// The schemas.
Result<Recording> read_named(std::string id, const Json& root);       // seed, large
Result<Recording> read_paths(std::string id, const Json& root);       // passes-2024-12
Result<Recording> read_sharing(std::string id, const Json& root);     // passes-2026-01, fx
Result<Recording> read_definition(std::string id, const Json& root);  // nvfuser io.json
Result<Recording> read_case(std::string id, const Json& root);        // cases
Result<Recording> read_call(std::string id, const Json& root);        // ops

}  // namespace tg::recording_json
