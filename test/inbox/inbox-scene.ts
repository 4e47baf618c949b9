import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium } from "playwright-core";

export const program: string = fileURLToPath(new URL("../../packages/cli/bin/assent.js", import.meta.url));
const CHROMIUM = [process.env["CHROMIUM_PATH"], "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The browser's file; undefined if there is none. */
export function findChromium(): string | undefined {
  return CHROMIUM.find((file) => file !== undefined && existsSync(file));
}

export function withoutChromium(): string | false {
  return findChromium() === undefined ? "chromium is not installed (Debian package: chromium)" : false;
}

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: findChromium() ?? "chromium", args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
}

export type CallLine = { readonly tool: string; readonly input: object };

/** A directory with a workspace and a store of its own, in which runs park and an inbox is served. */
export class InboxScene {
  readonly directory: string;
  /** Where programs are started. */
  workspace: string;
  readonly env: NodeJS.ProcessEnv;
  #runs = 0;
  #servers: ChildProcess[] = [];

  constructor(files: Readonly<Record<string, string>> = {}, directory: string = mkdtempSync(join(tmpdir(), "assent-inbox-"))) {
    this.directory = directory;
    this.workspace = join(directory, "project");
    const { ASSENT_STORE: _store, ...env } = process.env;
    this.env = { ...env, HOME: directory, XDG_STATE_HOME: join(directory, "state"), XDG_CONFIG_HOME: join(directory, "config") };
    mkdirSync(this.workspace);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.workspace, name), text);
  }

  /** Runs the program to its end and returns what it printed. */
  assent(...args: readonly string[]): string {
    const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...args], {
      cwd: this.workspace,
      encoding: "utf8",
      env: this.env,
    });
    if (status !== 0 && status !== 75) throw new Error(`assent ${args.join(" ")} ended with ${status}: ${stderr}`);
    return stdout;
  }

  /** A headless run whose calls are parked; the turns before them run at once. */
  park(prompt: string, calls: readonly CallLine[], before: readonly CallLine[] = [], says = ""): void {
    this.assent("run", prompt, "--quiet", "--on-ask", "park", "--model", this.model(calls, before, says));
  }

  /** A model that makes these calls, and then says that it is done. */
  model(calls: readonly CallLine[], before: readonly CallLine[] = [], says = ""): string {
    this.#runs += 1;
    const script = join(this.directory, `script-${this.#runs}.json`);
    const turn = (list: readonly CallLine[], name: string): object => ({
      ...(says !== "" && { say: says }),
      calls: list.map((call, at) => ({ ...call, id: `${name}${at}` })),
    });
    writeFileSync(
      script,
      JSON.stringify({ turns: [...(before.length > 0 ? [turn(before, "b")] : []), turn(calls, "c"), { say: "Done." }] }),
    );
    return `script:${script}`;
  }

  /** Starts the program. Resolves with its exit code and output when it ends. */
  start(...args: readonly string[]): Promise<{ readonly code: number | null; readonly said: string }> {
    const child = spawn(process.execPath, [program, ...args], { cwd: this.workspace, env: this.env, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const output of [child.stdout, child.stderr])
      output.on("data", (chunk: Buffer) => {
        said += String(chunk);
      });
    return new Promise((resolve) => child.once("exit", (code) => resolve({ code, said })));
  }

  /** What waits, as `assent approvals --json` prints it. */
  waiting(): readonly { readonly id: string; readonly title: string; readonly sessionId: string }[] {
    return JSON.parse(this.assent("approvals", "--json"));
  }

  /** Starts an inbox and resolves with its link. */
  serve(...args: readonly string[]): Promise<string> {
    const server = spawn(process.execPath, [program, "inbox", "--no-open", ...args], { cwd: this.workspace, env: this.env });
    this.#servers.push(server);
    return new Promise((resolve, reject) => {
      let said = "";
      server.stdout.on("data", (chunk: Buffer) => resolve(String(chunk).trim()));
      server.stderr.on("data", (chunk: Buffer) => {
        said += String(chunk);
      });
      server.once("exit", () => reject(new Error(`the inbox ended: ${said}`)));
    });
  }

  sessionStates(): readonly string[] {
    return JSON.parse(this.assent("sessions", "--json")).map(({ state }: { readonly state: string }) => state);
  }

  /** Looks until something holds, for at most a minute. */
  async until(what: string, holds: () => boolean): Promise<void> {
    for (const end = Date.now() + 60_000; !holds(); await new Promise((resolve) => setTimeout(resolve, 200)))
      if (Date.now() > end) throw new Error(`It did not come to this: ${what}`);
  }

  read(name: string): string {
    return readFileSync(join(this.workspace, name), "utf8");
  }

  async stopServers(): Promise<void> {
    await Promise.all(
      this.#servers.map(async (server) => {
        if (server.exitCode !== null) return;
        const ended = new Promise((resolve) => server.once("exit", resolve));
        server.kill("SIGTERM");
        await ended;
      }),
    );
  }

  async close(): Promise<void> {
    await this.stopServers();
    rmSync(this.directory, { recursive: true, force: true });
  }
}
