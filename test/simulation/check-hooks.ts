import { REWRITTEN, REWRITTEN_ASKED } from "./hooks.ts";
import type { Fault, Hooking } from "./plan.ts";
import { type Call, type Event, of, type Story, violation } from "./story.ts";
import { EDITED, plannedCall, type Violation } from "./world.ts";

const REFUSING: readonly Hooking["before"][] = ["deny", "fails", "nonsense"];

/** H1, H2, H3: what a hook refused is never claimed, what it asked about has a person's yes, and what it rewrote is never done as it was. Over any crash. */
export function* hooked(story: Story, call: Call): Iterable<Violation> {
  const { hook, tool } = plannedCall(story.world, call.id) ?? {};
  if (!hook) return;
  const asks = hook.before === "ask" && tool !== "ask"; // whether a question is put is nobody's question
  for (const claim of of(call, "call.claimed")) {
    const yes = claim.body.answer ? story.byPos.get(claim.body.answer.pos) : undefined;
    if (REFUSING.includes(hook.before)) yield violation("H1", `${call.id} is claimed although its hook says ${hook.before}`);
    if (asks && !isPersons(yes)) yield violation("H2", `${call.id} is claimed without a person, whom its hook wants asked`);
    yield* heeded(call, { hook, yes });
  }
  yield* unchanged(story, call, hook);
  yield* hidden(story, call, hook);
}

function isPersons(yes: Event | undefined): boolean {
  return yes?.type === "approval.answered" && yes.body.by?.kind === "person";
}

/** H1 of what asks: a person's yes never follows a permission hook's no, and a hook's yes is one that it gave. */
function* heeded(call: Call, { hook, yes }: { readonly hook: Hooking; readonly yes: Event | undefined }): Iterable<Violation> {
  if (hook.asked === "deny" && isPersons(yes)) yield violation("H1", `a person was asked about ${call.id}, to which its hook says no`);
  if (yes?.body.by?.kind === "hook" && hook.asked !== "allow" && hook.asked !== "rewrite")
    yield violation("H2", `${call.id} has a hook's yes, and its hook says ${hook.asked}`);
}

function* unchanged({ world }: Story, call: Call, hook: Hooking): Iterable<Violation> {
  if (hook.before !== "rewrite") return;
  for (const { call: id, session, text } of world.things.effects)
    if (id === call.id && session === call.session && ![REWRITTEN, REWRITTEN_ASKED, EDITED].includes(text))
      yield violation("H3", `${call.id} acted on '${text}', which its hook rewrites`);
}

/** What the bodies say of what they did. */
const OPEN: readonly string[] = ["acted", "seen", "it went wrong afterwards"];

/** H4: what a hook takes out of a result, or might have if it had not failed, is neither on record nor told to a model. */
function* hidden({ world }: Story, call: Call, { after }: Hooking): Iterable<Violation> {
  if (after === "none") return;
  const told = world.heard.flatMap(({ session, prompt }) =>
    session === call.session ? prompt.flatMap(({ content }) => (Array.isArray(content) ? content : [])) : [],
  );
  const results = told.filter(
    (part: { readonly type?: string; readonly toolCallId?: string }) => part.type === "tool-result" && part.toolCallId === call.id,
  );
  const words = [...of(call, "call.ended").map(({ body }) => body), ...results].map((part) => JSON.stringify(part));
  const shown = OPEN.find((text) => words.some((word) => word.includes(text)));
  if (shown !== undefined) yield violation("H4", `the result of ${call.id} still says '${shown}'`);
}

/** H5: a process tells hooks of the final verdict on a call once; an allow is told of what is claimed, a deny never of that, and one on record once. */
export function* decidedOnce({ world, calls }: Story): Iterable<Violation> {
  const has = (fault: Fault["kind"]): boolean => world.plan.faults.some(({ kind }) => kind === fault);
  const fails = world.plan.faults.some(({ kind }) => kind.startsWith("store") || kind === "cut");
  for (const [name, told] of Map.groupBy(world.decisions, ({ session, call }) => `${session} ${call}`)) {
    const call = calls.find(({ id, session }) => `${session} ${id}` === name);
    const isClaimed = call !== undefined && of(call, "call.claimed").length > 0;
    const verdicts = told.filter(({ decision }) => decision !== "canceled");
    const isTold = (verdict: string): boolean => verdicts.some(({ decision }) => decision === verdict);
    const once = fails ? verdicts : told; // a cancel whose end could not be stored is told again
    if (new Set(once.map(({ pid }) => pid)).size < once.length) yield violation("H5", `a process tells hooks of ${name} twice`);
    if (isTold("allow") && !isClaimed && !has("power"))
      yield violation("H5", `hooks are told that ${name} is allowed, which is not claimed`); // a read may be lost
    if (call && isTold("deny") && !has("power")) yield* deniedOnce(call, { name, times: verdicts.length, isLoosened: has("policy") }); // a verdict may be lost
  }
}

type Denied = { readonly name: string; readonly times: number; readonly isLoosened: boolean };

/** H5 of a deny: a verdict on record is final, over any crash. A permission hook's no that was not ended is found anew. */
function* deniedOnce(call: Call, { name, times, isLoosened }: Denied): Iterable<Violation> {
  const isOnRecord = of(call, "call.judged")[0]?.body["verdict"] === "deny";
  if (of(call, "call.claimed").length > 0 && (isOnRecord || !isLoosened))
    yield violation("H5", `hooks are told that ${name} is denied, which is claimed`);
  if (isOnRecord && times > 1) yield violation("H5", `hooks are told twice that ${name} is denied`);
}
