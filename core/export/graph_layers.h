// First half of the layout: which layer a node stands in, and which edges are cut into stubs.
#pragma once

#include <cstdint>
#include <vector>

#include "core/export/graph_layout.h"

namespace tg {

// Longest path over statement order; sources sink to just above their first reader; the return
// comes last.
void assign_layers(Graph& graph);

// Replaces edges that are too long, and the uses of arguments that have many, by stubs: a Stub node
// above the consumer, and a line in the producer's label that tells where else the value goes.
// Requires layers.
void cut_long_edges(Graph& graph, const LayoutOptions& options);

// Nodes without any edge go to rows of their own above the rest; layers are renumbered without
// gaps.
void settle_layers(Graph& graph);

}  // namespace tg
