import { isUtf8 } from "node:buffer";
import { rmSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { main } from "assent";
import { place } from "../../../packages/cli/test/support/assent.ts";
import { check as checkLedger } from "../../crash/check.ts";
import { worldLines, worldTools } from "../../crash/world-tools.ts";
import { lines, structure, tokens } from "../mutate.ts";
import type { Random } from "../random.ts";
import { holds, type Target } from "../target.ts";

const SCRIPT = `
allowUnused: true
turns:
  - say: First.
    calls: [{ tool: world, id: c1, input: { note: a } }, { tool: keyed, id: c2, input: {} }]
  - calls: [{ tool: world, id: c3, input: { note: b } }, { tool: nothing, id: c4 }, { tool: ask, id: c5, input: { questions: [{ id: q, question: "Which?", options: [{ label: A }, { label: B }] }] } }]
  - say: Second.
  - calls: [{ tool: world, id: c6, input: {} }]
  - say: Done.
`;
const ARGV = ["run", "--model", "script:s.yaml", "--input-format", "stream-json", "--output-format", "stream-json"];

/** Documented; 2 is not among them, because every one of these runs has begun. */
const EXITS: readonly (number | null)[] = [0, 1, 53, 55, 70, 75, 130];
/** One input in so many goes through the executable itself. */
const PROGRAM_EVERY = 25;

const request = (subtype: string, fields: object = {}, id = `h-${subtype}`): string =>
  JSON.stringify({ type: "control_request", request_id: id, request: { subtype, ...fields } });
const reply = (response: unknown): string =>
  JSON.stringify({ type: "control_response", response: { subtype: "success", request_id: "@REQUEST", response } });
const say = (text: string): string => JSON.stringify({ type: "user", message: { role: "user", content: text } });

const JOIN = request("initialize", { protocol: 1, can_use_tool: true, questions: true });
const LINES: readonly string[] = [
  JOIN,
  request("initialize", {}, "again"),
  say("go"),
  say("go on"),
  reply({ behavior: "allow" }),
  reply({ behavior: "allow", fingerprint: "@FINGERPRINT" }),
  reply({ behavior: "allow", updatedInput: { note: "other" } }),
  reply({ behavior: "deny", message: "no" }),
  reply({ behavior: "deny", interrupt: true }),
  reply({}),
  JSON.stringify({ type: "control_response", response: { subtype: "error", request_id: "@REQUEST", error: "broken" } }),
  JSON.stringify({ type: "control_cancel_request", request_id: "h-status" }),
  ...["status", "interrupt", "list_approvals", "nothing"].map((subtype) => request(subtype)),
  request("interrupt", { end: true }),
  request("set_permission_mode", { mode: "plan" }),
  request("set_permission_mode", { mode: "yolo" }),
  request("set_model", { model: null }),
  request("approve", { approval_id: "@APPROVAL", fingerprint: "@FINGERPRINT" }),
  request("reject", { approval_id: "@APPROVAL", reason: "no" }),
  request("task_stop", { task_id: "x" }),
  "",
  "{",
];
const WORDS = [
  "type",
  "user",
  "control_request",
  "control_response",
  "control_cancel_request",
  "request_id",
  "request",
  "subtype",
  "initialize",
  "success",
  "error",
  "response",
  "behavior",
  "allow",
  "deny",
  "@REQUEST",
  "@APPROVAL",
  "@FINGERPRINT",
  "message",
  "role",
  "content",
  "text",
  "interrupt",
  "mode",
  "yolo",
  "updatedInput",
  "fingerprint",
  "remember",
  "hooks",
  "agents",
  "__proto__",
];

/** The lines of a host. `@REQUEST`, `@APPROVAL` and `@FINGERPRINT` stand for those of the newest open request. */
export function stream(): Target {
  let number = 0;
  return {
    name: "stream",
    iterations: 30,
    seeds: [[JOIN, say("go"), reply({ behavior: "allow" }), reply({ behavior: "deny" })].join("\n")],
    mutators: [lines(LINES), lines(LINES), tokens(WORDS), structure(WORDS)],
    build,
    check: (input) => {
      number += 1;
      return check(input, number % PROGRAM_EVERY === 0 || input.includes("@PROGRAM"));
    },
    [Symbol.dispose]: () => undefined,
  };
}

function build(random: Random): string {
  return [...(random.chance(0.8) ? [JOIN] : []), say("go"), ...Array.from({ length: random.below(12) }, () => random.pick(LINES))].join(
    "\n",
  );
}

type Line = ReturnType<typeof JSON.parse>;
type Ran = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly sent: readonly string[];
  readonly isWhole: boolean;
};

async function check(input: Buffer, asProgram: boolean): Promise<void> {
  using at = place();
  at.write("s.yaml", SCRIPT);
  const world = at.path("world");
  const broken: unknown[] = [];
  const unhandled = (error: unknown): void => void broken.push(error);
  process.on("unhandledRejection", unhandled);
  const ran = await (asProgram ? inProcess : inMemory)(at, input, world).finally(() => process.off("unhandledRejection", unhandled));
  const told = (): string => `${ran.code}: ${ran.stderr} ${ran.stdout.slice(-2_000)}`;
  holds(
    "no failure is left unhandled",
    broken.length === 0 && !ran.stderr.includes("    at "),
    () => `${broken.map(String).join()} ${told()}`,
  );
  holds("a run ends with an exit code of the list", EXITS.includes(ran.code), told);
  const out: Line[] = ran.stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const results = out.filter(({ type }) => type === "result");
  holds("a run has a first line and a result", out[0]?.subtype === "init" && results.length > 0, told);
  holds(
    "the exit code is that of a result",
    results.some(({ exit_code: exit }) => exit === ran.code),
    told,
  );
  answeredOnce(ran, out, told);
  decided(at.store, world, ran);
  rmSync(at.store, { recursive: true, force: true });
}

