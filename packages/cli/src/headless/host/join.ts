import { findUnknownTools, type LoadedAgent, readAgentDefinitions } from "@assent/agent";
import { isObject, type JsonObject, type Registry, readCallRecord, type Session } from "@assent/core";
import type { SystemPromptChange } from "../../compose/front-end.ts";
import { VERSION } from "../../version.ts";
import { PROTOCOL } from "../stream/init-message.ts";
import type { BroughtServers } from "./brought-servers.ts";
import { canUseTool } from "./can-use-tool.ts";
import { HostError } from "./error.ts";
import type { HostHooks } from "./hooks.ts";
import type { HostLink } from "./link.ts";
import { translateMode } from "./permission-modes.ts";
import type { HostPresence } from "./presence.ts";

export type HostFacts = {
  readonly models: readonly string[];
  readonly tools: readonly string[];
  readonly agents: readonly { readonly name: string; readonly description: string }[];
};

export type HostJoinParts = {
  readonly session: Session;
  readonly link: HostLink;
  readonly presence: HostPresence;
  readonly hooks: HostHooks;
  readonly brought: BroughtServers;
  readonly facts: () => HostFacts;
  /** The tools that an agent of the host may name. */
  readonly tools: Registry;
  readonly warn: (code: string, message: string) => void;
};

export type HostJoin = {
  /** The response to `initialize`. Rejects with `HostError`. */
  readonly join: (fields: JsonObject) => Promise<JsonObject>;
  readonly hasJoined: () => boolean;
  /** Why the host could not join. Its messages must not run then, because its settings are not in effect. */
  readonly refused: () => HostError | undefined;
  readonly approvalTimeoutMs: () => number | undefined;
  /** Replaces the system prompt, or is appended to it. */
  readonly system: () => SystemPromptChange;
  readonly agents: () => readonly LoadedAgent[];
  /** The request id under which an open approval was announced; returned once. */
  readonly reserved: (approval: string, revision: number) => string | undefined;
};

export function createHostJoin(parts: HostJoinParts): HostJoin {
  const { session, link, presence, facts } = parts;
  const reserved = new Map<string, string>();
  let joined = false;
  let refused: HostError | undefined;
  let timeoutMs: number | undefined;
  let agents: readonly LoadedAgent[] = [];
  let system: SystemPromptChange = {};
  const take = (key: string): string | undefined => {
    const id = reserved.get(key);
    reserved.delete(key);
    return id;
  };
  session.listen((event) => {
    if (event.type !== "approval.answered" && event.type !== "approval.closed") return;
    const id = take(keyOf(event.body.approval, event.body.revision));
    if (id !== undefined) link.release(id);
  });
  return {
    hasJoined: () => joined,
    refused: () => refused,
    approvalTimeoutMs: () => timeoutMs,
    agents: () => agents,
    system: () => system,
    reserved: (approval, revision) => take(keyOf(approval, revision)),
    join: async (fields) => {
      if (joined) throw new HostError("already_initialized", "The host has joined already.");
      const { can_use_tool, ask_user, approval_timeout_ms: ms } = fields;
      refused = faultIn(fields, parts);
      if (refused) throw refused;
      joined = true;
      if (typeof ms === "number") timeoutMs = ms;
      agents = readBroughtAgents(fields["agents"], parts);
      system = systemIn(fields);
      parts.brought.take(fields);
      for (const name of ignoredFields(fields)) parts.warn("option_not_honored", `initialize.${name} has no effect here.`);
      const pending = can_use_tool === false ? [] : await openRequests(link, reserved, session);
      presence.joined({ approvals: can_use_tool !== false, questions: ask_user === true });
      const { models, ...listed } = facts();
      const shown = models.map((value) => ({ value, displayName: value, description: "" }));
      return { protocol: PROTOCOL, version: VERSION, commands: [], models: shown, ...listed, pending, account: {} };
    },
  };
}

function readBroughtAgents(given: unknown, { warn, tools }: Pick<HostJoinParts, "warn" | "tools">): readonly LoadedAgent[] {
  if (Array.isArray(given) && given.length > 0) warn("agent_ignored", "initialize.agents: definitions must be an object keyed by name");
  const { agents, problems, warnings } = readAgents(given);
  for (const { file, message } of problems) warn("agent_ignored", `${file}: ${message}`);
  for (const warning of warnings) warn("agent_field_ignored", warning);
  for (const { file, tools: named = [] } of agents)
    for (const name of findUnknownTools(named, tools)) warn("agent_tool_unknown", `${file}: there is no tool named '${name}'`);
  return agents;
}

function readAgents(given: unknown): ReturnType<typeof readAgentDefinitions> {
  const definitions = Object.entries(isObject(given) ? given : {}).map(([name, fields]) => [name, withOurMode(fields)] as const);
  return readAgentDefinitions(Object.fromEntries(definitions), "initialize.agents");
}

