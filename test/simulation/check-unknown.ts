import { type Call, type Event, of, type Story, violation } from "./story.ts";
import type { Violation } from "./world.ts";

/** L43: what may have been done is not done again in its session before a person has answered for it, or for the call that does it. */
export function* answeredFor({ calls, events }: Story): Iterable<Violation> {
  for (const { call, end, fingerprint } of calls.flatMap(unknownEnd))
    for (const again of calls) {
      const claim =
        again.session === call.session &&
        of(again, "call.claimed").find(({ pos, body }) => pos > end.pos && body.fingerprint === fingerprint);
      if (!claim) continue;
      const isItsOwn = ({ body }: Event): boolean => body.call === again.id; // a yes to this very call, whenever it was said
      const isKnown = events.some(
        (event) => event.pos < claim.pos && isPersons(event, fingerprint) && (event.pos > end.pos || isItsOwn(event)),
      );
      if (!isKnown) yield violation("L43", `${again.id} does what ${call.id} may have done, and nobody was asked`);
    }
}

function unknownEnd(call: Call): readonly { readonly call: Call; readonly end: Event; readonly fingerprint: string | undefined }[] {
  const [end] = of(call, "call.ended");
  const [claim] = of(call, "call.claimed");
  const judged = of(call, "call.judged").at(-1)?.body;
  const acts = judged?.["safe"] !== true && judged?.["tool"] !== "stage"; // what only stages changes nothing; its apply is judged by itself
  return end?.body.outcome === "unknown" && claim && acts ? [{ call, end, fingerprint: claim.body.fingerprint }] : [];
}

/** A yes to another request that a person changed into this one is a yes to this one. */
function isPersons({ type, body }: Event, fingerprint: string | undefined): boolean {
  if (type !== "approval.answered" || body.by?.kind === "grant") return false;
  return body.fingerprint === fingerprint || body.edited?.fingerprint === fingerprint;
}
