// DOT text of a laid out graph. Every node and edge carries its position, so `neato -n2` only
// draws; any other Graphviz program may lay it out anew. Needs no Graphviz to be written.
#pragma once

#include <string>

#include "core/export/graph.h"

namespace tg {

struct DotOptions {
  // Where a node's line can be read: "{line}" is replaced, "#L12" is appended when it does not
  // occur. Empty: no links.
  std::string link;
};

// Requires lay_out(). Stable: equal graphs give equal bytes. Kinds are told by shape, line style
// and a letter, never by colour alone: W and thick dashes for writes, dots for sharing, + - ~ > for
// changes.
std::string to_dot(const Graph& graph, const DotOptions& options = {});

// What the signs mean, for the foot of a report or `help dot`.
std::string dot_legend();

}  // namespace tg
