import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { firstRequestRows } from "./first-request.ts";
import { type Row, ratioRow } from "./measure.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const PROGRAM = "packages/cli/bin/assent.js";

/** Milliseconds of the fastest of several runs of Node with these arguments. */
function startOf(args: readonly string[]): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 15; round += 1) {
    const start = process.hrtime.bigint();
    const { status, stderr } = spawnSync(process.execPath, args, {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, ASSENT_DIST: "1" },
    });
    const elapsed = Number(process.hrtime.bigint() - start) / 1e6;
    if (status !== 0) throw new Error(`node ${args.join(" ")} failed: ${stderr}`);
    best = Math.min(best, elapsed);
  }
  return best;
}

/** An application that imports the gate, and one that also sets it up with rules. */
const IMPORT = 'const { createGate } = await import("@assent/gate");';
const GATE = `${IMPORT}
await createGate({ rules: { allow: ["mail:to=*@example.test"], deny: ["shell:command=rm*"] } });`;

/** Milliseconds of processor time that Node takes for each of these programs, the least of several runs in turns. */
function processorOf<Name extends string>(programs: Readonly<Record<Name, string>>): Record<Name, number> {
  const best: Record<string, number> = {};
  const tell = "process.on('exit', () => { const { user, system } = process.cpuUsage(); console.log((user + system) / 1000); });";
  for (let round = 0; round < 15; round += 1)
    for (const [name, program] of Object.entries<string>(programs)) {
      const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", `${tell}${program}`], {
        cwd: root,
        encoding: "utf8",
      });
      if (status !== 0) throw new Error(`${name} failed: ${stderr}`);
      best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, Number(stdout));
    }
  return best as Record<Name, number>;
}

/** What every run loads before its first request. */
const NEEDED = ["core", "policy", "host", "store", "tools", "agent"];

/** A whole run, from nothing to its result, with a store of its own. */
function startOfRun(): number {
  const directory = mkdtempSync(join(tmpdir(), "assent-bench-"));
  try {
    writeFileSync(join(directory, "script.json"), JSON.stringify({ turns: [{ say: "Hi" }] }));
    const flags = ["--model", `script:${join(directory, "script.json")}`, "--store", join(directory, "store"), "--cwd", directory];
    return startOf([PROGRAM, "run", "go", "--quiet", ...flags]);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const ROUNDS = 3;
const STARTS = 15;

/** Arguments of Node, and the file that it reads as its input. */
type Start = { readonly args: readonly string[]; readonly input?: string };

/** Milliseconds of processor time per start of Node; other programs on the machine disturb it less than wall time. */
function processorTimeOf(starts: readonly Start[], env: NodeJS.ProcessEnv): number {
  const words = starts.flatMap(({ args, input = "/dev/null" }) => [process.execPath, ...args, ";", input]);
  const script =
    'set --; while IFS= read -r word; do if [ "$word" = ";" ]; then IFS= read -r file; "$@" < "$file" > /dev/null 2>&1 || exit 1; set --; else set -- "$@" "$word"; fi; done; times';
  const { status, stdout } = spawnSync("sh", ["-c", script], { cwd: root, encoding: "utf8", env, input: `${words.join("\n")}\n` });
  const seconds = [...(stdout.trim().split("\n").at(-1) ?? "").matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, rest]) => Number(minutes) * 60 + Number(rest),
  );
  if (status !== 0 || seconds.length !== 2) throw new Error(`a start failed: ${words.slice(0, 4).join(" ")}`);
  return (seconds.reduce((sum, one) => sum + one, 0) * 1_000) / starts.length;
}

/** Compares starts with bare Node: the least of several rounds in turns. */
function besideBareNode(starts: readonly Start[], env: NodeJS.ProcessEnv): { value: number; base: number; unit: string } {
  let [value, base] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS; round += 1) {
    const some = starts.slice(round * STARTS, (round + 1) * STARTS);
    const bare = some.map(() => ({ args: ["-e", "0"] }));
    base = Math.min(base, processorTimeOf(bare, env));
    value = Math.min(value, processorTimeOf(some, env));
  }
  return { value, base, unit: "ms" };
}

