import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "@assent/core";
import { configDirectory } from "../../store/location.ts";

/** What a key can do anywhere on the screen. */
export type Action = "interrupt" | "clear" | "leave" | "mode" | "turn" | "aside" | "open" | "help" | "history" | "newline" | "redraw";

/** An action with its default keys and a short description. */
export type Binding = { readonly action: Action; readonly keys: readonly string[]; readonly says: string };

export const BINDINGS: readonly Binding[] = [
  { action: "interrupt", keys: ["escape"], says: "interrupt the model, not background tasks" },
  { action: "clear", keys: ["ctrl+c"], says: "clear the text or interrupt; twice to leave" },
  { action: "leave", keys: ["ctrl+d"], says: "leave, if nothing is typed" },
  { action: "newline", keys: ["shift+enter", "ctrl+j", "alt+enter"], says: "insert a line break" },
  { action: "history", keys: ["up", "down"], says: "earlier prompts" },
  { action: "mode", keys: ["shift+tab"], says: "next mode: default, plan, auto-edit" },
  { action: "open", keys: ["ctrl+o"], says: "show the whole conversation in full" },
  { action: "turn", keys: ["ctrl+n"], says: "next card that is waiting for you" },
  { action: "aside", keys: ["ctrl+t"], says: "hide waiting cards, or show them again" },
  { action: "redraw", keys: ["ctrl+l"], says: "redraw the screen" },
  { action: "help", keys: ["?"], says: "show these keys, if nothing is typed" },
];

/** Keys of the prompt editor, which cannot be changed. */
const FIXED: readonly Action[] = ["newline", "history"];

export type ChosenKeys = { readonly bindings: readonly Binding[]; readonly warnings: readonly string[] };

/** Applies the person's keys: an object of actions, each with one key or a list. */
export function applyChosenKeys(given: unknown, file: string, bindings: readonly Binding[] = BINDINGS): ChosenKeys {
  if (given === undefined) return { bindings, warnings: [] };
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return { bindings, warnings: [`${file}: must be a JSON object of actions and their keys`] };
  const chosen = new Map<string, readonly string[]>();
  const unknown: string[] = [];
  for (const [action, value] of Object.entries(given)) {
    const keys = keysOf(value);
    const isKnown = BINDINGS.some((binding) => binding.action === action && !FIXED.includes(binding.action));
    if (isKnown && keys) chosen.set(action, keys);
    else unknown.push(action);
  }
  const warnings = unknown.length === 0 ? [] : [`${file}: unknown action, or not a key: ${unknown.join(", ")}`];
  return { bindings: bindings.map((binding) => ({ ...binding, keys: chosen.get(binding.action) ?? binding.keys })), warnings };
}

function keysOf(value: unknown): readonly string[] | undefined {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const keys = list.flatMap((key) => (typeof key === "string" && key !== "" ? [key] : []));
  return keys.length === list.length ? keys : undefined;
}

export function findAction(bindings: readonly Binding[], key: string): Action | undefined {
  return bindings.find(({ keys, action }) => !FIXED.includes(action) && keys.includes(key))?.action;
}

export function keyLines(bindings: readonly Binding[]): readonly string[] {
  const width = Math.max(...bindings.map(({ keys }) => keys.join(", ").length));
  const own = bindings.map(({ keys, says }) => `${keys.join(", ").padEnd(width)}  ${says}`);
  return [
    ...own,
    `${"@".padEnd(width)}  mention a file`,
    `${"/".padEnd(width)}  commands`,
    `${"!".padEnd(width)}  run a shell command; the model sees the result`,
  ];
}

/** Reads `assent/keys.json` from the person's configuration directory. */
export async function readKeyFile(env: Readonly<Record<string, string | undefined>>): Promise<ChosenKeys> {
  const file = join(configDirectory(env), "keys.json");
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return applyChosenKeys(undefined, file);
  try {
    return applyChosenKeys(JSON.parse(text), file);
  } catch (error) {
    return { ...applyChosenKeys(undefined, file), warnings: [`${file}: ${messageOf(error)}`] };
  }
}
