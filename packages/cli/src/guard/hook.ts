import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Worker } from "node:worker_threads";
import { messageOf, ParkRequest } from "@assent/core";
import {
  AGENTS,
  callKey,
  claudeSurelyAsks,
  type ForeignCall,
  type GuardEvent,
  type GuardedAgent,
  GuardInputError,
  type GuardVerdict,
  type HookOutput,
} from "@assent/guard";
import type { Context } from "../command-line/spec.ts";
import { hostPortsFor } from "../compose/ports.ts";
import { withStore } from "../store/open.ts";
import { agentNamed } from "./agent-name.ts";
import { decideOutsideCall, type OnOutsideAsk } from "./decide.ts";
import { answerBesideDialog, endTurn } from "./dialog.ts";
import type { OutsidePlace } from "./outside-policy.ts";
import { endOutsideSession, reportOutsideCall } from "./report.ts";

const MOST_BYTES = 16 * 1024 * 1024;
/** The agent waits for the answer, and may run the call if it comes too late. What was not sent by then is left to the inbox. */
const NOTICE_WAIT_MS = 0;
/** What is left of the agent's time after the deadline, to answer and exit. */
export const SPARE_SECONDS = 2;
/** Names a file. A hook that sees it creates the file and denies, so that `assent hook doctor` knows that the agent asked. */
export const DOCTOR_VARIABLE = "ASSENT_HOOK_DOCTOR";

/** Answers one hook of another agent. Before a call, every fault denies it; otherwise a fault only warns. */
export async function hookCommand(context: Context): Promise<number> {
  const { operands } = context;
  const agent = AGENTS[agentNamed(operands[0] ?? "")];
  let decides = true; // until the event says otherwise
  try {
    const answer = await beforeTimeout(context, agent, async () => {
      const event = agent.read(await readInput(context));
      decides = event.kind === "decide" || event.kind === "dialog";
      return await answerEvent(context, agent, event);
    });
    return await printAnswer(context, answer);
  } catch (error) {
    if (error instanceof GuardInputError) decides = error.decides;
    const what = decides
      ? `Assent denied this call because it could not decide: ${messageOf(error)}`
      : `Assent could not record this: ${messageOf(error)}`;
    const text = `${what}\nA person can find out why with: assent doctor`;
    return await printAnswer(context, decides ? agent.deny(text) : { ...SILENT, stderr: `${text}\n` }).catch(() => (decides ? 2 : 0));
  }
}

async function printAnswer({ io }: Context, { stdout, stderr, exit }: HookOutput): Promise<number> {
  if (stdout !== "") await io.stdout.write(stdout);
  if (stderr !== "") await io.stderr.write(stderr);
  return exit;
}

/**
 * The deadline ends the wait for a person. This ends every other wait a second later, for input, a lock or a database, because most agents
 * run a call whose hook is late.
 */
async function beforeTimeout<T>(context: Context, agent: GuardedAgent, work: () => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const left = timeLeft(context, agent) + LAST_MS;
  const timer = setTimeout(() => late.reject(new Error("the deadline of this hook passed.")), left);
  const guarded = setTimeout(() => endIfBlocked(timeLeft(context, agent) + LAST_MS + BLOCKED_MS), Math.min(left / 2, WAITS_MS));
  try {
    return await Promise.race([work(), late.promise]);
  } finally {
    clearTimeout(timer);
    clearTimeout(guarded);
  }
}

const LAST_MS = 1_000;
const BLOCKED_MS = 400;
/** A hook that has run for so long waits for a person, or for its record. */
const WAITS_MS = 5_000;

/**
 * Ends this process from another thread: a wait for a lock of SQLite or a slow disk blocks this one and its timers. The wrapper script
 * denies the call then.
 */
function endIfBlocked(milliseconds: number): void {
  const script = `setTimeout(() => process.kill(process.pid, "SIGKILL"), ${milliseconds})`;
  new Worker(script, { eval: true, execArgv: [], env: {} }).unref();
}

/** Milliseconds until the deadline, which counts from the start of this process. */
function timeLeft({ options }: Context, { timeoutSeconds }: GuardedAgent): number {
  const milliseconds = options.duration("deadline") ?? (timeoutSeconds - SPARE_SECONDS) * 1_000;
  return Math.max(0, milliseconds - process.uptime() * 1_000);
}

