import type { ConversationEvent, LoadedAgent } from "@assent/agent";
import type { Approver, DecisionNotice, Maybe, Questioner, Session } from "@assent/core";
import type { HookEntry, HookFunction } from "@assent/core/parts";

/** What a door hears of one session beyond its record. */
export type SessionObserver = {
  readonly decided: (notice: DecisionNotice) => void;
  readonly observe: (event: ConversationEvent) => void;
};

/** Hooks of a door, beside those of the settings. */
export type FrontEndHooks = { readonly entries: () => readonly HookEntry[]; readonly functions: Readonly<Record<string, HookFunction>> };

/** Replaces the general system prompt, or is appended to it. */
export type SystemPromptChange = { readonly prompt?: string; readonly append?: string };

/** What a door adds to the sessions that are open in it: the main one, and those of its agents. */
export type FrontEnd = {
  /** A way to somebody who says yes or no, instead of the terminal. */
  readonly approver?: Approver;
  readonly questioner?: Questioner;
  /** Whether questions reach somebody this way now; a live value. */
  readonly asks?: () => boolean;
  /** How long an approval stays open; a live value. */
  readonly approvalTimeoutMs?: () => number | undefined;
  readonly hooks?: FrontEndHooks;
  /** Agents that are there only in this session, before those of the files; a live value. */
  readonly agents?: () => readonly LoadedAgent[];
  /** For the main session only; a live value. */
  readonly system?: () => SystemPromptChange;
  /** Called once for every session, before its first call; `parent` is the call that started it, where it is an agent's. */
  readonly attend: (session: Session, parent: string | null) => Maybe<SessionObserver>;
};
