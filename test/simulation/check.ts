import type { LedgerEvent } from "@assent/core";
import { canonical, sha256 } from "../crash/check.ts";
import { due, said, waitedFor } from "./check-agents.ts";
import { decidedOnce, hooked } from "./check-hooks.ts";
import { staged } from "./check-proposals.ts";
import { answeredFor } from "./check-unknown.ts";
import { type Call, type Event, isYes, of, SHARED, type Story, storyOf, violation } from "./story.ts";
import { EDITED, plannedCall, type Told, type Violation, type World } from "./world.ts";

/** The rules, each by what the contract calls it; L: nothing waits for ever, W: what was done is what is said to have been done. */
const OF_CALLS: readonly ((story: Story, call: Call) => Iterable<Violation>)[] = [ended, intended, decided, meant, done, hooked];
const OF_ALL: readonly ((story: Story) => Iterable<Violation>)[] = [
  counted,
  settledOnce,
  usedOnce,
  kept,
  inLanes,
  noticed,
  toldInTurn,
  remembered,
  staged,
  replied,
  decidedOnce,
  said,
  waitedFor,
  due,
  answeredFor,
];

/** Everything that is not as it must be once all has come to rest. Only the record, the world and what was said are looked at. */
export function check(world: World, stored: readonly LedgerEvent[]): readonly Violation[] {
  const story = storyOf(world, stored);
  return [
    ...story.calls.flatMap((call) => OF_CALLS.flatMap((rule) => [...rule(story, call)])),
    ...OF_ALL.flatMap((rule) => [...rule(story)]),
  ];
}

/** I1, I7: proposed once, ended once, and nothing after that. */
function* ended(_story: Story, call: Call): Iterable<Violation> {
  const proposed = of(call, "call.proposed").length;
  const ends = of(call, "call.ended");
  if (proposed !== 1) yield violation("I1", `call ${call.id} was proposed ${proposed} times`);
  if (ends.length !== 1) yield violation("I1", `call ${call.id} ended ${ends.length} times`);
  const after = ends[0] && call.events.find(({ pos }) => pos > (ends[0]?.pos ?? 0));
  if (after) yield violation("I7", `${after.type} follows the end of call ${call.id}`);
}

/** I4: a second intent is only ever the one retry under the key of the first. */
function* intended(_story: Story, call: Call): Iterable<Violation> {
  const [first, second, third] = of(call, "call.claimed");
  if (!first) return;
  if (first.body["attempt"] !== 1) yield violation("I4", `the first intent of ${call.id} is attempt ${String(first.body["attempt"])}`);
  const isRetry =
    second?.body["attempt"] === 2 &&
    second.body["idempotencyKey"] !== null &&
    second.body["idempotencyKey"] === first.body["idempotencyKey"];
  if (second && !isRetry) yield violation("I4", `call ${call.id} was claimed again`);
  if (third) yield violation("I4", `call ${call.id} was claimed a third time`);
}

/** I2, I5, I6: an intent has a decision, a yes that stands if it asked, one fingerprint throughout, and no change of policy between. */
function* decided(story: Story, call: Call): Iterable<Violation> {
  for (const claim of of(call, "call.claimed")) {
    const judged = of(call, "call.judged").findLast(({ pos }) => pos < claim.pos);
    if (!judged) yield violation("I2", `call ${call.id} is claimed without a decision`);
    else yield* agreed(story, call, { judged, claim });
  }
}

function* agreed(story: Story, call: Call, { judged, claim }: { readonly judged: Event; readonly claim: Event }): Iterable<Violation> {
  const { tool, toolDigest, input, cwd, binds, verdict } = judged.body;
  const { answer, fingerprint } = claim.body;
  if (fingerprint !== sha256(canonical({ tool, toolDigest, input, cwd, binds })))
    yield violation("I5", `call ${call.id} is claimed as something else than was judged`);
  if (verdict === "deny") yield violation("I2", `call ${call.id} is claimed although it was denied`);
  if (verdict === "ask" && !answer) yield violation("I2", `call ${call.id} asked and is claimed without a yes`);
  if (
    story.events.some(
      ({ type, session, pos }) => type === "policy.changed" && session === claim.session && pos > judged.pos && pos < claim.pos,
    )
  )
    yield violation("I6", `the policy changed between the decision on ${call.id} and its claim`);
  if (!answer) return;
  const yes = story.byPos.get(answer.pos);
  if (!yes || yes.pos > claim.pos || yes.body.call !== call.id || !isYes(yes))
    yield violation("I2", `no yes to ${call.id} stands at ${answer.pos}`);
  else if ((yes.body.edited ?? yes.body).fingerprint !== fingerprint) yield violation("I5", `the yes to ${call.id} is to something else`);
  const undone = call.events.find(
    (event) => event.pos > answer.pos && event.pos < claim.pos && (event.type === "approval.closed" || event.type === "approval.opened"),
  );
  if (undone) yield violation("I2", `the yes to ${call.id} was taken back by ${undone.type}`);
}

