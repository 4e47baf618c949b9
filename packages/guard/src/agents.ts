import type { GuardEvent, GuardVerdict, HookOutput } from "./guard-event.ts";
import { denyByExit, denyQwen, readClaudeEvent, writeClaudeVerdict, writeCodexVerdict, writeQwenVerdict } from "./wires/claude.ts";
import { readGeminiEvent, writeGeminiVerdict } from "./wires/gemini.ts";
import { readOpencodeEvent, writeOpencodeVerdict } from "./wires/opencode.ts";

/** An agent that Assent can guard: how it calls its hooks, and what it does with their answers. */
export type GuardedAgent = {
  readonly name: AgentName;
  readonly title: string;
  /** Throws `GuardInputError`. */
  readonly read: (text: string) => GuardEvent;
  readonly write: (verdict: GuardVerdict, event: GuardEvent) => HookOutput;
  /** The output that denies any event, also one that could not be read. */
  readonly deny: (reason: string) => HookOutput;
  /** A hook may leave the decision to the agent's own dialog: without a person, the agent refuses. */
  readonly hasDialog: boolean;
  /** How long the agent waits for a hook, in seconds, as `install` configures it. */
  readonly timeoutSeconds: number;
};

/** The agents as rules and commands name them. */
export const AGENT_NAMES: readonly ["claude", "codex", "gemini", "qwen", "opencode"] = ["claude", "codex", "gemini", "qwen", "opencode"];

/** One of `AGENT_NAMES`. */
export type AgentName = (typeof AGENT_NAMES)[number];

const timeoutSeconds = 600;
const writeClaude: GuardedAgent["write"] = (verdict, { kind }) =>
  writeClaudeVerdict(verdict, kind === "dialog" ? "PermissionRequest" : "PreToolUse");

/** Every agent by its name. */
export const AGENTS: Readonly<Record<AgentName, GuardedAgent>> = {
  claude: {
    ...{ name: "claude", title: "Claude Code", hasDialog: true, timeoutSeconds },
    ...{ read: readClaudeEvent, write: writeClaude, deny: denyByExit },
  },
  codex: {
    ...{ name: "codex", title: "Codex", hasDialog: false, timeoutSeconds },
    ...{ read: readClaudeEvent, write: writeCodexVerdict, deny: denyByExit },
  },
  gemini: {
    ...{ name: "gemini", title: "Gemini CLI", hasDialog: false, timeoutSeconds },
    ...{ read: readGeminiEvent, write: writeGeminiVerdict, deny: denyByExit },
  },
  qwen: {
    ...{ name: "qwen", title: "Qwen Code", hasDialog: true, timeoutSeconds },
    ...{ read: readClaudeEvent, write: writeQwenVerdict, deny: denyQwen },
  },
  opencode: {
    ...{ name: "opencode", title: "opencode", hasDialog: false, timeoutSeconds },
    ...{ read: readOpencodeEvent, write: writeOpencodeVerdict, deny: denyByExit },
  },
};
