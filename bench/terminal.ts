import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import { type Row, ratioRow, valueRow } from "./measure.ts";

const CLI = fileURLToPath(new URL("../packages/cli", import.meta.url));
const BIN = join(CLI, "bin/assent.js");
const FRAME_MS = 1_000 / 60;
const PRINTED = 50_000_000;
/** The command prints none of these letters, so their echo is easy to find. */
const LETTERS = "QWZ";
const PAUSE_MS = 40;
const LONGEST_WAIT_MS = 60_000;

/** A program on a pseudoterminal of 100 × 30, whose output is read as it is written. */
type BenchTerminal = {
  readonly pid: number;
  readonly write: (text: string) => void;
  /** Resolves with the time when this text is written, counting output from now on. Rejects after a minute, or if the program ends. */
  readonly awaitText: (text: string) => Promise<number>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

type OutputListener = { readonly onData: (data: string) => void; readonly onExit: () => void };

function openTerminal(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>): BenchTerminal {
  const pty = spawn(process.execPath, [...args], {
    cols: 100,
    rows: 30,
    cwd,
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm-256color", NO_COLOR: "1", ...env },
  });
  const listeners = new Set<OutputListener>();
  const exited = Promise.withResolvers<void>();
  pty.onData((data) => {
    for (const { onData } of listeners) onData(data);
  });
  pty.onExit(() => {
    exited.resolve();
    for (const { onExit } of listeners) onExit();
  });
  const awaitText = (text: string): Promise<number> =>
    new Promise((resolve, reject) => {
      let written = "";
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        listeners.delete(listener);
        act();
      };
      const fail = (what: string): void =>
        settle(() =>
          reject(new Error(`${what} The bench waited for ${JSON.stringify(text)}. Last output: ${JSON.stringify(written.slice(-500))}`)),
        );
      const listener: OutputListener = {
        onData: (data) => {
          written = (written + data).slice(-100_000);
          if (written.includes(text)) settle(() => resolve(performance.now()));
        },
        onExit: () => fail("The program ended."),
      };
      const timer = setTimeout(() => fail(`${LONGEST_WAIT_MS / 1_000} s have passed.`), LONGEST_WAIT_MS);
      listeners.add(listener);
    });
  return {
    pid: pty.pid,
    write: (text) => pty.write(text),
    awaitText,
    [Symbol.asyncDispose]: async () => {
      listeners.clear();
      pty.kill("SIGKILL");
      await exited.promise;
    },
  };
}

async function fastestPaint(args: readonly string[], text: string, home: string): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 10; round += 1) {
    const startedAt = performance.now();
    await using terminal = openTerminal(args, home, { HOME: home, ASSENT_STORE: join(home, "store"), ASSENT_DIST: "1" });
    best = Math.min(best, (await terminal.awaitText(text)) - startedAt);
  }
  return best;
}

/** Types one letter at a time until `isDone`. Returns the milliseconds until each letter was written, sorted. */
async function typeLetters({ write, awaitText }: BenchTerminal, isDone: (count: number) => boolean): Promise<readonly number[]> {
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  const echoes: number[] = [];
  let draft = "";
  for (let count = 0; !isDone(count); count += 1) {
    const letter = LETTERS[count % LETTERS.length] ?? "Q";
    draft += letter;
    const echo = awaitText(draft.slice(-3));
    const pressedAt = performance.now();
    write(letter);
    echoes.push((await echo) - pressedAt);
    await pause();
    if (draft.length < 60) continue;
    draft = "";
    write("\u0015");
    await pause();
  }
  return echoes.toSorted((left, right) => left - right);
}

function megabytes(pid: number, field: "VmRSS" | "VmHWM"): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1_024;
}

/** The rows about the terminal interface: its first paint as published (after `npm run build`), and keys while a command prints a lot. */
export async function terminalRows(): Promise<readonly Row[]> {
  if (!existsSync(join(CLI, "dist/main.js"))) throw new Error("Nothing is built. Run: npm run build");
  const root = realpathSync(mkdtempSync(join(tmpdir(), "assent-bench-")));
  try {
    const bare = await fastestPaint(["-e", "process.stdout.write('ready')"], "ready", root);
    const first = await fastestPaint([BIN, "--model", "script:none"], "? keys", root);
    return [
      ratioRow("first paint of assent", { value: first, base: bare, unit: "ms" }, { of: "bare node", most: 4 }),
      ...(await keyRows(root)),
    ];
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function keyRows(root: string): Promise<readonly Row[]> {
  const workspace = join(root, "workspace");
  mkdirSync(join(workspace, ".git"), { recursive: true });
  const script = join(root, "script.json");
  const command = `yes 0123456789 | head -c ${PRINTED}`;
  writeFileSync(script, JSON.stringify({ turns: [{ calls: [{ tool: "shell", id: "c1", input: { command } }] }, { say: "all printed" }] }));
  const env = { HOME: root, ASSENT_STORE: join(root, "store") };
  await using terminal = openTerminal([BIN, "--mode", "yolo", "--model", `script:${script}`], workspace, env);
  await terminal.awaitText("script.json");
  const quiet = await typeLetters(terminal, (count) => count === 30);
  let isPrinted = false;
  const printed = terminal.awaitText("all printed");
  printed.then(
    () => {
      isPrinted = true;
    },
    () => undefined, // awaited below
  );
  const running = terminal.awaitText("running");
  terminal.write("\u0015go\r");
  await running;
  const before = megabytes(terminal.pid, "VmRSS");
  const busy = await typeLetters(terminal, () => isPrinted);
  await printed;
  const grown = megabytes(terminal.pid, "VmHWM") - before;
  if (busy.length < 5) throw new Error(`The command ended before ${busy.length + 1} keys were pressed.`);
  return [
    echoRow("median", { busy, quiet, share: 0.5 }, 1),
    echoRow("95 of 100", { busy, quiet, share: 0.95 }, 3),
    valueRow("memory for it", { value: grown, unit: "MB" }, 200),
  ];
}

type Echoes = { readonly busy: readonly number[]; readonly quiet: readonly number[]; readonly share: number };

function echoRow(which: string, { busy, quiet, share }: Echoes, most: number): Row {
  const frames = (sorted: readonly number[]): number => (sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN) / FRAME_MS;
  const row = valueRow(`a key's echo while 50 MB are printed, ${which}`, { value: frames(busy), unit: "frames" }, most);
  return { ...row, apart: { name: "with nothing printed", value: frames(quiet) } };
}
