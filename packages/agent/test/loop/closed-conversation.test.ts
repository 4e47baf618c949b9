import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";

describe("a conversation on the memory ledger that is over", () => {
  it("is gone with the next small collection: nothing that lives long holds on to it", () => {
    const flags = ["--expose-gc", "--min-semi-space-size=16", "--conditions=@assent/source"];
    const told = execFileSync(process.execPath, [...flags, join(import.meta.dirname, "closed-conversations.ts")], { encoding: "utf8" });
    const { left, held } = JSON.parse(told) as { left: number; held: number };
    assert.ok(left < held / 2, `of ${held} bytes of text in conversations that are over, ${left} bytes are left`);
  });
});
