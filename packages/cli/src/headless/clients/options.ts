import type { SystemPromptChange } from "../../compose/front-end.ts";
import { usageError } from "../../io/failure.ts";
import { translateMode } from "../host/permission-modes.ts";

export type Client = {
  /** `claude`: hosts of Claude Code's SDK, which expect its own message form. */
  readonly name: "claude" | "qwen" | "other";
  readonly mode: string | undefined;
  readonly system: SystemPromptChange;
  readonly unhonored: readonly string[];
};

export type CommandOfClient = { readonly argv: readonly string[]; readonly client?: Client };

type OptionMeaning = {
  readonly takes: "switch" | "value";
  /** The options it is translated to, if any. */
  readonly becomes?: (value: string) => readonly string[];
  readonly says?: (value: string) => Partial<Client>;
};

const IGNORED_SWITCH: OptionMeaning = { takes: "switch" };

/** Options without effect, which are reported to the client. */
const WITHOUT_EFFECT = {
  value: [
    ...["auth-type", "fallback-model", "max-subagent-depth", "extensions", "disabled-slash-commands", "proxy"],
    ...["setting-sources", "thinking", "max-thinking-tokens", "effort", "debug-file", "json-schema", "betas"],
  ],
  switch: ["include-hook-events", "no-session-persistence"],
} as const;

const each =
  (option: string) =>
  (value: string): readonly string[] =>
    splitList(value).flatMap((part) => [`--${option}`, part]);

function splitList(value: string): readonly string[] {
  const items = [""];
  let depth = 0;
  for (const character of value) {
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
    if (character === "," && depth <= 0) items.push("");
    else items.push(`${items.pop()}${character}`);
  }
  return items.map((item) => item.trim()).filter((item) => item !== "");
}

function mode(value: string): readonly string[] {
  const meant = translateMode(value);
  if (!meant) throw usageError("run", `there is no mode '${value}'. Modes are default, plan, auto-edit and yolo.`);
  return ["--mode", meant.mode, ...(meant.unasked ? ["--on-ask", "deny"] : [])];
}

/** -1 means no limit. */
const limit =
  (option: string) =>
  (value: string): readonly string[] =>
    value === "-1" ? [] : [`--${option}`, value];

const MODE: OptionMeaning = { takes: "value", becomes: mode, says: (value) => ({ mode: value }) };
const ALLOW: OptionMeaning = { takes: "value", becomes: each("allow") };
const DENY: OptionMeaning = { takes: "value", becomes: each("deny") };

function withoutEffect(name: string, takes: OptionMeaning["takes"]): readonly [string, OptionMeaning] {
  return [name, { takes, says: () => ({ unhonored: [name] }) }];
}

/** Options of other clients. Options that would narrow a run but are not supported are missing, so that they are refused as unknown. */
const MEANINGS: Readonly<Record<string, OptionMeaning>> = {
  ...Object.fromEntries(WITHOUT_EFFECT.value.map((name) => withoutEffect(name, "value"))),
  ...Object.fromEntries(WITHOUT_EFFECT.switch.map((name) => withoutEffect(name, "switch"))),
  channel: { takes: "value", says: () => ({ name: "qwen" }) },
  debug: IGNORED_SWITCH,
  "await-initialize": IGNORED_SWITCH,
  "strict-mcp-config": { takes: "switch", becomes: () => ["--strict-mcp-config"] },
  "allow-dangerously-skip-permissions": IGNORED_SWITCH, // the mode says it
  "permission-prompt-tool": { takes: "value", says: (value) => (value === "stdio" ? {} : { unhonored: ["permission-prompt-tool"] }) },
  "approval-mode": MODE,
  "permission-mode": MODE,
  "max-session-turns": { takes: "value", becomes: limit("max-turns") },
  "max-tool-calls": { takes: "value", becomes: limit("max-tool-calls") },
  "session-id": { takes: "value", becomes: (value) => ["--session", value] },
  "include-directories": { takes: "value", becomes: each("add-dir") },
  "mcp-config": { takes: "value", becomes: (value) => ["--mcp-config", value] },
  "exclude-tools": DENY,
  disallowedTools: DENY,
  "allowed-tools": ALLOW,
  allowedTools: ALLOW,
  "system-prompt": { takes: "value", says: (value) => ({ system: { prompt: value } }) },
  "append-system-prompt": { takes: "value", says: (value) => ({ system: { append: value } }) },
  resume: { takes: "value" },
};

const FORMATS = ["--input-format", "--output-format"];

/** Treats a command line with a format but no command as a run, and translates the options of other clients. */
export function commandOfFormat(argv: readonly string[], commands: readonly string[]): CommandOfClient {
  const [first] = argv;
  const end = argv.indexOf("--");
  const options = end === -1 ? argv : argv.slice(0, end);
  const hasFormat = options.some((word) => FORMATS.includes(word.split("=")[0] ?? ""));
  if (!hasFormat || first === undefined || commands.some((name) => name.split(" ")[0] === first)) return { argv };
  const { words, resumed, client } = translateLine(options);
  const command = resumed === undefined ? ["run"] : ["resume", resumed];
  return { argv: [...command, ...words, ...(end === -1 ? [] : argv.slice(end))], client };
}

type TranslatedLine = { readonly words: readonly string[]; readonly resumed: string | undefined; readonly client: Client };

function translateLine(argv: readonly string[]): TranslatedLine {
  const words: string[] = [];
  let resumed: string | undefined;
  let client: Client = { name: isClaude(argv) ? "claude" : "other", mode: undefined, system: {}, unhonored: [] };
  for (let at = 0; at < argv.length; ) {
    const { name, value, length, meaning } = readOption(argv, at);
    if (name === "resume") resumed = value;
    else words.push(...(meaning ? (meaning.becomes?.(value) ?? []) : [value]));
    client = mergeClient(client, meaning?.says?.(value) ?? {});
    at += length;
  }
  return { words, resumed, client };
}

/** Claude Code's SDK always passes these three options. */
function isClaude(argv: readonly string[]): boolean {
  const text = ` ${argv.join(" ")} `;
  return argv.includes("--verbose") && /--input-format[= ]stream-json /.test(text) && /--output-format[= ]stream-json /.test(text);
}

function mergeClient(client: Client, said: Partial<Client>): Client {
  return {
    ...client,
    ...said,
    system: { ...client.system, ...said.system },
    unhonored: [...client.unhonored, ...(said.unhonored ?? [])],
  };
}

type Option = { readonly name: string; readonly value: string; readonly length: 1 | 2; readonly meaning: OptionMeaning | undefined };

function readOption(argv: readonly string[], at: number): Option {
  const word = argv[at] ?? "";
  const [name = "", ...rest] = word.startsWith("--") ? word.slice(2).split("=") : [""];
  const meaning = Object.hasOwn(MEANINGS, name) ? MEANINGS[name] : undefined;
  if (!meaning) return { name: "", value: word, length: 1, meaning };
  if (meaning.takes === "switch") return { name, value: "", length: 1, meaning };
  if (rest.length > 0) return { name, value: rest.join("="), length: 1, meaning };
  const value = argv[at + 1];
  if (value === undefined) throw usageError("run", `--${name} needs a value.`);
  return { name, value, length: 2, meaning };
}
