import type { Mode } from "@assent/core";

/** A text that is hidden in logs and telemetry. */
export type RedactionPattern = { readonly name: string; readonly prefix?: string; readonly literal?: string; readonly key?: string };

/** The effective value of every setting that is no rule and no hook, by the key as it is documented. */
export type Settings = {
  readonly version: 1;
  readonly mode: Mode;
  readonly model: string | undefined;
  readonly onAsk: "deny" | "park" | "fail";
  readonly "permissions.readOnlyHint": "allow" | "ask";
  readonly "permissions.protect": readonly string[];
  readonly "permissions.sensitive": readonly string[];
  readonly "permissions.lock": readonly Mode[];
  /** Absolute. */
  readonly additionalDirectories: readonly string[];
  readonly stopHookLimit: number;
  readonly secretEnv: readonly string[];
  readonly "shell.env": readonly string[];
  /** Empty: the system's default. */
  readonly "shell.path": readonly string[];
  readonly "proposals.resolver": "both" | "model" | "person";
  readonly "proposals.steering": "force" | "remind-then-force" | "remind" | "none";
  readonly "astEdit.maxFiles": number;
  readonly "astEdit.maxChanges": number;
  /** Seconds; 0 is never. */
  readonly "ask.timeout": number;
  readonly "ask.notify": "on" | "off";
  readonly "tasks.maxRunning": number;
  /** Undefined: `bubble` in the terminal interface, else `deny`. */
  readonly "tasks.onAsk": "deny" | "bubble" | "park" | undefined;
  readonly "tools.maxConcurrency": number;
  readonly "tools.timeoutMs": number | undefined;
  /** Seconds. */
  readonly "tools.loadTimeout": number;
  readonly "tools.watch": boolean;
  readonly maxCostUsd: number | undefined;
  readonly maxConsecutiveToolCalls: number;
  readonly editor: string | undefined;
  readonly "tui.theme": "auto" | "light" | "dark";
  readonly "tui.keys": Readonly<Record<string, string>>;
  readonly "recovery.retryIdempotent": boolean;
  readonly "mcp.trusted": readonly string[];
  readonly "redaction.patterns": readonly RedactionPattern[];
  readonly "telemetry.content": boolean;
};
