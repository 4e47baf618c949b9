import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { LONG } from "../../../../test/support/long.ts";
import { DIALECTS } from "../../../agent/test/wire/dialects.ts";
import { type ModelServer, modelServer } from "../../../agent/test/wire/model-server.ts";
import { BIN, type Place, place, until } from "../support/assent.ts";
import { record } from "../tui/support/conversation.ts";
import { endHosts, type Host, isRequest, isResult, startHost } from "./host.ts";

afterEach(endHosts);

const EFFECT = "echo once >> effect";
const MODEL = ["--model", "script:../script.json"];
const SCRIPT = {
  allowUnused: true,
  turns: [{ calls: [{ tool: "shell", id: "c1", input: { command: EFFECT } }] }, { say: "Done." }],
};
const QUESTION = {
  allowUnused: true,
  turns: [
    {
      calls: [
        {
          tool: "ask",
          id: "c1",
          input: { questions: [{ id: "db", question: "Which name?", options: [{ label: "Ada" }, { label: "Bob" }] }] },
        },
      ],
    },
    { say: "Done." },
  ],
};

type Terminal = {
  readonly shows: (text: string) => Promise<void>;
  readonly type: (keys: string) => void;
  /** Ends the program at the other end of the terminal, like closing a window. */
  readonly hangUp: () => void;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly exit: () => Promise<number>;
  readonly [Symbol.dispose]: () => void;
};

/** Runs `assent` on a real terminal, below a shell that forwards or ignores SIGHUP. Its exit code is written to a file. */
function inTerminal(at: Place, args: readonly string[], { forwards }: { readonly forwards: boolean }): Terminal {
  const [code, pid] = [join(at.root, "exit-code"), join(at.root, "pid")];
  const shell = `process.on("SIGHUP", () => ${forwards ? 'child.kill("SIGHUP")' : "undefined"});
    const child = require("node:child_process").spawn(process.execPath, ${JSON.stringify([BIN, ...args])}, { stdio: "inherit" });
    require("node:fs").writeFileSync(${JSON.stringify(pid)}, String(child.pid));
    child.on("exit", (code, signal) => require("node:fs").writeFileSync(${JSON.stringify(code)}, String(code ?? signal)));`;
  const window = `const { spawn } = require("@lydell/node-pty");
    const pty = spawn(process.execPath, ["-e", ${JSON.stringify(shell)}], { cols: 100, rows: 40, cwd: ${JSON.stringify(at.workspace)}, env: process.env });
    pty.onData((data) => process.stdout.write(data));
    pty.onExit(() => process.exit());
    process.stdin.on("data", (keys) => pty.write(String(keys)));`;
  const child = spawn(process.execPath, ["-e", window], { env: { TERM: "xterm-256color", ...at.env }, stdio: ["pipe", "pipe", "inherit"] });
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
  });
  return {
    shows: (text) => until(`${text} is shown`, () => shown.includes(text)),
    type: (keys) => void child.stdin.write(keys),
    hangUp: () => void child.kill("SIGKILL"),
    kill: (signal) => void process.kill(Number(readFileSync(pid, "utf8")), signal),
    exit: async () => {
      await until("the program has ended", () => existsSync(code) && readFileSync(code, "utf8") !== "");
      return Number(readFileSync(code, "utf8"));
    },
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}

type Door = {
  readonly name: string;
  readonly args: (at: Place) => Promise<readonly string[]>;
  /** Typed once the program is ready. */
  readonly typed?: { readonly after: string; readonly keys: string };
};

const DOORS: readonly Door[] = [
  { name: "run", args: async () => ["run", "go", ...MODEL] },
  {
    name: "resume",
    args: async (at) => {
      const parked = await at.here(["run", "go", "--on-ask", "park", ...MODEL]);
      assert.equal(parked.code, 75, parked.stderr);
      const [session] = (await at.hereJson(["sessions"])).value;
      return ["resume", session.id];
    },
  },
  { name: "call", args: async () => ["call", "shell", "--input", JSON.stringify({ command: EFFECT })] },
  { name: "the terminal interface", args: async () => [...MODEL], typed: { after: "? keys", keys: "go\r" } },
  { name: "plain mode", args: async () => ["--plain", ...MODEL], typed: { after: "You:", keys: "go\r" } },
];