async function readInput({ io }: Context): Promise<string> {
  const bytes = await io.readStdin(MOST_BYTES + 1);
  if (bytes.length > MOST_BYTES) throw new Error("the hook's input is larger than 16 MiB");
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

const SILENT: HookOutput = { stdout: "", stderr: "", exit: 0 };

async function answerEvent(context: Context, agent: GuardedAgent, event: GuardEvent): Promise<HookOutput> {
  return withStore(
    context,
    async ({ ledger, directory }) => {
      const ports = hostPortsFor(context, directory);
      const { cwd } = "call" in event ? event.call : event;
      const place: OutsidePlace = { agent: agent.name, cwd, ledger, ports, directory };
      switch (event.kind) {
        case "decide":
          if (isExamined(context, directory))
            return agent.write({ verdict: "deny", reason: "Denied: assent hook doctor is looking." }, event);
          return agent.write(await decideInTime(context, agent, { place, call: event.call }), event);
        case "dialog":
          return agent.write(await answerInTime(context, agent, { place, call: event.call }), event);
        case "report": {
          const answer = { state: event.outcome, content: event.text, reportedBy: agent.title } as const;
          await reportOutsideCall(context, place, { call: event.call, answer });
          return SILENT;
        }
        case "turn-end":
          await endTurn(context, place, event.session);
          return SILENT;
        case "session-end":
          await endOutsideSession(context, place, event.session);
          return SILENT;
        default:
          return event satisfies never;
      }
    },
    NOTICE_WAIT_MS,
  );
}

/** `assent hook doctor` wants to know whether the agent asks. A project can set the variable, too, but name no other file. */
function isExamined({ io }: Context, directory: string): boolean {
  const seen = io.env[DOCTOR_VARIABLE];
  if (!seen) return false;
  if (dirname(dirname(seen)) === join(directory, "hooks")) writeFileSync(seen, "", { flag: "a" });
  return true;
}

type HookedCall = { readonly place: OutsidePlace; readonly call: ForeignCall };

async function decideInTime(context: Context, agent: GuardedAgent, { place, call }: HookedCall): Promise<GuardVerdict> {
  if (!(await hasCalls(place, call.session))) await (await import("./sweep.ts")).sweepKilledAgents(context, place);
  const onAsk = await chooseOnAsk(context, agent, { place, call });
  return untilDeadline(context, agent, place, {
    late: (why) => new ParkRequest(why), // the approval stays open
    act: (signal) => decideOutsideCall(context, { place, call, onAsk, signal }),
  });
}

/** The first call of an agent's session is a good moment to clean up, because it is rare. */
async function hasCalls({ ledger, ports, agent }: OutsidePlace, session: string): Promise<boolean> {
  const { group } = callKey(ports.digest, { client: agent, id: session }, {});
  return (await ledger.pending("sessions", { prefix: group, all: true, limit: 1 })).length > 0;
}

function answerInTime(context: Context, agent: GuardedAgent, { place, call }: HookedCall): Promise<GuardVerdict> {
  return untilDeadline(context, agent, place, {
    late: () => new DOMException("Assent stopped waiting beside the dialog.", "AbortError"),
    act: (signal) => answerBesideDialog(context, { place, call, signal }),
  });
}

/** The deadline and signals end the wait. */
async function untilDeadline(
  context: Context,
  agent: GuardedAgent,
  { ports }: OutsidePlace,
  { late, act }: { readonly late: (why?: string) => Error; readonly act: (signal: AbortSignal) => Promise<GuardVerdict> },
): Promise<GuardVerdict> {
  const deadline = new AbortController();
  const cancel = ports.clock.timer(timeLeft(context, agent), () => deadline.abort(late("the deadline of this hook passed")), {
    keepsAlive: true,
  });
  const stop = context.io.onSignal(() => deadline.abort(late()));
  try {
    return await act(deadline.signal);
  } finally {
    cancel();
    stop();
  }
}

/** An agent without a dialog of its own waits instead, and so does one whose dialog is not certain. */
async function chooseOnAsk(context: Context, agent: GuardedAgent, { place, call }: HookedCall): Promise<OnOutsideAsk> {
  const given = context.options.text("on-ask");
  if (given === "deny") return "deny";
  if (given === "agent" && agent.hasDialog) return "agent";
  if (given !== "both" || agent.name !== "claude") return "wait";
  const { claudeSurroundings } = await import("./claude-surroundings.ts");
  return (await claudeSurelyAsks(call, claudeSurroundings(context, place.ports.clock, call))) ? "both" : "wait";
}
