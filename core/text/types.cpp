#include "core/text/types.h"

namespace tg::text {

TypeRef TypeCache::type(std::string_view text) {
  const auto found = types_.find(text);
  if (found != types_.end()) return found->second;
  TypeRef type = std::make_shared<const Type>(parse_type(text));
  types_.emplace(type->text, type);
  return type;
}

}  // namespace tg::text
