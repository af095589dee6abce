// What the values of a run tell the analysis about the arguments.
#include <map>

#include "core/run/inputs.h"

namespace tg {

ArgumentFacts facts_of(const RunInputs& inputs) {
  std::map<const Storage*, std::uint32_t> numbers;
  std::map<const Storage*, std::size_t> uses;
  for (const NamedValue& argument : inputs.arguments) {
    const Tensor* tensor = argument.value.as<Tensor>();
    if (tensor == nullptr) continue;
    numbers.emplace(tensor->storage.get(), static_cast<std::uint32_t>(numbers.size()));
    ++uses[tensor->storage.get()];
  }
  ArgumentFacts facts;
  for (const NamedValue& argument : inputs.arguments) {
    const Tensor* tensor = argument.value.as<Tensor>();
    if (tensor == nullptr) continue;
    const Storage* storage = tensor->storage.get();
    if (uses[storage] < 2 && tensor->geometry == contiguous_geometry(tensor->geometry.sizes))
      continue;
    facts.windows.push_back({argument.name, numbers[storage], tensor->geometry});
  }
  return facts;
}

}  // namespace tg