/** A home of its own, whose state directory keeps the compiled code. */
function inNewHome(measure: (directory: string, env: NodeJS.ProcessEnv) => Row): Row {
  const directory = mkdtempSync(join(tmpdir(), "assent-bench-"));
  const none = { ASSENT_STORE: undefined, XDG_CONFIG_HOME: undefined };
  try {
    return measure(directory, { ...process.env, ASSENT_DIST: "1", ...none, HOME: directory, XDG_STATE_HOME: directory });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** `assent approve` of a parked call, in a state directory that an earlier run made. */
function approveRow(): Row {
  return inNewHome((directory, env) => {
    const calls = Array.from({ length: ROUNDS * STARTS }, (_, at) => ({
      tool: "shell",
      id: `c${at}`,
      input: { command: `date > now-${at}` },
    }));
    writeFileSync(join(directory, "script.json"), JSON.stringify({ turns: [{ calls }] }));
    const assent = (...args: readonly string[]): string =>
      spawnSync(process.execPath, [PROGRAM, ...args], { cwd: root, encoding: "utf8", env }).stdout;
    assent("run", "go", "--quiet", "--on-ask", "park", "--cwd", directory, "--model", `script:${join(directory, "script.json")}`);
    const ids: readonly string[] = JSON.parse(assent("approvals", "--json")).map(({ id }: { readonly id: string }) => id);
    const starts = ids.map((id) => ({ args: [PROGRAM, "approve", id] }));
    return ratioRow("assent approve, processor time", besideBareNode(starts, env), { of: "bare node", most: 2.5 });
  });
}

/** `assent hook` for a command of Claude Code that a rule allows, until its claim is on disk and the process ended. */
function hookRow(): Row {
  return inNewHome((directory, env) => {
    mkdirSync(join(directory, ".config/assent"), { recursive: true });
    const settings = join(directory, ".config/assent/settings.json");
    writeFileSync(settings, JSON.stringify({ permissions: { allow: ["Shell(touch *)"] } }), { mode: 0o600 });
    const starts = Array.from({ length: ROUNDS * STARTS + 2 }, (_, at) => {
      const call = { tool_name: "Bash", tool_input: { command: `touch made-${at}` }, tool_use_id: `t${at}` };
      const input = join(directory, `event-${at}.json`);
      writeFileSync(input, JSON.stringify({ hook_event_name: "PreToolUse", session_id: "bench", cwd: directory, ...call }));
      return { args: [PROGRAM, "hook", "claude", "--on-ask", "deny"], input };
    });
    for (const start of starts.splice(0, 2)) processorTimeOf([start], env); // they make the store and the compiled code
    return ratioRow("assent hook, allowed call, processor time", besideBareNode(starts, env), { of: "bare node", most: 6 });
  });
}

/** The rows about starting, as published: they need `npm run build` first. */
export async function startupRows(): Promise<readonly Row[]> {
  if (!existsSync(`${root}/packages/cli/dist/main.js`)) throw new Error("Nothing is built. Run: npm run build");
  const bare = startOf(["-e", "0"]);
  const core = startOf(["--input-type=module", "-e", "await import('@assent/core')"]);
  const gate = processorOf({ bare: "", imported: IMPORT, created: GATE });
  const version = startOf([PROGRAM, "--version"]);
  const needed = startOf([
    "--input-type=module",
    "-e",
    `await Promise.all([${NEEDED.map((name) => `import("@assent/${name}")`).join(", ")}])`,
  ]);
  const run = startOfRun();
  return [
    ratioRow("import of @assent/core", { value: core, base: bare, unit: "ms" }, { of: "bare node", most: 2 }),
    ratioRow("import of @assent/gate", { value: gate.imported, base: gate.bare, unit: "ms" }, { of: "bare node", most: 2.5 }),
    ratioRow("import of @assent/gate and createGate", { value: gate.created, base: gate.bare, unit: "ms" }, { of: "bare node", most: 2.5 }),
    ratioRow("assent --version, as published", { value: version, base: bare, unit: "ms" }, { of: "bare node", most: 2 }),
    ratioRow(
      "assent run of one scripted turn, cold",
      { value: run, base: needed, unit: "ms" },
      { of: "importing its packages", most: 1.5 },
    ),
    approveRow(),
    hookRow(),
    ...(await firstRequestRows()),
  ];
}
