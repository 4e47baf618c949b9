#!/bin/sh
# Refuses a call whose input holds a private key. The whole call stands on stdin as JSON.
if grep -q -e '-----BEGIN [A-Z ]*PRIVATE KEY-----'; then
  echo "the input holds a private key; name the file that has it instead" >&2
  exit 2
fi
