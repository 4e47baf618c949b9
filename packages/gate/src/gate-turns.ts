import { isObject, listOfferedTools, type ProposedCall } from "@assent/core";
import { createLoopDetector, type LoopDetector, loopError, loopWarning } from "@assent/core/parts";
import {
  dispatchTurn,
  type EmbeddedCall,
  type Embedding,
  type RunStop,
  resumeTurn,
  type TurnOutcome,
  type TurnRunner,
} from "./adapters/embedding.ts";
import { GateUsageError } from "./gate-error.ts";
import type { GateEvents } from "./gate-events.ts";
import { checkTurn, type GateOptions } from "./gate-options.ts";
import type { GatePolicy } from "./gate-policy.ts";
import type { GateSession, OpenedSession } from "./gate-session.ts";
import type { GateTools } from "./gate-tools.ts";
import { waitingCall } from "./wrap/governed-tool.ts";

/** The turns of a gate, and why the last one must be the last. */
export type GateTurns = TurnRunner & {
  readonly stopped: () => RunStop | undefined;
  readonly setStop: (stop: RunStop | undefined) => void;
  /** All open calls of the session. */
  readonly openCalls: () => Promise<readonly EmbeddedCall[]>;
};

type TurnParts = { readonly session: GateSession; readonly tools: GateTools; readonly policy: GatePolicy; readonly events: GateEvents };

/** Creates the turns of a gate. */
export function createGateTurns({ session, tools, policy, events }: TurnParts, loop: GateOptions["loop"]): GateTurns {
  const detector = createGateDetector(loop, tools);
  let stop: RunStop | undefined;
  const conclude = (outcome: TurnOutcome): TurnOutcome => {
    stop = outcome.stop;
    return outcome;
  };
  const withSession = (act: (embedding: Embedding) => Promise<TurnOutcome>): Promise<TurnOutcome> => {
    const opened = session.opened();
    return opened ? act(observed(opened)) : session.current().then((first) => act(observed(first)));
  };
  const observed = (opened: OpenedSession): Embedding => (events.isHeard() ? { ...opened, observe: events.emit } : opened);
  return {
    offered: () => {
      const { checkers } = policy.source.current();
      const denies: OpenedSession["dispatcher"]["denies"] = ({ name, kind }) =>
        checkers.some(({ deniesTool }) => deniesTool?.(name, kind) === true);
      return listOfferedTools(tools, { session: session.opened()?.session ?? NOT_OPENED, dispatcher: { denies } });
    },
    refuseNested: session.refuseNested,
    dispatch: async (given, turn) => {
      const calls = given.map(readCall);
      checkTurn(turn);
      const outcome = await session.during(turn.signal, (signal) => {
        if (turn.newPrompt) detector?.reset();
        return withSession((embedding) => dispatchTurn(embedding, calls, { ...turn, signal }));
      });
      return conclude(detector ? watchLoop(detector, calls, outcome) : outcome);
    },
    resume: async (earlier, own) => {
      checkTurn({ signal: own });
      checkEarlierCalls(earlier);
      return conclude(await session.during(own, (signal) => withSession((embedding) => resumeTurn(embedding, earlier, signal))));
    },
    stopped: () => stop,
    setStop: (next) => {
      stop = next;
    },
    openCalls: async () => {
      const { calls } = (await session.current()).session.state;
      return [...calls.values()].filter(({ index }) => index >= 0).map(({ callId, tool }) => waitingCall(callId, tool));
    },
  };
}

const NOT_OPENED = { state: { proposals: new Map(), planning: null } };

function checkEarlierCalls(earlier: unknown): void {
  const isCall = (call: unknown): boolean => isObject(call) && typeof call["callId"] === "string" && typeof call["outcome"] === "string";
  if (!Array.isArray(earlier) || !earlier.every(isCall))
    throw new GateUsageError("bad_call", "resume takes the 'calls' that an earlier turn returned.");
}

function createGateDetector(loop: GateOptions["loop"], tools: GateTools): LoopDetector | undefined {
  if (!loop) return undefined;
  const pollSafe = (name: string): boolean => tools.get(name)?.pollSafe === true;
  try {
    return createLoopDetector({ pollSafe, ...(loop === true ? {} : loop) });
  } catch (error) {
    throw new GateUsageError("bad_option", `Option 'loop' of createGate cannot be used: ${String(error)}`, { cause: error });
  }
}

/** The first repetition warns the model, later ones end the run. */
/** Reads the fields once. A call that throws has no name, so it ends as an unknown tool. */
function readCall(given: ProposedCall): ProposedCall {
  try {
    const { id, name, arguments: args } = given;
    return { ...(id !== undefined && { id }), name, arguments: args };
  } catch {
    return { name: "", arguments: null };
  }
}

function watchLoop(detector: LoopDetector, calls: readonly ProposedCall[], outcome: TurnOutcome): TurnOutcome {
  if (calls.length === 0) return outcome;
  const found = detector.record(
    calls,
    outcome.calls.map(({ outcome: state, content }) => [state, content]),
  );
  if (found === "ok" || !detector.trip) return outcome;
  if (found === "warn") return { ...outcome, warning: loopWarning(detector.trip) };
  return outcome.stop ? outcome : { ...outcome, stop: { reason: "loop", message: loopError(detector.trip) } };
}
