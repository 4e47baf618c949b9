import {
  createDispatcher,
  type Dispatcher,
  type Holder,
  LedgerError,
  type LedgerEvent,
  openSession,
  type ProposalRow,
  ToolError,
} from "@assent/core";
import { changesOf } from "./files.ts";
import type { Settling } from "./plan.ts";
import { endHolder, isExpected } from "./processes.ts";
import type { Actor } from "./scheduler.ts";
import { digest, toolsOf, type Workshop } from "./tools.ts";
import { newTerminal, PERSON, type Process, plannedCall, type World } from "./world.ts";

type Action = "apply" | "discard" | "undo";

/** A proposal is on record: whoever has plans with it begins. */
export function attendStaged(world: World, { session, body }: LedgerEvent<"proposal.staged">): void {
  const row = { id: body.proposal, session, digest: body.digest, call: body.callId ?? "" };
  const settle = plannedCall(world, row.call)?.settle;
  world.proposals.set(row.id, row);
  if (settle?.meddles === "staged") meddle(world, row);
  if (settle && settle.wants !== "nothing") wish(world, row, { ...settle, action: settle.wants });
}

/** The same of one that is applied. */
export function attendApplied(world: World, { body }: LedgerEvent<"proposal.applied">): void {
  const row = world.proposals.get(body.proposal);
  if (!row) return;
  const { settle } = plannedCall(world, row.call) ?? {};
  if (settle?.meddles === "applied") meddle(world, row);
  if (settle?.undoes) wish(world, row, { ...settle, action: "undo" });
}

/** A proposal as somebody was shown it. */
export type Shown = { readonly id: string; readonly session: string; readonly digest: string; readonly call: string };

/** Somebody who has nothing to do with it writes to one of its files. */
function meddle(world: World, { call }: Shown): void {
  const { on, self, things } = world;
  const path = `/w/${plannedCall(world, call)?.text}.${on.random(2) === 0 ? "left" : "right"}`;
  on.submit(self, `somebody writes ${path}`, () => void things.files.set(path, `${things.files.get(path) ?? ""}~`));
}

type Wanting = Pick<Settling, "where" | "twice"> & { readonly action: Action };

function wish(world: World, row: Shown, { action, where, twice }: Wanting): void {
  const desk = world.desks.get(row.session);
  for (let times = twice ? 2 : 1; times > 0; times -= 1) {
    if (where === "here" && desk?.process.actor.alive) settleAt(world, { ...desk, row, action });
    else wishElsewhere(world, row, action);
  }
}

type Desk = { readonly process: Process; readonly dispatcher: Dispatcher };

/** Somebody in front of the process that has the session; once it is about to leave, they go elsewhere. */
function settleAt(world: World, { process, dispatcher, row, action }: Desk & { readonly row: Shown; readonly action: Action }): void {
  world.on.submit(process.actor, `the person wants to ${action} ${row.id}`, () => {
    dispatcher.proposals[action](row.id, PERSON).then(
      ({ ok, state, type }) => {
        if (ok) world.told.push({ what: "settled", proposal: row.id, state: String(state) });
        if (type === "not_allowed") wishElsewhere(world, row, action);
      },
      (error: unknown) => void (isExpected(world, process, error) || refused(world, error)),
    );
  });
}

/** Somebody at a terminal puts on record what they want; whoever has the session, now or later, does it. */
function wishElsewhere(world: World, { id, session, digest: shown }: Shown, action: Action): void {
  const { on } = world;
  const actor = newTerminal(world);
  const ledger = world.ledgerOf(actor);
  const body = { proposal: id, session, action, digest: shown, reason: null, by: PERSON };
  on.submit(actor, `asks to ${action} ${id}`, () => {
    const at = new Date(on.clock(actor).now()).toISOString();
    ledger.answer([{ type: "proposal.requested", v: 1, at, body }]).then(
      () => void world.told.push({ what: "wished", proposal: id, action }),
      (error: unknown) => refused(world, error),
    );
  });
}

function refused(world: World, error: unknown): void {
  if (error instanceof ToolError || (error instanceof LedgerError && error.type !== "event_invalid")) return;
  world.violations.push({ rule: "U", message: `settling failed: ${error instanceof Error ? error.stack : String(error)}` });
}

/** Nobody has the session of a wish any more: whoever wished takes it for as long as it takes. */
export function settleLate(world: World, row: ProposalRow): void {
  const actor = newTerminal(world);
  world.on.submit(actor, `takes ${row.session} to settle ${row.id}`, () => {
    const leave = (): void => {
      actor.alive = false;
    };
    settleIn(world, actor, row).then(leave, (error: unknown) => {
      leave();
      refused(world, error);
    });
  });
}

async function settleIn(world: World, actor: Actor, { id, session: of, requested }: ProposalRow): Promise<void> {
  const { on, ids, things, planted } = world;
  const clock = on.clock(actor);
  const holder = { pid: world.pids, host: "here", processStart: actor.name, door: "command", command: true };
  const ports = { ledger: world.ledgerOf(actor), clock, ids, endHolder: (old: Holder) => endHolder(world, old) };
  const session = await openSession(ports, { holder, id: of, takeOver: true });
  const before = session.state.closed;
  if (before) await session.record([session.draft("session.opened", { ...session.holder, recovered: [] })], "full");
  const workshop: Workshop = { on, actor, things };
  const changes = changesOf({ ...workshop, blind: planted.appliesBlindly });
  const dispatcher = createDispatcher({
    session,
    clock,
    ids,
    digest,
    policy: world.policy,
    onAsk: "deny",
    changes,
    tools: toolsOf(workshop),
    warn: () => undefined,
  });
  const { ok, state } = await dispatcher.proposals[requested?.action ?? "discard"](id, PERSON);
  if (ok) world.told.push({ what: "settled", proposal: id, state: String(state) });
  await dispatcher.close();
  if (before) await session.close(before.reason, before.exit);
}
