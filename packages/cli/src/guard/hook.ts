import { writeFileSync } from "node:fs";
import { messageOf, ParkRequest } from "@assent/core";
import { AGENTS, type GuardEvent, type GuardedAgent, type HookOutput } from "@assent/guard";
import type { Context } from "../command-line/spec.ts";
import { withTimer } from "../compose/keep-alive.ts";
import { hostPortsFor } from "../compose/ports.ts";
import { withStore } from "../store/open.ts";
import { agentNamed } from "./agent-name.ts";
import { decideOutsideCall, type OnOutsideAsk } from "./decide.ts";
import { DOCTOR_VARIABLE } from "./doctor-variable.ts";
import type { OutsidePlace } from "./outside-policy.ts";
import { endOutsideSession, reportOutsideCall } from "./report.ts";

const MOST_BYTES = 16 * 1024 * 1024;
/** What is left of the agent's time after the deadline, to answer and exit. */
const SPARE_SECONDS = 2;

/** Answers one hook of another agent. Before a call, every fault denies it; otherwise a fault only warns. */
export async function hookCommand(context: Context): Promise<number> {
  const { io, operands } = context;
  const agent = AGENTS[agentNamed(operands[0] ?? "")];
  let decides = true; // until the event says otherwise
  try {
    const event = agent.read(await readInput(context));
    decides = event.kind === "decide" || event.kind === "dialog";
    const { stdout, stderr, exit } = await withTimer(() => answerEvent(context, agent, event));
    if (stdout !== "") await io.stdout.write(stdout);
    if (stderr !== "") await io.stderr.write(stderr);
    return exit;
  } catch (error) {
    const what = decides
      ? `Assent denied this call because it could not decide: ${messageOf(error)}`
      : `Assent could not record this: ${messageOf(error)}`;
    await io.stderr.write(`${what}\nFor the person: assent doctor\n`).catch(() => undefined);
    return decides ? 2 : 0;
  }
}

async function readInput({ io }: Context): Promise<string> {
  const bytes = await io.readStdin(MOST_BYTES + 1);
  if (bytes.length > MOST_BYTES) throw new Error("the hook's input is larger than 16 MiB");
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

const SILENT: HookOutput = { stdout: "", stderr: "", exit: 0 };

async function answerEvent(context: Context, agent: GuardedAgent, event: GuardEvent): Promise<HookOutput> {
  if (event.kind === "other" || event.kind === "dialog") return SILENT;
  return withStore(context, async ({ ledger, directory }) => {
    const ports = hostPortsFor(context, directory);
    const cwd = event.kind === "session-end" ? event.cwd : event.call.cwd;
    const place: OutsidePlace = { agent: agent.name, cwd, ledger, ports, directory };
    switch (event.kind) {
      case "decide":
        if (isExamined(context)) return agent.write({ verdict: "deny", reason: "Denied: assent hook doctor is looking." }, event);
        return agent.write(await decideInTime(context, agent, { place, call: event.call }), event);
      case "report": {
        const answer = { state: event.outcome, content: event.text, reportedBy: agent.title } as const;
        await reportOutsideCall(context, place, { call: event.call, answer });
        return SILENT;
      }
      case "session-end":
        await endOutsideSession(context, place, event.session);
        return SILENT;
      default:
        return event satisfies never;
    }
  });
}

/** `assent hook doctor` wants to know whether the agent asks. */
function isExamined({ io }: Context): boolean {
  const seen = io.env[DOCTOR_VARIABLE];
  if (!seen) return false;
  writeFileSync(seen, "", { flag: "a" });
  return true;
}

type Decision = Parameters<typeof decideOutsideCall>[1];

async function decideInTime(
  context: Context,
  agent: GuardedAgent,
  { place, call }: Pick<Decision, "place" | "call">,
): ReturnType<typeof decideOutsideCall> {
  const { options } = context;
  const deadline = new AbortController();
  const milliseconds = options.duration("deadline") ?? (agent.timeoutSeconds - SPARE_SECONDS) * 1_000;
  const cancel = place.ports.clock.timer(milliseconds, () => deadline.abort(new ParkRequest()), { keepsAlive: true });
  const stop = context.io.onSignal(() => deadline.abort(new ParkRequest()));
  try {
    return await decideOutsideCall(context, { place, call, onAsk: readOnAsk(context, agent), signal: deadline.signal });
  } finally {
    cancel();
    stop();
  }
}

/** An agent without a dialog of its own waits instead. */
function readOnAsk({ options }: Context, { hasDialog }: GuardedAgent): OnOutsideAsk {
  const given = options.text("on-ask");
  if (given === "deny") return "deny";
  return given === "agent" && hasDialog ? "agent" : "wait";
}
