import { type Event, of, type Story, violation } from "./story.ts";
import { plannedCall, type Violation } from "./world.ts";

type Parent = { readonly session: string; readonly call: string };

/** A1: an agent that a call waits for is over when its call is: nothing of it begins after that, and its session is closed. */
export function* waitedFor(story: Story): Iterable<Violation> {
  for (const { session, body } of story.events.filter(({ type }) => type === "session.created")) {
    const parent = body["parent"] as Parent | null | undefined;
    if (parent && plannedCall(story.world, parent.call)?.tool === "helper") yield* overWith(story, session, parent);
  }
}

function* overWith(story: Story, session: string, parent: Parent): Iterable<Violation> {
  const { events, calls } = story;
  const call = calls.find(({ id, session: its }) => id === parent.call && its === parent.session);
  const end = call && of(call, "call.ended")[0];
  const own = events.filter((event) => event.session === session);
  const after = (type: string): Event | undefined => own.find((event) => event.type === type && end !== undefined && event.pos > end.pos);
  if (end?.body.outcome === "succeeded" && after("call.ended"))
    yield violation("A1", `${parent.call} succeeded before its agent had ended`);
  const late = after("call.claimed");
  if (late) yield violation("A1", `${late.body.call} of an agent is claimed after the end of ${parent.call}, which waited for it`);
  const begun = own.some(({ type }) => type === "turn.started"); // one that a fenced process made, and could not close, has nothing to end
  if (begun && own.at(-1)?.type !== "session.closed") yield violation("A1", `the session of the agent of ${parent.call} is left open`);
}

/** A2: of a conversation only what its model said on record is proposed. */
export function* said({ events }: Story): Iterable<Violation> {
  const place = ({ session, body }: Event): string => `${session} ${String(body["turn"])}`;
  const turns = new Set(events.filter(({ type }) => type === "turn.started").map(place));
  const heard = new Set<string>();
  for (const event of events) {
    if (event.type === "message.assistant") heard.add(place(event));
    if (event.type === "call.proposed" && turns.has(place(event)) && !heard.has(place(event)))
      yield violation("A2", `${event.body.call} is proposed, and no answer of its turn is on record`);
  }
}

/** S1, S2: a schedule fires once for a moment that is due, in order; one that outlives its process and is due once fires once. What fires is told, once. */
export function* due(story: Story): Iterable<Violation> {
  const created = story.events.filter(({ type }) => type === "schedule.created");
  for (const { session, body } of created) {
    const id = String(body["schedule"]);
    const own = story.events.filter((event) => event.session === session && event.body["schedule"] === id);
    yield* fired(id, body, own);
    yield* ended(id, body, own);
  }
  for (const [text, same] of Map.groupBy(created, ({ body }) => String(body["prompt"]))) yield* told(story, text, same);
}

function* told({ world, events }: Story, text: string, same: readonly Event[]): Iterable<Violation> {
  if (world.plan.faults.some(({ kind }) => kind === "power")) return; // what was told may be lost, and told again
  const ids = same.map(({ body }) => body["schedule"]);
  const notices = events.filter(({ type, body }) => type === "notice.queued" && ids.includes(body["schedule"])).length;
  const times = world.heard.map(({ prompt }) => occurrences(prompt, text));
  if (Math.max(0, ...times) > notices) yield violation("S1", `a model is told more often of ${ids.join(" ")} than it fired`);
}

/** How often it is said to a model; that a call asked for it, or a result tells of it, is no telling. */
function occurrences(prompt: readonly { readonly role: string; readonly content: unknown }[], text: string): number {
  const said = prompt.filter(({ role }) => role === "user").map(({ content }) => JSON.stringify(content));
  return said.join("\n").split(text).length - 1;
}

function* fired(id: string, { due: first, everyMs }: Event["body"], own: readonly Event[]): Iterable<Violation> {
  const times = own.filter(({ type }) => type === "schedule.fired").map(({ body }) => Date.parse(String(body["due"])));
  for (const [at, time] of times.entries()) {
    if (at > 0 && time <= (times[at - 1] ?? 0)) yield violation("S1", `${id} fires again for what it has fired for`);
    if ((time - Date.parse(String(first))) % Number(everyMs) !== 0) yield violation("S1", `${id} fires for a moment that is not due`);
  }
}

function* ended(id: string, { durable, recurring }: Event["body"], own: readonly Event[]): Iterable<Violation> {
  const count = (type: string): number => own.filter((event) => event.type === type).length;
  const fires = count("schedule.fired");
  if (count("schedule.removed") !== 1) yield violation("S2", `${id} is removed ${count("schedule.removed")} times`);
  if (!recurring && (fires > 1 || (durable === true && fires !== 1)))
    yield violation("S2", `${id}, which is due once, fires ${fires} times`);
  if (!recurring && count("notice.queued") !== fires)
    yield violation("S2", `${id} fires ${fires} times and has ${count("notice.queued")} notices`);
}
