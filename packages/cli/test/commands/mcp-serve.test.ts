import assert from "node:assert/strict";
import { test } from "node:test";
import { place } from "../support/assent.ts";

const WRONG: readonly (readonly [string, readonly string[], number, RegExp])[] = [
  ["without any server", ["mcp", "serve"], 4, /No MCP server is configured here\. *\n.*assent mcp serve -- PROGRAM/],
  ["with an unknown name", ["mcp", "serve", "nowhere"], 4, /There is no MCP server 'nowhere'/],
  ["with names and a program", ["mcp", "serve", "files", "--", "true"], 2, /not both/],
  ["under a name that rules cannot write", ["mcp", "serve", "--name", "…", "--", "true"], 2, /a name for rules with --name/],
  ["for a program whose name is too long for rules", ["mcp", "serve", "--", "x".repeat(33)], 2, /a name for rules with --name/],
  ["with -- and no program", ["mcp", "serve", "--"], 2, /-- and a program/],
];

for (const [words, argv, code, says] of WRONG)
  test(`assent mcp serve ${words} says what to do`, async () => {
    using at = place();
    const ran = await at.here(argv);
    assert.equal(ran.code, code, ran.stderr);
    assert.match(ran.stderr, says);
    assert.equal(ran.stdout, "", "stdout is the protocol's");
  });
