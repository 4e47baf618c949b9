import { type EventBodies, type Json, type LedgerEvent, livedCall } from "@assent/core";
import { decisionSentence, rulePlace } from "./decision-text.ts";
import { contentBlock, fenced, quoted } from "./markdown.ts";
import { proposalNote } from "./session-export-notes.ts";
import { whenText, whoText } from "./who.ts";

/** Calls, each told at once when it has ended: what was proposed, what was decided and by whom, what came of it. */
export type CallStories = {
  /** Undefined: the event is of no call. */
  readonly take: (event: LedgerEvent) => string | undefined;
  readonly end: () => string;
};

type Story = { readonly call: string; readonly tool: string; input: Json; readonly lines: string[] };

/** No calls yet. */
export function createCallStories(): CallStories {
  const open = new Map<string, Story>();
  const made = new Map<string, string>();
  return {
    take: (event) => {
      if (event.type === "call.proposed") return begin(open, event.body);
      if (event.type === "question.asked") made.set(event.body.question, event.body.callId);
      if (event.type === "proposal.staged" && event.body.callId !== null) made.set(event.body.proposal, event.body.callId);
      const story = open.get(subject(event, made) ?? "");
      return story && goOn(open, story, event);
    },
    end: () => [...open.values()].map((story) => `${told(story)}- It has not ended.\n`).join("\n"),
  };
}

function begin(open: Map<string, Story>, { call, tool, raw }: EventBodies["call.proposed"]): string {
  open.set(call, { call, tool, input: raw, lines: [] });
  return "";
}

function goOn(open: Map<string, Story>, story: Story, event: LedgerEvent): string {
  if (event.type === "call.judged") story.input = event.body.input;
  story.lines.push(...linesOf(event).filter((line) => !story.lines.includes(line))); // judged again, and the same came of it
  if (event.type !== "call.ended") return "";
  open.delete(story.call);
  return `${told(story)}\n${contentBlock(event.body.content)}\n`;
}

function told({ call, tool, input, lines }: Story): string {
  const shown = typeof input === "string" ? fenced(input) : fenced(JSON.stringify(input, null, 2), "json");
  return `### ${quoted(tool)} as ${quoted(call)}\n\n${shown}\n${lines.map((line) => `- ${line}\n`).join("")}`;
}

/** The call that an event is told with; `made` says which call asked a question or staged a proposal. */
function subject(event: LedgerEvent, made: ReadonlyMap<string, string>): string | undefined {
  const { body } = event;
  if ("question" in body) return made.get(body.question);
  return "proposal" in body ? made.get(body.proposal) : livedCall(event);
}

/** What an event says about its call, in words. */
function linesOf(event: LedgerEvent): readonly string[] {
  switch (event.type) {
    case "call.judged":
      return [decided(event.body)];
    case "approval.opened":
      return [`Asked as ${quoted(event.body.approval)}, ${whenText(event.at)}`];
    case "approval.answered":
      return [answered(event)];
    case "approval.closed":
      return [`The approval was closed as ${event.body.outcome}, by ${quoted(event.body.by)}`];
    case "call.answered":
      return [`A ${event.body.by.kind} said yes: ${quoted(event.body.by.id)}`];
    case "question.asked":
      return event.body.questions.map(({ question }) => `Asked: ${quoted(question)}`);
    case "question.answered":
      return replied(event.body);
    case "call.ended":
      return [ended(event.body)];
    default:
      return [proposalNote(event)].filter((note) => note !== undefined);
  }
}

function decided(body: EventBodies["call.judged"]): string {
  const { verdict, rule, editedBy } = body;
  const by = rule ? ` Rule ${quoted(rule.text)} (${quoted(rulePlace(rule))}).` : "";
  const edited = editedBy === undefined ? "" : ` Judged as edited by ${quoted(editedBy)}.`;
  return `Verdict: **${verdict}**: ${quoted(decisionSentence(body))}${by}${edited}`;
}

function answered({ at, body }: LedgerEvent<"approval.answered">): string {
  const { outcome, by, reason, edited } = body;
  const what = edited ? `**${outcome}** with another input` : `**${outcome}**`;
  return `Answer: ${what} by ${quoted(whoText(by))}, ${whenText(at)}${reason === null ? "" : `: ${quoted(reason)}`}`;
}

function replied({ outcome, answers = [], by }: EventBodies["question.answered"]): readonly string[] {
  const given = answers.map(
    ({ id, selected, custom }) => `${quoted(id)}: ${quoted([...selected, ...(custom === undefined ? [] : [custom])].join(", "))}`,
  );
  return [`The question was **${outcome}** by ${quoted(whoText(by))}`, ...given];
}

function ended({ outcome, type, durationMs }: EventBodies["call.ended"]): string {
  return `Outcome: **${outcome}**${type === null ? "" : ` (${quoted(type)})`} after ${durationMs} ms`;
}
