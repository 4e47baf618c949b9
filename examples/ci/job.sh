# A CI job. Without an argument it starts a run; with a session id it resumes that session. The result is in result.json.
if [ $# -eq 0 ]; then
  assent run "Release 1.2." --model script:release.yaml --policy ci.json --json > result.json
else
  assent resume "$1" --json > result.json
fi
code=$?
case $code in
  0) echo "job: done" ;;
  75) echo "job: waiting for an answer" ;; # notify a person here; the job itself does not fail
  *) echo "job: failed with exit $code" && exit "$code" ;;
esac
