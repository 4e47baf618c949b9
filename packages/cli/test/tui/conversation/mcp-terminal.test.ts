import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { published } from "../../../../mcp/test/server-bench.ts";
import { place } from "../../support/assent.ts";
import { converse, converseAbout, endedCalls, READY, say } from "../support/conversation.ts";
import type { Screen } from "../support/screen.ts";

const HOSTILE = new URL("../../../../mcp/test/servers/hostile.mjs", import.meta.url).pathname;

const hostile = (behavior: string, directory: string): object => ({ command: process.execPath, args: [HOSTILE, behavior, directory] });

const idle = (screen: Screen, shows: string): Promise<string> =>
  screen.until((now) => now.includes(shows) && now.includes("? keys") && !now.includes("» working"));

const call = (
  tool: string,
  id: string,
  input: object = {},
): { readonly calls: readonly { tool: string; id: string; input: object }[] } => ({
  calls: [{ tool, id, input }],
});

async function allowOnce(screen: Screen, card: string): Promise<void> {
  await screen.read(card);
  screen.press("y");
  await screen.until("> y");
  screen.press("enter");
}

describe("MCP servers in the terminal", { concurrency: 2 }, () => {
  for (const [columns, rows] of [
    [80, 24],
    [160, 50],
  ] as const)
    test(`a server of the npm registry on ${columns}×${rows}: card, question, prompts and resources`, async () => {
      using at = place();
      using screen = await converseAbout(at, "go", {
        columns,
        rows,
        settings: {
          mcpServers: {
            every: published("everything"),
            files: published("filesystem", at.workspace),
            memory: { ...published("memory"), env: { MEMORY_FILE_PATH: join(at.root, "memory.json") } },
            bad: { command: "sh", args: ["-c", "echo bad key >&2; exit 4"] },
          },
          permissions: { allow: ["mcp__memory"] },
        },
        turns: [
          call("mcp__memory__read_graph", "c3"),
          call("mcp__files__list_allowed_directories", "c4"),
          call("mcp__every__get-sum", "c1", { a: 1, b: 2 }),
          call("mcp__every__trigger-elicitation-request", "c2"),
          { say: "Both done." },
          { say: "Prompt heard." },
          { say: "Resource heard." },
        ],
      });
      await allowOnce(screen, "Approval needed: List Allowed Directories");
      await screen.read("Approval needed: Get Sum Tool");
      assert.match(screen.lines().join("\n"), /tool +mcp__every__get-sum.*input +a: 1\ninput +b: 2.*Get Sum Tool \(every\/get-sum\)/s);
      await allowOnce(screen, "Approval needed: Get Sum Tool");
      await allowOnce(screen, "Approval needed: Trigger Elicitation");
      await screen.read("The MCP server every asks: Please provide inputs");
      screen.press("down");
      screen.press("enter"); // Decline
      for (let question = 2; question <= 14; question += 1) {
        await screen.until(`(${question}/14)`);
        screen.press("right");
      }
      await screen.read("Enter: send");
      screen.press("enter");
      await idle(screen, "Both done.");
      await say(screen, "/mcp");
      const shown = await idle(screen, "/mcp restart NAME");
      assert.match(shown, /every {2}ready, \d+ tools, \d+ resources/);
      assert.match(shown, /\/mcp__every__args-prompt CITY \[STATE\]/);
      assert.match(shown, /bad {2}not available\n +The program exited with code 4\. Its standard error ends with "bad key"\./);
      screen.type("/mcp__every__arg");
      await screen.until("→ /mcp__every__args-prompt");
      screen.press("tab");
      await say(screen, "Oakland");
      await idle(screen, "Prompt heard.");
      screen.type("read @every:demo://resource/static/document/arch");
      await screen.until(/→ @every:demo:\/\/resource\/static\/ +architecture\.md/);
      screen.press("tab");
      await screen.until((now) => !now.includes("→"));
      screen.press("enter");
      await idle(screen, "Resource heard.");
      const ended = await endedCalls(at);
      assert.match(JSON.stringify(ended.get("c1")), /The sum of 1 and 2 is 3/);
      assert.match(JSON.stringify(ended.get("c2")), /declined/);
      assert.match(JSON.stringify(ended.get("c3")), /entities/);
      assert.match(JSON.stringify(ended.get("c4")), /Allowed directories/);
      const { stdout } = await at.here(["log", "--json"]);
      assert.match(stdout, /What's weather in Oakland/);
      assert.match(stdout, /Resource demo:\/\/resource\/static\/document\/architecture\.md of the MCP server every:/);
    });

  test("progress is shown, and Esc cancels the call at the server", async () => {
    using at = place();
    using screen = await converseAbout(at, "go", {
      settings: { mcpServers: { x: hostile("hang", at.root) }, permissions: { allow: ["mcp__x"] } },
      turns: [call("mcp__x__echo", "c1")],
    });
    await screen.until("[##########----------] 50 %");
    screen.type("typed meanwhile");
    await screen.until("typed meanwhile");
    screen.press("escape");
    await idle(screen, "Interrupted.");
    assert.equal((await endedCalls(at)).get("c1")?.outcome, "cancelled");
    await screen.until(() => readFileSync(join(at.root, "calls.log"), "utf8") === "echo\ncancelled\n");
  });

  test("a server that never answers does not hold up the input line, and Esc ends the wait for it", async () => {
    using at = place();
    using screen = converse(at, {
      settings: { mcpServers: { mute: hostile("mute", at.root) }, mcp: { startWait: 3600 } },
      turns: [{ say: "Never asked." }],
    });
    await screen.until(READY);
    for (const [before, text] of ["hello", "/mcp__mute__x", "read @mute:x://y"].entries()) {
      await say(screen, text);
      await screen.until("» working");
      screen.type("typed");
      await screen.until("typed");
      screen.press("ctrl+u", "escape");
      const shown = await screen.until((now) => now.split("Interrupted.").length === before + 2 && now.includes("? keys"));
      assert.doesNotMatch(shown, /Never asked/);
    }
  });

  test("/mcp restart starts a server again that does not answer any more", async () => {
    using at = place();
    using screen = await converseAbout(at, "go", {
      settings: { mcpServers: { x: hostile("plain", at.root) }, permissions: { allow: ["mcp__x"] } },
      turns: [{ say: "First." }, call("mcp__x__echo", "c1", { text: "hi" }), { say: "Second." }],
    });
    await idle(screen, "First.");
    const first = readFileSync(join(at.root, "started"), "utf8");
    await say(screen, "/mcp restart x");
    await idle(screen, "x  ready, 1 tool");
    assert.notEqual(readFileSync(join(at.root, "started"), "utf8"), first);
    await say(screen, "again");
    await idle(screen, "Second.");
    assert.equal((await endedCalls(at)).get("c1")?.outcome, "succeeded");
  });
});
