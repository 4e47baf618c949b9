import type { Answer, Approver, By, Clock, EffectOffer, OpenApproval, Remember } from "@assent/core";
import type { FileDiff } from "@assent/core/parts";
import type { Io } from "../../io/io.ts";
import { type Style, styleOf } from "../../io/style.ts";
import { oneLine } from "../../io/visible-text.ts";
import { chooseAll, partialContent, partOf } from "../../tui/diff/choice.ts";
import { ALLOW_CONFINED, acceptedOfferText, acceptOffer, type ConfinedOffer } from "../approvals/confined-offer.ts";
import { type ApprovalEditor, CHANGED_NOTE, changeSinceShown } from "../approvals/editor.ts";
import { isAskedAboutConfined } from "../approvals/facts.ts";
import { type RuleOffer, ruleOffers, whyNotRemembered } from "../approvals/remember.ts";
import type { RequestEdit } from "../approvals/revise.ts";
import { appliesProposal, approvalLines } from "../approvals/view.ts";
import { ruleWords } from "../grants/remembered-rule.ts";
import { editReviewed, type ReviewedChange, withEdited } from "../proposals/review.ts";
import { reviewLines } from "../proposals/review-lines.ts";
import { askFile, askParts, hunksOf } from "./ask-parts.ts";
import { openPrompt, type Prompt, quoteTyped, type TypedLine } from "./prompt.ts";

export type TerminalApproverParts = {
  readonly io: Pick<Io, "stderr" | "keyboard" | "env">;
  readonly clock: Clock;
  readonly by: By;
  readonly cancel: () => void;
  /** Absent if requests cannot be edited here. */
  readonly edit?: ApprovalEditor;
  /** Discards the proposal that the rejected call would have applied. */
  readonly discardAfterNo?: (approval: OpenApproval, reason: string) => void;
  readonly review?: (approval: OpenApproval) => Promise<readonly ReviewedChange[] | undefined> | undefined;
  /** Offers, once, to stop asking about confined commands. */
  readonly confinedOffer?: ConfinedOffer;
  readonly stops?: boolean;
};

type Screen = {
  prompt: Prompt;
  readonly style: Style;
  /** The room for one page. */
  readonly size: () => { readonly columns: number; readonly rows: number };
  readonly write: (text: string) => Promise<void>;
  readonly aside: <T>(work: () => Promise<T>) => Promise<T>;
  edited: RequestEdit | undefined;
  review: readonly ReviewedChange[] | undefined;
  readonly allowConfinedIn: string | undefined;
};
type TypedDecision = Pick<Answer, "outcome" | "remember" | "reason" | "mode" | "interrupt" | "write" | "part" | "newContent"> & {
  readonly discard?: true;
};
/** `again`: nothing usable was typed. */
type Turn =
  | { readonly decided: TypedDecision }
  | { readonly again: true }
  | { readonly edit: ApprovalEditor }
  | { readonly editFile: ReviewedChange }
  | Extract<TypedLine, { none: unknown }>;

const SCOPE_WORDS: Readonly<Record<Remember["scope"], string>> = {
  session: "this session",
  project: "this project",
  user: "all your projects",
};
const FURNITURE_ROWS = 10;

/** Asks one question at a time; `oneAtATime` queues them. */
export function terminalApprover(parts: TerminalApproverParts): Approver {
  return { available: () => true, ask: (approval, signal) => askOnce(parts, approval, signal) };
}

async function askOnce(parts: TerminalApproverParts, approval: OpenApproval, signal: AbortSignal): Promise<Answer | undefined> {
  if (signal.aborted) return undefined;
  const { io, clock, by } = parts;
  const open = (): Prompt => openPrompt({ keyboard: io.keyboard, output: io.stderr, clock, signal });
  const loading = parts.review?.(approval);
  const screen: Screen = {
    prompt: open(),
    style: styleOf(io.stderr, io.env),
    size: () => ({ columns: io.stderr.columns() ?? 80, rows: Math.max((io.stderr.rows() ?? 24) - FURNITURE_ROWS, 4) }),
    write: io.stderr.write,
    edited: undefined,
    allowConfinedIn: isAskedAboutConfined(approval) ? parts.confinedOffer?.take() : undefined,
    review: loading && (await loading.catch(() => undefined)), // the text of the request is shown instead
    aside: async (work) => {
      screen.prompt.close();
      return await work().finally(() => {
        screen.prompt = open();
      });
    },
  };
  try {
    const turn = await converse(parts, screen, { approval, signal });
    if ("decided" in turn) {
      const { id, revision, fingerprint } = approval;
      const { discard, ...decided } = turn.decided;
      if (discard) parts.discardAfterNo?.(approval, decided.reason ?? "");
      const isEdited = decided.outcome === "approve" && decided.newContent === undefined;
      return { approval: id, revision, fingerprint, by, ...decided, ...(isEdited && screen.edited) };
    }
    await screen.write(`\n${FAREWELL[turn.none]}\n`);
    if (turn.none === "cancelled") parts.cancel();
    return undefined;
  } finally {
    screen.prompt.close();
  }
}

