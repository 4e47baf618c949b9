import type { JsonObject, Session } from "@assent/core";
import type { FrontEnd } from "../../compose/front-end.ts";
import { asFailure, CommandError } from "../../io/failure.ts";
import { inputLines } from "../../io/input-lines.ts";
import type { Io } from "../../io/io.ts";
import type { WireMessage } from "../stream/message.ts";
import { commitAnswer, type HostAnswerParts } from "./answers.ts";
import { hostApprover } from "./approver.ts";
import { type BroughtServers, broughtServers } from "./brought-servers.ts";
import { hostHooks } from "./hooks.ts";
import type { Inbox } from "./inbox.ts";
import { createHostJoin, type HostFacts, type HostJoin } from "./join.ts";
import { type HostLine, readHostLine } from "./line.ts";
import { type HostLink, hostLink } from "./link.ts";
import { type HostPresence, hostPresence } from "./presence.ts";
import { hostQuestioner } from "./questioner.ts";
import { type HostControls, handleRequest } from "./requests.ts";

export type HostFrontEndParts = {
  readonly io: Pick<Io, "stdin">;
  readonly session: Session;
  readonly inbox: Inbox;
  readonly answering: HostAnswerParts;
  readonly write: (message: WireMessage) => void;
  readonly say: (fields: { readonly subtype: string } & Readonly<Record<string, unknown>>) => void;
  readonly giveUp: (error: Error) => void;
  readonly facts: () => HostFacts;
};

/** The front end of a program at stdin and stdout that sends prompts and answers. */
export type HostFrontEnd = Required<Omit<FrontEnd, "attend">> & {
  readonly listen: (steered: HostControls) => Promise<void>;
  /** Turns asking off or on, regardless of the host's abilities. */
  readonly unasked: (none: boolean) => void;
  readonly isAsking: () => boolean;
};

const LONGEST_LINE = 32 * 1024 * 1024;
const MOST_FAULTS = 100;

export function createHostFrontEnd(parts: HostFrontEndParts): HostFrontEnd {
  const { answering, say, write, session } = parts;
  const { ledger } = session;
  const link = hostLink(write);
  const known = hostPresence();
  const hooks = hostHooks(link);
  const warn = (code: string, message: string): void => say({ subtype: "warning", code, message });
  let none = false;
  let steered: HostControls | undefined;
  const presence: HostPresence = { ...known, mayAsk: (what) => !none && known.mayAsk(what) };
  const brought = broughtServers(link, warn);
  const joining = createHostJoin({ ...parts, link, presence, hooks, brought, warn, tools: answering.policy.tools });
  return {
    approver: hostApprover({
      ledger,
      link,
      presence,
      by: answering.by,
      warn,
      answer: (answer) => commitAnswer(answering, answer),
      reserved: joining.reserved,
      changeMode: (mode) => changeMode(steered, mode, warn),
    }),
    questioner: hostQuestioner({ ledger, link, presence, warn }),
    hooks,
    asks: () => joining.hasJoined() && presence.mayAsk("questions"),
    approvalTimeoutMs: joining.approvalTimeoutMs,
    agents: joining.agents,
    system: joining.system,
    servers: brought.list,
    unasked: (is) => {
      none = is;
    },
    isAsking: () => link.open().length > 0,
    listen: (given) => {
      steered = given;
      return listen({ ...parts, link, presence, warn, joining, brought, steered });
    },
  };
}

/** Changes the mode like the host's own request. A locked mode is reported and not set. */
async function changeMode(steered: HostControls | undefined, mode: string, warn: HostListener["warn"]): Promise<void> {
  if (!steered) return;
  await handleRequest(steered, "set_permission_mode", { mode }).catch((error: unknown) =>
    warn("option_not_honored", asFailure(error).message),
  );
}

type HostListener = HostFrontEndParts & {
  readonly link: HostLink;
  readonly presence: HostPresence;
  readonly warn: (code: string, message: string) => void;
  readonly joining: HostJoin;
  readonly brought: BroughtServers;
  readonly steered: HostControls;
};

/** Handles lines in order; slow requests do not hold up the next line. */
async function listen(on: HostListener): Promise<void> {
  const { io, inbox, link, presence, say, giveUp } = on;
  const open = new Map<string, () => void>();
  let number = 0;
  let joins = false;
  let faults = 0;
  const fault = (message: string): void => {
    say({ subtype: "protocol_error", line: number, message });
    faults += 1;
    if (faults === MOST_FAULTS)
      giveUp(new CommandError("protocol_error", 1, { message: "The host wrote too many lines that cannot be read." }));
  };
  try {
    for await (const line of inputLines(io.stdin(), LONGEST_LINE)) {
      number += 1;
      const read: HostLine = "fault" in line ? { kind: "fault", message: line.fault } : readHostLine(line.text);
      handleLine(on, { read, open, fault });
      joins ||= read.kind === "request" && read.subtype === "initialize";
      if (!joins && read.kind !== "blank" && read.kind !== "fault") presence.spoke();
    }
  } finally {
    presence.left();
    link.leave();
    inbox.close();
  }
}

type LineHandling = {
  readonly read: HostLine;
  /** Requests without a response, each with a function that withdraws it. */
  readonly open: Map<string, () => void>;
  readonly fault: (message: string) => void;
};

function handleLine(on: HostListener, { read, open, fault }: LineHandling): void {
  switch (read.kind) {
    case "user": {
      const refused = on.joining.refused();
      if (refused) on.giveUp(refused);
      else on.inbox.push({ say: read.content }, read.uuid);
      break;
    }
    case "request":
      void respondTo(on, read, open);
      break;
    case "response":
      if (on.link.reply(read.id, read.reply)) break;
      if (on.link.wasOpen(read.id)) on.warn("late_response", `The request ${read.id} is not open any more.`);
      else fault(`there is no request '${read.id.slice(0, 80)}'`);
      break;
    case "cancel":
      open.get(read.id)?.();
      break;
    case "fault":
      fault(read.message);
      break;
    case "blank":
      break;
    default:
      read satisfies never;
  }
}

async function respondTo(on: HostListener, request: Extract<HostLine, { kind: "request" }>, open: LineHandling["open"]): Promise<void> {
  const { id, subtype } = request;
  const respond = (response: JsonObject): void => on.write({ type: "control_response", response: { ...response, request_id: id } });
  if (open.has(id)) return respond(refusal("duplicate_request", `The request ${id} is open already.`));
  const { promise: withdrawn, resolve: withdraw } = Promise.withResolvers<JsonObject>();
  open.set(id, () => withdraw(refusal("cancelled", "The request was withdrawn.")));
  const met = responseTo(on, request);
  respond(await Promise.race([met, withdrawn]));
  if (subtype === "initialize" && !on.joining.hasJoined()) on.presence.spoke();
  open.delete(id);
}

async function responseTo(
  { joining, brought, steered }: HostListener,
  { subtype, fields }: Extract<HostLine, { kind: "request" }>,
): Promise<JsonObject> {
  try {
    if (subtype === "mcp_message") return { subtype: "success", response: brought.deliver(fields) };
    if (subtype !== "initialize") return { subtype: "success", response: await handleRequest(steered, subtype, fields) };
    const response = await joining.join(fields);
    await steered.joined();
    return { subtype: "success", response };
  } catch (error) {
    const { type, message } = asFailure(error);
    return refusal(type, message);
  }
}

function refusal(type: string, error: string): JsonObject {
  return { subtype: "error", error, error_type: type };
}
