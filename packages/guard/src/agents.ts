import type { GuardEvent, GuardVerdict, HookOutput } from "./guard-event.ts";
import { readClaudeEvent, writeClaudeVerdict, writeCodexVerdict } from "./wires/claude.ts";
import { readGeminiEvent, writeGeminiVerdict } from "./wires/gemini.ts";
import { readOpencodeEvent, writeOpencodeVerdict } from "./wires/opencode.ts";

/** An agent that Assent can guard: how it calls its hooks, and what it does with their answers. */
export type GuardedAgent = {
  readonly name: AgentName;
  readonly title: string;
  /** Throws `GuardInputError`. */
  readonly read: (text: string) => GuardEvent;
  readonly write: (verdict: GuardVerdict, event: GuardEvent) => HookOutput;
  /** A hook may leave the decision to the agent's own dialog: without a person, the agent refuses. */
  readonly hasDialog: boolean;
  /** How long the agent waits for a hook, in seconds, as `install` configures it. */
  readonly timeoutSeconds: number;
};

/** The agents as rules and commands name them. */
export const AGENT_NAMES: readonly ["claude", "codex", "gemini", "qwen", "opencode"] = ["claude", "codex", "gemini", "qwen", "opencode"];

/** One of `AGENT_NAMES`. */
export type AgentName = (typeof AGENT_NAMES)[number];

const writeClaude: GuardedAgent["write"] = (verdict, { kind }) =>
  writeClaudeVerdict(verdict, kind === "dialog" ? "PermissionRequest" : "PreToolUse");

/** Every agent by its name. */
export const AGENTS: Readonly<Record<AgentName, GuardedAgent>> = {
  claude: { name: "claude", title: "Claude Code", read: readClaudeEvent, write: writeClaude, hasDialog: true, timeoutSeconds: 600 },
  codex: { name: "codex", title: "Codex", read: readClaudeEvent, write: writeCodexVerdict, hasDialog: false, timeoutSeconds: 600 },
  gemini: { name: "gemini", title: "Gemini CLI", read: readGeminiEvent, write: writeGeminiVerdict, hasDialog: false, timeoutSeconds: 600 },
  qwen: { name: "qwen", title: "Qwen Code", read: readClaudeEvent, write: writeClaude, hasDialog: true, timeoutSeconds: 600 },
  opencode: {
    name: "opencode",
    title: "opencode",
    read: readOpencodeEvent,
    write: writeOpencodeVerdict,
    hasDialog: false,
    timeoutSeconds: 600,
  },
};
