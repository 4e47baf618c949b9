import type { ConversationEvent, LoadedAgent } from "@assent/agent";
import type { Approver, DecisionNotice, Maybe, Questioner, Session } from "@assent/core";
import type { HookEntry, HookFunction } from "@assent/core/parts";
import type { ConfiguredServer } from "@assent/mcp";

export type SessionObserver = {
  readonly decided: (notice: DecisionNotice) => void;
  readonly observe: (event: ConversationEvent) => void;
};

export type FrontEndHooks = { readonly entries: () => readonly HookEntry[]; readonly functions: Readonly<Record<string, HookFunction>> };

export type SystemPromptChange = { readonly prompt?: string; readonly append?: string };

export type FrontEnd = {
  readonly approver?: Approver;
  readonly questioner?: Questioner;
  readonly asks?: () => boolean;
  readonly approvalTimeoutMs?: () => number | undefined;
  readonly hooks?: FrontEndHooks;
  /** They take precedence over agents from files. */
  readonly agents?: () => readonly LoadedAgent[];
  readonly system?: () => SystemPromptChange;
  /** MCP servers that it brings along. */
  readonly servers?: () => readonly ConfiguredServer[];
  /** Called before a session's first call; `parent` is the call that started an agent. */
  readonly attend: (session: Session, parent: string | null) => Maybe<SessionObserver>;
};
