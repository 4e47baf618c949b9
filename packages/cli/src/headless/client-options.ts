import { usageError } from "../failure.ts";
import { meantMode } from "./permission-modes.ts";

/** What becomes of an option of another program's client. */
type Meaning =
  /** It says nothing that matters here. */
  { readonly ignored: "switch" | "value" } | { readonly becomes: (value: string) => readonly string[] };

const IGNORED_VALUES = [
  ...["channel", "auth-type", "fallback-model", "max-subagent-depth", "extensions", "disabled-slash-commands", "proxy"],
  ...[
    "setting-sources",
    "thinking",
    "max-thinking-tokens",
    "effort",
    "debug-file",
    "permission-prompt-tool",
    "allowed-tools",
    "allowedTools",
  ],
  ...["system-prompt", "append-system-prompt"],
];
const IGNORED_SWITCHES = [
  ...["include-hook-events", "debug", "await-initialize", "no-session-persistence", "strict-mcp-config"],
  "allow-dangerously-skip-permissions",
];

const each =
  (option: string) =>
  (value: string): readonly string[] =>
    listed(value).flatMap((part) => [`--${option}`, part]);

/** The items between commas; a comma inside parentheses belongs to its rule. */
function listed(value: string): readonly string[] {
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
  const meant = meantMode(value);
  if (!meant) throw usageError("run", `there is no mode '${value}'. Modes are default, plan, auto-edit and yolo.`);
  return ["--mode", meant.mode, ...(meant.unasked ? ["--on-ask", "deny"] : [])];
}

/** -1 is how they say that there is no limit. */
const limit =
  (option: string) =>
  (value: string): readonly string[] =>
    value === "-1" ? [] : [`--${option}`, value];

/** Options that public clients of this wire send and that are not ours. What would narrow a run and is not honoured is not among them: it is refused as unknown. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  ...Object.fromEntries(IGNORED_VALUES.map((name) => [name, { ignored: "value" }] as const)),
  ...Object.fromEntries(IGNORED_SWITCHES.map((name) => [name, { ignored: "switch" }] as const)),
  "approval-mode": { becomes: mode },
  "permission-mode": { becomes: mode },
  "max-session-turns": { becomes: limit("max-turns") },
  "max-tool-calls": { becomes: limit("max-tool-calls") },
  "session-id": { becomes: (value) => ["--session", value] },
  "include-directories": { becomes: each("add-dir") },
  "exclude-tools": { becomes: each("deny") },
  disallowedTools: { becomes: each("deny") },
};

const FORMATS = ["--input-format", "--output-format"];

/** A command line without a command, but with a format, is a run; one of a public client is put into our words. */
export function commandOfFormat(argv: readonly string[], commands: readonly string[]): readonly string[] {
  const [first] = argv;
  const end = argv.indexOf("--");
  const options = end === -1 ? argv : argv.slice(0, end);
  const hasFormat = options.some((word) => FORMATS.includes(word.split("=")[0] ?? ""));
  if (!hasFormat || first === undefined || commands.some((name) => name.split(" ")[0] === first)) return argv;
  const { words, resumed } = translated(options);
  const command = resumed === undefined ? ["run"] : ["resume", resumed];
  return [...command, ...words, ...(end === -1 ? [] : argv.slice(end))];
}

type Translated = { readonly words: readonly string[]; readonly resumed: string | undefined };

function translated(argv: readonly string[]): Translated {
  const words: string[] = [];
  let resumed: string | undefined;
  for (let at = 0; at < argv.length; ) {
    const option = readOption(argv, at);
    if (option.name === "resume") resumed = option.value;
    else words.push(...option.words);
    at += option.length;
  }
  return { words, resumed };
}

type Option = { readonly name: string; readonly value: string; readonly words: readonly string[]; readonly length: 1 | 2 };

/** One word of the line, or an option of another program's with its value. */
function readOption(argv: readonly string[], at: number): Option {
  const word = argv[at] ?? "";
  const [name = "", ...rest] = word.startsWith("--") ? word.slice(2).split("=") : [""];
  const meaning = name === "resume" ? RESUMES : Object.hasOwn(MEANINGS, name) ? MEANINGS[name] : undefined;
  if (!meaning) return { name: "", value: "", words: [word], length: 1 };
  if ("ignored" in meaning && meaning.ignored === "switch") return { name, value: "", words: [], length: 1 };
  const isInline = rest.length > 0;
  const value = isInline ? rest.join("=") : (argv[at + 1] ?? "");
  return { name, value, words: "becomes" in meaning ? meaning.becomes(value) : [], length: isInline ? 1 : 2 };
}

const RESUMES: Meaning = { becomes: () => [] };