const ENDS: Readonly<Record<string, (terminal: Terminal) => void>> = {
  SIGHUP: (terminal) => terminal.kill("SIGHUP"),
  SIGTERM: (terminal) => terminal.kill("SIGTERM"),
  "a closed terminal": (terminal) => terminal.hangUp(),
  "a closed terminal whose shell ignores it": (terminal) => terminal.hangUp(),
};

/** Waits until the question is on the screen. */
async function askedAt(
  at: Place,
  { args, typed }: Door,
  { shows, forwards = true }: { readonly shows: string; readonly forwards?: boolean },
): Promise<Terminal> {
  const terminal = inTerminal(at, await args(at), { forwards });
  if (typed) {
    await terminal.shows(typed.after);
    terminal.type(typed.keys);
  }
  await terminal.shows(shows);
  return terminal;
}

/** A short run tests every way to run with SIGHUP, and two of them with every end. */
const isInShortRun = (door: Door, end: string): boolean => end === "SIGHUP" || ["run", "the terminal interface"].includes(door.name);

describe("leaving while something waits for a person", { concurrency: 3 }, () => {
  for (const door of DOORS)
    for (const [end, leave] of Object.entries(ENDS).filter(([end]) => LONG || isInShortRun(door, end)))
      test(`${door.name}, ${end}: the approval stays open, exit 75, and one approval has one effect`, async () => {
        using at = place();
        writeFileSync(join(at.root, "script.json"), JSON.stringify(SCRIPT));
        using terminal = await askedAt(at, door, { shows: "echo once", forwards: end !== "a closed terminal whose shell ignores it" });
        leave(terminal);
        assert.equal(await terminal.exit(), 75);
        const { value: waiting } = await at.hereJson(["approvals"]);
        assert.equal(waiting.length, 1, JSON.stringify(await record(at)));
        const [session] = (await at.hereJson(["sessions"])).value;
        assert.equal(session.state, "parked");
        assert.equal((await at.here(["approve", waiting[0].id])).code, 0);
        for (const _again of [1, 2]) await at.run(["resume", session.id]);
        assert.equal(readFileSync(at.path("effect"), "utf8"), "once\n");
        assert.equal((await at.here(["verify"])).code, 0);
      });

  for (const door of DOORS.filter(({ name }) => (LONG ? name !== "call" : name === "run" || name === "plain mode")))
    test(`${door.name}, SIGHUP: an open question stays open`, async () => {
      using at = place();
      writeFileSync(join(at.root, "script.json"), JSON.stringify(QUESTION));
      using terminal = await askedAt(at, door, { shows: "Which name?" });
      terminal.kill("SIGHUP");
      assert.equal(await terminal.exit(), 75);
      const { value: waiting } = await at.hereJson(["approvals"]);
      assert.equal(waiting.length, 1, JSON.stringify(await record(at)));
      assert.equal((await at.here(["approve", waiting[0].id, "--answers", JSON.stringify([{ id: "db", selected: ["Bob"] }])])).code, 0);
      const [session] = (await at.hereJson(["sessions"])).value;
      assert.equal((await at.run(["resume", session.id])).code, 0);
    });

  test("SIGINT cancels what waits, as before", async () => {
    using at = place();
    writeFileSync(join(at.root, "script.json"), JSON.stringify(SCRIPT));
    const [run] = DOORS;
    assert.ok(run);
    using terminal = await askedAt(at, run, { shows: "echo once" });
    terminal.kill("SIGINT");
    assert.equal(await terminal.exit(), 130);
    assert.deepEqual((await at.hereJson(["approvals"])).value, []);
  });
});

