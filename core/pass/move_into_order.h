// The steps that bring the statements of a trace into another order.
#pragma once

#include <vector>

#include "core/pass/rewriter.h"

namespace tg {

// `order` names every statement of rw.before() once, every producer before its readers. Rules:
//   reorder            a statement moves past others that it shares no name with
//   reorder-conflict   the same, and one of them writes a storage that the other touches
// Every prefix keeps producers before readers. Returns the ids of the statements afterwards, by
// statement before.
// `facts` say which arguments share storage.
std::vector<StatementId> move_into_order(Rewriter& rw, const std::vector<StatementId>& order,
                                         const ArgumentFacts& facts);

}  // namespace tg
