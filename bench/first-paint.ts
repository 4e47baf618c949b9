import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type IPty, spawn } from "@lydell/node-pty";
import { type Row, ratioRow } from "./measure.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const SIZE = { cols: 80, rows: 24 };
const FRAME_MS = 1_000 / 60;

type Opened = { readonly pty: IPty; readonly startedAt: number; readonly shows: (text: string) => Promise<number> };

/** A program on a terminal; `shows` tells when a text came, in milliseconds after it was asked for first. */
function open(args: readonly string[], env: Readonly<Record<string, string>>): Opened {
  const startedAt = performance.now();
  const pty = spawn(process.execPath, [...args], {
    ...SIZE,
    cwd: root,
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm-256color", ...env },
  });
  let written = "";
  const waiting = new Set<() => void>();
  pty.onData((data) => {
    written += data;
    for (const look of waiting) look();
  });
  const shows = (text: string): Promise<number> =>
    new Promise((resolve) => {
      const look = (): void => {
        const at = written.indexOf(text);
        if (at === -1) return;
        written = written.slice(at + text.length);
        waiting.delete(look);
        resolve(performance.now());
      };
      waiting.add(look);
      look();
    });
  return { pty, startedAt, shows };
}

async function ended({ pty }: Opened): Promise<void> {
  const over = new Promise<void>((resolve) => pty.onExit(() => resolve()));
  pty.kill("SIGKILL");
  await over;
}

async function fastest(rounds: number, once: () => Promise<number>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) best = Math.min(best, await once());
  return best;
}

async function painted(args: readonly string[], text: string, env: Readonly<Record<string, string>>): Promise<number> {
  const opened = open(args, env);
  const ms = (await opened.shows(text)) - opened.startedAt;
  await ended(opened);
  return ms;
}

const KEYS = 15;

/** The middle of the times from a key to its character on the screen, while a command prints without end. */
async function keyTime(directory: string, env: Readonly<Record<string, string>>): Promise<number> {
  const script = join(directory, "script.json");
  const command = "yes 0123456789012345678901234567890123456789012345678 | head -c 50000000; sleep 60";
  writeFileSync(script, JSON.stringify({ turns: [{ calls: [{ tool: "shell", id: "c1", input: { command } }] }] }));
  const opened = open(["packages/cli/bin/assent.js", "--mode", "yolo", "--model", `script:${script}`, "--cwd", directory], env);
  await opened.shows("script.json");
  opened.pty.write("go\r");
  await opened.shows("0123456789");
  const times: number[] = [];
  for (let key = 0; key < KEYS; key += 1) {
    const character = String.fromCharCode(0x391 + key); // letters that nothing else on the screen has
    const at = performance.now();
    opened.pty.write(character);
    times.push((await opened.shows(character)) - at);
  }
  await ended(opened);
  return times.sort((a, b) => a - b)[Math.floor(KEYS / 2)] ?? Number.POSITIVE_INFINITY;
}

/** The rows about the terminal interface, as published: they need `npm run build` first. */
export async function firstPaintRows(): Promise<readonly Row[]> {
  const directory = mkdtempSync(join(tmpdir(), "assent-bench-"));
  const env = { HOME: directory, ASSENT_STORE: join(directory, "store"), ASSENT_DIST: "1" };
  try {
    const bare = await fastest(10, () => painted(["-e", "process.stdout.write('ready')"], "ready", env));
    const first = await fastest(10, () => painted(["packages/cli/bin/assent.js", "--model", "script:none"], "? keys", env));
    const key = await keyTime(directory, env);
    return [
      ratioRow("first paint of assent", { value: first, base: bare, unit: "ms" }, { of: "bare node", most: 4 }),
      ratioRow("a key press while a command prints 50 MB", { value: key, base: FRAME_MS, unit: "ms" }, { of: "a frame", most: 1 }),
    ];
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
