import { type Display, oneLine } from "@assent/core";
import { TOOL_LISTINGS } from "@assent/tools";
import { cut, wrapWords } from "../../io/display-width.ts";
import { counted } from "../../io/visible-text.ts";
import type { Role } from "../draw/theme.ts";
import { askRows, askTitle } from "./ask-block.ts";
import type { CallBlock } from "./block.ts";
import { callTitle, outcomeWord } from "./call-words.ts";
import { type Cut, drawDisplay, drawMarkdown, drawText, type Part } from "./draw-display.ts";
import { drawResolve } from "./draw-resolve.ts";
import type { Drawing } from "./drawing.ts";

type Look = { readonly mark: string; readonly role: Role };

const LOOKS: Readonly<Record<string, Look>> = {
  succeeded: { mark: "✓", role: "success" },
  rejected: { mark: "–", role: "warning" },
  cancelled: { mark: "–", role: "warning" },
  expired: { mark: "–", role: "warning" },
  unknown: { mark: "?", role: "warning" },
  waiting: { mark: "?", role: "warning" },
  running: { mark: "»", role: "accent" },
  proposed: { mark: "·", role: "dim" },
};
const FAILED: Look = { mark: "✗", role: "error" };
const INDENT = "    ";

/** Draws a call: title, state, who decided, and part of its output. */
export function drawCall(block: CallBlock, drawing: Drawing): readonly string[] {
  if (block.tool === "resolve") return drawResolve(block, drawing);
  const { theme, columns } = drawing;
  const { mark, role } = LOOKS[block.outcome ?? block.state] ?? FAILED;
  const title = block.tool === "ask" ? askTitle(block.input) : callTitle(block.tool, block.input, drawing.cwd);
  const name = block.byPerson ? "!" : block.tool;
  const head = `${theme[role](mark)} ${theme.bold(oneLine(name))} ${cut(title, Math.max(columns - name.length - 4, 8))}`;
  const rest = drawBody(block, { ...drawing, columns: columns - INDENT.length });
  const standing = wrapWords(describeState(block, drawing, rest), columns - INDENT.length).map((line) => INDENT + theme.dim(line));
  return [head, ...standing, ...rest.lines.map((line) => INDENT + line), ...more(rest, drawing)];
}

function more({ hidden }: Part, { theme, open }: Drawing): readonly string[] {
  return hidden <= 0 ? [] : [INDENT + theme.dim(`… ${counted(hidden, "more line")}${open ? "" : " (ctrl+o)"}`)];
}

function describeState(block: CallBlock, drawing: Drawing, rest: Part): string {
  const { now } = drawing;
  const { state, since, decided } = block;
  const by = decided === undefined ? [] : [decided];
  switch (state) {
    case "waiting":
      return "waiting for your answer";
    case "proposed":
      return ["being checked", ...by].join(" · ");
    case "running":
      return [since === undefined ? "running" : `running ${seconds(now - since)}`, ...by].join(" · ");
    default:
      return [...describeEnd(block, drawing, rest), ...by].join(" · ");
  }
}

function describeEnd(block: CallBlock, drawing: Drawing, rest: Part): readonly string[] {
  const { outcome, durationMs = 0 } = block;
  const word = outcomeWord(block);
  const isSaid = block.decided?.startsWith(`${word} by `) === true; // "denied by …" says the outcome already
  const took = durationMs >= LONG_MS ? [seconds(durationMs)] : [];
  if (outcome === "succeeded") return [word, ...summary(block, drawing, rest), ...took];
  return [...(isSaid ? [] : [word]), ...took];
}

const LONG_MS = 2_000;

