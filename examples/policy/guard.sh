#!/bin/sh
# Refuses commits on the main branch. Its input, one JSON object on stdin, is not needed: "if" has chosen the calls.
branch=$(git -C "$ASSENT_PROJECT_DIR" branch --show-current) || exit 1 # a failure denies the call
[ "$branch" = main ] || exit 0                                          # no opinion
echo "commits go to a branch of their own: git switch -c NAME" >&2
exit 2 # block, with the text above as the reason
