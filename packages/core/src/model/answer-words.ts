import type { Answer } from "./answer.ts";

/** What a word of another wire answers. `edits`: the person changes the input or content first. */
export type AnswerMeaning = Pick<Answer, "outcome" | "remember"> & { readonly edits?: true };

const APPROVE: AnswerMeaning = Object.freeze({ outcome: "approve" });
const REJECT: AnswerMeaning = Object.freeze({ outcome: "reject" });
const APPROVE_SESSION: AnswerMeaning = Object.freeze({ outcome: "approve", remember: Object.freeze({ scope: "session" }) });
const APPROVE_PROJECT: AnswerMeaning = Object.freeze({ outcome: "approve", remember: Object.freeze({ scope: "project" }) });
const APPROVE_USER: AnswerMeaning = Object.freeze({ outcome: "approve", remember: Object.freeze({ scope: "user" }) });
const APPROVE_ALL: AnswerMeaning = Object.freeze({
  outcome: "approve",
  remember: Object.freeze({ scope: "session", rules: Object.freeze(["*"]) }),
});

/**
 * The words that other programs use for an answer, by wire, and what they mean here: `resume` is docker-agent's, `confirmation` that of
 * Gemini CLI and Qwen Code, `permission` that of Claude Code's `can_use_tool`.
 */
export const ANSWER_WORDS: {
  readonly resume: Readonly<Record<"approve" | "approve-session" | "approve-tool" | "reject", AnswerMeaning>>;
  readonly confirmation: Readonly<
    Record<
      "proceed_once" | "proceed_always" | "proceed_always_project" | "proceed_always_user" | "modify_with_editor" | "cancel",
      AnswerMeaning
    >
  >;
  readonly permission: Readonly<Record<"allow" | "deny", AnswerMeaning>>;
} = Object.freeze({
  resume: Object.freeze({ approve: APPROVE, "approve-session": APPROVE_ALL, "approve-tool": APPROVE_SESSION, reject: REJECT }),
  confirmation: Object.freeze({
    proceed_once: APPROVE,
    proceed_always: APPROVE_SESSION,
    proceed_always_project: APPROVE_PROJECT,
    proceed_always_user: APPROVE_USER,
    modify_with_editor: Object.freeze({ outcome: "approve", edits: true }),
    cancel: REJECT,
  }),
  permission: Object.freeze({ allow: APPROVE, deny: REJECT }),
});

/** One of the wires in `ANSWER_WORDS`. */
export type AnswerWire = keyof typeof ANSWER_WORDS;

/** What a word of a wire means, or undefined if that wire has no such word. */
export function readAnswerWord(wire: AnswerWire, word: unknown): AnswerMeaning | undefined {
  const words: Readonly<Record<string, AnswerMeaning>> = ANSWER_WORDS[wire];
  return typeof word === "string" && Object.hasOwn(words, word) ? words[word] : undefined;
}

/** The words for approving a plan, and the mode that then applies; `previous` is the mode before planning. */
export const PLAN_WORDS: Readonly<Record<"proceed_once" | "proceed_always" | "restore_previous", "default" | "auto-edit" | "previous">> =
  Object.freeze({ proceed_once: "default", proceed_always: "auto-edit", restore_previous: "previous" });
