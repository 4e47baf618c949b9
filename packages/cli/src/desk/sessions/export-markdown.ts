import type { EventBodies, LedgerEvent } from "@assent/core";
import { whenText } from "../../io/who.ts";
import { createCallStories } from "./export-calls.ts";
import { noteOf } from "./export-notes.ts";
import { contentBlock, fenced, quoted } from "./markdown.ts";

export type MarkdownTranscript = {
  readonly take: (event: LedgerEvent) => string;
  readonly end: () => string;
};

/** Quotes text of people, models and tools in blocks, so that it cannot imitate the record. */
export function createTranscript(): MarkdownTranscript {
  const calls = createCallStories();
  let left = ""; // text to append after the open calls
  return {
    take: (event) => {
      const callText = calls.take(event);
      if (callText !== undefined && calls.isOpen()) return callText;
      if (callText !== undefined) {
        const all = callText + left;
        left = "";
        return all;
      }
      const note = said(event) ?? noteOf(event);
      if (note === undefined) return "";
      if (event.type !== "session.closed" || !calls.isOpen()) return `${note}\n`;
      left += `${note}\n`;
      return "";
    },
    end: () => (left === "" ? calls.end() : `${calls.end()}\n${left}`),
  };
}

function said(event: LedgerEvent): string | undefined {
  switch (event.type) {
    case "session.created":
      return heading(event);
    case "message.user":
      return fromOutside(event.body);
    case "message.assistant":
      return fromModel(event.body);
    default:
      return undefined;
  }
}

function heading({ session, at, body }: LedgerEvent<"session.created">): string {
  const { title, cwd, model, mode, forked, parent, group } = body;
  return [
    `# ${title === "" ? "Session" : quoted(title)}\n`,
    `- Session ${quoted(session)}, started ${whenText(at)}`,
    ...(forked ? [`- Forked from ${quoted(forked.session)} after event ${forked.seq}`] : []),
    ...(parent ? [`- Task ${quoted(parent.task)} of session ${quoted(parent.session)}`] : []),
    ...(group ? [`- Run by ${quoted(group.title)}, in its session ${quoted(group.id)}`] : []),
    `- Directory ${quoted(cwd)}`,
    `- Model ${model === null ? "none" : quoted(model)}, mode ${quoted(mode)}\n`,
  ].join("\n");
}

const HEADINGS: Readonly<Record<EventBodies["message.user"]["origin"], string>> = {
  user: "## Person",
  notice: "## Notice",
  schedule: "## Schedule",
  steering: "## Reminder",
};

/** Shows messages of the runtime as people saw them. */
function fromOutside({ origin, content, displayText }: EventBodies["message.user"]): string {
  if (displayText !== undefined) return `${HEADINGS[origin]}\n\n${fenced(displayText)}`;
  return `${HEADINGS[origin]}\n\n${origin === "user" ? contentBlock(content) : "Assent sent the model a message.\n"}`;
}

function fromModel({ content }: EventBodies["message.assistant"]): string | undefined {
  const texts = content.flatMap((part) => (part.type === "text" && part.text !== "" ? [part.text] : []));
  return texts.length === 0 ? undefined : `## Model\n\n${fenced(texts.join("\n"))}`;
}