function seconds(ms: number): string {
  const whole = Math.max(0, Math.round(ms / 1_000));
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** The result in a few words, unless the lines below show it. */
function summary({ tool, display, text }: CallBlock, drawing: Drawing, rest: Part): readonly string[] {
  if (typeof display === "string" && rest.lines.length === 0) {
    const [line] = drawing.isMarkdown(tool) ? drawMarkdown(display, drawing, PREVIEW).lines : [];
    return [line ?? oneLine(display.slice(0, 200))];
  }
  if (display !== undefined || text === undefined || rest.lines.length > 0) return [];
  const lines = text.replace(/\n$/, "").split("\n").length;
  return text === "" ? [] : [counted(lines, "line")];
}

const LIVE: Cut = { rows: 6, keep: "tail" };
const OUTPUT: Cut = { rows: 5, keep: "tail" };
const PREVIEW: Cut = { rows: 14, keep: "head" };
const ALL: Cut = { rows: 20_000, keep: "head" };
const NOTHING: Part = { lines: [], hidden: 0 };

/** Tools that only look: people rarely need to see their results. */
const QUIET: ReadonlySet<string> = new Set(
  TOOL_LISTINGS.filter(({ kind }) => kind === "read" || kind === "search" || kind === "fetch").map(({ name }) => name),
);

function drawBody(block: CallBlock, drawing: Drawing): Part {
  if (block.tool === "ask" && (block.state !== "ended" || block.details)) return { lines: askRows(block, drawing), hidden: 0 };
  return block.state === "ended" ? endedBody(block, drawing) : liveBody(block, drawing);
}

function liveBody({ tool, live }: CallBlock, drawing: Drawing): Part {
  return live === undefined ? NOTHING : drawShown(tool, live, drawing, drawing.open ? ALL : LIVE);
}

/** Text is markdown unless the tool says otherwise. */
function drawShown(tool: string, display: Display, drawing: Drawing, cut: Cut): Part {
  const isMarkdown = typeof display === "string" && drawing.isMarkdown(tool);
  return isMarkdown ? drawMarkdown(display, drawing, cut) : drawDisplay(display, drawing, cut);
}

function endedBody(block: CallBlock, drawing: Drawing): Part {
  const { tool, display } = block;
  if (drawing.open) return drawOpened(block, drawing);
  if (typeof display === "string" && drawing.isMarkdown(tool)) {
    const part = drawMarkdown(display, drawing, PREVIEW);
    return part.lines.length > 1 ? part : NOTHING; // one line is the summary
  }
  if (typeof display === "object") return drawDisplay(display, drawing, display.type === "ansi_output" ? OUTPUT : PREVIEW);
  return isQuiet(block)
    ? NOTHING
    : joinParts(drawCancelledOutput(block, drawing), dimPart(drawText(block.text ?? "", drawing, OUTPUT), drawing));
}

/** A cancelled call has no output in its result, so its last live output stays visible. */
function drawCancelledOutput({ tool, outcome, live }: CallBlock, drawing: Drawing): Part {
  return outcome === "cancelled" && live !== undefined ? drawShown(tool, live, drawing, drawing.open ? ALL : OUTPUT) : NOTHING;
}

function isQuiet({ display, text = "", tool, outcome = "unknown", errorType }: CallBlock): boolean {
  if (errorType === "denied_by_guard") return false; // the text says what the safeguard protects
  if (text === "" || outcome === "denied" || outcome === "rejected") return true;
  return outcome === "succeeded" && (QUIET.has(tool) || typeof display === "string");
}

function drawOpened(block: CallBlock, drawing: Drawing): Part {
  const { display, text, input } = block;
  const asked = dimPart(drawText(JSON.stringify(input, null, 2), drawing, ALL), drawing);
  const seen = typeof display === "object" ? drawDisplay(display, drawing, ALL) : drawText(text ?? "", drawing, ALL);
  return joinParts(asked, drawCancelledOutput(block, drawing), seen);
}

function joinParts(...parts: readonly Part[]): Part {
  return { lines: parts.flatMap(({ lines }) => lines), hidden: parts.reduce((sum, { hidden }) => sum + hidden, 0) };
}

function dimPart({ lines, hidden }: Part, { theme }: Drawing): Part {
  return { lines: lines.map((line) => theme.dim(line)), hidden };
}
