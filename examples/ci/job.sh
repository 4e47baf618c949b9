# A job without a person. With a session's id it goes on with what was parked. result.json keeps what happened, for whoever asks.
if [ $# -eq 0 ]; then
  assent run "Release 1.2." --model script:release.yaml --policy ci.json --json > result.json
else
  assent resume "$1" --json > result.json
fi
code=$?
case $code in
  0) echo "job: done" ;;
  75) echo "job: somebody must answer" ;; # send a mail or a chat message here; the job itself does not fail
  *) echo "job: failed with exit $code" && exit "$code" ;;
esac
