import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Place, place } from "../support/assent.ts";

function files(at: Place, calls: string): readonly string[] {
  at.write("calls.jsonl", calls);
  at.write("policy.json", JSON.stringify({ version: 1, permissions: { allow: ["Shell(touch *)"], deny: ["Shell(rm)"] } }));
  return ["policy", "test", "calls.jsonl", "--policy", "policy.json"];
}

const call = (input: unknown, expect: string, more: object = {}): string => JSON.stringify({ tool: "shell", input, expect, ...more });

describe("assent policy test", () => {
  test("calls that are decided as expected pass, as lines and as a list", async () => {
    using at = place();
    const calls = [call("touch a", "allow"), call({ command: "rm a" }, "deny"), call("make", "ask", { cwd: "." })];
    for (const text of [`${calls.join("\n\n")}\n`, `[${calls.join(",")}]`]) {
      const { code, stdout } = await at.here(files(at, text));
      assert.deepEqual([code, stdout], [0, "All 3 calls are decided as expected.\n"]);
    }
  });

  test("calls that are decided differently are listed with the reason, and the exit code is 1", async () => {
    using at = place();
    const argv = files(at, [call("touch a", "allow"), call("rm a", "allow"), call({ other: 1 }, "ask")].join("\n"));
    const { code, stdout } = await at.here(argv);
    assert.equal(code, 1);
    assert.match(stdout, /^2 +shell +rm a +allow +deny +A deny rule from the policy file matches/m);
    assert.match(stdout, /^3 +shell +.* ask +invalid +/m);
    assert.match(stdout, /^2 of 3 calls are not decided as expected\.$/m);
    const { value } = await at.hereJson(argv);
    assert.deepEqual([value.tested, value.failed.map(({ number }: { number: number }) => number)], [3, [2, 3]]);
  });

  test("calls of another agent are decided as its hook would", async () => {
    using at = place();
    const argv = files(at, [call("touch *", "ask"), call("git status", "ask"), call("ls", "allow")].join("\n"));
    assert.equal((await at.here([...argv, "--client", "codex"])).code, 0);
    assert.equal((await at.here(argv)).code, 1);
  });

  const faults: readonly [sentence: string, text: string, message: RegExp][] = [
    ["no calls", "\n", /has no calls/],
    ["a line that is not JSON", `${call("ls", "allow")}\n{`, /calls\.jsonl:2: not JSON/],
    ["a line that is not an object", "1", /calls\.jsonl:1: a call must be an object/],
    ["no tool", '{"expect":"ask"}', /'tool' must be a string/],
    ["no expected verdict", '{"tool":"shell"}', /'expect' must be allow, ask or deny/],
    ["a misspelled field", call("ls", "allow", { cwdd: "." }), /unknown field 'cwdd'/],
  ];
  for (const [sentence, text, message] of faults) {
    test(`a file with ${sentence} tests nothing, and the exit code is 2`, async () => {
      using at = place();
      const { code, stdout, stderr } = await at.here(files(at, text));
      assert.deepEqual([code, stdout], [2, ""]);
      assert.match(stderr, message);
    });
  }

  test("a file that does not exist is named", async () => {
    using at = place();
    const { code, stderr } = await at.here(["policy", "test", "missing.jsonl"]);
    assert.equal(code, 2);
    assert.match(stderr, /cannot read 'missing\.jsonl'/);
  });
});
