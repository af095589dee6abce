// From a written name back to the argument that it is a view or a result of: Thunder's search in
// functionalization.
#pragma once

#include <vector>

#include "core/pass/functional_form.h"

namespace tg {

// Where the walk ends. It depends on the name alone.
struct ArgumentWalk {
  bool known = false;
  NameId argument = kNoName;  // kNoName: a temporary, as far as Thunder sees
  NoCopyBack why = NoCopyBack::HasCopyBack;
  NameId gave_up_at = kNoName;
  StatementId unclear_maker =
      kNoStatement;  // a reshape, contiguous...: view or copy, Thunder refuses
};

// Every name is walked once. Requires that the statements outlive it.
class ArgumentWalker {
 public:
  ArgumentWalker(Statements canonical, const StatementNames& names_of, const NameTable& names,
                 const Trace& signature);
  [[nodiscard]] bool is_argument(NameId name) const {
    return name < is_argument_.size() && is_argument_[name];
  }
  ArgumentWalk from(NameId start);

 private:
  // One step from `at`; false when `end` says where the walk ends.
  bool step(NameId& at, ArgumentWalk& end) const;

  Statements canonical_;
  const NameTable& names_;
  ProducerMap producers_;
  std::vector<bool> is_argument_;
  std::vector<ArgumentWalk> walks_;  // by name
};

}  // namespace tg
