import type { Answer } from "../src/model/answer.ts";
import type { Approver, OpenApproval } from "../src/ports.ts";
import { TESTER } from "./drafts.ts";

/** A scripted person's answer; "wait" until the signal aborts, or "leave" it to others. */
export type ScriptedAnswer = "approve" | "reject" | "preview" | "wait" | "leave" | (Partial<Answer> & Pick<Answer, "outcome">);

/** Answers by call id or by tool, or a function of each approval; others are left. */
export type ApprovalScript =
  | Readonly<Record<string, ScriptedAnswer>>
  | ((approval: OpenApproval, signal: AbortSignal) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** An approver that follows a script. */
export type ScriptedApprover = Approver & {
  readonly shown: readonly OpenApproval[];
  readonly setAvailable: (available: boolean) => void;
};

/** Creates an approver that answers at once, and never a withdrawn approval. */
export function scriptedApprover(script: ApprovalScript = {}): ScriptedApprover {
  const shown: OpenApproval[] = [];
  let available = true;
  return {
    shown,
    available: () => available,
    setAvailable: (now) => {
      available = now;
    },
    ask: async (approval, signal) => {
      if (signal.aborted) return undefined;
      shown.push(approval);
      const words =
        typeof script === "function"
          ? await beforeAbort(script(approval, signal), signal)
          : (script[approval.callId] ?? script[approval.tool]);
      if (words === "wait") await aborted(signal);
      return signal.aborted ? undefined : toAnswer(approval, words);
    },
  };
}

function toAnswer({ id, revision, fingerprint }: OpenApproval, words: ScriptedAnswer | undefined): Answer | undefined {
  if (words === undefined || words === "leave" || words === "wait") return undefined;
  const said = typeof words === "string" ? { outcome: words } : words;
  return { approval: id, revision, fingerprint, by: TESTER, ...said };
}

function aborted(signal: AbortSignal): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  if (signal.aborted) resolve(undefined);
  else signal.addEventListener("abort", () => resolve(undefined), { once: true });
  return promise;
}

function beforeAbort<T>(words: T | Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return Promise.race([words, aborted(signal)]);
}
