import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { withoutProgram } from "../../../../test/support/programs.ts";
import { startPostgres } from "../../../store-postgres/test/postgres-server.ts";
import { COMMANDS } from "../../src/command-line/table.ts";
import { BIN, ended, place, put, until, userFile } from "../support/assent.ts";

const server = await startPostgres(15);

/** Commands that these tests run on both stores. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ...{ tui: "doors.test.ts", watch: "doors.test.ts", inbox: "doors.test.ts", worker: "../worker/worker.test.ts" },
  ...{ "tasks discard": "doors.test.ts", "tasks release": "doors.test.ts", "mcp serve": "../mcp-gateway/postgres.test.ts" },
  ...{ "store copy": "../commands/store.test.ts", "store roles": "../commands/store.test.ts" },
};

/** `demo` has a record of its own, and `hook doctor` asks another agent. */
const WITHOUT_RECORD: readonly string[] = [
  ...["completions", "demo", "help", "version", "notify test", "policy test", "policy fetch"],
  ...["mcp add", "mcp remove", "mcp test", "mcp login", "mcp logout", "mcp install", "mcp uninstall"],
  ...["hook install", "hook uninstall", "hook status", "hook doctor"],
];

const SCRIPT = { allowUnused: true, turns: [{ say: "Hello." }] };
const HOOK_INPUT = { session_id: "x", transcript_path: "/t", permission_mode: "default", hook_event_name: "PreToolUse", tool_use_id: "t1" };

type Known = { readonly [name: string]: string };

/** Runs in this order. `{name}` is an id that an earlier row found; a row with `finds` prints JSON. */
type Row = {
  readonly argv: readonly string[];
  readonly code?: number;
  readonly shows?: RegExp;
  readonly input?: string;
  readonly finds?: (value: ReturnType<typeof JSON.parse>) => Known;
};

const SHELL = (command: string): readonly string[] => ["call", "shell", "--input", JSON.stringify({ command }), "--on-ask", "park"];
const WRITE = (file: string): readonly string[] => ["call", "write", "--input", JSON.stringify({ file_path: file, content: "text\n" })];

/** In the workspace. */
const WORK: readonly Row[] = [
  { argv: SHELL("touch one"), code: 75, finds: ({ approvalId, sessionId }) => ({ a1: approvalId, s1: sessionId }) },
  { argv: SHELL("touch two"), code: 75, finds: ({ approvalId }) => ({ a2: approvalId }) },
  { argv: [...WRITE("three.txt"), "--mode", "yolo"], finds: ({ sessionId }) => ({ s3: sessionId }) },
  { argv: [...WRITE("four.txt"), "--policy", "stage.json"], finds: ({ sessionId }) => ({ s4: sessionId }) },
  { argv: [...WRITE("five.txt"), "--policy", "stage.json"], finds: ({ sessionId }) => ({ s5: sessionId }) },
  { argv: ["run", "hi", "--model", "script:script.json"], shows: /Hello\./ },
  { argv: ["run", "hi", "--model", "script:script.json", "--detach"], shows: /s_\w+/ },
  { argv: ["hook", "claude"], input: "HOOK", shows: /./ },
  { argv: ["trust", "--show"], shows: /./ },
  { argv: ["trust", "--yes"], shows: /rust/ },
  { argv: ["policy", "check"], shows: /./ },
  { argv: ["policy", "diff", "stage.json", "deny.json", "--ledger"], shows: /write/i },
];

