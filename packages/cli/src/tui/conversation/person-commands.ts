import { contentText, openSession } from "@assent/core";
import { createSessionDispatcher } from "../../compose/dispatcher.ts";
import type { FrontEnd } from "../../compose/front-end.ts";
import { commandHolder } from "../../compose/keep-alive.ts";
import { cut } from "../../io/display-width.ts";
import { oneLine } from "../../io/visible-text.ts";
import { VERSION } from "../../version.ts";
import type { ConversationView } from "../screen/view.ts";
import { commandContext } from "../transcript/prompt.ts";
import type { SharedParts, TuiSession } from "./tui-session.ts";

/** A `!` command of the person. */
export type PersonCommand = {
  readonly line: string;
  readonly door: FrontEnd;
  readonly signal: AbortSignal;
  /** Receives what the model will see of it. */
  readonly tell: (context: string) => void;
};

/** Person commands belong to no turn. */
const NO_TURN = 0;

/** Runs a `!` command like any call, so that a deny applies to the person, too. It has its own session, because the model's history only knows the model's calls. */
export async function runPersonCommand(shared: SharedParts, main: TuiSession, command: PersonCommand): Promise<void> {
  const { line, door, signal, tell } = command;
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
    const calls = [{ name: "shell", arguments: { command: line } }];
    const batch = { calls, tools: policy.tools, signal };
    const { results } = await made.dispatcher.process(batch, (event) => made.observe({ type: "dispatch", turn: NO_TURN, event }));
    const [report] = results;
    tell(commandContext(line, !report || report.outcome === "waiting" ? "[not run]" : contentText(report.result.content)));
  } finally {
    await made.close();
    await session.close("done", 0);
  }
}

/** The person's running `!` commands. */
export type PersonCommands = {
  readonly run: (line: string) => Promise<void>;
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
    run: async (line) => {
      const stopping = new AbortController();
      const ended = begin(line, stopping.signal).finally(() => {
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

type Begin = (line: string, stopped: AbortSignal) => Promise<void>;
