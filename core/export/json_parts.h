// What the writers of JSON documents share.
#pragma once

#include <string>
#include <string_view>

#include "core/export/json.h"

namespace tg {

// An object with its schema: "thunderglass.NAME/1".
Json json_document(std::string_view name);
Json text_or_null(const std::string& text);
std::string_view verdict_word(VerdictKind verdict);

template <typename Items, typename F>
Json list_of(const Items& items, F&& f) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(f(item));
  return list;
}

}  // namespace tg
