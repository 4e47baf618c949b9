import { resolve } from "node:path";
import type { ConfirmationDetails, Json, OpenApproval } from "@assent/core";

/** Short values are lines, longer ones blocks. */
export type RestOfInput = { readonly lines: readonly string[]; readonly blocks: readonly string[] };

type Field = readonly [name: string, value: Json];

/** Finds the input that a card does not show elsewhere. */
export function restOfInput(approval: OpenApproval): RestOfInput {
  const rest = Object.entries(approval.input).filter((field) => !isShown(approval, field));
  const lines = rest.map(lineOf);
  const isShort = (line: string): boolean => line.length <= LONGEST_LINE;
  return { lines: lines.filter(isShort), blocks: rest.flatMap((field, at) => (isShort(lines[at] ?? "") ? [] : [blockOf(field)])) };
}

const LONGEST_LINE = 120;

const WORDS: Readonly<Record<string, string>> = { run_in_background: "in the background", replace_all: "every occurrence" };

const PLAIN_NAME = /^[\w.-]+$/;

function nameOf(name: string): string {
  return PLAIN_NAME.test(name) ? name : JSON.stringify(name);
}

function lineOf([name, value]: Field): string {
  const words = WORDS[name];
  if (words !== undefined && typeof value === "boolean") return `${words}: ${value ? "yes" : "no"}`;
  return `${nameOf(name)}: ${JSON.stringify(value)}`;
}

function blockOf([name, value]: Field): string {
  return `${nameOf(name)}: ${JSON.stringify(value, null, 2).replaceAll(/\n *(?=[}\]])/g, " ")}`;
}

function isShown(approval: OpenApproval, [name, value]: Field): boolean {
  const { details } = approval;
  const { warnings = [] } = details;
  if (name === "run_in_background") return value === true && warnings.some((warning) => warning.startsWith(STAYS));
  if (typeof value !== "string") return false;
  if (name === "description" && warnings.includes(`${SAYS}${value}`)) return true;
  const isFirst = Object.entries(approval.input).find(([, other]) => other === value)?.[0] === name; // a text shown once covers only one field
  return (isFirst && shownWhole(details).includes(value)) || isDrawn(approval, name, value);
}

const STAYS = "It runs in the background";

const SAYS = "The model says: ";

/** After an edit, the model's description is about its own version. */
export function warningAfterEdit(warning: string): string {
  return warning.startsWith(SAYS) ? `The model said of its own version: ${warning.slice(SAYS.length)}` : warning;
}

const CHANGED_LINE = /^(?:\+(?!\+\+ )|-(?!-- ))/m;

/** A card shows new file content only as a diff, if there is one. */
function shownWhole(details: ConfirmationDetails): readonly string[] {
  switch (details.type) {
    case "exec":
      return [details.command];
    case "edit":
      return CHANGED_LINE.test(details.fileDiff) ? [details.newContent, details.filePath] : [details.filePath];
    case "info":
      return [details.prompt, ...(details.urls ?? [])];
    case "plan":
      return [details.plan];
    case "mcp":
      return [];
    default:
      return details satisfies never;
  }
}

function isDrawn({ tool, details, cwd }: OpenApproval, name: string, value: string): boolean {
  if (details.type === "exec") return name === "cwd" && resolve(cwd, value) === details.cwd;
  if (details.type !== "edit" || (tool !== "edit" && tool !== "write")) return false;
  if (name === "file_path") return resolve(cwd, value) === details.filePath;
  if (tool !== "edit" || !CHANGED_LINE.test(details.fileDiff)) return false;
  if (name === "old_string") return details.originalContent?.includes(value) === true;
  return name === "new_string" && details.newContent.includes(value);
}
