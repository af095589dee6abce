// Pasted text becomes the document of a session.
#pragma once

#include <stop_token>
#include <string>

#include "app/session.h"

namespace tg {

// Finds the traces in `text`, loads them as the document "pasted", and says what was found and
// undone.
ExitCode load_pasted_text(Session& session, Sink& sink, std::string text, std::stop_token stop);

}  // namespace tg