const FAREWELL: Readonly<Record<Extract<TypedLine, { none: unknown }>["none"], string>> = {
  cancelled: "Cancelled.",
  closed: "No answer was given here; the approval stays open.",
  withdrawn: "This approval was answered or closed elsewhere.",
};

type ApprovalQuestion = { readonly approval: OpenApproval; readonly signal: AbortSignal };

async function converse(parts: TerminalApproverParts, screen: Screen, asked: ApprovalQuestion): Promise<FinalTurn> {
  for (let { approval } = asked; ; ) {
    const turn = await present(parts, screen, approval);
    if ("again" in turn) continue;
    if ("editFile" in turn) {
      await editFile(parts, screen, { file: turn.editFile, signal: asked.signal });
      continue;
    }
    const isEdit = "edit" in turn;
    const next = isEdit
      ? await applyEdit(screen, asked, () => openEditor(turn.edit, asked, approval))
      : await recheckEdit(parts, screen, { turn, asked, approval });
    if (!isEdit && !next) return turn;
    approval = next ?? approval;
  }
}

async function present(parts: TerminalApproverParts, screen: Screen, approval: OpenApproval): Promise<Turn> {
  const { style, review, edited } = screen;
  const { columns } = screen.size();
  const isPreview = approval.details.effect?.state === "shown"; // its changes are shown beside the command
  const files = isPreview ? [] : (review ?? hunksOf(approval));
  const shown = files.length > 0 ? reviewLines(files, { columns, style }) : undefined;
  const lines = approvalLines(approval, { columns, style, edited: edited !== undefined, shown });
  return (await showPages(screen, lines)) ?? (await choose(screen, approval, parts));
}

async function recheckEdit(
  { edit: editor }: TerminalApproverParts,
  screen: Screen,
  { turn, asked, approval }: { readonly turn: FinalTurn; readonly asked: ApprovalQuestion; readonly approval: OpenApproval },
): Promise<OpenApproval | undefined> {
  const { edited: edit } = screen;
  if (!edit || !editor || !("decided" in turn) || turn.decided.outcome !== "approve") return undefined;
  const now = await changeSinceShown(editor, { asked: asked.approval, edit, approval }, asked.signal);
  if (!now) return undefined;
  await screen.write(`\n${"message" in now ? oneLine(now.message) : CHANGED_NOTE}\n`);
  if (!("message" in now)) return now;
  screen.edited = undefined;
  return asked.approval;
}

type FinalTurn = Exclude<Turn, { readonly again: true } | { readonly edit: ApprovalEditor } | { readonly editFile: ReviewedChange }>;
type RevisedEdit = { readonly edit: RequestEdit; readonly approval: OpenApproval } | { readonly message: string };

async function openEditor(
  editor: ApprovalEditor,
  { approval: asked, signal }: ApprovalQuestion,
  approval: OpenApproval,
): Promise<RevisedEdit> {
  const edit = await editor.open({ approval }, signal);
  if ("message" in edit) return edit;
  const revised = await editor.revise(asked, edit, signal);
  return "message" in revised ? revised : { edit, approval: revised };
}

/** Shows the file again as the person changed it, or says why it was not changed. */
async function editFile(
  { edit: editor }: TerminalApproverParts,
  screen: Screen,
  { file, signal }: { readonly file: ReviewedChange; readonly signal: AbortSignal },
): Promise<void> {
  const edited = editor ? await screen.aside(() => editReviewed(editor, file, signal)) : { message: "This can't be edited here." };
  if ("message" in edited) await screen.write(`\n${oneLine(edited.message)}\n`);
  else screen.review = withEdited(screen.review ?? [], edited);
}

/** Undefined if the edit failed; prints why. */
async function applyEdit(
  screen: Screen,
  { signal }: ApprovalQuestion,
  edit: () => Promise<RevisedEdit>,
): Promise<OpenApproval | undefined> {
  const failed = (error: unknown): RevisedEdit => {
    if (signal.aborted) return { message: "" }; // the next question clears it
    throw error;
  };
  const edited = await screen.aside(() => edit().catch(failed));
  if ("message" in edited) {
    if (edited.message !== "") await screen.write(`\n${oneLine(edited.message)}\n`);
    return undefined;
  }
  screen.edited = edited.edit;
  return edited.approval;
}

