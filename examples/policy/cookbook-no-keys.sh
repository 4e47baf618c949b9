#!/bin/sh
# Blocks a call whose input contains a private key. The call is on stdin as JSON.
if grep -q -e '-----BEGIN [A-Z ]*PRIVATE KEY-----'; then
  echo "the input contains a private key; name the file that contains it instead" >&2
  exit 2
fi
