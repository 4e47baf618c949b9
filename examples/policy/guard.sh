#!/bin/sh
# Blocks commits on the main branch. The call is on stdin as JSON; this script does not need it, because "if" selects the calls.

# A hook that fails denies the call, so an unknown branch cannot bypass it.
branch=$(git -C "$ASSENT_PROJECT_DIR" branch --show-current) || exit 1

# No opinion: the rules decide.
[ "$branch" = main ] || exit 0

# Exit code 2 blocks the call. The model gets stderr as the reason.
echo "do not commit to main; create a branch with git switch -c NAME" >&2
exit 2