/** Every request that was read has one response; a run that was ended early may have left the last ones unread. */
function answeredOnce({ sent, isWhole, code }: Ran, out: readonly Line[], told: () => string): void {
  const asked = new Map<string, number>();
  for (const id of sent.flatMap(requestId)) asked.set(id, (asked.get(id) ?? 0) + 1);
  const answered = new Map<string, number>();
  for (const { type, response } of out)
    if (type === "control_response") answered.set(response.request_id, (answered.get(response.request_id) ?? 0) + 1);
  for (const [id, count] of answered)
    holds("no response without its request", count <= (asked.get(id) ?? 0), () => `${id}: ${count} responses. ${told()}`);
  if (!isWhole || (code !== 0 && code !== 75)) return;
  for (const [id, count] of asked)
    holds("every request has its response", answered.get(id) === count, () => `${id}: ${answered.get(id)} instead of ${count}. ${told()}`);
}

function requestId(text: string): readonly string[] {
  try {
    const { type, request_id: id, request: asked } = JSON.parse(text) ?? {};
    const isRequest = type === "control_request" && typeof id === "string" && id !== "" && typeof asked === "object" && asked !== null;
    return isRequest && !Array.isArray(asked) && typeof asked.subtype === "string" ? [id.toWellFormed()] : [];
  } catch {
    return [];
  }
}

/** The ledger's own laws hold, and where nobody said yes nothing happened. */
function decided(store: string, world: string, { sent }: Ran): void {
  const { violations } = checkLedger({ store, world });
  holds("no call runs that was not decided", violations.length === 0, () => JSON.stringify(violations));
  const isOpen = sent.some((line) => /allow|approve|yolo|bypass/i.test(line) || line.includes("\\u"));
  holds("nothing happens where nobody said yes", isOpen || worldLines(world).length === 0, () => sent.join("\n"));
}

/** What stands for what the program has asked. Waits for it a while; a program that does not ask is told the name as it is. */
async function filled(line: string, output: () => string): Promise<string> {
  if (!/@(REQUEST|APPROVAL|FINGERPRINT)/.test(line)) return line;
  let open: Line | undefined;
  for (let tries = 0; tries < 25 && !open; tries += 1) {
    open = openRequest(output());
    if (!open) await pause(4);
  }
  const { approval_id: approval = "", fingerprint = "" } = open?.request ?? {};
  return line
    .replaceAll("@REQUEST", open?.request_id ?? "none")
    .replaceAll("@APPROVAL", approval)
    .replaceAll("@FINGERPRINT", fingerprint);
}

function openRequest(output: string): Line | undefined {
  const all: Line[] = output
    .split("\n")
    .slice(0, -1)
    .filter((line) => line.includes('"control_'))
    .map((line) => JSON.parse(line));
  const gone = new Set(all.filter(({ type }) => type === "control_cancel_request").map(({ request_id: id }) => id));
  return all.findLast(({ type, request_id: id }) => type === "control_request" && !gone.has(id));
}

/** A line that is not UTF-8 says nothing to anybody. */
function decoded(line: Buffer): string {
  return isUtf8(line) ? line.toString("utf8") : "";
}

type Place = ReturnType<typeof place>;

/** The door itself with streams of this process. */
async function inMemory(at: Place, input: Buffer, world: string): Promise<Ran> {
  const written = { stdout: "", stderr: "" };
  const sent: string[] = [];
  let isWhole = false;
  const output = (name: "stdout" | "stderr") => ({
    isTTY: false,
    columns: () => undefined,
    rows: () => undefined,
    write: async (text: string) => {
      written[name] += text;
    },
  });
  const never = (): never => {
    throw new Error("not in this process");
  };
  async function* stdin(): AsyncGenerator<Buffer> {
    for (const line of input.toString("latin1").split("\n")) {
      const text = await filled(line, () => written.stdout);
      const chunk = Buffer.from(`${text}\n`, "latin1");
      sent.push(decoded(Buffer.from(text, "latin1")));
      const middle = Math.floor(chunk.length / 2);
      yield chunk.subarray(0, middle);
      yield chunk.subarray(middle);
    }
    isWhole = true;
  }
  const code = await main(
    ARGV,
    {
      ...{ stdout: output("stdout"), stderr: output("stderr"), stdinIsTTY: false, readStdin: async () => input, stdin },
      ...{ keyboard: { open: never }, env: at.env, cwd: at.workspace, onSignal: () => () => undefined, exitNow: never },
    },
    { tools: worldTools(world, { hit: () => undefined, isArmed: () => false }) },
  );
  return { code, ...written, sent, isWhole };
}

/** The executable; it has no tools of ours, so that the script's calls are unknown to it. */
async function inProcess(at: Place, input: Buffer): Promise<Ran> {
  const { code, stdout, stderr } = await at.run(ARGV, { input });
  const sent = input.toString("latin1").split("\n");
  return { code, stdout, stderr, sent: sent.map((line) => decoded(Buffer.from(line, "latin1"))), isWhole: true };
}
