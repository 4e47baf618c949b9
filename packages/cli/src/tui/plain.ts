import type { Clock } from "@assent/core";
import { systemClock } from "@assent/host";
import { approvalEditor } from "../approval-editor.ts";
import { callPlace } from "../call-place.ts";
import { callPorts } from "../call-runtime.ts";
import type { Context } from "../command-spec.ts";
import { runFlags } from "../headless/run-flags.ts";
import { oneAtATime } from "../one-at-a-time.ts";
import { withStore } from "../open-store.ts";
import { storeFlag } from "../store-location.ts";
import { terminalApprover } from "../terminal-approver.ts";
import { openPrompt, type Typed } from "../terminal-prompt.ts";
import { terminalQuestioner } from "../terminal-questioner.ts";
import { BINDINGS } from "./keys.ts";
import { plainStage } from "./plain-stage.ts";
import { type AppParts, createApp } from "./tui-app.ts";

/** What a conversation begins with. */
export type PlainStart = { readonly session: string | undefined; readonly prompt: string | undefined };

/** A conversation line by line: for screen readers, and for terminals that draw nothing. Resolves with the exit code. */
export async function runPlain(context: Context, start: PlainStart): Promise<number> {
  const { io } = context;
  const place = callPlace(context);
  const run = await runFlags(context, "tui");
  const clock = context.overrides.clock ?? systemClock();
  const stopping: { act: () => void } = { act: () => undefined };
  const desk = lineDesk(context, { clock, cancel: () => stopping.act() });
  const stage = plainStage({ output: io.stdout, cwd: place.cwd, ask: desk.ask, quiet: desk.quiet });
  const leaving = new AbortController();
  const left = await withStore(context, async (store) => {
    const ports = callPorts(context, store.directory);
    const cancelling = { signal: leaving.signal, cancel: () => stopping.act(), release: () => undefined };
    const app = createApp({
      ...{ context, store, ports, cancelling, stage, bindings: () => BINDINGS, place, run, door: desk.door },
      columns: () => io.stdout.columns() ?? 80,
      leave: () => leaving.abort(),
    });
    stopping.act = () => app.act("interrupt");
    const release = io.onSignal(() => (stage.shown.busySince === undefined || desk.isOpen() ? leaving.abort() : app.act("interrupt")));
    for (const signal of ENDINGS) process.once(signal, () => leaving.abort());
    const alive = setInterval(() => undefined, LONGEST_MS);
    try {
      await app.start(start);
      for (let typed = await line(); "line" in typed; typed = await line()) await app.submit(typed.line);
      return await app.end();
    } finally {
      clearInterval(alive);
      release();
    }
    async function line(): Promise<Typed> {
      await stage.idle();
      return leaving.signal.aborted ? { none: "closed" } : await desk.ask("You: ", leaving.signal);
    }
  });
  await stage.idle();
  if (left.session !== undefined) await io.stdout.write(`\nassent resume ${left.session}${storeFlag(context)}\n`);
  return left.exit;
}

/** These mean that the terminal, or whoever minds the program, wants it to end; Ctrl-C alone interrupts. */
const ENDINGS = ["SIGHUP", "SIGTERM"] as const;
const LONGEST_MS = 2 ** 30;

type LineDesk = {
  readonly ask: (text: string, signal?: AbortSignal) => Promise<Typed>;
  /** Resolves when nothing is asked. */
  readonly quiet: () => Promise<unknown>;
  /** A key is waited for: Ctrl-C is one, and no signal. */
  readonly isOpen: () => boolean;
  readonly door: AppParts["door"];
};

/** One keyboard for the person's lines and for what is asked of them: a question puts the line aside, and it is asked for again after it. */
function lineDesk({ io }: Context, { clock, cancel }: { readonly clock: Clock; readonly cancel: () => void }): LineDesk {
  let questions = 0;
  let asking = false;
  let busy: Promise<unknown> = Promise.resolve();
  let aside = new AbortController();
  const first = <T>(work: () => Promise<T>): Promise<T> => {
    questions += 1;
    aside.abort();
    const turn = busy.then(work).finally(() => {
      questions -= 1;
    });
    busy = turn.catch(() => undefined);
    return turn;
  };
  const once = async (text: string, signal: AbortSignal | undefined): Promise<Typed> => {
    aside = new AbortController();
    const prompt = openPrompt({
      keyboard: io.keyboard,
      output: io.stderr,
      clock,
      signal: AbortSignal.any([aside.signal, ...(signal ? [signal] : [])]),
    });
    asking = true;
    return await prompt.askAtOnce(text).finally(() => {
      asking = false;
      prompt.close();
    });
  };
  return {
    quiet: () => busy,
    isOpen: () => questions > 0 || asking,
    ask: async (text, signal) => {
      for (;;) {
        await busy;
        const typed = await once(text, signal);
        const isAside = "none" in typed && typed.none === "withdrawn" && signal?.aborted !== true;
        if (!isAside || questions === 0) return isAside ? { none: "closed" } : typed;
      }
    },
    door: ({ by, settings, leaving, attend }) => {
      const edit = approvalEditor(io.env, () => settings()?.editor);
      const { approver, questioner } = oneAtATime({
        approver: terminalApprover({ io, clock, by, cancel, edit }),
        questioner: terminalQuestioner({ io, clock, by }),
      });
      return {
        attend,
        asks: () => true,
        approver: { ...approver, ask: (approval, signal) => first(() => approver.ask(approval, AbortSignal.any([signal, leaving]))) },
        questioner: {
          ...questioner,
          ask: (open, signal, partial) => first(() => questioner.ask(open, AbortSignal.any([signal, leaving]), partial)),
        },
      };
    },
  };
}