/** Translates an agent's `permissionMode`. One that never asks counts as the session's mode. */
function withOurMode(fields: unknown): unknown {
  const meant = isObject(fields) && fields["mode"] === undefined ? translateMode(fields["permissionMode"]) : undefined;
  if (!isObject(fields) || !meant) return fields;
  const { permissionMode: _theirs, ...rest } = fields;
  return meant.mode === "yolo" ? rest : { ...rest, mode: meant.mode };
}

const KNOWN_FIELDS: readonly string[] = [
  ...["subtype", "protocol", "hooks", "can_use_tool", "ask_user", "agents", "approval_timeout_ms"],
  ...["systemPrompt", "appendSystemPrompt", "sdkMcpServers", "mcpServers"],
];

function ignoredFields(fields: JsonObject): readonly string[] {
  const isNothing = (value: unknown): boolean =>
    value === null || value === undefined || value === false || (typeof value === "object" && Object.keys(value).length === 0);
  return Object.keys(fields).filter((name) => !KNOWN_FIELDS.includes(name) && !isNothing(fields[name]));
}

/** Some hosts send blank texts for no prompt. */
function systemIn({ systemPrompt, appendSystemPrompt }: JsonObject): SystemPromptChange {
  const prompt = (Array.isArray(systemPrompt) ? systemPrompt : [systemPrompt]).filter((part) => typeof part === "string").join("\n\n");
  return {
    ...(prompt.trim() !== "" && { prompt }),
    ...(typeof appendSystemPrompt === "string" && appendSystemPrompt.trim() !== "" && { append: appendSystemPrompt }),
  };
}

/** Events of Claude Code that never happen here, so a hook for them misses nothing. */
const ABSENT_EVENTS: readonly string[] = [
  ...["UserPromptExpansion", "PreModelSwitch", "PostModelSwitch", "Setup", "TeammateIdle", "TaskCreated", "TaskCompleted"],
  ...["Elicitation", "ElicitationResult", "WorktreeCreate", "WorktreeRemove", "InstructionsLoaded", "CwdChanged", "FileChanged"],
  ...["DirectoryAdded", "MessageDisplay"],
];

function presentHooks(hooks: unknown, warn: HostJoinParts["warn"]): unknown {
  if (!isObject(hooks)) return hooks;
  const absent = Object.keys(hooks).filter((event) => ABSENT_EVENTS.includes(event));
  for (const event of absent) warn("option_not_honored", `initialize.hooks.${event}: there is no such event here.`);
  return Object.fromEntries(Object.entries(hooks).filter(([event]) => !absent.includes(event)));
}

function keyOf(approval: string, revision: number): string {
  return `${approval}:${revision}`;
}

/** Why a host cannot join; undefined if it can. Registers valid hooks. */
function faultIn(fields: JsonObject, { hooks, tools, warn }: Pick<HostJoinParts, "hooks" | "tools" | "warn">): HostError | undefined {
  const { protocol = PROTOCOL, hooks: wanted, approval_timeout_ms: ms, agents } = fields;
  if (protocol !== PROTOCOL) return new HostError("protocol_error", `This is protocol ${PROTOCOL}.`);
  const fits = ms === undefined || ms === null || (typeof ms === "number" && Number.isFinite(ms) && ms > 0 && ms < 2 ** 52);
  if (!fits) return new HostError("bad_answer", "approval_timeout_ms must be a number of milliseconds, or null");
  for (const { file, disallowedTools } of readAgents(agents).agents) {
    const [unknown] = findUnknownTools(disallowedTools, tools);
    if (unknown !== undefined)
      return new HostError(
        "rule_unknown_tool",
        `${file}: disallowedTools names '${unknown}', but there is no such tool. See the names with: assent tools`,
      );
  }
  const fault = hooks.take(presentHooks(wanted, warn));
  return fault === undefined ? undefined : new HostError("bad_answer", fault);
}

/** Announces approvals that were already open, each as the request that will follow. */
async function openRequests(link: HostLink, reserved: Map<string, string>, session: Session): Promise<readonly JsonObject[]> {
  const { ledger } = session;
  const rows = await ledger.pending("approvals", { session: session.id, limit: 1_000 });
  const requests: JsonObject[] = [];
  for (const row of rows) {
    const { "call.judged": judged } = await readCallRecord(ledger, session.id, row.call);
    // The ledger returns what it was given.
    const details = await ledger.resolve(row.details as never);
    const id = link.reserve();
    reserved.set(keyOf(row.id, row.revision), id);
    const request = canUseTool({ ...row, callId: row.call, input: judged?.input ?? {}, details });
    requests.push({ type: "control_request", request_id: id, request });
  }
  return requests;
}