/** How often the world may have been changed by a call that ended so. */
const DONE: Readonly<Record<string, readonly number[]>> = {
  invalid: [0],
  denied: [0],
  rejected: [0],
  expired: [0],
  succeeded: [1],
  failed: [0, 1],
  timed_out: [0, 1],
  cancelled: [0, 1],
  unknown: [0, 1],
};
const ACTING: readonly unknown[] = ["act", "spawn", "probed", "keyed", "nest", "slow"];

/** I2, I5: an effect has its intent, and is what was judged, and what a person wrote who changed it. */
function* meant(story: Story, call: Call): Iterable<Violation> {
  for (const { call: id, session, attempt, text } of story.world.things.effects) {
    if (id !== call.id || session !== call.session) continue;
    const claim = of(call, "call.claimed").find(({ body }) => body["attempt"] === attempt);
    const judged = claim && of(call, "call.judged").findLast(({ pos }) => pos < claim.pos);
    if (!claim) yield violation("I2", `${call.id} had an effect without an intent`);
    else if (judged?.body.input?.text !== text) yield violation("I5", `${call.id} acted on '${text}', which was not judged`);
    if (text !== EDITED && claim && wasEdited(story, claim))
      yield violation("I5", `${call.id} acted on '${text}', to which nobody said yes`);
  }
}

/** A person said yes to this intent, and writes another text whenever they do. */
function wasEdited({ world, byPos }: Story, { body: { call = "", answer } }: Event): boolean {
  const yes = answer ? byPos.get(answer.pos) : undefined;
  return yes?.type === "approval.answered" && yes.body.by?.kind === "person" && plannedCall(world, call)?.person.edits === true;
}

/** I4, W1: an intent has one effect at most, and what is said to be done was done. */
function* done({ world }: Story, call: Call): Iterable<Violation> {
  const effects = world.things.effects.filter(({ call: id, session }) => id === call.id && session === call.session);
  for (const [attempt, these] of Map.groupBy(effects, (effect) => effect.attempt))
    if (these.length > 1) yield violation("I4", `attempt ${attempt} of ${call.id} had ${these.length} effects`);
  if (new Set(effects.map(({ key }) => key)).size > 1) yield violation("I4", `${call.id} had effects under different keys`);
  const [end] = of(call, "call.ended");
  const tool = of(call, "call.judged").at(-1)?.body["tool"];
  if (!end || (effects.length === 0 && !ACTING.includes(tool))) return;
  const times = new Set(effects.map(({ key, attempt }) => key ?? attempt)).size;
  if (!DONE[String(end.body.outcome)]?.includes(times))
    yield violation("W1", `${call.id} ended ${end.body.outcome} and had ${times} effects`);
}

/** I2 of what no record names, I7: sequences without a gap, epochs that never fall. */
function* counted({ world, events, calls }: Story): Iterable<Violation> {
  const last = new Map<string, Event>();
  for (const event of events) {
    const before = last.get(event.session);
    if (event.seq !== (before?.seq ?? 0) + 1) yield violation("I7", `${event.session}: ${event.seq} follows ${before?.seq ?? 0}`);
    if (event.session !== SHARED && event.epoch < (before?.epoch ?? 0))
      yield violation("I7", `${event.session}: the epoch falls at ${event.seq}`);
    last.set(event.session, event);
  }
  const known = new Set(calls.map(({ id, session }) => `${session} ${id}`));
  for (const { call, session } of world.things.effects)
    if (!known.has(`${session} ${call}`)) yield violation("I2", `an effect of ${call}, of which nothing is on record`);
}

