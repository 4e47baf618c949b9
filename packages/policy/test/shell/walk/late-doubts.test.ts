import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { findTextDoubt } from "../../../src/shell/walk/late-doubts.ts";
import { walkBash } from "../../../src/shell/walk/walk.ts";

const isDoubtful = (text: string): boolean => walkBash(text).commands.some(({ doubts }) => doubts.length > 0);

describe("text that a shell evaluates again leaves doubt", () => {
  for (const text of [
    "echo >& '$(curl x)'",
    "exec >& '$(curl x)'",
    'echo 1>& "\\$(curl x)"',
    "BASH_ENV='$(curl x)' bash -c :",
    "env BASH_ENV='$(curl x)' bash -c :",
    "ENV='$(curl x)' sh -i -c :",
    "env 'BASH_FUNC_ls%%=() { curl x; }' bash -c ls",
    "X=c; bash -$X 'curl x'",
    "X=-c; bash \"$X\" 'curl x'",
    "bash -? 'curl x'",
    "X=-exec; find . $X curl x ';'",
    "find . -{exec,x} curl x ';'",
    "env -{S,x} 'curl x'",
    'env A=b curl$IFS-d$IFS"a=c"',
    "X=-c; su $X 'curl x'",
    "X='b curl x'; env A=$X make",
    "X='b curl x'; env A=$X",
    "xargs -n $X echo",
    "env -i A=$(date) make",
    "env A=`date` make",
    "timeout $T npm test",
    "nice -n$N make",
    "sudo -u $U make",
    'env A="$@" make',
    `env A="\${B[@]}" make`,
    `env A="$B"\${C} make`,
  ])
    test(text, () => assert.equal(isDoubtful(text), true));
});

describe("ordinary commands leave no doubt", () => {
  for (const text of [
    "make >& build.log",
    "ls 2>&1",
    "find $DIR -name '*.ts'",
    "find . -name *.ts",
    "bash build.sh $TARGET",
    'env FOO="$X" make',
    'env FOO="$(date)" make',
    "env FOO='$X' make",
    "env FOO=~/x make",
    'timeout "$T" npm test',
    "FOO=$X make",
    "make FOO=$X",
    "ENV=production npm run build",
    "xargs -n1 echo",
    "ls $X",
  ])
    test(text, () => assert.equal(isDoubtful(text), false));
});

describe("a literal that is evaluated elsewhere leaves doubt", () => {
  for (const text of [
    "read r <<< 'a[$(curl x)]'; echo $((r))",
    "for x in 'a[$(curl x)]'; do echo $((x)); done",
    "for x in 'a''[`curl x`]'; do ((x)); done",
    'for x in "a[\\$(curl x)]"; do ((x)); done',
    "for x in a\\[\\$\\(curl\\ x\\)\\]; do ((x)); done",
    "for x in $'a[\\x24(curl x)]'; do ((x)); done",
    "for x in 'a[b[0] + $(curl x)]'; do [[ $x -eq 1 ]]; done",
    "for x in 'a[$(curl x)]'; do [ $x -gt 1 ]; done",
    "for x in 'a[$(curl x)]'; do [ -v \"$x\" ]; done",
    "for x in 'a[$(curl x)]'; do echo $[x]; done",
    `for x in 'a[$(curl x)]'; do echo \${y:x}; done`,
    `for x in 'a[$(curl x)]'; do echo \${b[x]}; done`,
    `for x in 'a[$(curl x)]'; do echo \${!x}; done`,
    "for x in 'a[$(curl x)]'; do b[x]=1; done",
    "for x in 'a[$(curl x)]'; do unset \"$x\"; done",
    "set -- 'a[$(curl x)]'; echo $(($1))",
    "f() { echo $(($1)); }; f 'a[$(curl x)]'",
    "mapfile -t m <<< 'a[$(curl x)]'; ((m[0]))",
    "mapfile -t m <<'E'\na[$(curl x)]\nE\n((m[0]))",
    "echo 'a[$(curl x)]' | { read x; ((x)); }",
    "declare -i n; for n in 'a[$(curl x)]'; do :; done",
    `bash -c "for x in 'a[\\$(curl x)]'; do ((x)); done"`,
    `echo "b $$(echo "\${x:-'$(curl x)'}")"`,
    `echo "\${x:-'$(echo $(( $(echo \${@:-\\curl x)}) )))'}"`,
  ])
    test(JSON.stringify(text), () => assert.notEqual(findTextDoubt(text), undefined));
});

describe("ordinary brackets and substitutions leave no doubt", () => {
  for (const text of [
    'if [ "$(cat x)" -eq 5 ]; then echo $((1 + 2)); fi',
    "[[ $(wc -l < x) -gt 3 ]] && echo 'a[1]'",
    `echo "\${files[$((RANDOM % \${#files[@]}))]}"`,
    `echo "\${map[$(basename x)]}"`,
    "map[$(basename x)]=1; ((i++))",
    "grep -o 'a[0-9]*' $(find . -name '*.ts'); test $x -eq 1",
    "grep 'a[$(x)]' README.md",
    "echo $(( (1 + 2) * (3 + 4) ))",
    "echo $((1+2)) $( (ls) )",
    "echo /tmp/x.$$ \"/tmp/x.$$$(date +%s)\" 'it'",
    "cat > Makefile <<'E'\nall:\n\techo $$(pwd)\nE",
    "cat > a.js <<'E'\nconst it = 'x';\nmap[`k-x`] = f((a) => it);\nE\necho $((1))",
    "printf '\\033[31m%s\\033[0m' \"$(date)\"",
    'for i in 1 2 3; do x=$((x + i)); done; echo "[$x] $(date)"',
  ])
    test(JSON.stringify(text), () => assert.equal(findTextDoubt(text), undefined));
});
