import { type EventBodies, type Json, type LedgerEvent, lifecycleCallOf } from "@assent/core";
import { whenText, whoText } from "../../io/who.ts";
import { decisionSentence, rulePlace } from "../explain/decision-text.ts";
import { proposalNote } from "./export-notes.ts";
import { contentBlock, fenced, quoted } from "./markdown.ts";

export type CallStories = {
  /** Undefined if the event does not belong to a call. */
  readonly take: (event: LedgerEvent) => string | undefined;
  readonly isOpen: () => boolean;
  readonly end: () => string;
};

type Story = {
  readonly call: string;
  readonly tool: string;
  /** Complete once the call was judged. */
  input: Json;
  readonly edits: StoryEdit[];
  readonly lines: string[];
};

type StoryEdit = { readonly by: string; readonly input: Json; readonly fingerprint: string | undefined };

export function createCallStories(): CallStories {
  const open = new Map<string, Story>();
  const made = new Map<string, string>();
  return {
    take: (event) => {
      if (event.type === "call.proposed") return beginStory(open, event.body);
      if (event.type === "question.asked") made.set(event.body.question, event.body.callId);
      if (event.type === "proposal.staged" && event.body.callId !== null) made.set(event.body.proposal, event.body.callId);
      const story = open.get(subject(event, made) ?? "");
      return story && continueStory(open, story, event);
    },
    isOpen: () => open.size > 0,
    end: () => [...open.values()].map((story) => `${storyText(story)}- It has not ended.\n`).join("\n"),
  };
}

function beginStory(open: Map<string, Story>, { call, tool, raw }: EventBodies["call.proposed"]): string {
  open.set(call, { call, tool, input: raw, edits: [], lines: [] });
  return "";
}

function continueStory(open: Map<string, Story>, story: Story, event: LedgerEvent): string {
  if (event.type === "call.judged" && event.body.editedBy === undefined && story.edits.length === 0) story.input = event.body.input;
  const edit = editOf(event);
  if (edit && !story.edits.some(({ fingerprint }) => fingerprint === edit.fingerprint)) story.edits.push(edit);
  story.lines.push(...linesOf(event).filter((line) => !story.lines.includes(line))); // judged again with the same result
  if (event.type !== "call.ended") return "";
  open.delete(story.call);
  return `${storyText(story)}\n${contentBlock(event.body.content)}\n`;
}

function editOf(event: LedgerEvent): StoryEdit | undefined {
  if (event.type === "approval.answered" && event.body.edited) return { by: whoText(event.body.by), ...event.body.edited };
  if (event.type !== "call.judged" || event.body.editedBy === undefined) return undefined;
  return { by: event.body.editedBy, input: event.body.input, fingerprint: event.body.fingerprint };
}

function storyText({ call, tool, input, edits, lines }: Story): string {
  const changed = edits.map(({ by, input: other }) => `Edited by ${quoted(by)}:\n\n${inputBlock(other)}\n`);
  const proposed = `${changed.length === 0 ? "" : "Proposed by the model:\n\n"}${inputBlock(input)}\n`;
  return `### ${quoted(tool)} as ${quoted(call)}\n\n${proposed}${changed.join("")}${lines.map((line) => `- ${line}\n`).join("")}`;
}

function inputBlock(input: Json): string {
  return typeof input === "string" ? fenced(input) : fenced(JSON.stringify(input, null, 2), "json");
}

/** `made` maps questions and proposals to calls. */
function subject(event: LedgerEvent, made: ReadonlyMap<string, string>): string | undefined {
  const { body } = event;
  if ("question" in body) return made.get(body.question);
  return "proposal" in body ? made.get(body.proposal) : lifecycleCallOf(event);
}

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
      return [`Allowed by a ${event.body.by.kind}: ${quoted(event.body.by.id)}`];
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
  const { verdict, rule, editedBy, policyVersion } = body;
  const by = rule ? ` Rule ${quoted(rule.text)} (${quoted(rulePlace(rule))}).` : "";
  const edited = editedBy === undefined ? "" : ` Judged as edited by ${quoted(editedBy)}.`;
  const policy = policyVersion === undefined ? "" : ` Policy ${quoted(policyVersion)}.`;
  return `Verdict: **${verdict}**: ${quoted(decisionSentence(body))}${by}${policy}${edited}`;
}

function answered({ at, body }: LedgerEvent<"approval.answered">): string {
  const { outcome, by, reason, edited } = body;
  const what = edited ? `**${outcome}, edited**` : `**${outcome}**`;
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
