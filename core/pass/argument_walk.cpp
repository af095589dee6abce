#include "core/pass/argument_walk.h"

namespace tg {

ArgumentWalker::ArgumentWalker(Statements canonical, const StatementNames& names_of,
                               const NameTable& names, const Trace& signature)
    : canonical_(canonical),
      names_(names),
      producers_(names_of, names.size()),
      is_argument_(names.size(), false),
      walks_(names.size()) {
  for (const Parameter& parameter : signature.parameters) {
    const NameId name = names.find(parameter.name);
    if (name != kNoName && names.is_tensor(name)) is_argument_[name] = true;
  }
}

// Iterative: chains of writes to one argument are as long as the program.
ArgumentWalk ArgumentWalker::from(NameId start) {
  std::vector<NameId> path;
  ArgumentWalk end;
  NameId at = start;
  while (true) {
    if (walks_[at].known) {
      end = walks_[at];
      break;
    }
    path.push_back(at);
    if (!step(at, end)) break;
    if (path.size() > canonical_.size()) {  // hand-edited text: names that make each other
      end.why = NoCopyBack::NoProducer;
      end.gave_up_at = at;
      break;
    }
  }
  end.known = true;
  for (const NameId name : path) walks_[name] = end;
  return end;
}

bool ArgumentWalker::step(NameId& at, ArgumentWalk& end) const {
  const StatementId made_by = producers_.of(at);
  end.gave_up_at = at;
  if (made_by == kNoStatement) {
    end.why = NoCopyBack::NoProducer;
    return false;
  }
  const BoundSymbol& maker = *canonical_[made_by];
  const NameId input = first_tensor_arg(maker, names_);
  if (input == kNoName) {
    end.why = NoCopyBack::Factory;
    return false;
  }
  const OpInfo& op = info(maker.kind == StatementKind::Call ? maker.op : OpCode::Opaque);
  bool goes_on = op.has(kThunderView) || (op.has(kInPlace) && !op.has(kThunderUntagged));
  if (maker.is_call(OpCode::To)) {
    goes_on = to_returns_input(maker, names_);
  } else if (op.has(kThunderMayView)) {
    end.unclear_maker = made_by;
    return false;
  }
  if (!goes_on) {
    end.why = NoCopyBack::NotAView;
    return false;
  }
  if (is_argument(input)) {
    end.argument = input;
    end.gave_up_at = kNoName;
    return false;
  }
  at = input;
  return true;
}

}  // namespace tg
