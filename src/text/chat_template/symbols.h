#pragma once

#include "text/chat_template/ast.h"

namespace tandem::jinja {

/// Finds the names that are undefined when a scope begins although a variable of that name may
/// exist: Jinja2 decides at compile time which scope a name belongs to, so a name that a scope
/// assigns before it reads it is that scope's own from the start. Inner scopes that run before the
/// assignment then see it undefined. Fills in every Frame of the program.
void find_initial_names(Program& program);

}  // namespace tandem::jinja
