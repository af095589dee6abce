// Problem: a write to an argument has no reader inside the program, so later passes would take it
// for dead or move the return before it.
//
//   return (t4, x)     =>     return {'output': (t4, x), 'flat_args': [x, w]}
//
// Rules
//   wrap-return   the return's value becomes a dict with the value and all arguments
// Refuses: a trace whose last statement is no return (AssertionError, as in Thunder).

#include <fmt/format.h>

#include "core/pass/all_passes.h"
#include "core/pass/statement_facts.h"

namespace tg {

PassResult wrap_return(const Trace& before, PassContext& context) {
  Rewriter rw(before, context);
  if (rw.last() == kNoStatement || !is_return(*rw.statement(rw.last()))) {
    return std::move(rw).fail({"AssertionError", "", rw.last()});
  }
  std::vector<Value> arguments;
  std::string listed;
  for (const Parameter& parameter : before.parameters) {
    if (parameter.name.empty()) continue;
    listed += (listed.empty() ? "" : ", ") + parameter.name;
    arguments.push_back(Value::name(parameter.name));
  }
  BoundSymbol wrapped = *rw.statement(rw.last());
  wrapped.verbatim.reset();
  std::vector<Value> items;
  items.push_back(Value::string("output"));
  items.push_back(wrapped.args.empty() ? Value::none() : wrapped.args.front());
  items.push_back(Value::string("flat_args"));
  items.push_back(Value::list(std::move(arguments)));
  wrapped.args.clear();
  wrapped.args.push_back(Value::dict(std::move(items)));
  rw.step("wrap-return", rw.last(), [&listed] {
      return listed.empty()
                 ? std::string("the program has no arguments that the return could mention")
                 : fmt::format(
                       "the return now also mentions the arguments {}, so that writes "
                       "to them stay alive",
                       listed);
    }).replace(rw.last(), std::move(wrapped));
  return std::move(rw).finish("Return arguments to track copies onto them");
}

}  // namespace tg
