import { accessSync, constants, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { findProgram, probeSandbox } from "@assent/host";
import type { Context } from "../../command-line/spec.ts";
import { asFailure } from "../../io/failure.ts";
import type { Io } from "../../io/io.ts";
import { printJson } from "../../io/output.ts";
import { textTable } from "../../io/text-table.ts";
import { counted } from "../../io/visible-text.ts";
import { storeHealth } from "../../store/durable-ledger.ts";
import { stateDirectory, storeUrl, withoutPassword } from "../../store/location.ts";
import { hasRecord } from "../../store/open.ts";
import { findEditor } from "../approvals/editor-command.ts";

type Check = { readonly name: string; readonly status: "ok" | "warning" | "error"; readonly detail: string; readonly hint?: string };

/** Creates nothing that stays. Starts only the trial of the sandbox. */
export async function checkHealth(context: Context): Promise<number> {
  const { io, options } = context;
  const checks = [nodeCheck(), await storeCheck(context), terminalCheck(io), ...programChecks(io), await sandboxCheck(), editorCheck(io)];
  const ok = checks.every(({ status }) => status !== "error");
  if (options.flag("json")) await printJson(io, { ok, checks });
  else await io.stdout.write(text(checks, io.stdout.columns()));
  return ok ? 0 : 1;
}

function text(checks: readonly Check[], columns: number | undefined): string {
  const rows = checks.map(({ name, status, detail, hint }) => [status, name, hint ? `${detail} (${hint})` : detail]);
  return textTable(["status", "check", { shrinks: "found" }], rows, columns);
}

function nodeCheck(): Check {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const fits = major > 22 || (major === 22 && minor >= 19);
  return fits
    ? { name: "node", status: "ok", detail: `v${node}` }
    : { name: "node", status: "error", detail: `v${node}`, hint: "install Node 24" };
}

async function storeCheck(context: Context): Promise<Check> {
  const directory = await stateDirectory(context);
  try {
    if (!hasRecord(context, directory)) return comingStore(directory);
    const { events, refusal } = await storeHealth(context, directory);
    if (refusal) return { name: "store", status: refusal.type === "store_role_refused" ? "ok" : "error", detail: refusal.message };
    const url = storeUrl(context);
    if (url !== undefined) return { name: "store", status: "ok", detail: `${withoutPassword(url)}: opens, ${counted(events, "event")}` };
    const why = whyNotIn(directory);
    if (why !== undefined) return { name: "store", status: "error", detail: `${directory}: opens, but ${why}`, hint: ELSEWHERE };
    const mode = (statSync(directory).mode & 0o777).toString(8);
    return { name: "store", status: "ok", detail: `${directory}: opens, mode 0${mode}, ${counted(events, "event")}` };
  } catch (error) {
    const { message, hint } = asFailure(error);
    return { name: "store", status: "error", detail: message, hint: hint || (storeUrl(context) === undefined ? "assent verify" : "") };
  }
}

function comingStore(directory: string): Check {
  const why = whyNotIn(nearestThere(directory));
  if (why === undefined) return { name: "store", status: "ok", detail: `${directory}: does not exist yet; the first call creates it` };
  return { name: "store", status: "error", detail: `${directory}: cannot be created: ${why}`, hint: ELSEWHERE };
}

const ELSEWHERE = "choose another directory with --store";

function nearestThere(path: string): string {
  const above = dirname(path);
  return above === path || statSync(path, { throwIfNoEntry: false }) ? path : nearestThere(above);
}

/** /proc and /sys, where no one can create files. */
const KERNEL: readonly number[] = [0x9fa0, 0x62656572];

function whyNotIn(place: string): string | undefined {
  if (!statSync(place).isDirectory()) return `${place} is not a directory`;
  if (KERNEL.includes(statfsSync(place).type)) return `${place} belongs to the kernel`;
  try {
    accessSync(place, constants.W_OK);
    return undefined;
  } catch (_refused) {
    return `${place} cannot be written`;
  }
}

function terminalCheck({ stdinIsTTY, stderr, env }: Io): Check {
  if (!stdinIsTTY || !stderr.isTTY) return { name: "terminal", status: "ok", detail: "none: calls that need approval follow --on-ask" };
  const colour = env["NO_COLOR"] === undefined && env["TERM"] !== "dumb" ? "colors" : "no colors";
  const [columns, rows] = [stderr.columns() ?? 80, stderr.rows() ?? 24];
  const detail = `${columns}×${rows}, ${colour}`;
  return columns < 40 || rows < 12
    ? { name: "terminal", status: "warning", detail, hint: "use at least 40×12 to read approvals easily" }
    : { name: "terminal", status: "ok", detail };
}

/** Runs a real command, because only that shows what the system allows. */
async function sandboxCheck(): Promise<Check> {
  const probe = await probeSandbox();
  if (!probe.works) return { name: "sandbox", status: "ok", detail: `commands cannot be confined: ${probe.reason}` };
  const { filter, disablesUserNamespaces } = probe.sandbox;
  const walls = [
    filter ? "system calls filtered" : "no filter of system calls for this processor",
    disablesUserNamespaces ? "" : "bubblewrap older than 0.8",
  ];
  const detail = `works: ${["bubblewrap", ...walls].filter(Boolean).join(", ")}`;
  return { name: "sandbox", status: "ok", detail, hint: "the setting sandbox chooses whether commands are confined" };
}

const PROGRAMS: readonly (readonly [string, string, "error" | "warning" | "ok"])[] = [
  ["bash", "the shell tool needs it", "error"],
  ["git", "needed to find projects", "warning"],
  ["rg", "search is slower without it", "ok"],
];

function programChecks({ env }: Io): Check[] {
  return PROGRAMS.map(([name, without, missing]) => {
    const found = findProgram(name, env["PATH"] ?? "");
    return found ? { name, status: "ok", detail: found } : { name, status: missing, detail: `not found: ${without}` };
  });
}

function editorCheck({ env }: Io): Check {
  const editor = findEditor(env, undefined);
  return { name: "editor", status: "ok", detail: editor ?? "none: set VISUAL or EDITOR to edit requests before you approve them" };
}
