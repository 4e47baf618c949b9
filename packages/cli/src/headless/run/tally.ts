import { estimateCost } from "@assent/agent";
import type { Clock, DecisionNotice, EventBodies, LedgerEvent, Session, TaskRow, Usage } from "@assent/core";
import { type WireUsage, wireUsage } from "../stream/content.ts";

export type RunCounts = {
  readonly num_turns: number;
  readonly num_tool_calls: number;
  readonly duration_ms: number;
  readonly duration_api_ms: number;
  readonly usage: WireUsage;
  readonly model_usage: Readonly<Record<string, WireUsage & { readonly cost_usd?: number }>>;
  readonly total_cost_usd?: number;
  readonly permission_denials: readonly Readonly<Record<string, unknown>>[];
  readonly unknown_outcomes: readonly Readonly<Record<string, unknown>>[];
};

export type RunTally = {
  /** Reads open calls and tasks of an earlier process, so that their ends can be reported by name. */
  readonly attend: (session: Pick<Session, "id" | "state">) => void;
  readonly event: (event: LedgerEvent, isAgent: boolean) => void;
  readonly decided: (notice: DecisionNotice) => void;
  readonly take: () => RunCounts;
};

type TokenUse = Required<Usage>;
type StartedTask = Pick<TaskRow, "agent" | "call">;
type OpenTurn = { readonly at: number; readonly model: string | null };
type Counts = {
  turns: number;
  calls: number;
  apiMs: number;
  readonly startedAt: number;
  readonly models: Map<string, TokenUse>;
  readonly denials: RunCounts["permission_denials"][number][];
  readonly unknown: RunCounts["unknown_outcomes"][number][];
};

export function runTally(clock: Clock): RunTally {
  let counts = zeroCounts(clock);
  const tasks = new Map<string, StartedTask>();
  const open = new Map<string, OpenTurn>();
  const tools = new Map<string, string>();
  const keyOf = (session: string, call: string): string => `${session} ${call}`;
  return {
    attend: ({ id, state }) => {
      for (const { callId, tool } of state.calls.values()) tools.set(keyOf(id, callId), tool);
      for (const row of state.tasks.values()) tasks.set(row.task, row);
    },
    event: (event, isAgent) => {
      switch (event.type) {
        case "turn.started":
          if (!isAgent) counts.turns += 1;
          open.set(event.session, { at: Date.parse(event.at), model: event.body.model });
          break;
        case "message.assistant": {
          const turn = open.get(event.session);
          spend(counts, event.body.model ?? turn?.model ?? "unknown", event.body.usage);
          waited(counts, turn, event.at);
          open.delete(event.session);
          break;
        }
        case "turn.ended":
          waited(counts, open.get(event.session), event.at);
          open.delete(event.session);
          break;
        case "call.proposed":
          tools.set(keyOf(event.session, event.body.call), event.body.tool);
          break;
        case "call.claimed":
          counts.calls += 1;
          break;
        case "call.ended":
          counts.unknown.push(...unknownCall(event.body, tools.get(keyOf(event.session, event.body.call))));
          tools.delete(keyOf(event.session, event.body.call));
          break;
        case "task.started":
          tasks.set(event.body.task, event.body);
          break;
        case "task.ended":
          counts.unknown.push(...unknownCommand(event.body, tasks.get(event.body.task)));
          tasks.delete(event.body.task);
          break;
        default:
      }
    },
    decided: ({ callId, toolName, input, decision, source, reason, rule }) => {
      if (decision !== "deny") return;
      const why = reason ?? rule ?? source;
      counts.denials.push({ tool_name: toolName, tool_use_id: callId, input, tool_input: input, reason: why, source });
    },
    take: () => {
      const taken = countsForWire(counts, clock);
      counts = zeroCounts(clock);
      return taken;
    },
  };
}

function zeroCounts(clock: Clock): Counts {
  return { turns: 0, calls: 0, apiMs: 0, startedAt: clock.now(), models: new Map(), denials: [], unknown: [] };
}

function unknownCall({ call, outcome, evidence = {} }: EventBodies["call.ended"], tool: string | undefined): Counts["unknown"] {
  return outcome === "unknown" ? [{ tool_name: tool ?? null, tool_use_id: call, evidence }] : [];
}

function unknownCommand({ task, result, unknown }: EventBodies["task.ended"], row: StartedTask | undefined): Counts["unknown"] {
  return unknown === undefined
    ? []
    : [{ tool_name: row?.agent ?? null, tool_use_id: row?.call ?? null, evidence: { task, found: result } }];
}

function waited(counts: Counts, turn: OpenTurn | undefined, until: string): void {
  if (turn) counts.apiMs += Math.max(0, Date.parse(until) - turn.at);
}

const NOTHING_SPENT: TokenUse = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };

function spend({ models }: Counts, model: string, usage: Usage | null): void {
  models.set(model, plus(models.get(model) ?? NOTHING_SPENT, usage ?? NOTHING_SPENT));
}

function plus(left: TokenUse, { inputTokens, outputTokens, cachedInputTokens = 0 }: Usage): TokenUse {
  return {
    inputTokens: left.inputTokens + inputTokens,
    outputTokens: left.outputTokens + outputTokens,
    cachedInputTokens: left.cachedInputTokens + cachedInputTokens,
  };
}

function countsForWire({ turns, calls, apiMs, startedAt, models, denials, unknown }: Counts, clock: Clock): RunCounts {
  const spent = [...models].map(([model, usage]) => ({ model, usage, cost: estimateCost(model, usage) }));
  const costs = spent.map(({ cost }) => cost);
  const known = costs.every((cost) => cost !== undefined);
  return {
    num_turns: turns,
    num_tool_calls: calls,
    duration_ms: Math.max(0, clock.now() - startedAt),
    duration_api_ms: apiMs,
    usage: wireUsage(spent.reduce((sum, { usage }) => plus(sum, usage), NOTHING_SPENT)),
    model_usage: Object.fromEntries(
      spent.map(({ model, usage, cost }) => [model, { ...wireUsage(usage), ...(cost !== undefined && { cost_usd: cost }) }]),
    ),
    ...(known && costs.length > 0 && { total_cost_usd: costs.reduce((sum, cost) => sum + cost, 0) }),
    permission_denials: denials,
    unknown_outcomes: unknown,
  };
}
