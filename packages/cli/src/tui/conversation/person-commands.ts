import { resolve } from "node:path";
import { contentText, isObject, openSession, readCallRecord, type Session } from "@assent/core";
import { createSessionDispatcher } from "../../compose/dispatcher.ts";
import type { FrontEnd } from "../../compose/front-end.ts";
import { commandHolder } from "../../compose/keep-alive.ts";
import { cut } from "../../io/display-width.ts";
import { oneLine } from "../../io/visible-text.ts";
import { VERSION } from "../../version.ts";
import type { ConversationView } from "../screen/view.ts";
import { commandContext } from "../transcript/prompt.ts";
import type { SharedParts, TuiSession } from "./tui-session.ts";

/** How a person's command runs, other than a `!` command. */
export type PersonInput = { readonly unconfined?: true; readonly cwd?: string };

export type PersonCommand = {
  readonly line: string;
  /** Further input of the tool. */
  readonly input?: PersonInput;
  readonly door: FrontEnd;
  readonly signal: AbortSignal;
  /** Receives what the model will see of it. */
  readonly tell: (context: string) => void;
};

/** Person commands belong to no turn. */
const NO_TURN = 0;

/** Runs a `!` command like any call, so that a deny applies to the person, too. It has its own session, because the model's history only knows the model's calls. */
export async function runPersonCommand(shared: SharedParts, main: TuiSession, command: PersonCommand): Promise<void> {
  const { line, input, door, signal, tell } = command;
  const { context, store, ports, cancelling } = shared;
  const { policy } = main;
  const { cwd, workspace } = main.session.state.created ?? { cwd: policy.workspace, workspace: policy.workspace };
  const { revision } = policy.source.current();
  const title = cut(oneLine(`! ${line.slice(0, 200)}`), 80);
  const create = { cwd, workspace, door: "call", mode: main.agent.modes.mode(), version: VERSION, policy: revision, title };
  const session = await openSession({ ledger: store.ledger, ...ports }, { holder: commandHolder(context, "tui"), create });
  policy.serve(session.id);
  // The policy belongs to the main session: that session's mode and plan file apply, and the policy stays open.
  const { current, subscribe } = main.agent.modes;
  const held = { ...policy, planAt: () => undefined, source: { ...policy.source, current, subscribe, close: () => undefined } };
  const made = await createSessionDispatcher(context, {
    session,
    ports,
    policy: held,
    cancelling,
    onAsk: undefined,
    unattended: "deny",
    frontEnd: door,
  });
  try {
    const calls = [{ name: "shell", arguments: { command: line, ...input } }];
    const batch = { calls, tools: policy.tools, signal };
    const { results } = await made.dispatcher.process(batch, (event) => made.observe({ type: "dispatch", turn: NO_TURN, event }));
    const [report] = results;
    tell(commandContext(line, !report || report.outcome === "waiting" ? "[not run]" : contentText(report.result.content)));
  } finally {
    await made.close();
    await session.close("done", 0);
  }
}

export type PersonCommands = {
  readonly run: (line: string, input?: PersonInput) => Promise<void>;
  /** Ends them all. False if none was running. */
  readonly stop: () => boolean;
  readonly idle: () => Promise<void>;
};

/** Tracks running commands, each with its own signal. */
export function trackPersonCommands({ state, changed }: Pick<ConversationView, "state" | "changed">, begin: Begin): PersonCommands {
  const running = new Map<AbortController, Promise<void>>();
  const count = (): void => {
    state.commands = running.size;
    changed();
  };
  return {
    run: async (line, input) => {
      const stopping = new AbortController();
      const ended = begin(line, stopping.signal, input).finally(() => {
        running.delete(stopping);
        count();
      });
      running.set(stopping, ended);
      count();
      await ended;
    },
    stop: () => {
      for (const stopping of running.keys()) stopping.abort();
      return running.size > 0;
    },
    idle: async () => void (await Promise.all(running.values())),
  };
}

type Begin = (line: string, stopped: AbortSignal, input: PersonInput | undefined) => Promise<void>;

/** The newest command of the model that ran confined. */
export async function lastConfined(session: Session | undefined): Promise<{ readonly line: string; readonly cwd: string } | undefined> {
  if (!session) return undefined;
  const { id, ledger } = session;
  let call: string | undefined;
  for await (const { body } of ledger.read({ session: id, seq: 0 }, { session: id, types: ["call.judged"] }))
    if (isObject(body["containment"]) && body["containment"]["confined"] === true) call = String(body["call"]);
  const judged = call === undefined ? undefined : (await readCallRecord(ledger, id, call))["call.judged"];
  const { command, cwd } = judged?.input ?? {};
  if (judged && typeof command === "string") return { line: command, cwd: resolve(judged.cwd, typeof cwd === "string" ? cwd : ".") };
  return undefined;
}
