import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type IPty, spawn } from "@lydell/node-pty";
import { type Row, valueRow } from "./measure.ts";

const BIN = fileURLToPath(new URL("../packages/cli/bin/assent.js", import.meta.url));
const FRAME_MS = 1_000 / 60;
const PRINTED = 50_000_000;
/** What the command prints has none of these, so that what is typed is found in what the terminal gets. */
const LETTERS = "QWZ";
const PAUSE_MS = 40;

/** A terminal whose bytes are looked at as they come, so that nothing of the measuring stands between a key and its echo. */
type Bare = {
  readonly pty: IPty;
  /** Milliseconds until this text is written from now on. */
  readonly shows: (text: string) => Promise<number>;
  /** True once this text was written. */
  readonly watch: (text: string) => () => boolean;
  readonly [Symbol.dispose]: () => void;
};

function openBare(root: string, workspace: string): Bare {
  const env = { PATH: process.env["PATH"] ?? "", HOME: root, TERM: "xterm-256color", NO_COLOR: "1", ASSENT_STORE: join(root, "store") };
  const args = [BIN, "--mode", "yolo", "--model", `script:${join(root, "script.json")}`];
  const pty = spawn(process.execPath, args, { cols: 100, rows: 30, cwd: workspace, env });
  const listeners = new Set<(data: string) => void>();
  pty.onData((data) => {
    for (const hear of listeners) hear(data);
  });
  const hear = (text: string, found: () => void): void => {
    let seen = "";
    const listen = (data: string): void => {
      seen = (seen + data).slice(-100_000);
      if (!seen.includes(text)) return;
      listeners.delete(listen);
      found();
    };
    listeners.add(listen);
  };
  return {
    pty,
    shows: (text) => {
      const asked = performance.now();
      return new Promise((resolve) => hear(text, () => resolve(performance.now() - asked)));
    },
    watch: (text) => {
      let isThere = false;
      hear(text, () => {
        isThere = true;
      });
      return () => isThere;
    },
    [Symbol.dispose]: () => pty.kill("SIGKILL"),
  };
}

/** Types for as long as `goes` says, a text that grows by one letter at a time; milliseconds until each was on the terminal. */
async function typed({ pty, shows }: Bare, goes: (count: number) => boolean): Promise<readonly number[]> {
  const echoes: number[] = [];
  let draft = "";
  for (let count = 0; goes(count); count += 1) {
    const letter = LETTERS[count % LETTERS.length] ?? "Q";
    draft += letter;
    const echo = shows(draft.slice(-3));
    pty.write(letter);
    echoes.push(await echo);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    if (draft.length < 60) continue;
    draft = "";
    pty.write("\u0015");
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return echoes.toSorted((left, right) => left - right);
}

function megabytes(pid: number, field: "VmRSS" | "VmHWM"): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1_024;
}

/** The rows about the terminal interface: how soon a key shows while a command prints a lot, and what that costs in memory. */
export async function terminalRows(): Promise<readonly Row[]> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "assent-bench-")));
  const workspace = join(root, "workspace");
  mkdirSync(join(workspace, ".git"), { recursive: true });
  const command = `yes 0123456789 | head -c ${PRINTED}`;
  const turns = [{ calls: [{ tool: "shell", id: "c1", input: { command } }] }, { say: "all printed" }];
  writeFileSync(join(root, "script.json"), JSON.stringify({ turns }));
  try {
    using bare = openBare(root, workspace);
    await bare.shows("script.json");
    const quiet = await typed(bare, (count) => count < 30);
    const isOver = bare.watch("all printed");
    const runs = bare.shows("runs");
    bare.pty.write("\u0015go\r");
    await runs;
    const before = megabytes(bare.pty.pid, "VmRSS");
    const busy = await typed(bare, () => !isOver());
    const grown = megabytes(bare.pty.pid, "VmHWM") - before;
    if (busy.length < 5) throw new Error(`the command was over before ${busy.length + 1} keys were pressed`);
    return [
      echoRow("median", { busy, quiet, share: 0.5 }, 1),
      echoRow("95 of 100", { busy, quiet, share: 0.95 }, 3),
      valueRow("memory for it", { value: grown, unit: "MB" }, 200),
    ];
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

type Echoes = { readonly busy: readonly number[]; readonly quiet: readonly number[]; readonly share: number };

function echoRow(which: string, { busy, quiet, share }: Echoes, most: number): Row {
  const frames = (sorted: readonly number[]): number => (sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN) / FRAME_MS;
  const row = valueRow(`a key's echo while 50 MB are printed, ${which}`, { value: frames(busy), unit: "frames" }, most);
  return { ...row, apart: { name: "with nothing printed", value: frames(quiet) } };
}
