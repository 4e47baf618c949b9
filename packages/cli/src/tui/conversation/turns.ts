import type { AgentSession, RunEnd } from "@assent/agent";
import { resumeCalls } from "../../headless/run/talk.ts";
import { asFailure, failureText, hintText } from "../../io/failure.ts";
import type { ConversationView } from "../screen/view.ts";
import type { Block } from "../transcript/block.ts";
import { buildPrompt } from "../transcript/prompt.ts";
import { queuePrompts } from "./queued-prompts.ts";
import type { TuiSession } from "./tui-session.ts";

/** The person's turns with the model, one at a time. */
export type Turns = {
  /** Sends a prompt, or queues it while the model is busy. */
  readonly send: (text: string) => Promise<void>;
  /** Continues what an earlier process left. */
  readonly resume: () => Promise<void>;
  /** Summarizes older turns. False if nothing changed. */
  readonly compact: () => Promise<boolean>;
  /** Makes the model call this tool first after the next prompt. */
  readonly force: (tool: string) => void;
  /** Adds context to the next prompt. */
  readonly add: (context: string) => void;
  readonly interrupt: () => void;
  readonly withdraw: () => readonly string[];
  readonly noticeStarted: () => void;
  readonly noticeEnded: (end: RunEnd | undefined) => void;
  readonly idle: () => Promise<void>;
  /** True during a turn of a prompt or a notice. */
  readonly isBusy: () => boolean;
  readonly rest: () => Promise<void>;
};

export type TurnParts = {
  readonly view: ConversationView;
  readonly now: () => number;
  readonly open: (title: string) => Promise<TuiSession>;
  readonly signal: AbortSignal;
  /** Aborts when the person leaves; the farewell then lists what waits. */
  readonly leaving: AbortSignal;
};

export function makeTurns({ view, now, open, signal, leaving }: TurnParts): Turns {
  const context: string[] = [];
  const unsaid = queuePrompts(view);
  let forced: string | undefined;
  let drive: AgentSession | undefined;
  const sayEnd = (end: RunEnd | undefined): void => {
    if (end?.reason !== "parked" || !leaving.aborted) view.append(...endBlocks(end));
  };
  const order = runInOrder({ view, now, sayEnd });
  const talkTo = async (made: TuiSession): Promise<AgentSession> => {
    const talk = await made.drive();
    drive = talk;
    return talk;
  };
  const run = (work: (either: AbortSignal) => Promise<RunEnd | undefined>): Promise<void> =>
    order.run((interrupted) => work(AbortSignal.any([signal, interrupted])));
  return {
    send: (text) => {
      const next = unsaid.add(text);
      return run(async (either) => {
        if (!next.begin()) return undefined;
        const made = await open(text).finally(next.said);
        const parked = await resumeOpenCalls(made, either); // send nothing while a call of the model's turn waits
        if (parked) {
          context.push(text);
          return parked;
        }
        const talk = await talkTo(made);
        if (forced !== undefined) talk.force(forced);
        forced = undefined;
        const said = await made.agent.expand(text, either);
        return await talk.send(buildPrompt(context.splice(0), said), either);
      });
    },
    resume: () =>
      run(async (either) => {
        const made = await open("");
        const parked = await resumeOpenCalls(made, either);
        if (parked) return parked;
        const talk = await talkTo(made);
        return await talk.resume(either, { deliverAll: !made.wasDone });
      }),
    compact: async () => {
      let isShorter = false;
      await run(async (either) => {
        isShorter = await (await open("").then(talkTo)).compact(either);
        return undefined;
      });
      return isShorter;
    },
    force: (tool) => {
      forced = tool;
    },
    add: (text) => void context.push(text),
    interrupt: () => {
      order.interrupt();
      drive?.interrupt();
    },
    withdraw: unsaid.withdraw,
    noticeStarted: order.begin,
    noticeEnded: (ended) => {
      sayEnd(ended);
      order.end();
    },
    idle: order.idle,
    isBusy: () => order.isBusy() || drive?.isBusy() === true,
    rest: () => order.idle().then(() => drive?.whenIdle()),
  };
}

type OrderParts = Pick<TurnParts, "view" | "now"> & { readonly sayEnd: (end: RunEnd | undefined) => void };

/** Runs one thing after the other, and shows how long it takes. */
function runInOrder({ view, now, sayEnd }: OrderParts) {
  let last: Promise<void> = Promise.resolve();
  let interrupting = new AbortController();
  let running = 0;
  const begin = (): void => {
    view.state.busySince ??= now();
    view.changed();
  };
  const end = (): void => {
    if (running === 0) view.state.busySince = undefined;
    view.changed();
  };
  return {
    begin,
    end,
    /** Runs after the previous work and shows how it ended. */
    run: (work: (interrupted: AbortSignal) => Promise<RunEnd | undefined>): Promise<void> => {
      last = last.then(async () => {
        running += 1;
        interrupting = new AbortController();
        begin();
        const ended = await work(interrupting.signal).catch(describeFailure);
        running -= 1;
        sayEnd(ended);
        end();
      });
      return last;
    },
    interrupt: (): void => interrupting.abort(),
    isBusy: (): boolean => running > 0,
    idle: (): Promise<void> => last,
  };
}

/** Resumes open calls and accepts requests to settle previewed changes. Undefined if all calls have ended. */
async function resumeOpenCalls({ agent, policy, session }: TuiSession, signal: AbortSignal): Promise<RunEnd | undefined> {
  const { calls, proposals } = session.state;
  if (calls.size === 0 && proposals.size === 0) return undefined;
  return await resumeCalls({ session, agent, tools: policy.tools }, signal);
}

function describeFailure(error: unknown): RunEnd {
  return { reason: "failed", text: "", error: { type: asFailure(error).type, message: failureText(error) } };
}

const PARKED = "An answer is needed: /approvals lists what is waiting. Resume the session once it is answered.";

function endBlocks(end: RunEnd | undefined): readonly Block[] {
  if (!end || end.reason === "done") return end?.remark === undefined ? [] : [{ type: "note", text: end.remark, role: "warning" }];
  if (end.reason === "cancelled") return [{ type: "note", text: "Interrupted. Tell the model what to do instead.", role: "warning" }];
  if (end.reason === "parked") return [{ type: "note", text: PARKED, role: "warning" }];
  return [{ type: "note", text: end.error ? errorText(end.error) : ENDINGS[end.reason], role: "error" }];
}

const ENDINGS: Readonly<Record<Exclude<RunEnd["reason"], "done" | "parked" | "cancelled">, string>> = {
  failed: "The run failed.",
  turn_limit: "The run reached its limit of turns.",
  budget: "The run reached its budget.",
  stopped: "A hook stopped the run.",
};

function errorText({ message, hint }: NonNullable<RunEnd["error"]>): string {
  return `${message}${hint === undefined ? "" : ` ${hintText(hint)}`}`;
}
