import { existsSync } from "node:fs";
import { join } from "node:path";
import { AGENT_NAMES, AGENTS, AgentConfigError, type AgentName, type InstallScope, switchedOff, WRAPPER_NAME } from "@assent/guard";
import type { Context } from "../command-line/spec.ts";
import { printJson } from "../io/output.ts";
import { textTable } from "../io/text-table.ts";
import { stateDirectory } from "../store/location.ts";
import { type DoctorResults, type RecordedExamination, readDoctorResults } from "./doctor-results.ts";
import { filesOf } from "./install.ts";
import { readText } from "./read-text.ts";

export type AgentStatus = {
  readonly agent: AgentName;
  readonly title: string;
  readonly state: "guarded" | "not guarded" | "broken";
  /** Where the hooks are installed. */
  readonly scopes: readonly InstallScope[];
  readonly problems: readonly string[];
  readonly doctor: RecordedExamination | null;
};

/** Says which agents of this user and this directory are guarded. Starts nothing. */
export async function showHookStatus(context: Context): Promise<number> {
  const { io, options } = context;
  const results = await readDoctorResults(context);
  const wrapper = join(await stateDirectory(context), "hooks", WRAPPER_NAME);
  const agents = AGENT_NAMES.map((agent) => ({ ...agentStatus(context, agent, { wrapper, results }), doctor: results[agent] ?? null }));
  if (options.flag("json")) await printJson(io, { agents });
  else await io.stdout.write(statusText(agents, io.stdout.columns()));
  return agents.some(({ state }) => state === "broken") ? 1 : 0;
}

type StatusParts = { readonly wrapper: string; readonly results: DoctorResults };

function agentStatus(context: Context, agent: AgentName, { wrapper, results }: StatusParts): Omit<AgentStatus, "doctor"> {
  const found = (["user", "project"] as const).map((scope) => ({ scope, ...scopeStatus(context, agent, scope) }));
  const scopes = found.flatMap(({ scope, installed }) => (installed ? [scope] : []));
  const off = switchedOff(agent, context.io.cwd, (path) => readText(path) ?? undefined);
  const problems = [...new Set([...found.flatMap(({ installed, problems: all }) => (installed ? all : [])), ...off])];
  if (scopes.length > 0 && !existsSync(wrapper)) problems.push(`${wrapper} is missing: assent hook install ${agent}`);
  if (scopes.length > 0 && results[agent]?.ok === false) problems.push(`the last doctor failed. Try again: assent hook doctor ${agent}`);
  const isInstalled = scopes.length > 0;
  const state = isInstalled && problems.length > 0 ? "broken" : isInstalled ? "guarded" : "not guarded";
  return { agent, title: AGENTS[agent].title, state, scopes, problems };
}

type ScopeStatus = { readonly installed: boolean; readonly problems: readonly string[] };

function scopeStatus(context: Context, agent: AgentName, scope: InstallScope): ScopeStatus {
  const files = filesOf(context, agent, scope).map(({ path, problem }) => ({ path, text: readText(path), problem }));
  const installed = files.some(({ text }) => text?.includes(WRAPPER_NAME) === true);
  const problems = files.flatMap(({ path, text, problem }) => describe(path, () => problem(text ?? "")));
  return { installed, problems };
}

function describe(path: string, find: () => string | undefined): readonly string[] {
  try {
    const problem = find();
    return problem === undefined ? [] : [`${path}: ${problem}`];
  } catch (error) {
    if (error instanceof AgentConfigError) return [`${path}: ${error.message}`];
    throw error;
  }
}

function statusText(agents: readonly AgentStatus[], columns: number | undefined): string {
  const rows = agents.map(({ title, state, scopes, doctor }) => [title, state, scopes.join(", "), doctorText(doctor)]);
  const table = textTable(
    [{ name: "agent" }, { name: "state" }, { name: "installed for" }, { name: "doctor", shrinks: true }],
    rows,
    columns,
  );
  const problems = agents.flatMap(({ title, problems: all }) => all.map((problem) => `${title}: ${problem}\n`));
  return `${table}${problems.length > 0 ? `\n${problems.join("")}` : ""}`;
}

function doctorText(doctor: RecordedExamination | null): string {
  return doctor === null ? "never run" : `${doctor.ok ? "ok" : "failed"} ${doctor.at.slice(0, 16)}Z`;
}
