const TABLE = /^\s*\[\s*["']?features["']?\s*\]\s*(?:#.*)?$/m;
const HOOKS = /^(\s*["']?hooks["']?\s*=\s*)(true|false)/m;
const ELSEWHERE = /^\s*["']?features["']?\s*(?:\.\s*["']?hooks["']?\s*=\s*false|=\s*\{[^}]*\bhooks["']?\s*=\s*false)/m;

/** The lines of the table `[features]`, as positions in the text. */
function featuresTable(text: string): { readonly start: number; readonly end: number } | undefined {
  const header = TABLE.exec(text);
  if (!header) return undefined;
  const start = header.index + header[0].length;
  const next = /^\s*\[/m.exec(text.slice(start + 1));
  return { start, end: next ? start + 1 + next.index : text.length };
}

export function readsCodexHooks(text: string): boolean {
  const table = featuresTable(text);
  return table !== undefined && HOOKS.exec(text.slice(table.start, table.end))?.[2] === "true";
}

export function disabledCodexHooks(text: string): string | undefined {
  const table = featuresTable(text);
  const value = table && HOOKS.exec(text.slice(table.start, table.end))?.[2];
  return value === "false" || ELSEWHERE.test(text) ? "it switches all hooks off ([features] hooks = false)" : undefined;
}

/** Sets `hooks = true` in the table `[features]` of Codex and leaves everything else as it is. */
export function enableCodexHooks(text: string): string {
  const table = featuresTable(text);
  if (!table) return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}\n[features]\nhooks = true\n`.replace(/^\n/, "");
  const inside = text.slice(table.start, table.end);
  const changed = HOOKS.test(inside) ? inside.replace(HOOKS, "$1true") : `\nhooks = true${inside}`;
  return `${text.slice(0, table.start)}${changed}${text.slice(table.end)}`;
}