/** Undefined once all pages were shown. */
async function showPages(screen: Screen, lines: readonly string[]): Promise<Turn | undefined> {
  const { rows } = screen.size();
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
    if (key !== "") await screen.write(`${quoteTyped(key)} is not an answer yet: read all of it first.\n`);
  }
  await screen.write(`\n${lines.slice((pages - 1) * rows).join("\n")}\n`);
  return undefined;
}

async function choose(screen: Screen, approval: OpenApproval, parts: TerminalApproverParts): Promise<Turn> {
  const { edit: editor, stops = false } = parts;
  if (approval.details.type === "plan") return await choosePlan(screen, approval.details, stops);
  const { effect } = approval.details;
  if (effect?.state === "shown") return await chooseAfterPreview(screen, effect, stops);
  const offers = ruleOffers(approval);
  const edit = editor?.editable(approval) === undefined ? undefined : editor;
  const discards = parts.discardAfterNo !== undefined && appliesProposal(approval);
  const { review, allowConfinedIn } = screen;
  const files = review ?? hunksOf(approval);
  const texts = editor?.hasEditor() ? (review ?? []).filter(({ text }) => text && text.after !== null) : [];
  const choices = [
    ...choicesFor(edit?.hasEditor() === true || texts.length > 0, offers, stops),
    ...(allowConfinedIn === undefined
      ? []
      : [["c", `${ALLOW_CONFINED}; writes "allowConfined": true in ${oneLine(allowConfinedIn)}`] as const]),
    ...(chooseAll(files).size > 1
      ? [["h", review ? "choose which files and hunks to apply" : "choose which hunks to apply"] as const]
      : []),
    ...(effect?.state === "offered" ? [["v", "show me what it would do, on a copy"] as const] : []),
    ...(discards ? [DISCARD] : []),
  ];
  const why = whyNotRemembered(approval);
  const notes = [
    ...(why === undefined ? [] : [`"Always allow" is not available: ${why}.`]),
    ...(edit?.hasEditor() === false ? ["Editing first needs an editor: set VISUAL or EDITOR."] : []),
  ];
  const act = async (key: string): Promise<Turn> => {
    if (key === "v") return PREVIEW;
    if (key === "e" && edit) return { edit };
    if (key === "e" && review) return await askFile(screen.prompt, review, texts);
    if (key === "h") return await chooseParts(screen, approval, files);
    if (key === "c") return await allowConfined(screen, parts);
    if (key === "d") return await rejectAndDiscard(screen);
    const offer = offers.find((one) => one.key === key);
    if (offer) return await confirmRules(screen, offer);
    if (key !== "y") return await reject(screen, key === "x");
    const part = review && partOf(review); // a file may be edited
    return { decided: { outcome: "approve", ...(part && { part }) } };
  };
  return await pick(screen, choices, notes, act);
}

const PREVIEW = { decided: { outcome: "preview" } } as const;

/** After a preview, yes writes what was shown. It runs the command only if that is not possible. */
async function chooseAfterPreview(screen: Screen, { id, unwritable }: ShownPreview, stops: boolean): Promise<Turn> {
  const { review = [] } = screen;
  const choices = [
    ...(unwritable === undefined
      ? ([
          ["y", "yes, use exactly this; do not run it again"],
          ...(chooseAll(review).size > 1 ? [["h", "choose which files and hunks to write"] as const] : []),
          ["r", "run the command for real instead"],
        ] as const)
      : ([["y", "run the command now, for real"]] as const)),
    ...([
      ["v", "run it on a copy again"],
      ["n", "no"],
    ] as const),
    ...(stops ? [STOP] : []),
  ];
  return await pick(screen, choices, [], async (key) => {
    if (key === "v") return PREVIEW;
    if (key === "h") return await choosePreviewed(screen, review, id);
    if (key === "y" || key === "r")
      return { decided: { outcome: "approve", ...(key === "y" && unwritable === undefined && { write: id }) } };
    return await reject(screen, key === "x");
  });
}

/** Shows all changes in full, with their numbers, and asks which to write. */
async function choosePreviewed(screen: Screen, review: readonly ReviewedChange[], write: string): Promise<Turn> {
  const { columns } = screen.size();
  const unread = await showPages(screen, reviewLines(review, { columns, style: screen.style }));
  if (unread) return unread;
  const asked = await askParts(screen.prompt, review, "Write");
  if (!("chosen" in asked)) return asked;
  const part = partOf(review, asked.chosen);
  return { decided: { outcome: "approve", write, ...(part && { part }) } };
}