describe("leaving with a host, agents and a model on the wire", () => {
  const chat = DIALECTS["chat completions"];
  let server: ModelServer;
  before(async () => {
    server = await modelServer();
  });
  after(() => server.close());

  const startedHost = async (...given: Parameters<typeof startHost>): Promise<Host> => {
    const host = startHost(...given);
    await host.ask("initialize", { protocol: 1, can_use_tool: true });
    host.say("go");
    return host;
  };
  const call = (id: string, command: string): { readonly id: string; readonly name: string; readonly input: string } => ({
    id,
    name: "shell",
    input: JSON.stringify({ command }),
  });

  test("running calls are cancelled, what waits runs once after its answer, and the model is sent both results", async () => {
    using at = place();
    const env = chat.environment(server.origin);
    server.replies.push(
      { frames: chat.frames({ calls: [call("slow", "sleep 60"), call("later", EFFECT)] }) },
      { frames: chat.frames({ text: ["Done."] }) },
    );
    const host = await startedHost(at, ["run", "--model", chat.id, "--allow", "Bash(sleep *)"], env);
    await host.next("the request", isRequest("can_use_tool"));
    await until("the command runs", async () =>
      (await record(at)).some(({ type, body }) => type === "call.claimed" && body.call === "slow"),
    );
    host.child.kill("SIGTERM");
    assert.equal(await host.exit(), 75, host.stderr());
    const { subtype, exit_code, approvals, session_id } = host.lines.find(isResult);
    assert.deepEqual([subtype, exit_code, approvals.length], ["parked", 75, 1]);
    assert.equal((await at.here(["approve", approvals[0].id])).code, 0);
    const resumed = await at.run(["resume", session_id], { env });
    assert.deepEqual([resumed.code, resumed.stdout], [0, "Done.\n"], resumed.stderr);
    assert.equal(readFileSync(at.path("effect"), "utf8"), "once\n");
    const sent = chat.messages(server.received.at(-1)?.body ?? {}).filter(({ role }) => String(role) === "tool");
    assert.deepEqual(
      sent.map(({ tool_call_id }) => tool_call_id),
      ["slow", "later"],
    );
    assert.match(JSON.stringify(sent[0]), /cancelled while it was running: the program was told to stop/);
  });

  test("a run without anything that waits ends as cancelled, and says that no person cancelled its call", async () => {
    using at = place();
    server.replies.push({ frames: chat.frames({ calls: [call("slow", "touch started; sleep 60")] }) });
    const host = await startedHost(at, ["run", "--model", chat.id, "--mode", "yolo"], chat.environment(server.origin));
    await until("the command runs", () => existsSync(at.path("started")));
    host.child.kill("SIGTERM");
    assert.equal(await host.exit(), 130);
    const ended = (await record(at)).find(({ type }) => type === "call.ended");
    assert.equal(
      ended?.body.content,
      "The tool call was cancelled while it was running: the program was told to stop. It may have had effects.",
    );
  });

  test("a background agent that waits for an approval is paused, and continues after the answer", async () => {
    using at = place();
    mkdirSync(`${at.root}/.config/assent/agents`, { recursive: true });
    writeFileSync(`${at.root}/.config/assent/agents/helper.md`, "---\nname: helper\ndescription: helps\n---\nYou help.\n");
    const launch = { description: "find it", prompt: "look", agent: "helper", run_in_background: true };
    writeFileSync(
      join(at.root, "script.json"),
      JSON.stringify({
        allowUnused: true,
        turns: [{ calls: [{ tool: "agent", id: "launch", input: launch }] }, { say: "started" }, { say: "it was found" }],
        agents: { helper: { turns: [{ calls: [{ tool: "shell", id: "s1", input: { command: EFFECT } }] }, { say: "found" }] } },
      }),
    );
    const host = await startedHost(at, ["run", "--allow", "Agent", ...MODEL]);
    await host.next("the request of the agent", isRequest("can_use_tool"));
    host.child.kill("SIGHUP");
    assert.equal(await host.exit(), 75, host.stderr());
    const { value: waiting } = await at.hereJson(["approvals"]);
    assert.equal(waiting.length, 1, JSON.stringify(await record(at)));
    assert.equal((await at.here(["approve", waiting[0].id])).code, 0);
    const root = (await at.hereJson(["sessions"])).value.find((one: { id: string }) => one.id !== waiting[0].sessionId);
    const resumed = await at.run(["resume", root.id, "--tasks"]);
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.equal(readFileSync(at.path("effect"), "utf8"), "once\n");
  });
});