/** From another directory. */
const DESK: readonly Row[] = [
  { argv: ["approvals"], finds: (rows) => ({ count: String(rows.length) }) },
  { argv: ["approvals", "show", "{a1}"], shows: /touch one/ },
  { argv: ["approve", "{a1}", "--remember", "project", "--by", "Ada", "--no-wait"], shows: /./ },
  { argv: ["approve", "{a1}"], code: 1, shows: /Already answered: approved by Ada/ },
  { argv: ["reject", "{a2}", "--reason", "no"], shows: /./ },
  { argv: ["reject", "{a1}"], code: 1, shows: /already/i },
  { argv: ["approve", "a_nothing"], code: 4, shows: /no approval|no open/i },
  { argv: ["resume", "{s1}"], shows: /./ },
  { argv: ["grants"], finds: ([grant]) => ({ grant: grant.id }) },
  { argv: ["grants", "promote", "{grant}", "--to", "user", "--dry-run"], shows: /touch/ },
  { argv: ["grants", "revoke", "{grant}"], shows: /./ },
  { argv: ["proposals", "--all", "--session", "{s3}"], finds: ([one]) => ({ p3: one.id }) },
  { argv: ["proposals", "--session", "{s4}"], finds: ([one]) => ({ p4: one.id }) },
  { argv: ["proposals", "--session", "{s5}"], finds: ([one]) => ({ p5: one.id }) },
  { argv: ["proposals", "show", "{p4}"], shows: /four\.txt/ },
  { argv: ["apply", "{p4}"], shows: /./ },
  { argv: ["discard", "{p5}"], shows: /./ },
  { argv: ["undo", "{p3}"], shows: /./ },
  { argv: ["cancel", "{s1}"], code: 1, shows: /./ },
  { argv: ["sessions", "--all"], shows: /done/ },
  { argv: ["sessions", "export", "{s1}"], shows: /Outcome: \*\*succeeded/ },
  { argv: ["sessions", "fork", "{s1}"], code: 1, shows: /./ },
  { argv: ["log", "{s1}", "--type", "approval.answered"], shows: /Ada/ },
  { argv: ["log", "--type", "trust.*"], shows: /trust\.granted/ },
  { argv: ["stats"], shows: /./ },
  { argv: ["stats", "store", "Shell(touch *)", "--to", "user", "--yes"], shows: /allowed 2 asked calls[\s\S]*touch two/ },
  { argv: ["tasks"], shows: /./ },
  { argv: ["workers"], shows: /./ },
  { argv: ["tools"], shows: /shell/ },
  { argv: ["mcp", "list"], shows: /./ },
  { argv: ["explain", "--tool", "shell", "--input", '{"command":"rm x"}'], shows: /./ },
  { argv: ["doctor"], shows: /opens, .*\d+ events/ },
  { argv: ["prune", "--older-than", "1d", "--dry-run"], shows: /Would remove 0 sessions/ },
  { argv: ["store", "migrate"], shows: /up to date: \d+ events/ },
  { argv: ["verify"], shows: /No problems found: \d+ sessions/ },
  { argv: ["verify", "--export-anchor", "heads.json"], shows: /Anchor written/ },
  { argv: ["verify", "--anchor", "heads.json"], shows: /No problems found/ },
  { argv: ["verify", "{s1}"], shows: /No problems found/ },
  { argv: ["audit", "send"], shows: /audit\.jsonl: sent up to position (\d+) of \1 / },
  { argv: ["audit"], shows: /audit\.jsonl: sent up to position (\d+) of \1 / },
  { argv: ["verify", "--anchors", "{stream}"], shows: /Compared with \d+ streamed events/ },
  { argv: ["log", "--format", "otlp", "--since", "5"], shows: /"eventName":"assent\.anchor"/ },
];

test("every command that uses the record is in the table, or in tests of both stores", () => {
  const named = new Set([...WORK, ...DESK].map(({ argv }) => argv));
  const isRun = (name: string): boolean => [...named].some((argv) => name.split(" ").every((word, at) => argv[at] === word));
  assert.deepEqual(
    COMMANDS.map(({ name }) => name).filter((name) => !isRun(name) && !(name in ELSEWHERE) && !WITHOUT_RECORD.includes(name)),
    [],
  );
  for (const [name, file] of Object.entries(ELSEWHERE)) {
    const text = readFileSync(join(import.meta.dirname, file), "utf8");
    assert.ok(text.includes("startPostgres") && text.includes(name.split(" ").at(-1) ?? ""), `${file} tests ${name}`);
  }
});

