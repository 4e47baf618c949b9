/** What a key can mean to the screen as a whole. */
export type Action = "interrupt" | "clear" | "leave" | "mode" | "turn" | "aside" | "open" | "help" | "history" | "newline" | "redraw";

/** One meaning: its keys unless the person chose others, and what it does in a few words. */
export type Binding = { readonly action: Action; readonly keys: readonly string[]; readonly says: string };

/** Every meaning of a key, in the order in which help lists them. */
export const BINDINGS: readonly Binding[] = [
  { action: "interrupt", keys: ["escape"], says: "interrupt the model; background tasks go on" },
  { action: "clear", keys: ["ctrl+c"], says: "clear the text, or interrupt; twice leaves" },
  { action: "leave", keys: ["ctrl+d"], says: "leave, when nothing is typed" },
  { action: "newline", keys: ["shift+enter", "ctrl+j", "alt+enter"], says: "a new line in your text" },
  { action: "history", keys: ["up", "down"], says: "what you wrote before" },
  { action: "mode", keys: ["shift+tab"], says: "the next mode: default, plan, auto-edit" },
  { action: "open", keys: ["ctrl+o"], says: "everything of the conversation, opened" },
  { action: "turn", keys: ["ctrl+n"], says: "the next of what waits for you" },
  { action: "aside", keys: ["ctrl+t"], says: "put what waits aside, or bring it back" },
  { action: "redraw", keys: ["ctrl+l"], says: "draw the screen again" },
  { action: "help", keys: ["?"], says: "these keys, when nothing is typed" },
];

/** Keys of the prompt itself, which the library keeps. */
const FIXED: readonly Action[] = ["newline", "history"];

/** What a file of keys says, and what of it cannot be used. */
export type ChosenKeys = { readonly bindings: readonly Binding[]; readonly warnings: readonly string[] };

/** The bindings with a person's own choice: an object of actions and their keys, each one key or a list. */
export function chosenKeys(given: unknown, file: string, bindings: readonly Binding[] = BINDINGS): ChosenKeys {
  if (given === undefined) return { bindings, warnings: [] };
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return { bindings, warnings: [`${file}: must be an object of actions and keys`] };
  const chosen = new Map<string, readonly string[]>();
  const unknown: string[] = [];
  for (const [action, value] of Object.entries(given)) {
    const keys = keysOf(value);
    const isKnown = BINDINGS.some((binding) => binding.action === action && !FIXED.includes(binding.action));
    if (isKnown && keys) chosen.set(action, keys);
    else unknown.push(action);
  }
  const warnings = unknown.length === 0 ? [] : [`${file}: no such action, or no key: ${unknown.join(", ")}`];
  return { bindings: bindings.map((binding) => ({ ...binding, keys: chosen.get(binding.action) ?? binding.keys })), warnings };
}

function keysOf(value: unknown): readonly string[] | undefined {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const keys = list.flatMap((key) => (typeof key === "string" && key !== "" ? [key] : []));
  return keys.length === list.length ? keys : undefined;
}

/** What a key means, if anything. */
export function actionOf(bindings: readonly Binding[], key: string): Action | undefined {
  return bindings.find(({ keys, action }) => !FIXED.includes(action) && keys.includes(key))?.action;
}

/** The keys, as help shows them. */
export function keyLines(bindings: readonly Binding[]): readonly string[] {
  const width = Math.max(...bindings.map(({ keys }) => keys.join(", ").length));
  const own = bindings.map(({ keys, says }) => `${keys.join(", ").padEnd(width)}  ${says}`);
  return [
    ...own,
    `${"@".padEnd(width)}  name a file`,
    `${"/".padEnd(width)}  commands`,
    `${"!".padEnd(width)}  run a command yourself; the model is told`,
  ];
}
