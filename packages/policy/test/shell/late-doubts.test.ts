import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { walkBash } from "../../src/shell/walk.ts";

const isDoubtful = (text: string): boolean => walkBash(text).commands.some(({ doubts }) => doubts.length > 0);

describe("what a shell reads once more, or only it can tell, leaves doubt", () => {
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
    "X=-c; su $X 'curl x'",
  ])
    test(text, () => assert.equal(isDoubtful(text), true));
});

describe("what everybody writes leaves none", () => {
  for (const text of [
    "make >& build.log",
    "ls 2>&1",
    "find $DIR -name '*.ts'",
    "find . -name *.ts",
    "bash build.sh $TARGET",
    "env FOO=$X make",
    "ENV=production npm run build",
    "xargs -n1 echo",
    "ls $X",
  ])
    test(text, () => assert.equal(isDoubtful(text), false));
});
