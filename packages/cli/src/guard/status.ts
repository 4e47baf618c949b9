import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  AGENT_NAMES,
  AGENTS,
  AgentConfigError,
  type AgentName,
  type InstallScope,
  startedCode,
  switchedOff,
  WRAPPER_NAME,
} from "@assent/guard";
import type { Context } from "../command-line/spec.ts";
import { hostPortsFor } from "../compose/ports.ts";
import { printJson } from "../io/output.ts";
import { textTable } from "../io/text-table.ts";
import { stateDirectory } from "../store/location.ts";
import { type DoctorResults, type RecordedExamination, readDoctorResults } from "./doctor-results.ts";
import { filesOf } from "./install.ts";
import { type PolicyStatus, policyStatus } from "./policy-status.ts";
import { PROJECT_READER, readText, userPlaces } from "./read-text.ts";

export type AgentStatus = {
  readonly agent: AgentName;
  readonly title: string;
  readonly state: "guarded" | "not guarded" | "broken";
  /** Where the hooks are installed. */
  readonly scopes: readonly InstallScope[];
  readonly problems: readonly string[];
  /** Programs of the project that the agent starts outside its calls, so that Assent is not asked. */
  readonly starts: readonly string[];
  readonly doctor: (RecordedExamination & { readonly ageSeconds: number }) | null;
};

/** Says which agents of this user and this directory are guarded, and by which policy. Starts nothing. */
export async function showHookStatus(context: Context): Promise<number> {
  const { io, options } = context;
  const directory = await stateDirectory(context);
  const parts: StatusParts = {
    results: await readDoctorResults(context),
    wrapper: join(directory, "hooks", WRAPPER_NAME),
    policy: await policyStatus(context),
    now: hostPortsFor(context, directory).clock.now(),
  };
  const agents = AGENT_NAMES.map((agent) => agentStatus(context, agent, parts));
  if (options.flag("json")) await printJson(io, { policy: parts.policy, agents });
  else await io.stdout.write(statusText(agents, parts.policy, io.stdout.columns()));
  return agents.some(({ state }) => state === "broken") ? 1 : 0;
}

type StatusParts = { readonly wrapper: string; readonly results: DoctorResults; readonly policy: PolicyStatus; readonly now: number };

function agentStatus(context: Context, agent: AgentName, { wrapper, results, policy, now }: StatusParts): AgentStatus {
  const found = (["user", "project"] as const).map((scope) => ({ scope, ...scopeStatus(context, agent, scope) }));
  const scopes = found.flatMap(({ scope, installed }) => (installed ? [scope] : []));
  const project = { directory: context.io.cwd, ...userPlaces(context.io.env), wrapper };
  const off = [...switchedOff(agent, project, PROJECT_READER), ...managedProblems(agent)];
  const problems = [...new Set([...found.flatMap(({ installed, problems: all }) => (installed ? all : [])), ...off])];
  const { [agent]: examined } = results;
  if (scopes.length > 0 && !existsSync(wrapper)) problems.push(`${wrapper} is missing: assent hook install ${agent}`);
  if (scopes.length > 0 && examined?.ok === false) problems.push(`the last doctor failed. Try again: assent hook doctor ${agent}`);
  if (scopes.length > 0 && policy.problem !== null)
    problems.push(`every call is denied, because the settings are invalid: ${policy.problem}`);
  const isInstalled = scopes.length > 0;
  const state = isInstalled && problems.length > 0 ? "broken" : isInstalled ? "guarded" : "not guarded";
  const doctor = examined ? { ...examined, ageSeconds: Math.max(0, Math.round((now - Date.parse(examined.at)) / 1_000)) } : null;
  const starts = isInstalled ? startedCode(agent, project, PROJECT_READER) : [];
  return { agent, title: AGENTS[agent].title, state, scopes, problems, starts, doctor };
}

const MANAGED = ["/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json"];

/** Settings of an organization may run only its own hooks. */
function managedProblems(agent: AgentName): readonly string[] {
  if (agent !== "claude") return [];
  return MANAGED.flatMap((path) => {
    const text = readText(path) ?? "";
    const others = /"(?:allowManagedHooksOnly|disableAllHooks)"\s*:\s*true/.test(text) && !text.includes(WRAPPER_NAME);
    return others ? [`${path}: it runs only managed hooks, and Assent is not one of them`] : [];
  });
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

function statusText(agents: readonly AgentStatus[], { files }: PolicyStatus, columns: number | undefined): string {
  const rows = agents.map(({ title, state, scopes, doctor }) => [title, state, scopes.join(", "), doctorText(doctor)]);
  const table = textTable(["agent", "state", "installed for", { shrinks: "doctor" }], rows, columns);
  const problems = agents.flatMap(({ title, problems: all }) => all.map((problem) => `${title}: ${problem}\n`));
  const started = agents.flatMap(({ title, starts }) => starts.map((what) => `${title} starts this without asking Assent: ${what}\n`));
  const policies = files.map(
    ({ layer, path, version, digest }) => `${layer} policy ${version ?? "(no version)"}: ${path} (${digest.slice(0, 12)})\n`,
  );
  return `${table}${policies.length > 0 ? `\n${policies.join("")}` : ""}${
    problems.length > 0 ? `\n${problems.join("")}` : ""
  }${started.length > 0 ? `\n${started.join("")}` : ""}`;
}

function doctorText(doctor: AgentStatus["doctor"]): string {
  return doctor === null ? "never run" : `${doctor.ok ? "ok" : "failed"} ${doctor.at.slice(0, 16)}Z`;
}
