import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, delimiter, dirname, join } from "node:path";
import { describe, test } from "node:test";
import { agentRun, type FakeModel, startFakeModel } from "@assent/guard";
import { LONG } from "../support/long.ts";
import { withoutProgram } from "../support/programs.ts";
import { findAgent, type GuardedPlace, guardAgents, propose } from "./guarded-agent.ts";

/** Claude Code in a terminal of its own, with a model that proposes command lines one after another. */
type Terminal = {
  readonly place: GuardedPlace;
  readonly model: FakeModel;
  readonly screen: () => string;
  readonly type: (...keys: readonly string[]) => void;
  readonly until: (what: string, isTrue: () => boolean | Promise<boolean>) => Promise<void>;
  readonly approvals: () => Promise<readonly { readonly id: string; readonly sessionId: string }[]>;
  readonly outcomes: () => Promise<readonly string[]>;
};

type Start = {
  readonly commands: readonly string[];
  readonly settings?: object;
  readonly args?: readonly string[];
  /** What the person types first. */
  readonly prompt?: string;
  readonly files?: Readonly<Record<string, string>>;
};

const LIMIT_MS = 30_000;

async function inTerminal(
  { commands, settings, args = [], prompt = "go", files = {} }: Start,
  act: (at: Terminal) => Promise<void>,
): Promise<void> {
  await using place = await guardAgents(["claude"], {}, { options: ["--on-ask", "both"] });
  const home = dirname(place.workspace);
  const known = { hasCompletedOnboarding: true, theme: "dark", customApiKeyResponses: { approved: ["not-a-real-key"], rejected: [] } };
  const trusted = { projects: { [place.workspace]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } } };
  writeFileSync(join(home, ".claude.json"), JSON.stringify({ ...known, ...trusted }));
  if (settings) files = { ...files, ".claude/settings.json": JSON.stringify(settings) };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place.workspace, name)), { recursive: true });
    writeFileSync(join(place.workspace, name), text);
  }
  const model = await startFakeModel(commands.map((command) => propose("claude", command)));
  const server = basename(home);
  const tmux = (...argv: readonly string[]): string =>
    spawnSync("tmux", ["-L", server, "-f", "/dev/null", ...argv], { encoding: "utf8" }).stdout;
  const path = [dirname(process.execPath), findAgent("claude") ?? "", process.env["PATH"] ?? ""].join(delimiter);
  const env = { HOME: home, PATH: path, TERM: "xterm-256color", LANG: "C.UTF-8", ...agentRun("claude", model.url).env };
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const program = ["env", "-i", ...variables, "claude", "--model", "claude-sonnet-4-5", ...args];
  const screen = (): string => tmux("capture-pane", "-p");
  const until: Terminal["until"] = async (what, isTrue) => {
    const end = Date.now() + LIMIT_MS;
    while (!(await isTrue())) {
      if (Date.now() > end) throw new Error(`${what} did not happen. The screen:\n${screen()}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const type = (...keys: readonly string[]): void => void tmux("send-keys", ...keys);
  const approvals: Terminal["approvals"] = () => place.json("approvals");
  const outcomes = async (): Promise<readonly string[]> => {
    const { output } = await place.assent("log", "--type", "call.ended", "--json");
    return [...output.matchAll(/"outcome": ?"(\w+)"/g)].map(([, outcome = ""]) => outcome).toSorted();
  };
  try {
    tmux("new-session", "-d", "-x", "120", "-y", "40", "-c", place.workspace, ...program);
    await until("the prompt", () => screen().includes("❯"));
    type(prompt);
    await until("the typed prompt", () => new RegExp(`❯\\s${prompt}`).test(screen()));
    type("Enter");
    await act({ place, model, screen, type, until, approvals, outcomes });
    const { code, output } = await place.assent("verify");
    assert.equal(code, 0, output);
  } finally {
    tmux("kill-server");
    await model.close();
  }
}

const DIALOG = "Do you want to proceed?";

/** Waits for the dialog and the approval beside it. */
async function bothAsk({ until, screen, approvals }: Terminal): Promise<string> {
  await until("the dialog", () => screen().includes(DIALOG));
  await until("the approval", async () => (await approvals()).length === 1);
  return (await approvals())[0]?.id ?? "";
}

async function isOver({ until, screen, approvals }: Terminal): Promise<void> {
  await until("the end", () => screen().includes("finished"));
  assert.deepEqual(await approvals(), [], "nothing stays open");
}

const found = findAgent("claude");
const missing = found === undefined ? "not installed: npm run agents -- claude" : withoutProgram("tmux");

if (found !== undefined || LONG)
  describe("Claude Code with --on-ask both, in a terminal", { skip: missing }, () => {
    test("the dialog answers first: the call runs once, and the approval closes", async () => {
      await inTerminal({ commands: ["touch asked"] }, async (at) => {
        const id = await bothAsk(at);
        assert.ok(!at.place.ran("asked"));
        at.type("1");
        await at.until("the run", () => at.place.ran("asked"));
        await isOver(at);
        assert.deepEqual(await at.outcomes(), ["cancelled", "succeeded"]); // the answer beside the dialog, and the call
        assert.match((await at.place.assent("approve", id)).output, /answered in the dialog of Claude Code/);
      });
    });

    test("assent approve answers first: the dialog closes and the call runs once", async () => {
      await inTerminal({ commands: ["touch asked"] }, async (at) => {
        const id = await bothAsk(at);
        assert.match((await at.place.assent("approve", id)).output, /Claude Code continues/);
        await at.until("the run", () => at.place.ran("asked"));
        await isOver(at);
        assert.deepEqual(await at.outcomes(), ["succeeded", "succeeded"]);
      });
    });

    test("assent reject answers first: the call does not run and the model learns why", async () => {
      await inTerminal({ commands: ["touch asked"] }, async (at) => {
        await at.place.assent("reject", await bothAsk(at), "--reason", "use another name");
        await isOver(at);
        assert.ok(!at.place.ran("asked"));
        assert.match(JSON.stringify(at.model.requests.at(-1)?.body), /use another name/);
        await at.until("both ends", async () => (await at.outcomes()).length === 2);
        assert.deepEqual(await at.outcomes(), ["failed", "rejected"]);
      });
    });

    test("the dialog refuses first: the approval closes, and the call ends as not run after the next turn", async () => {
      await inTerminal({ commands: ["touch asked"] }, async (at) => {
        await bothAsk(at);
        at.type("Escape");
        await at.until("no open approval", async () => (await at.approvals()).length === 0);
        at.type("next", "Enter");
        await isOver(at);
        await at.until("both ends", async () => (await at.outcomes()).length === 2);
        assert.ok(!at.place.ran("asked"));
        assert.deepEqual(await at.outcomes(), ["cancelled", "failed"]);
      });
    });

    test("two calls, the first answered by the dialog and the second by assent approve", async () => {
      await inTerminal({ commands: ["mkdir sub && cd sub && touch first", "touch second"] }, async (at) => {
        await bothAsk(at);
        at.type("1");
        await at.until("the second dialog", () => at.screen().includes("touch second"));
        await at.place.assent("approve", await bothAsk(at));
        await isOver(at);
        assert.ok(at.place.ran("sub/first") && at.place.ran("sub/second"));
        assert.deepEqual(await at.outcomes(), ["cancelled", "succeeded", "succeeded", "succeeded"]);
      });
    });

    const waits: readonly [sentence: string, start: Start][] = [
      ["an allow rule of the project", { commands: ["touch asked"], settings: { permissions: { allow: ["Bash(touch:*)"] } } }],
      ["an option at the start", { commands: ["touch asked"], args: ["--allowedTools", "Bash(touch:*)"] }],
      ["another mode", { commands: ["touch asked"], args: ["--permission-mode", "acceptEdits"] }],
      [
        "a command of the project that allows tools",
        {
          commands: ["touch asked"],
          prompt: "/make",
          files: { ".claude/commands/make.md": "---\nallowed-tools: Bash(touch *)\n---\ngo\n" },
        },
      ],
      ["a command that Claude Code runs without asking", { commands: ["echo x | tee asked"] }],
    ];
    for (const [sentence, start] of waits)
      test(`${sentence} makes Assent wait before the dialog`, async () => {
        await inTerminal(start, async (at) => {
          await at.until("the approval", async () => (await at.approvals()).length === 1);
          assert.ok(!at.place.ran("asked") && !at.screen().includes(DIALOG));
          await at.place.assent("approve", (await at.approvals())[0]?.id ?? "");
          await at.until("the run", () => at.place.ran("asked"));
          await isOver(at);
          assert.deepEqual(await at.outcomes(), ["succeeded"]);
        });
      });
  });
