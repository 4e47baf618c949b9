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

/** What a front end adds to the main session and those of its agents. */
export type FrontEnd = {
  readonly approver?: Approver;
  readonly questioner?: Questioner;
  /** True if questions can be answered now. */
  readonly asks?: () => boolean;
  readonly approvalTimeoutMs?: () => number | undefined;
  readonly hooks?: FrontEndHooks;
  /** Agents of this session only; they take precedence over files. */
  readonly agents?: () => readonly LoadedAgent[];
  readonly system?: () => SystemPromptChange;
  /** Called once per session, before its first call; `parent` is the call that started an agent. */
  readonly attend: (session: Session, parent: string | null) => Maybe<SessionObserver>;
};
