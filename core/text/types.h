// Types of one parse, each parsed once: a trace repeats few type texts many times.
#pragma once

#include <string_view>
#include <unordered_map>

#include "core/ir/type.h"

namespace tg::text {

class TypeCache {
 public:
  TypeRef type(std::string_view text);

 private:
  std::unordered_map<std::string_view, TypeRef> types_;  // keys live in the types themselves
};

}  // namespace tg::text
