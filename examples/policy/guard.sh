#!/bin/sh
# Refuses commits on the main branch. The call stands on stdin as JSON; it is not needed here, because "if" has chosen the calls.

# A hook that fails denies the call, so a branch that cannot be told is no way around.
branch=$(git -C "$ASSENT_PROJECT_DIR" branch --show-current) || exit 1

# No opinion: the rules decide.
[ "$branch" = main ] || exit 0

# Exit code 2 blocks, with stderr as the reason that the model is told.
echo "commits go to a branch of their own: git switch -c NAME" >&2
exit 2
