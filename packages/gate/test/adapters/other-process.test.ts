import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { openLedger } from "@assent/store";
import { generateText, isStepCount, type ModelMessage } from "ai";
import { aiTools, anthropicMessages, type EmbeddedCall, isRunStopped, resumeAiTools } from "../../src/index.ts";
import { embed, scripted } from "./embedded.ts";

/** A person in another process says yes to all that waits. */
function approveElsewhere(directory: string): void {
  const args = ["--conditions=@assent/source", join(import.meta.dirname, "approve-all.ts"), directory];
  assert.match(execFileSync(process.execPath, args, { encoding: "utf8" }), /^approved 1\n$/);
}

describe("a call that is approved in another process", () => {
  const { signal } = new AbortController();

  test("a loop of `ai` goes on in a third one, and the effect happens once", async () => {
    const directory = mkdtempSync(join(tmpdir(), "assent-adapters-"));
    try {
      const ledger = await openLedger({ directory });
      const first = await embed({ ledger, deps: { onAsk: "park" } });
      const { responseMessages } = await generateText({
        model: scripted("  - calls: [{ tool: write, id: c1, input: { name: a } }]\n"),
        tools: aiTools(first),
        stopWhen: [isStepCount(5), isRunStopped],
        prompt: "Go.",
      });
      const kept = JSON.stringify(responseMessages);
      await first.session.close("parked", 75);
      approveElsewhere(directory);
      for (const ran of [["write a+", "write a-"], []]) {
        const again = await embed({ ledger, id: first.session.id, deps: { onAsk: "park" } });
        const parsed: ModelMessage[] = JSON.parse(kept);
        const { messages, stop } = await resumeAiTools(again, parsed, signal);
        assert.equal(stop, undefined);
        assert.match(JSON.stringify(messages), /write a: done/);
        assert.deepEqual(again.ran, ran);
        await again.session.close("done", 0);
      }
      await ledger.close();
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test("your own loop resumes a call that another process approved", async () => {
    const directory = mkdtempSync(join(tmpdir(), "assent-adapters-"));
    try {
      const ledger = await openLedger({ directory });
      const first = await embed({ ledger, deps: { onAsk: "park" } });
      const answer = [{ type: "tool_use" as const, id: "a", name: "write", input: { name: "x" } }];
      const { calls } = await anthropicMessages(first).dispatch(answer, { signal });
      const kept = JSON.stringify(calls);
      await first.session.close("parked", 75);
      approveElsewhere(directory);
      const again = await embed({ ledger, id: first.session.id });
      const parsed: EmbeddedCall[] = JSON.parse(kept);
      const { messages } = await anthropicMessages(again).resume(parsed, signal);
      assert.deepEqual(messages, [{ role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "write x: done" }] }]);
      await again.session.close("done", 0);
      await ledger.close();
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