for (const kind of ["a directory", "PostgreSQL"] as const)
  test(`every command works with a record in ${kind}, also from another directory`, { timeout: 240_000 }, async () => {
    using here = place();
    using elsewhere = place();
    const store = kind === "PostgreSQL" ? server.url("both") : here.store;
    here.write("script.json", JSON.stringify(SCRIPT));
    here.write("stage.json", JSON.stringify({ version: 1, permissions: { allow: ["Write"] }, proposals: { stage: ["Write"] } }));
    here.write("deny.json", JSON.stringify({ version: 1, permissions: { deny: ["Write"] } }));
    mkdirSync(here.path(".assent"));
    writeFileSync(here.path(".assent/settings.json"), JSON.stringify({ version: 1, permissions: { allow: ["Shell(git log)"] } }));
    const stream = join(here.root, "audit.jsonl");
    put(userFile(here), JSON.stringify({ audit: [{ file: stream }] }));
    let known: Known = { stream };
    for (const [rows, at] of [
      [WORK, here],
      [DESK, elsewhere],
    ] as const)
      for (const { argv, code = 0, shows, finds, input = "" } of rows) {
        const words = argv.map((word) =>
          word.replace(/^\{(\w+)\}$/, (_, name: string) => known[name] ?? assert.fail(`${name} is not known`)),
        );
        const given =
          input === "HOOK"
            ? JSON.stringify({ ...HOOK_INPUT, cwd: here.workspace, tool_name: "Bash", tool_input: { command: "ls" } })
            : input;
        const ran = await at.here([...words, "--store", store, ...(finds ? ["--json"] : [])], { input: given, env: { HOME: here.root } });
        const line = `${words.join(" ")}\n${ran.stdout}${ran.stderr}`;
        assert.equal(ran.code, code, line);
        if (shows) assert.match(`${ran.stdout}${ran.stderr}`, shows, line);
        if (finds) known = { ...known, ...finds(JSON.parse(ran.stdout)) };
      }
    assert.deepEqual(
      ["one", "two", "three.txt", "four.txt", "five.txt"].map((name) => existsSync(here.path(name))),
      [true, false, false, true, false],
    );
  });

for (const kind of ["a directory", "PostgreSQL"] as const)
  test(`log --follow prints the events of several writers without a gap from ${kind}, and ends with an anchor`, {
    timeout: 60_000,
  }, async () => {
    using here = place();
    const env = { ASSENT_STORE: kind === "PostgreSQL" ? server.url("followed") : here.store };
    const work = (): Promise<unknown> => here.here(["call", "list", "--input", '{"path":"."}'], { env });
    await work();
    const following = here.start(["log", "--follow", "--format", "jsonl"], { env });
    const end = ended(following);
    let printed = "";
    following.stdout?.on("data", (text) => (printed += text));
    await Promise.all([work(), work(), work()]);
    await until("all of them ended", () => printed.split('"session.closed"').length === 5);
    following.kill("SIGINT");
    const { code, stdout } = await end;
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const positions = lines.flatMap((line) => ("anchor" in line ? [] : [line.pos]));
    assert.equal(code, 130);
    assert.ok("anchor" in lines.at(-1));
    assert.deepEqual(
      positions,
      Array.from(positions, (_, at) => at + 1),
    );
    const stream = here.write("stream.jsonl", stdout);
    const { code: verified, stdout: said } = await here.here(["verify", "--anchors", stream], { env });
    assert.equal(verified, 0, said);
    assert.match(said, new RegExp(`Compared with ${positions.length} streamed events`));
  });

test("an answer records the host and the user, from a machine with another name", {
  skip: withoutProgram("unshare"),
  timeout: 60_000,
}, async () => {
  using here = place();
  const env = { ASSENT_STORE: server.url("hosts") };
  const { approvalId, sessionId } = (await here.hereJson(SHELL("touch one"), { env })).value;
  const rename = 'echo desk-two > /proc/sys/kernel/hostname && exec "$@"';
  const words = [process.execPath, BIN, "approve", approvalId];
  const answered = spawnSync("unshare", ["--uts", "sh", "-c", rename, "sh", ...words], {
    cwd: here.workspace,
    env: { ...here.env, ...env },
  });
  assert.equal(answered.status, 0, answered.stderr.toString());
  const { stdout } = await here.here(["log", sessionId, "--type", "approval.answered", "--json"], { env });
  assert.match(stdout, /"host":"desk-two"/);
  assert.match(stdout, /"user":"\w+"/);
  assert.ok(existsSync(join(here.workspace, "one")) || (await here.here(["resume", sessionId], { env })).code === 0);
});
