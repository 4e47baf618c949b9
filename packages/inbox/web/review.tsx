import { useEffect, useState } from "preact/hooks";
import type { InboxAnswer, InboxCard } from "../src/desk.ts";
import { CardBody, useInert } from "./card.tsx";
import { Diff } from "./diff.tsx";
import { visible } from "./text.ts";
import { get } from "./wire.ts";

type ReviewProps = { readonly ids: readonly string[]; readonly answer: (answers: readonly InboxAnswer[]) => void };

/** Shows several cards in full, one below the other, and answers all of them at once. Each answer is its own record. */
export function Review({ ids, answer }: ReviewProps) {
  const [known, setKnown] = useState<ReadonlyMap<string, InboxCard | undefined>>(new Map());
  const [reason, setReason] = useState("");
  const key = ids.join();
  useEffect(() => {
    const missing = ids.filter((id) => !known.has(id)); // while answers are saved, ids only disappear
    if (missing.length === 0) return undefined;
    let isCurrent = true;
    void Promise.all(missing.map((id) => get<InboxCard>(`/api/cards/${id}`).catch(() => undefined))).then((found) => {
      if (isCurrent) setKnown((before) => new Map([...before, ...missing.map((id, at) => [id, found[at]] as const)]));
    });
    return () => {
      isCurrent = false;
    };
  }, [key]);
  const isLoaded = ids.every((id) => known.has(id));
  const isInert = useInert(isLoaded ? key : "");
  if (!isLoaded) return <p>Loading …</p>;
  const cards = ids.flatMap((id) => (known.get(id)?.state === "open" ? (known.get(id) ?? []) : []));
  const plain = cards.filter(({ kind, modes }) => kind !== "question" && modes.length === 0);
  const say = (outcome: "approve" | "reject", to: readonly InboxCard[]): void =>
    answer(
      to.map(({ id, revision, fingerprint, effect }) => ({
        ...{ id, revision, fingerprint, outcome },
        ...(reason !== "" && { reason }),
        ...(outcome === "approve" && effect?.write != null && { write: effect.write }),
      })),
    );
  return (
    <section aria-label="Answer several" class="review">
      {cards.map((card) => (
        <article class="card" key={card.id}>
          <h2>{visible(card.heading)}</h2>
          <p class="about">
            {visible(card.agent)}
            {card.group === card.session && ` · ${visible(card.sessionTitle)}`}
          </p>
          <CardBody card={card} />
          <Diff files={card.files} split={false} chosen={undefined} choose={() => undefined} />
        </article>
      ))}
      {plain.length < cards.length && <p class="note">Questions and plans are answered on their own cards.</p>}
      <div class="answers">
        <label>
          Reason
          <input value={reason} onInput={({ currentTarget }) => setReason(currentTarget.value)} />
        </label>
        <button type="button" class="reject" disabled={isInert} onClick={() => say("reject", cards)}>
          Reject these {cards.length}
        </button>
        <button type="button" class="approve" disabled={isInert || plain.length === 0} onClick={() => say("approve", plain)}>
          Approve these {plain.length}
        </button>
      </div>
    </section>
  );
}