/** I3: one answer or close per revision of an approval; after a yes one more close, which takes it back. */
function* settledOnce({ events }: Story): Iterable<Violation> {
  const settling = events.filter(({ type }) => isSettling(type));
  for (const [name, [first, second, third]] of Map.groupBy(
    settling,
    ({ body }) => `${body.approval} revision ${String(body["revision"])}`,
  )) {
    const isWithdrawal = second?.type === "approval.closed" && first && isYes(first);
    if (second && !isWithdrawal) yield violation("I3", `${name} is settled twice`);
    if (third) yield violation("I3", `${name} is settled a third time`);
  }
}

/** I3: an answer is used by one call, once per attempt. */
function* usedOnce({ events }: Story): Iterable<Violation> {
  const uses = events.filter(({ type, body }) => type === "call.claimed" && body.answer);
  for (const [pos, claims] of Map.groupBy(uses, ({ body }) => body.answer?.pos)) {
    const ways = new Set(claims.map(({ session, body }) => `${session} ${body.call} ${String(body["attempt"])}`));
    const calls = new Set(claims.map(({ session, body }) => `${session} ${body.call}`));
    if (ways.size < claims.length || calls.size > 1) yield violation("I3", `the answer at ${pos} is used twice`);
  }
}

/** I10: what somebody was told is on record. */
function* kept({ world, events }: Story): Iterable<Violation> {
  for (const told of world.told)
    if (!events.some((event) => says(event, told))) yield violation("I10", `${JSON.stringify(told)} was told, and no record says so`);
}

function says({ type, session, body }: Event, told: Told): boolean {
  switch (told.what) {
    case "parked":
      return session === told.session && body.call === told.call && (type === "approval.opened" || type === "call.proposed");
    case "wished":
      return type === "proposal.requested" && body["proposal"] === told.proposal && body["action"] === told.action;
    case "settled":
      return type === `proposal.${told.state}` && body["proposal"] === told.proposal;
    case "reply":
      return isReply(told, { type, body });
    case "answer":
      if (type === "call.ended") return body.call === told.call && body.outcome === told.outcome; // the same of an approval
      return isSettling(type) && body.approval === told.approval && body.outcome === told.outcome;
    default:
      return told satisfies never;
  }
}

function isReply(told: Extract<Told, { readonly what: "reply" }>, { type, body }: Pick<Event, "type" | "body">): boolean {
  if (type === "call.ended") return told.outcome === "cancelled" && body.call === told.call; // its end closes what it asked
  return type === "question.answered" && body["question"] === told.question && body.outcome === told.outcome;
}

function isSettling(type: string): boolean {
  return type === "approval.answered" || type === "approval.closed";
}

/** Lanes: an unsafe call is claimed after the end of every call before it, a safe one after the end of every unsafe one. */
function* inLanes({ calls }: Story): Iterable<Violation> {
  const placed = calls.flatMap((call) => {
    const [proposed] = of(call, "call.proposed");
    const [claim] = of(call, "call.claimed");
    const index = Number(proposed?.body["index"] ?? -1);
    const safe = of(call, "call.judged").at(-1)?.body["safe"] === true;
    return index < 0
      ? []
      : [
          {
            call,
            index,
            safe,
            turn: `${call.session} ${String(proposed?.body["turn"])}`,
            claim: claim?.pos,
            end: of(call, "call.ended")[0]?.pos ?? 0,
          },
        ];
  });
  for (const batch of Map.groupBy(placed, ({ turn }) => turn).values())
    for (const later of batch) {
      const early = batch.find(
        (one) => one.index < later.index && !(one.safe && later.safe) && later.claim !== undefined && later.claim < one.end,
      );
      if (early) yield violation("D80", `${later.call.id} was claimed before ${early.call.id} had ended`);
    }
}

/** I9: a task that was started ends once and has one notice. */
function* noticed({ events }: Story): Iterable<Violation> {
  for (const { body } of events.filter(({ type }) => type === "task.started")) {
    const task = String(body["task"]);
    const own = events.filter((event) => event.body["task"] === task);
    const ends = own.filter(({ type }) => type === "task.ended").length;
    const notices = own.filter(({ type }) => type === "notice.queued").length;
    if (ends !== 1) yield violation("I9", `task ${task} ended ${ends} times`);
    if (notices !== 1) yield violation("I9", `task ${task} has ${notices} notices`);
  }
}

