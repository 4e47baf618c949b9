import type { Answer, Approver, By, Clock, OpenApproval, Remember } from "@assent/core";
import { approvalLines } from "./approval-view.ts";
import { cut } from "./display-width.ts";
import type { Io } from "./io.ts";
import { type Style, stderrStyle } from "./style.ts";
import { openPrompt, type Prompt, type Typed } from "./terminal-prompt.ts";
import { oneLine } from "./visible-text.ts";

/** What the approver needs: a terminal, and what Ctrl-C does to the call. */
export type TerminalApproverParts = {
  readonly io: Pick<Io, "stderr" | "keyboard" | "env">;
  readonly clock: Clock;
  readonly by: By;
  readonly cancel: () => void;
};

type Screen = { readonly prompt: Prompt; readonly style: Style; readonly write: (text: string) => Promise<void> };
type Decided = Pick<Answer, "outcome" | "remember" | "reason">;
/** `again` puts the question once more: nothing usable was typed. */
type Turn = { readonly decided: Decided } | { readonly again: true } | Extract<Typed, { none: unknown }>;

const SCOPES: Readonly<Record<string, Remember["scope"]>> = { s: "session", p: "project", u: "user" };
const FURNITURE_ROWS = 10;

/**
 * Asks the person at this terminal, one question at a time, on stderr. Only a typed letter and Enter answer; Enter alone does not, nor does a key pressed before the
 * question could be read. A long request is shown page by page, and yes is offered after its last page only.
 */
export function terminalApprover(parts: TerminalApproverParts): Approver {
  let last: Promise<unknown> = Promise.resolve();
  return {
    available: () => true,
    ask: (approval, signal) => {
      const turn = last.then(() => question(parts, approval, signal));
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}

async function question(parts: TerminalApproverParts, approval: OpenApproval, signal: AbortSignal): Promise<Answer | undefined> {
  if (signal.aborted) return undefined;
  const { io, clock, by } = parts;
  const prompt = openPrompt({ keyboard: io.keyboard, output: io.stderr, clock, signal });
  const screen: Screen = { prompt, style: stderrStyle(io), write: io.stderr.write };
  try {
    const turn = await converse(parts, screen, approval);
    if ("decided" in turn) {
      const { id, revision, fingerprint } = approval;
      return { approval: id, revision, fingerprint, by, ...turn.decided };
    }
    await screen.write(`\n${FAREWELL[turn.none]}\n`);
    if (turn.none === "cancelled") parts.cancel();
    return undefined;
  } finally {
    prompt.close();
  }
}

const FAREWELL: Readonly<Record<Extract<Typed, { none: unknown }>["none"], string>> = {
  cancelled: "Cancelled.",
  closed: "No answer was given here; the approval stays open.",
  withdrawn: "This approval was answered or closed elsewhere.",
};

async function converse({ io }: TerminalApproverParts, screen: Screen, approval: OpenApproval): Promise<Exclude<Turn, { again: true }>> {
  for (;;) {
    const lines = approvalLines(approval, { columns: io.stderr.columns() ?? 80, style: screen.style });
    const unread = await showPages(screen, lines, Math.max((io.stderr.rows() ?? 24) - FURNITURE_ROWS, 4));
    const turn = unread ?? (await choose(screen, approval));
    if (!("again" in turn)) return turn;
  }
}

/** Shows all lines, a page at a time. Undefined: all of it was shown. */
async function showPages(screen: Screen, lines: readonly string[], rows: number): Promise<Turn | undefined> {
  const pages = Math.ceil(lines.length / rows);
  for (let page = 1; page < pages; page++) {
    const left = lines.slice(page * rows);
    const characters = left.reduce((sum, line) => sum + line.length, 0);
    const text = `${lines.slice((page - 1) * rows, page * rows).join("\n")}\n`;
    const note = `… ${left.length} more lines (${characters} characters). Enter shows more, n says no: `;
    const typed = await screen.prompt.ask(`\n${text}${screen.style.dim(note)}`);
    if ("none" in typed) return typed;
    const key = typed.line.trim();
    if (key.toLowerCase() === "n") return reject(screen);
    if (key !== "") await screen.write(`${said(key)} answers nothing yet: all of it is shown first.\n`);
  }
  await screen.write(`\n${lines.slice((pages - 1) * rows).join("\n")}\n`);
  return undefined;
}

async function choose(screen: Screen, approval: OpenApproval): Promise<Turn> {
  const rules = rememberable(approval);
  const always = [
    ["s", "yes, and do not ask for the like again in this session"],
    ["p", "… in this project"],
    ["u", "… anywhere, for me"],
  ];
  const choices = [["y", "yes, this once"], ...(rules.length > 0 ? always : []), ["n", "no"]];
  const list = choices.map(([key, says]) => `  ${screen.style.bold(key ?? "")}  ${says}\n`).join("");
  const meant = choices.map(([key]) => key).join(", ");
  for (let question = list; ; ) {
    const typed = await screen.prompt.ask(`\n${question}Type a letter, then Enter: `);
    if ("none" in typed) return typed;
    const key = typed.line.trim().toLowerCase();
    const scope = SCOPES[key];
    if (scope !== undefined && rules.length > 0) return confirmRules(screen, scope, rules);
    if (key === "y") return { decided: { outcome: "approve" } };
    if (key === "n") return reject(screen);
    question = `${said(key)} is no answer here; only these are: ${meant}.\n`;
  }
}

const LONGEST_SAID = 20;

/** What was typed, as far as it helps to see one's own mistake. */
function said(typed: string): string {
  return typed === "" ? "Enter alone" : `'${cut(oneLine(typed), LONGEST_SAID)}'`;
}

/** No grant could answer the next such ask where somebody insists on asking, so "always" is then not offered. */
function rememberable({ explicitAsk, details, suggestions }: OpenApproval): readonly string[] {
  return explicitAsk || details.hideAlwaysAllow === true ? [] : suggestions;
}

async function confirmRules(screen: Screen, scope: Remember["scope"], rules: readonly string[]): Promise<Turn> {
  const list = rules.map((rule) => `  ${screen.style.bold(oneLine(rule))}\n`).join("");
  const typed = await screen.prompt.ask(
    `\nThis will be remembered (${scope}) and can be undone with 'assent grants revoke':\n${list}y saves it and says yes, anything else goes back: `,
  );
  if ("none" in typed) return typed;
  return typed.line.trim().toLowerCase() === "y" ? { decided: { outcome: "approve", remember: { scope, rules } } } : { again: true };
}

async function reject(screen: Screen): Promise<Turn> {
  const typed = await screen.prompt.askAtOnce("Reason, told to the model (Enter for none): ");
  if ("none" in typed) return typed.none === "closed" ? { decided: { outcome: "reject" } } : typed;
  return { decided: { outcome: "reject", ...(typed.line.trim() && { reason: typed.line.trim() }) } };
}
