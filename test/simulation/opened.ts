import type { BatchReport, Dispatcher, DispatcherDeps, Hooks, ProposedCall, Registry, Session } from "@assent/core";
import { OF_AGENTS, type PlannedCall } from "./plan.ts";
import type { Process, World } from "./world.ts";

/** How a process left its session. */
export type Left = "done" | "parked";

/** A process with its session open. */
export type Opened = {
  readonly world: World;
  readonly process: Process;
  readonly session: Session;
  readonly tools: Registry;
  readonly dispatcherOf: (more: Partial<DispatcherDeps> & Pick<DispatcherDeps, "session">) => Dispatcher;
  /** Absent where the plan has none. */
  readonly hooks: Hooks | undefined;
  /** Ends the process with what it cannot go on after. */
  readonly fail: (error: unknown) => void;
  /** The session is one of an earlier process. */
  readonly reopened: boolean;
};

/** What can be cancelled from now on. */
export function newSignal(process: Process): AbortSignal {
  process.cancel = new AbortController();
  return process.cancel.signal;
}

/** Ends what a person wants done, then the session. */
export async function leave({ session }: Opened, dispatcher: Dispatcher, left: Left): Promise<Left> {
  await dispatcher.close();
  await session.close(left, left === "done" ? 0 : 75);
  return left;
}

const CHOICES = [{ label: "left" }, { label: "right" }];

/** A call as a model makes it. */
export function proposed({ tool, text, verdict, how }: PlannedCall, id: string): ProposedCall & { readonly id: string } {
  if (tool === "resolve") return { id, name: "resolve", arguments: { action: text === "one" ? "discard" : "apply", reason: "as planned" } };
  if (tool === "ask") return { id, name: "ask", arguments: { questions: [{ id: "q", question: text, options: CHOICES }] } };
  return { id, name: OF_AGENTS.includes(tool) ? "act" : tool, arguments: { text, verdict, how } };
}

/** Whether something waits beyond this process; what could not be recorded ends the process. */
export function isParked({ world, session }: Opened, dispatcher: Dispatcher, { results }: BatchReport): boolean {
  const failure = dispatcher.failure();
  if (failure !== undefined) throw failure;
  const waiting = results.filter(({ outcome }) => outcome === "waiting");
  for (const { callId } of waiting) world.told.push({ what: "parked", call: callId, session: session.id });
  return waiting.length > 0;
}
