// The line that an executor runs instead of a statement.
#pragma once

#include "core/pass/retrace.h"

namespace tg {

// Builds the lines of the rows of executors.def. One for the whole pass: fresh names are shared.
class ExecutorLines {
 public:
  explicit ExecutorLines(NameTable& names) : names_(names), retracer_(names) {}
  // What stands for the statement afterwards, in order: one line, or several where torch needs
  // several calls. They have the statement's position and outputs, and no header. Outputs that were
  // left out are back under fresh names: an executor's line is a new call.
  std::vector<BoundSymbolRef> lines(const BoundSymbol& statement, const ExecutorRow& row);

 private:
  BoundSymbol with_all_outputs(const BoundSymbol& statement);
  std::vector<BoundSymbolRef> broadcast(const BoundSymbol& statement);
  BoundSymbolRef documented(const BoundSymbol& statement, const ExecutorRow& row,
                            std::vector<Value> args, std::vector<Value> like_args);

  NameTable& names_;
  Retracer retracer_;
};

}  // namespace tg
