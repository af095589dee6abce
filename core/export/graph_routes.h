// Last part of the layout: the curves of edges between boxes that stand where they stand.
#pragma once

#include <cstdint>
#include <vector>

#include "core/export/graph.h"

namespace tg {

// What the placement found. `x` counts the graph's nodes first, then the threads: the places where
// long edges pass a layer, by edge in `chains`.
struct GraphPlaces {
  const std::vector<double>& x;
  const std::vector<std::vector<std::uint32_t>>& chains;
  const std::vector<double>& tops;  // of each layer
  const std::vector<double>& bottoms;
};

constexpr double kRowGap = 34;  // least distance between layers

// Fills the routes of edges and ties. Curves bend between layers only, so none runs through a box.
void route_edges(Graph& graph, const GraphPlaces& places);

}  // namespace tg
