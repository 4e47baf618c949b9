import { type Event, type Story, violation } from "./story.ts";
import type { Violation } from "./world.ts";

/** From where each event of a proposal's life may come, and where it leads. */
const PROPOSAL: Readonly<Record<string, { readonly from: readonly string[]; readonly to: string }>> = {
  "proposal.staged": { from: [""], to: "staged" },
  "proposal.applying": { from: ["staged"], to: "applying" },
  "proposal.applied": { from: ["applying"], to: "applied" },
  "proposal.apply_failed": { from: ["applying"], to: "staged" },
  "proposal.discarded": { from: ["staged"], to: "discarded" },
  "proposal.stale": { from: ["staged", "applying"], to: "stale" },
  "proposal.superseded": { from: ["staged"], to: "superseded" },
  "proposal.unknown": { from: ["applying"], to: "unknown" },
  "proposal.undoing": { from: ["applied"], to: "applied" },
  "proposal.undone": { from: ["applied"], to: "undone" },
};

type Effect = { readonly path: string; readonly before: string; readonly after: string };
type Life = { readonly id: string; readonly state: string; readonly events: readonly Event[] };

/** P1, P2, P3, P4: a proposal lives by its table, and what it did to the world is what its state says. */
export function* staged(story: Story): Iterable<Violation> {
  const own = story.events.filter(({ body }) => body["proposal"] !== undefined);
  const lives = Map.groupBy(own, ({ body }) => String(body["proposal"]));
  for (const [id, events] of lives) {
    const state = events.map(({ type }) => PROPOSAL[type]?.to).findLast((to) => to !== undefined) ?? "";
    yield* inOrder({ id, state, events });
    yield* matched(story, { id, state, events });
    yield* answered(id, events);
  }
  for (const { proposal, path } of story.world.things.writes)
    if (!lives.has(proposal)) yield violation("P1", `${path} was written for ${proposal}, of which nothing is on record`);
}

function* inOrder({ id, state: last, events }: Life): Iterable<Violation> {
  let state = "";
  for (const { type } of events.filter((event) => PROPOSAL[event.type] !== undefined)) {
    if (!PROPOSAL[type]?.from.includes(state)) yield violation("P1", `${type} of ${id} while it is ${state || "nothing"}`);
    state = PROPOSAL[type]?.to ?? state;
  }
  if (last === "undone" && !events.some(({ type }) => type === "proposal.undoing"))
    yield violation("P1", `${id} is undone, and that it would be was never on record`);
  if (last === "applying") yield violation("P1", `the apply of ${id} has no end`);
}

/** P2: a file is only ever replaced that is at the other end of its preview. P3: it is applied once, or not at all, and all files are at one end. */
function* matched({ world }: Story, { id, state, events }: Life): Iterable<Violation> {
  const writes = world.things.writes.filter(({ proposal }) => proposal === id);
  const isUnclear = state === "unknown" || events.some(isUntold);
  for (const { path, before, after } of effectsOf(events)) {
    const steps = writes.filter((write) => write.path === path).map(({ from, to }) => [from ?? "absent", to ?? "absent"]);
    const forth = steps.filter(([from, to]) => from === before && to === after).length;
    const back = steps.filter(([from, to]) => from === after && to === before).length;
    if (forth + back < steps.length) yield violation("P2", `${path} had changed when ${id} replaced it`);
    if (!isUnclear && forth - back !== Number(state === "applied"))
      yield violation("P3", `${id} is ${state}, and ${path} was changed ${forth} times and put back ${back} times`);
  }
}

/** An undo that nobody can tell the end of, and says so. */
function isUntold({ type, body }: Event): boolean {
  return type === "proposal.refused" && body["type"] === "apply_unknown";
}

function effectsOf(events: readonly Event[]): readonly Effect[] {
  const manifest = events.find(({ type }) => type === "proposal.staged")?.body["manifest"];
  return (manifest as { readonly effects: readonly Effect[] } | undefined)?.effects ?? [];
}

const SETTLES: readonly string[] = [
  ...["proposal.applied", "proposal.discarded", "proposal.undone", "proposal.stale", "proposal.superseded"],
  ...["proposal.unknown", "proposal.apply_failed", "proposal.refused"],
];

/** P4: whatever a person wished is done or refused, on record. */
function* answered(id: string, life: readonly Event[]): Iterable<Violation> {
  const last = life.findLastIndex(({ type }) => type === "proposal.requested");
  if (last >= 0 && !life.slice(last).some(({ type }) => SETTLES.includes(type)))
    yield violation("P4", `what was wished for ${id} is neither done nor refused`);
}
