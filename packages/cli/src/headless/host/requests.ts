import type { TaskRefusal, Tasks } from "@assent/agent";
import type { Dispatcher, JsonObject, Session } from "@assent/core";
import { listWaiting } from "../../desk/approvals/waiting-list.ts";
import { answerForHost, type HostAnswerParts } from "./answers.ts";
import { HostError } from "./error.ts";
import { translateMode } from "./permission-modes.ts";

export type HostControls = {
  readonly session: Session;
  readonly dispatcher: Dispatcher;
  /** Resolves once recorded. Changes are made in order, a stricter mode at once. */
  readonly changeMode: (mode: string) => Promise<void>;
  readonly answering: HostAnswerParts;
  readonly locked: () => readonly string[];
  /** Throws if there is no such model; resolves with its full id. */
  readonly chooseModel: (id: string | null) => Promise<string>;
  /** Ends the current turns; resolves when that is recorded. */
  readonly interrupt: (end: boolean) => Promise<void>;
  readonly state: () => "idle" | "running" | "waiting";
  readonly unasked: (none: boolean) => void;
  readonly tasks: Pick<Tasks, "list" | "cancel" | "send">;
  readonly joined: () => Promise<void>;
  readonly servers: () => readonly JsonObject[];
};

const MOST_LISTED = 1_000;

/** Handlers of all host requests except `initialize`. Requests for features that Assent lacks return empty lists. */
const HANDLERS: Readonly<Record<string, (steered: HostControls, fields: JsonObject) => Promise<JsonObject> | JsonObject>> = {
  interrupt: async ({ interrupt }, { end }) => {
    await interrupt(end === true);
    return {};
  },
  set_permission_mode: async ({ changeMode, locked, unasked }, { mode }) => {
    const meant = translateMode(mode);
    if (!meant) throw new HostError("invalid_mode", `There is no mode ${JSON.stringify(mode ?? null).slice(0, 80)}.`);
    if (locked().includes(meant.mode)) throw new HostError("mode_locked", `The mode ${meant.mode} is locked by your team's settings.`);
    unasked(meant.unasked);
    await changeMode(meant.mode);
    return { mode: meant.mode };
  },
  set_model: async ({ chooseModel }, { model }) => ({ model: await chooseModel(typeof model === "string" ? model : null) }),
  approve: ({ answering, dispatcher }, fields) => answerForHost(answering, { fields, yes: true, proposals: dispatcher.proposals }),
  reject: ({ answering, dispatcher }, fields) => answerForHost(answering, { fields, yes: false, proposals: dispatcher.proposals }),
  list_approvals: async ({ session }) => {
    const waiting = await listWaiting(session.ledger, { query: { session: session.id }, after: undefined, limit: MOST_LISTED });
    return { approvals: waiting.map(({ form }) => form) };
  },
  task_stop: async ({ tasks, answering }, { task_id: id }) => done(await tasks.cancel(String(id), answering.by.name)),
  task_send: async ({ tasks, answering }, { task_id: id, message }) => {
    if (typeof message !== "string" || message === "") throw new HostError("bad_answer", "'message' must be a string.");
    return done(await tasks.send(String(id), message, answering.by.name));
  },
  status: ({ session: { id, state: held }, state, tasks }) => ({
    session_id: id,
    state: state(),
    turn: held.turn,
    open_calls: [...held.calls.values()].map(({ callId, tool, state: at }) => ({ tool_use_id: callId, tool_name: tool, state: at })),
    tasks: tasks.list().map(({ id: task, agent, description, status }) => ({ task_id: task, agent, description, status })),
    schedules: [...held.schedules.values()].map(({ schedule, due, prompt }) => ({ schedule_id: schedule, due, prompt })),
  }),
  supported_commands: () => ({ commands: [] }),
  mcp_status: ({ servers }) => ({ mcpServers: servers() }),
};

const ALIASES: Readonly<Record<string, string>> = { stop_task: "task_stop", mcp_server_status: "mcp_status" };

export async function handleRequest(steered: HostControls, subtype: string, fields: JsonObject): Promise<JsonObject> {
  const name = ALIASES[subtype] ?? subtype;
  const handler = Object.hasOwn(HANDLERS, name) ? HANDLERS[name] : undefined;
  if (!handler) throw new HostError("unknown_subtype", `There is no request '${subtype.slice(0, 80)}'.`);
  return await handler(steered, fields);
}

function done(refused: TaskRefusal | undefined): JsonObject {
  if (refused) throw new HostError(refused.type, refused.message);
  return {};
}