type ShownPreview = Extract<EffectOffer, { readonly state: "shown" }>;
type Plan = Extract<OpenApproval["details"], { readonly type: "plan" }>;

async function choosePlan(screen: Screen, { prePlanMode }: Plan, stops: boolean): Promise<Turn> {
  const back = prePlanMode === undefined ? [] : [["b", `yes, start, and go back to mode ${prePlanMode}`] as const];
  const choices = [
    ["y", "yes, start, and ask before each change"],
    ["e", "yes, start, and allow edits without asking"],
    ...back,
    ["n", "no"],
    ...(stops ? [STOP] : []),
  ] as const;
  const modes: Readonly<Record<string, string | undefined>> = { y: "default", e: "auto-edit", b: prePlanMode };
  return await pick(screen, choices, [], async (key) => {
    const mode = modes[key];
    return mode === undefined ? await reject(screen, key === "x") : { decided: { outcome: "approve", mode } };
  });
}

type Choices = readonly (readonly [key: string, says: string])[];

async function pick(screen: Screen, choices: Choices, notes: readonly string[], act: (key: string) => Promise<Turn>): Promise<Turn> {
  const rows = choices.map(([key, says]) => `  ${screen.style.bold(key)}  ${says}\n`);
  const list = [...rows, ...notes.map((note) => `${note}\n`)].join("");
  const meant = choices.map(([key]) => key);
  for (let question = list; ; ) {
    const typed = await screen.prompt.ask(`\n${question}Type a letter, then Enter: `);
    if ("none" in typed) return typed;
    const key = typed.line.trim().toLowerCase();
    if (meant.includes(key)) return await act(key);
    question = `${quoteTyped(key)} is not an answer; type one of: ${meant.join(", ")}.\n`;
  }
}

const STOP = ["x", "no, and stop the model"] as const;
const DISCARD = ["d", "no, and discard the change"] as const;

async function chooseParts({ prompt, review }: Screen, { details }: OpenApproval, files: readonly FileDiff[]): Promise<Turn> {
  const asked = await askParts(prompt, files, "Apply");
  if (!("chosen" in asked)) return asked;
  const part = review && partOf(review, asked.chosen);
  const newContent = review ? undefined : partialContent(details, files, asked.chosen);
  return { decided: { outcome: "approve", ...(part && { part }), ...(newContent !== undefined && { newContent }) } };
}

async function allowConfined(screen: Screen, { confinedOffer }: TerminalApproverParts): Promise<Turn> {
  const problem = await acceptOffer(confinedOffer);
  if (problem === undefined) return { decided: { outcome: "approve", reason: acceptedOfferText(screen.allowConfinedIn) } };
  await screen.write(`\n${problem}\n`);
  return { again: true };
}

function choicesFor(editable: boolean, offers: readonly RuleOffer[], stops: boolean): Choices {
  return [
    ["y", "allow once"],
    ...(editable ? [["e", "edit it first, in your editor"] as const] : []),
    ...offers.map(
      ({ key, says, rules }) => [key, `${says.charAt(0).toLowerCase()}${says.slice(1)}: ${rules.map(ruleWords).join(", ")}`] as const,
    ),
    ["n", "no"],
    ...(stops ? [STOP] : []),
  ];
}

async function confirmRules(screen: Screen, { scope, rules, risk }: RuleOffer): Promise<Turn> {
  const list = rules.map((rule) => `  ${screen.style.bold(ruleWords(rule))}\n`).join("");
  const typed = await screen.prompt.ask(
    `\nThis rule will be saved for ${SCOPE_WORDS[scope]}; 'assent grants revoke' removes it:\n${list}${risk === null ? "" : `${oneLine(risk)}\n`}y saves it and allows the call; anything else goes back: `,
  );
  if ("none" in typed) return typed;
  return typed.line.trim().toLowerCase() === "y" ? { decided: { outcome: "approve", remember: { scope, rules } } } : { again: true };
}

async function rejectAndDiscard(screen: Screen): Promise<Turn> {
  const turn = await reject(screen);
  return "decided" in turn ? { decided: { ...turn.decided, discard: true } } : turn;
}

async function reject(screen: Screen, interrupt = false): Promise<Turn> {
  const typed = await screen.prompt.askAtOnce("Reason for the model (Enter for none): ");
  if ("none" in typed && typed.none !== "closed") return typed;
  const reason = "line" in typed ? typed.line.trim() : "";
  return { decided: { outcome: "reject", ...(reason !== "" && { reason }), ...(interrupt && { interrupt }) } };
}
