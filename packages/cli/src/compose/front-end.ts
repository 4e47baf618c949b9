import type { ConversationEvent, LoadedAgent } from "@assent/agent";
import type { Approver, DecisionNotice, Maybe, Questioner, Session } from "@assent/core";
import type { HookEntry, HookFunction } from "@assent/core/parts";

/** What a front end observes of one session besides its record. */
export type SessionObserver = {
  readonly decided: (notice: DecisionNotice) => void;
  readonly observe: (event: ConversationEvent) => void;
};

/** Hooks of a front end, in addition to those in settings. */
export type FrontEndHooks = { readonly entries: () => readonly HookEntry[]; readonly functions: Readonly<Record<string, HookFunction>> };

/** Replaces the general system prompt, or is appended to it. */
export type SystemPromptChange = { readonly prompt?: string; readonly append?: string };

/** What a front end adds to its sessions: the main one and those of its agents. */
export type FrontEnd = {
  /** Asks for approvals, instead of the terminal. */
  readonly approver?: Approver;
  readonly questioner?: Questioner;
  /** True if questions can be answered now. */
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
