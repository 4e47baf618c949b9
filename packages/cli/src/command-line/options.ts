import type { OptionSpec } from "./spec.ts";

const STORE: OptionSpec = {
  name: "store",
  takes: "text",
  value: "DIR",
  says: "state directory (else ASSENT_STORE, else ~/.local/state/assent)",
};
const JSON_OUT: OptionSpec = { name: "json", takes: "nothing", says: "print one JSON value instead of text, errors too" };

/** Every command takes these. */
export const COMMON: readonly OptionSpec[] = [STORE, JSON_OUT];

/** How lists are paged. */
export const PAGE: readonly OptionSpec[] = [
  { name: "limit", takes: "count", value: "N", max: 1000, says: "at most N entries (default 100)" },
  { name: "after", takes: "text", value: "ID", says: "only entries after this one" },
];

/** Which custom tools there are. */
export const LOADING: readonly OptionSpec[] = [
  { name: "tool", takes: "list", value: "FILE", says: "load a module of custom tools (repeatable)" },
  { name: "strict-tools", takes: "nothing", says: "do not start when a custom tool cannot be loaded" },
];

/** `--on-ask`, with what holds where it is not given. */
export function onAsk(otherwise: string): OptionSpec {
  const says = `what an ask becomes when nobody is to be asked here (default ${otherwise})`;
  return { name: "on-ask", takes: "choice", choices: ["deny", "park", "fail"], says };
}

/** What judges a call, wherever it is made. */
export const JUDGING: readonly OptionSpec[] = [
  { name: "mode", takes: "choice", choices: ["default", "plan", "auto-edit", "yolo"], says: "how much runs without asking" },
  { name: "allow", takes: "list", value: "RULE", says: "allow what the rule covers, e.g. 'Shell(git status)' (repeatable)" },
  { name: "ask", takes: "list", value: "RULE", says: "always ask for what the rule covers (repeatable)" },
  { name: "deny", takes: "list", value: "RULE", says: "never run what the rule covers, in any mode (repeatable)" },
  { name: "add-dir", takes: "list", value: "DIR", says: "count this directory as part of the workspace (repeatable)" },
  { name: "policy", takes: "text", value: "FILE", says: "judge by this file alone: no settings, rules of flags or trust are read" },
  ...LOADING,
];

/** Who answers, and why. */
export const ANSWERING: readonly OptionSpec[] = [
  { name: "reason", takes: "text", value: "TEXT", says: "recorded with the answer; the model is told why it was rejected" },
  { name: "by", takes: "text", value: "NAME", says: "your name, recorded as a claim beside the operating-system user" },
];
