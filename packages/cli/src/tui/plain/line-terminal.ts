import type { Clock, OpenApproval, Session } from "@assent/core";
import type { ConfinedOffer } from "../../desk/approvals/confined-offer.ts";
import { approvalEditor } from "../../desk/approvals/editor.ts";
import { reviewApproval } from "../../desk/proposals/review.ts";
import { terminalApprover } from "../../desk/terminal/approver.ts";
import { oneAtATime } from "../../desk/terminal/one-at-a-time.ts";
import { openPrompt, type TypedLine } from "../../desk/terminal/prompt.ts";
import { terminalQuestioner } from "../../desk/terminal/questioner.ts";
import type { Io } from "../../io/io.ts";
import { discardAfterNo } from "../cards/discard-after-no.ts";
import type { AppParts } from "../conversation/app.ts";

export type LineTerminal = {
  readonly ask: (text: string, signal?: AbortSignal) => Promise<TypedLine>;
  /** Writes between questions, never between a question and its answer. */
  readonly between: (write: () => Promise<void>) => Promise<void>;
  /** True while a key is expected: Ctrl-C is then a key, not a signal. */
  readonly isOpen: () => boolean;
  readonly door: (confinedOffer: ConfinedOffer) => AppParts["door"];
};

type Terminal = Pick<Io, "stderr" | "keyboard" | "env">;

/** Shares one keyboard between prompts and questions. A question interrupts the prompt, which is asked again afterwards. */
export function openLineTerminal(io: Terminal, { clock, cancel }: { readonly clock: Clock; readonly cancel: () => void }): LineTerminal {
  let questions = 0;
  let asking = false;
  let busy: Promise<unknown> = Promise.resolve();
  let aside = new AbortController();
  let line: Promise<unknown> = Promise.resolve();
  const between = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = busy.then(work);
    busy = turn.catch(() => undefined);
    return turn;
  };
  const first = <T>(work: () => Promise<T>): Promise<T> => {
    questions += 1;
    aside.abort();
    const isOver = (): void => {
      questions -= 1;
    };
    return between(() => line.then(work).finally(isOver)); // only one of them reads the keyboard
  };
  const once = async (text: string, signal: AbortSignal | undefined): Promise<TypedLine> => {
    aside = new AbortController();
    const prompt = openPrompt({
      keyboard: io.keyboard,
      output: io.stderr,
      clock,
      signal: AbortSignal.any([aside.signal, ...(signal ? [signal] : [])]),
    });
    asking = true;
    const typed = prompt.askAtOnce(text).finally(() => {
      asking = false;
      prompt.close();
    });
    line = typed.catch(() => undefined);
    return await typed;
  };
  return {
    between,
    isOpen: () => questions > 0 || asking,
    ask: async (text, signal) => {
      for (;;) {
        do await busy;
        while (questions > 0);
        const typed = await once(text, signal);
        const isAside = "none" in typed && typed.none === "withdrawn" && signal?.aborted !== true;
        if (!isAside) return typed;
      }
    },
    door:
      (confinedOffer) =>
      ({ by, settings, revising, leaving, attend, settle }) => {
        const sessions = new Map<string, Session>();
        const after = discardAfterNo((id) => sessions.get(id), settle);
        const review = (approval: OpenApproval): ReturnType<typeof reviewApproval> =>
          reviewApproval(sessions.get(approval.sessionId), approval);
        const edit = approvalEditor({ environment: io.env, setting: () => settings()?.editor, revising });
        const { approver, questioner } = oneAtATime({
          approver: terminalApprover({
            io,
            clock,
            by,
            cancel,
            edit,
            discardAfterNo: after,
            review,
            confinedOffer,
            stops: true,
          }),
          questioner: terminalQuestioner({ io, clock, by }),
        });
        return {
          attend: (session) => {
            sessions.set(session.id, session);
            session.listen(({ type }) => type === "session.closed" && sessions.delete(session.id));
            return attend(session);
          },
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
