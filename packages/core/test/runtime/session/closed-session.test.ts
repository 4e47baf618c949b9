import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";

describe("a session on the memory ledger that is closed", () => {
  const CASES = [
    ["is gone with the next small collection: nothing that lives long holds on to it", "plain"],
    ["is gone as soon when its calls were approved by a person", "asked"],
  ] as const;
  for (const [sentence, how] of CASES)
    it(sentence, () => {
      const flags = ["--expose-gc", "--min-semi-space-size=16", "--conditions=@assent/source"];
      const told = execFileSync(process.execPath, [...flags, join(import.meta.dirname, "closed-sessions.ts"), how], { encoding: "utf8" });
      const { left, held } = JSON.parse(told) as { left: number; held: number };
      assert.ok(left < held / 2, `of ${held} bytes of text in closed sessions, ${left} bytes are left`);
    });
});