/** I9: a notice is told once, in its turn; that of a task is told. */
function* toldInTurn({ events }: Story): Iterable<Violation> {
  const queued = events.filter(({ type }) => type === "notice.queued");
  for (const [session, own] of Map.groupBy(queued, (event) => event.session)) {
    const delivered = events.filter((event) => event.type === "notice.delivered" && event.session === session);
    const told = delivered.flatMap(({ body }) => body["ids"] as readonly string[]);
    const wanted = own.map(({ body }) => String(body["notice"]));
    const hasModel = events.some(({ type, session: id }) => type === "turn.started" && id === session);
    const untold = own.filter(
      ({ body }) => (body["task"] ?? body["schedule"]) !== undefined && !told.includes(String(body["notice"])),
    ).length;
    if (new Set(told).size < told.length) yield violation("I9", `a notice of ${session} was told twice: ${told.join(" ")}`);
    if (wanted.filter((id) => told.includes(id)).join(" ") !== told.join(" "))
      yield violation("I9", `the notices of ${session} were told as ${told.join(" ")}, and came as ${wanted.join(" ")}`);
    if (hasModel && untold > 0) yield violation("I9", `${untold} notices of tasks of ${session} were never told`);
  }
}

type Part = { readonly type?: string; readonly toolCallId?: string };

/** I8: in what a model is asked, every call has its one result, in call order, before anything else is said. I9: and every notice stands once. */
function* remembered({ world }: Story): Iterable<Violation> {
  for (const { session, prompt } of world.heard) {
    for (const [at, { role, content }] of prompt.entries()) {
      const calls = role === "assistant" ? partsOf(content, "tool-call").join(" ") : "";
      const results = partsOf(prompt[at + 1]?.content, "tool-result").join(" ");
      if (role === "assistant" && calls !== results)
        yield violation("I8", `the model of ${session} sees results [${results}] for calls [${calls}]`);
    }
    const tasks = [...JSON.stringify(prompt).matchAll(/<task-id>([^<]*)</g)].map(([, id]) => id);
    if (new Set(tasks).size < tasks.length) yield violation("I9", `the model of ${session} is told twice of ${tasks.join(" ")}`);
  }
}

function partsOf(content: unknown, type: string): readonly string[] {
  return Array.isArray(content) ? (content as readonly Part[]).flatMap((part) => (part.type === type ? [part.toolCallId ?? ""] : [])) : [];
}

/** I3: a question is asked once and answered once. W1: the model is told what was answered, and nothing that was not. */
function* replied({ world, events, calls }: Story): Iterable<Violation> {
  const asked = events.filter(({ type }) => type === "question.asked");
  for (const [call, same] of Map.groupBy(asked, ({ session, body }) => `${session} ${String(body["callId"])}`))
    if (same.length > 1) yield violation("I3", `the question of ${call} is asked ${same.length} times`);
  for (const { session, body } of asked) {
    const answers = events.filter((event) => event.type === "question.answered" && event.body["question"] === body["question"]);
    const [end] = calls
      .filter(({ id, session: its }) => id === body["callId"] && its === session)
      .flatMap((call) => of(call, "call.ended"));
    if (answers.length > 1) yield violation("I3", `question ${String(body["question"])} is answered ${answers.length} times`);
    const isHidden = (plannedCall(world, String(body["callId"]))?.hook?.after ?? "none") !== "none";
    yield* toldTruly(end, answers[0], isHidden);
  }
}

function* toldTruly(end: Event | undefined, answer: Event | undefined, isHidden: boolean): Iterable<Violation> {
  const hears = end?.body.outcome === "succeeded" || end?.body["type"] === "ask_cancelled";
  const said = answer?.body.outcome === "answered" ? "succeeded" : "cancelled";
  if (hears && (!answer || answer.pos > end.pos || end.body.outcome !== said))
    yield violation("W1", `${end.body.call} was told ${end.body.outcome}, and the person said ${answer?.body.outcome ?? "nothing"}`);
  if (end?.body.outcome === "succeeded" && !isHidden && !JSON.stringify(end.body["content"]).includes("left"))
    yield violation("W1", `${end.body.call} was not told what the person chose`);
}
