import type { EventBodies, LedgerEvent, Resolution } from "@assent/core";
import { whoText } from "../../io/who.ts";
import { taskResultText } from "../../tui/transcript/task-ends.ts";
import { fenced, quoted } from "./markdown.ts";

/** Undefined for events that only programs need. */
export function noteOf(event: LedgerEvent): string | undefined {
  const text = proposalNote(event) ?? ofTask(event) ?? ofSession(event);
  return text === undefined ? undefined : `*${text}*\n${event.type === "task.ended" ? broughtBack(event.body) : ""}`;
}

function broughtBack(body: EventBodies["task.ended"]): string {
  const text = taskResultText(body);
  return text === "" ? "" : `\n${fenced(text)}`;
}

export function proposalNote(event: LedgerEvent): string | undefined {
  switch (event.type) {
    case "proposal.staged":
      return `Proposal ${quoted(event.body.proposal)} staged: ${quoted(event.body.label)}`;
    case "proposal.applying":
    case "proposal.discarded":
      return `Proposal ${quoted(event.body.proposal)} ${event.type === "proposal.applying" ? "is being applied" : "discarded"} ${resolvedBy(event.body.resolution)}`;
    case "proposal.applied":
      return `Proposal ${quoted(event.body.proposal)} applied`;
    case "proposal.apply_failed":
      return `Proposal ${quoted(event.body.proposal)} could not be applied: ${quoted(event.body.message)}`;
    case "proposal.stale":
      return `Proposal ${quoted(event.body.proposal)} is stale: ${event.body.cause}`;
    case "proposal.unknown":
      return `Proposal ${quoted(event.body.proposal)}: it is unknown what was changed: ${quoted(event.body.message)}`;
    case "proposal.undone":
      return `Proposal ${quoted(event.body.proposal)} undone by ${quoted(whoText(event.body.by))}`;
    case "proposal.parked":
      return `Proposal ${quoted(event.body.proposal)} waits for a person`;
    default:
      return undefined;
  }
}

function resolvedBy({ by, who, reason }: Resolution): string {
  return `by ${who ? quoted(whoText(who)) : `the ${by}`}${reason === "" ? "" : `: ${quoted(reason)}`}`;
}

function ofTask(event: LedgerEvent): string | undefined {
  switch (event.type) {
    case "task.started":
      return startedTask(event.body);
    case "task.paused":
      return `Task ${quoted(event.body.task)} paused: ${event.body.reason}`;
    case "task.resumed":
      return `Task ${quoted(event.body.task)} resumed by ${quoted(event.body.by)}`;
    case "task.ended":
      return `Task ${quoted(event.body.task)} ${event.body.status}`;
    default:
      return undefined;
  }
}

function startedTask({ task, agent, description, command, session }: EventBodies["task.started"]): string {
  const where = command ? `its output is in ${quoted(command.outputFile)}` : `its conversation is ${quoted(session)}`;
  return `Task ${quoted(task)} started with ${quoted(agent)}: ${quoted(description)}; ${where}`;
}

function ofSession(event: LedgerEvent): string | undefined {
  switch (event.type) {
    case "mode.changed":
      if (event.body.from === event.body.to) return undefined; // only the plan's path was recorded
      return `${quoted(event.body.by)} changed the mode from ${quoted(event.body.from)} to ${quoted(event.body.to)}`;
    case "model.changed":
      return `${quoted(event.body.by)} changed the model to ${quoted(event.body.to ?? "none")}`;
    case "history.compacted":
      return "From here on the model sees a summary of what came before";
    case "turn.ended":
      return event.body.error && `The request to the model failed: ${quoted(event.body.error.message)}`;
    case "session.closed":
      return `The session ended: ${event.body.reason}`;
    default:
      return undefined;
  }
}
