import assert from "node:assert/strict";
import { test } from "node:test";
import type { Broad } from "../../src/shell/seen-command.ts";
import { broadly } from "./broadly.ts";

type Row = readonly [name: string, rule: string, command: string, result: Broad];

const ROWS: readonly Row[] = [
  ["W6: options before the sub-command are passed over with their values", "git push", "git -c a.b=c --no-pager push", "yes"],
  ["W8: a quoted value is data", "git push", "git log --author='git push'", "no"],
  ["W9: -f is --force, wherever it stands", "git push --force", "git -c user.name=x push -f", "yes"],
  ["W10: a dynamic sub-command leaves the rule in doubt", "git push --force", "x=push; git $x --force", "doubt"],
  ["W11: quotes inside a name are removed", "curl", "c'ur'l https://example.test", "yes"],
  ["W12: braces that build a command leave the rule in doubt", "curl", "{curl,https://example.test}", "doubt"],
  ["the rule is a prefix", "git push", "git push origin main --tags", "yes"],
  ["whole words are compared", "git push", "git pushx", "no"],
  ["a name is compared whole", "curl", "curlie x", "no"],
  ["the name is the last path component", "curl", "/usr/bin/curl x", "yes"],
  ["a relative path is one too", "curl", "./tools/curl x", "yes"],
  ["upper case does not hide a name", "curl", "CURL x", "yes"],
  ["nor does .exe", "curl", "curl.EXE x", "yes"],
  ["nor a path with backslashes", "curl", "'C:\\bin\\curl.exe' x", "yes"],
  ["a rule may be written with a path", "/usr/bin/curl", "curl x", "yes"],
  ["a rule may be written in upper case", "CURL", "curl x", "yes"],
  ["a glob in the name", "cur*", "curl x", "yes"],
  ["a glob in the name, of another case", "CUR?", "curl x", "yes"],
  ["git-push is git push", "git push", "git-push origin", "yes"],
  ["git-push is not git pull", "git pull", "git-push origin", "no"],

  ["a known option with its value attached", "git push", "git -C. push", "yes"],
  ["a known option with = and its value", "git push", "git --git-dir=x push", "yes"],
  ["a known option's value is no sub-command", "git push", "git -C push log", "no"],
  ["a known flag takes no value", "git log", "git --no-pager push log", "no"],
  ["an unknown option is read without a value", "git push", "git --frobnicate push", "yes"],
  ["an unknown option is read with a value", "git push", "git --frobnicate x push", "yes"],
  ["an unknown cluster too", "git push", "git -XY x push", "yes"],
  ["a value that is -- does not end the options", "git push --force", "git -C -- push --force", "yes"],
  ["nor where it is not known to be one", "git push --force", "git push --frobnicate -- --force", "yes"],
  ["behind -- a word is no option", "git push --force", "git push -- --force", "no"],

  ["operands match in order", "git push origin main", "git push origin main", "yes"],
  ["operands match from the left", "git push main", "git push origin main", "no"],
  ["options between operands are passed over", "git push origin main", "git push -u origin --tags main", "yes"],
  ["an option's value between operands too", "git push origin", "git push -o ci.skip origin", "yes"],
  ["a star between finds a later operand", "git push * +*", "git push upstream +topic", "yes"],
  ["at once", "git push * +*", "git push +topic", "yes"],
  ["at the end", "git push * +*", "git push -v upstream a b +topic", "yes"],
  ["or not at all", "git push * +*", "git push origin main", "no"],
  ["a star before an option asks for nothing", "git * --force", "git push --force", "yes"],
  ["two stars", "x * b * d", "x a b c d e", "yes"],
  ["a glob matches one operand", "npm run deploy:*x", "npm run deploy:prodx", "yes"],
  ["a glob does not match another", "npm run deploy:*x", "npm run deploy:prod", "no"],
  ["the tail asks for nothing", "git push *", "git push", "yes"],

  ["an option in full", "git push --force", "git push origin --force", "yes"],
  ["an option with =value", "docker run --privileged", "docker run --privileged=true x", "yes"],
  ["an option in a cluster", "rm -r", "rm -fvr x", "yes"],
  ["an option's synonym", "rm --recursive", "rm -R x", "yes"],
  ["an option's synonym in a cluster", "rm --force", "rm -rf x", "yes"],
  ["an abbreviated option", "git push --force", "git push --forc", "yes"],
  ["one letter is an abbreviation", "rm --recursive", "rm --r x", "yes"],
  ["a longer option is another option", "git push --force", "git push --force-with-lease", "no"],
  ["a cluster in the rule asks for each letter", "rm -rf", "rm -r x -f", "yes"],
  ["in any spelling", "rm -rf", "rm --recursive --force x", "yes"],
  ["but for all of them", "rm -rf", "rm -r x", "no"],
  ["an option of one dash and many letters", "find -delete", "find . -name x -delete", "yes"],
  ["is not made of letters that stand elsewhere", "find -delete", "find . -name x -print", "no"],
  ["one dash or two", "terraform apply -auto-approve", "terraform apply --auto-approve", "yes"],
  ["two dashes or one", "terraform apply --auto-approve", "terraform apply -auto-approve", "yes"],
  ["behind a letter with a value everything is that value", "curl -k", "curl -okay https://example.test", "no"],
  ["a glob among the options", "git push --force*", "git push --force-with-lease=x", "yes"],
  ["an option that is not there", "git push --force", "git push origin main", "no"],
  ["an option's value behind it", "curl -X POST", "curl https://example.test -X POST", "yes"],
  ["an option's value attached", "curl -X POST", "curl -XPOST https://example.test", "yes"],
  ["an option's value in another spelling", "curl -X POST", "curl --request=POST https://example.test", "yes"],
  ["another value", "curl -X POST", "curl -X GET https://example.test", "no"],
  ["a value that nobody knows", "curl -X POST", 'curl https://example.test -X "$METHOD"', "doubt"],
  ["a signal by its name", "kill -9", "kill -KILL 1", "yes"],

  ["a dynamic name", "curl", "$X y", "doubt"],
  ["a name from a command", "curl", "$(echo curl) x", "doubt"],
  ["a glob as a name", "curl", "cu?l x", "doubt"],
  ["a dynamic operand where the rule looks", "git push origin", "git push $REMOTE", "doubt"],
  ["a dynamic operand where it does not", "git push", 'git commit -m "$MESSAGE"', "no"],
  ["behind a match nothing is asked", "git push", "git push $REMOTE", "yes"],
  ["a dynamic word may be the option", "git push --force", 'git push "$X"', "doubt"],
  ["not behind --", "git push --force", 'git push -- "$X"', "no"],
  ["a known option's quoted value is passed over", "git push", 'git -C "$DIR" log', "no"],
  ["a value that may be several words is not", "git push", "git -C $DIR log", "doubt"],
  ["a value that may be several words, as a list", "git push", 'git -C "$@" log', "doubt"],
  ["an option with a dynamic value is that option", "git push --force", 'git push --force="$X"', "yes"],
  ["and no other", "git push --force", 'git push --repo="$X"', "no"],
  ["a star swallows what nobody knows", "git push * +*", 'git push "$REMOTE" +main', "yes"],
  ["words that xargs adds", "git push --force", "xargs git push", "doubt"],
  ["words that xargs adds may be the sub-command", "git push", "xargs git", "doubt"],
  ["words that xargs adds come too late", "git push", "xargs git log", "no"],
  ["npm takes the start of a sub-command for the whole", "npm publish", "npm publ", "doubt"],
  ["wherever it stands", "npm publish", "npm --silent pub --tag x", "doubt"],
  ["as pnpm and yarn may", "yarn publish", "yarn publ", "doubt"],
  ["a longer word is another one", "npm publish", "npm publisher", "no"],
  ["another start is another one", "npm publish", "npm pack", "no"],
  ["the name of a script is taken whole", "npm run deploy:prod", "npm run deploy", "no"],
  ["other programs take no shorter names", "git push", "git pus", "no"],
  ["the option asked for must be there too", "npm publish --force", "npm publ", "no"],
  ["a rule about every command", "*", "ls", "yes"],
  ["a rule about an option of every command", "* --force", "$X --force", "yes"],
  ["an assignment alone is no command", "curl", "X=curl", "no"],
  ["an argument is data", "curl", "echo curl", "no"],
];

for (const [name, rule, command, result] of ROWS) {
  test(`${name}: ${rule} and ${command}`, () => assert.equal(broadly(rule, command), result));
}

test("a rule of very many words is read by its first ones", () => {
  const words = Array.from({ length: 40 }, (_, i) => `w${i}`);
  assert.equal(broadly(`x ${words.join(" ")}`, `x ${words.join(" ")}`), "yes");
  assert.equal(broadly(`x ${words.join(" ")}`, `x ${words.slice(1).join(" ")}`), "no");
});
