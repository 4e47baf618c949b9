import type { JsonObject, Question, QuestionAnswer } from "@assent/core";

/** One thing that waits for a person, as the list shows it. */
export type WaitingRow = {
  readonly id: string;
  readonly kind: "approval" | "proposal" | "question";
  readonly session: string;
  readonly sessionTitle: string;
  /** Rows with the same group are listed together: the session, or the session of the guarded agent. */
  readonly group: string;
  /** The agent: Assent's own, or a guarded one. */
  readonly agent: string;
  readonly tool: string;
  readonly subject: string;
  readonly directory: string;
  readonly mode: string;
  /** Why a person is asked. */
  readonly why: string;
  readonly since: string;
  readonly expiresAt: string | null;
};

/** A line of a diff, as pieces of changed and unchanged text. */
export type CardLine = { readonly mark: " " | "+" | "-"; readonly pieces: readonly CardPiece[] };
/** A changed or unchanged piece of a line. */
export type CardPiece = { readonly text: string; readonly changed: boolean };
/** Changed lines that belong together; the id names them in an answer. */
export type CardHunk = { readonly id: string | null; readonly header: string; readonly lines: readonly CardLine[] };

/** One changed file. */
export type CardFile = {
  readonly path: string;
  readonly name: string;
  readonly what: string;
  readonly added: number;
  readonly removed: number;
  readonly notes: readonly string[];
  readonly hunks: readonly CardHunk[];
};

/** A way to remember an approval: the rules that are stored, and what they allow. */
export type RememberOffer = {
  readonly scope: "session" | "project" | "user";
  readonly says: string;
  readonly rules: readonly string[];
  readonly risk: string | null;
};

/** What a command did on a copy. */
export type CardEffect = {
  readonly heading: string;
  readonly changes: readonly string[];
  readonly warnings: readonly string[];
  readonly output: string;
  readonly outcome: string;
  /** Id of the preview whose changes can be written; null if they cannot. */
  readonly write: string | null;
};

/** Everything a person must see before answering. */
export type InboxCard = WaitingRow & {
  /** `open`, or how it ended. */
  readonly state: string;
  /** Who answered, and when; null while it is open. */
  readonly answered: string | null;
  /** An answer names what was shown: these two. */
  readonly revision: number;
  readonly fingerprint: string;
  readonly heading: string;
  readonly facts: readonly (readonly [label: string, text: string])[];
  readonly warnings: readonly string[];
  readonly text: string | null;
  /** Arguments of a tool that has no better view. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly effect: CardEffect | null;
  readonly files: readonly CardFile[];
  /** Files or hunks can be approved alone. */
  readonly hasParts: boolean;
  readonly offers: readonly RememberOffer[];
  /** Why no rule is offered. */
  readonly noOffer: string | null;
  /** What a person may edit before approving. */
  readonly editable: "command" | "input" | null;
  /** Modes in which an approved plan may start. */
  readonly modes: readonly { readonly mode: string; readonly says: string }[];
  readonly questions: readonly Question[];
  readonly messages: readonly { readonly who: string; readonly text: string }[];
  readonly explanation: string;
};

/** An answer of the page. It counts only for the revision and fingerprint that were shown. */
export type InboxAnswer = {
  readonly id: string;
  readonly revision: number;
  readonly fingerprint: string;
  readonly outcome: "approve" | "reject";
  readonly reason?: string;
  /** Reject, and end the turn. */
  readonly stop?: boolean;
  readonly remember?: { readonly scope: "session" | "project" | "user"; readonly rules: readonly string[] };
  /** The whole edited input. */
  readonly input?: JsonObject;
  /** Id of the preview to write instead of running the command. */
  readonly write?: string;
  readonly mode?: string;
  /** Only these files, or only these hunks of them. */
  readonly files?: readonly { readonly path: string; readonly hunks?: readonly string[] }[];
  readonly answers?: readonly QuestionAnswer[];
};

/** What became of an answer. `refused` was not saved; `message` says why and what to do. */
export type AnswerResult = {
  readonly id: string;
  readonly result: "saved" | "answered-before" | "changed" | "refused";
  readonly message: string;
};

/** How many sessions are listed, newest first. */
export const MOST_SESSIONS = 200;

/** One session as listed. */
export type SessionLine = {
  readonly id: string;
  readonly title: string;
  readonly agent: string;
  readonly directory: string;
  readonly state: string;
  readonly updatedAt: string;
  readonly waiting: number;
};

/** One line of a session's timeline. */
export type TimelineEntry = {
  /** Its position in the record, which does not change when earlier or later entries are added. */
  readonly pos: number;
  readonly at: string;
  readonly what: string;
  readonly text: string;
  readonly call: string | null;
  /** An approval or a change that has a card. */
  readonly card: string | null;
  /** An applied proposal that can be undone. */
  readonly undo: string | null;
  /** A call or task that runs now and can be cancelled. */
  readonly cancel: CancelTarget;
};

/** A call or task of a session; null means all that the session does now. */
export type CancelTarget = { readonly call: string } | { readonly task: string } | null;

/** How many events of a session are shown at first. */
export const TIMELINE_EVENTS = 200;

/** What happened in a session, oldest first. */
export type SessionTimeline = {
  readonly title: string;
  readonly state: string;
  /** True while a process works on it, which can be cancelled. */
  readonly isRunning: boolean;
  /** How many older events are left out. */
  readonly earlier: number;
  readonly entries: readonly TimelineEntry[];
};

/** One remembered answer. */
export type GrantLine = {
  readonly id: string;
  readonly scope: string;
  readonly rule: string;
  readonly since: string;
  readonly by: string;
  readonly expiresAt: string | null;
};

/** What the page reads and does. Texts are redacted by the desk; the server only carries them. */
export interface InboxDesk {
  waiting(): Promise<readonly WaitingRow[]>;
  /** Undefined if there is no such id. */
  card(id: string): Promise<InboxCard | undefined>;
  /** The input as it is, with its secrets, for editing. */
  reveal(id: string): Promise<JsonObject | undefined>;
  /** Resolves once the answer is saved, or was not. */
  answer(answer: InboxAnswer): Promise<AnswerResult>;
  sessions(): Promise<readonly SessionLine[]>;
  /** The newest `last` events of a session. */
  timeline(session: string, last: number): Promise<SessionTimeline | undefined>;
  export(session: string): Promise<string | undefined>;
  undo(proposal: string): Promise<AnswerResult>;
  /** Asks the process of the session; resolves once it has obeyed, or says why not. */
  cancel(session: string, target: CancelTarget): Promise<AnswerResult>;
  grants(): Promise<readonly GrantLine[]>;
  revoke(grant: string): Promise<AnswerResult>;
  /** Calls `changed` with the newest position of the record, once soon and after each commit, until it is closed; `failed` if the record is gone. */
  follow(changed: (position: number) => void, failed: (error: unknown) => void): { close(): void };
}
