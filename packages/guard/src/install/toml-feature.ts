import { scanToml, type TomlItem } from "../mcp-install/toml.ts";
import { AgentConfigError } from "./hook-config.ts";

const INLINE = /(\bhooks["']?\s*=\s*)(true|false)\b/;

/** The parts of a configuration that say something about its features: a table, an inline table, or dotted keys. */
type Features = {
  readonly hooks: TomlItem | undefined;
  readonly table: TomlItem | undefined;
  readonly inline: TomlItem | undefined;
  readonly dotted: TomlItem | undefined;
};

function findFeatures(text: string): Features {
  const items = scanToml(text).filter(({ path }) => path[0] === "features");
  const table = items.find(({ path, isTable }) => isTable && path.length === 1);
  return {
    hooks: items.find(({ path, isTable }) => !isTable && path.length === 2 && path[1] === "hooks"),
    table,
    inline: items.find(({ path, isTable }) => !isTable && path.length === 1),
    dotted: table ? undefined : items.find(({ path, isTable }) => !isTable && path.length === 2),
  };
}

const valueText = (text: string, item: TomlItem | undefined): string => (item ? text.slice(item.valueStart, item.valueEnd) : "");

/** `true`, `false`, or undefined if the configuration does not say. */
function hooksValue(text: string): string | undefined {
  const { hooks, inline } = findFeatures(text);
  return hooks ? valueText(text, hooks) : INLINE.exec(valueText(text, inline))?.[2];
}

export function readsCodexHooks(text: string): boolean {
  return hooksValue(text) === "true";
}

export function disabledCodexHooks(text: string): string | undefined {
  return isDisabled(text) ? "it switches all hooks off ([features] hooks = false)" : undefined;
}

function isDisabled(text: string): boolean {
  try {
    return hooksValue(text) === "false";
  } catch (error) {
    if (!(error instanceof AgentConfigError)) throw error;
    return INLINE.exec(text)?.[2] === "false"; // Codex may read what Assent cannot
  }
}

/** Sets `hooks = true` among the features of Codex and leaves everything else as it is. */
export function enableCodexHooks(text: string): string {
  const { hooks, table, inline, dotted } = findFeatures(text);
  const put = (at: number, words: string, until = at): string => `${text.slice(0, at)}${words}${text.slice(until)}`;
  if (hooks) return put(hooks.valueStart, "true", hooks.valueEnd);
  if (table) return put(table.end, `${text.slice(0, table.end).endsWith("\n") ? "" : "\n"}hooks = true\n`);
  if (dotted) return put(dotted.start, "features.hooks = true\n");
  if (inline) return put(inline.valueStart, enableInline(valueText(text, inline)), inline.valueEnd);
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}\n[features]\nhooks = true\n`.replace(/^\n/, "");
}

function enableInline(value: string): string {
  if (INLINE.test(value)) return value.replace(INLINE, "$1true");
  return value.replace(/^\{\s*(\}?)/, (_start, end: string) => (end ? "{ hooks = true }" : "{ hooks = true, "));
}
