import { type Ledger, LedgerError, type Subscription } from "../../ledger-port.ts";
import type { EventBodies, LedgerEvent } from "../../model/events.ts";
import { parseEvent } from "../../model/known-event.ts";
import type { ProposalRow } from "../../model/proposal/proposal.ts";
import { thrownWords } from "../../model/proposal/resolve-texts.ts";
import { contentText } from "../../model/text/content-text.ts";
import type { Ending } from "../dispatch.ts";
import { errorEnding } from "../pipeline/endings.ts";
import type { Session } from "../session/session.ts";
import type { Staging } from "./staging.ts";
import { findProposal } from "./stored.ts";

export type ProposalRequest = EventBodies["proposal.requested"] & {
  /** An earlier process has started it. */
  readonly again: boolean;
};

/** Handles requests from any process, one at a time and each once. */
export type RequestListener = {
  readonly listen: () => void;
  readonly catchUp: () => Promise<void>;
  readonly request: (body: EventBodies["proposal.requested"]) => Promise<Ending>;
  readonly runWhileOpen: (id: string, action: () => Promise<Ending>) => Promise<Ending>;
  readonly close: () => Promise<void>;
};

export function makeRequestListener(staging: Staging, act: (request: ProposalRequest) => Promise<Ending>): RequestListener {
  const { session, warn } = staging;
  let watch: Subscription | undefined;
  let underWay: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  const done = new Map<number, Promise<Ending>>();
  const stop = (): void => {
    isClosed = true;
    watch?.close();
    watch = undefined;
  };
  const closeIfFenced = (error: unknown): void => {
    if (isFenced(error)) stop(); // the new holder handles requests
  };
  const queue = makeRequestQueue(closeIfFenced);
  const handleRequest = (event: LedgerEvent, again: boolean): Promise<Ending> | undefined => {
    if (event.type !== "proposal.requested" || event.body.session !== session.id) return undefined;
    const { pos, body } = event;
    const known = done.get(pos); // own requests also arrive through the subscription
    if (known !== undefined) return known;
    const doing = underWay.then(() => act({ ...body, again })).then((ending) => refuseUnmet(staging, pos, body, ending));
    done.set(pos, doing);
    underWay = doing.catch((error: unknown) => {
      warn(`the request for ${body.proposal} failed: ${thrownWords(error)}`);
      closeIfFenced(error);
    });
    return doing;
  };
  const listen = (): void => {
    if (!isClosed) watch ??= session.watch((event) => void handleRequest(event, false)?.catch(() => undefined));
  };
  return {
    listen,
    catchUp: async () => {
      const rows = await session.ledger.pending("proposals", { session: session.id, all: true });
      if (rows.length > 0) listen();
      for (const row of rows) {
        const requests = await openRequests(session.ledger, row);
        if (isClosed) return;
        for (const { event, again } of requests) await handleRequest(event, again)?.catch(() => undefined);
      }
    },
    request: async (body) => {
      const answer = await session.ledger.answer([session.draft("proposal.requested", body)]);
      const winner = "won" in answer ? answer.won[0] : answer.lost;
      return (
        (winner && (await handleRequest(winner, false))) ??
        errorEnding("failed", "proposal_not_found", `The request for ${body.proposal} could not be recorded.`)
      );
    },
    runWhileOpen: async (id, action) => (isClosed ? closedEnding(session, id) : await queue.run(action)),
    close: async () => {
      stop();
      await Promise.all([queue.done(), underWay]);
    },
  };
}

type RequestQueue = { readonly run: (action: () => Promise<Ending>) => Promise<Ending>; readonly done: () => Promise<unknown> };

function makeRequestQueue(failed: (error: unknown) => void): RequestQueue {
  const open = new Set<Promise<unknown>>();
  return {
    run: async (action) => {
      const doing = action();
      const settled = doing.catch(failed);
      open.add(settled);
      void settled.then(() => open.delete(settled));
      return await doing;
    },
    done: () => Promise.all(open),
  };
}

function closedEnding({ id: session }: Session, id: string): Ending {
  return errorEnding("failed", "not_allowed", `Nothing was done with ${id}: this process has closed session ${session}.`);
}

function isFenced(error: unknown): boolean {
  if (error instanceof LedgerError) return error.type === "stale_writer";
  return error instanceof Error && isFenced(error.cause);
}

type RequestedAction = { readonly event: LedgerEvent<"proposal.requested">; readonly again: boolean };

/** An undo that was started, then the newest request. */
async function openRequests(ledger: Ledger, row: ProposalRow): Promise<readonly RequestedAction[]> {
  const { requested } = row;
  if (!requested) return [];
  const events = await requestsOf(ledger, row, requested.begun ? 0 : requested.pos - 1);
  const newest = events.find(({ pos }) => pos === requested.pos);
  const begun = requested.begun ? events.findLast(({ pos, body }) => body.action === "undo" && pos <= requested.pos) : undefined;
  const all: RequestedAction[] = begun ? [{ event: begun, again: true }] : [];
  if (newest && newest !== begun) all.push({ event: newest, again: false });
  return all;
}

async function requestsOf(ledger: Ledger, { id, session }: ProposalRow, pos: number): Promise<readonly RequestedAction["event"][]> {
  const events: RequestedAction["event"][] = [];
  for await (const stored of ledger.read({ pos }, { naming: session, types: ["proposal.requested"] })) {
    const event = parseEvent(stored);
    if (event?.type === "proposal.requested" && event.body.proposal === id) events.push(event);
  }
  return events;
}

/** Records a refusal, so that the requester sees it and no process retries. */
async function refuseUnmet({ session }: Staging, pos: number, body: EventBodies["proposal.requested"], ending: Ending): Promise<Ending> {
  const { proposal, action } = body;
  const row = await findProposal(session, proposal);
  if (row?.requested?.pos !== pos) return ending;
  const refused = { proposal, action, type: ending.type ?? ending.state, message: contentText(ending.result.content) };
  await session.record([session.draft("proposal.refused", refused)], "full");
  return ending;
}
