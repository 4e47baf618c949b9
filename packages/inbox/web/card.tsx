import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { InboxAnswer, InboxCard } from "../src/desk.ts";
import { type ChosenHunks, Diff, hunkIds } from "./diff.tsx";
import { useDraft } from "./draft.ts";
import { Questions } from "./questions.tsx";
import { age, visible } from "./text.ts";
import { post } from "./wire.ts";

/** Buttons do nothing for this long after the card changes, so that people have time to read it. */
const INERT_MS = 500;

type CardProps = {
  readonly card: InboxCard;
  readonly split: boolean;
  readonly answer: (answer: InboxAnswer) => void;
  /** Calls the listener with each key that is pressed outside of input fields. */
  readonly onKey?: (listener: (key: string) => void) => () => void;
};

/** An answer without the fields that name the card. */
export type AnswerBody = Omit<InboxAnswer, "id" | "revision" | "fingerprint">;

export function Card({ card, split, answer, onKey }: CardProps) {
  const [reason, setReason] = useDraft(card, "reason", "");
  const [chosen, setChosen] = useState<ChosenHunks | undefined>(undefined);
  const [edit, setEdit] = useDraft<string | undefined>(card, "edit", undefined);
  const [problem, setProblem] = useState("");
  const isInert = useInert(shownText(card));
  const reasonField = useRef<HTMLInputElement>(null);
  const editField = useRef<HTMLTextAreaElement>(null);
  const isEditing = edit !== undefined;
  useEffect(() => editField.current?.focus(), [isEditing]);
  const isOpen = card.state === "open";
  const say = (body: AnswerBody): void => {
    if (isInert || !isOpen) return;
    const { id, revision, fingerprint } = card;
    answer({ id, revision, fingerprint, ...(reason !== "" && { reason }), ...body });
  };
  const approve = (): void => {
    if (edit !== undefined) approveEdit();
    else if (chosen && chosen.size === 0) setProblem("Choose at least one file or change.");
    else
      say({
        outcome: "approve",
        ...(card.effect?.write != null && { write: card.effect.write }),
        ...(chosen && { files: chosenFiles(card, chosen) }),
      });
  };
  const approveEdit = (): void => {
    const input = readEdit(edit ?? "");
    if (typeof input === "string") setProblem(input);
    else say({ outcome: "approve", input });
  };
  const startEdit = async (): Promise<void> => {
    if (isEditing) return editField.current?.focus();
    try {
      setEdit(JSON.stringify(await post<object>(`/api/reveal/${card.id}`), null, 2));
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  useLayoutEffect(() =>
    onKey?.((key) => {
      if (key === "y" && card.kind !== "question" && edit === undefined) approve();
      else if (key === "n") reasonField.current?.focus();
      else if (key === "e" && card.editable !== null && isOpen) void startEdit();
      else if (key === "c" && card.hasParts && isOpen) setChosen(chosen ? undefined : chooseEverything(card));
    }),
  );
  return (
    <article class={`card ${isInert ? "inert" : ""}`} aria-labelledby={`h-${card.id}`} data-id={card.id}>
      <h2 id={`h-${card.id}`} tabIndex={-1}>
        {visible(card.heading)}
      </h2>
      <p class="about">
        {visible(card.agent)} ·{" "}
        <a href={`#/session/${card.session}`}>{card.group === card.session ? visible(card.sessionTitle) : "timeline of the call"}</a> ·{" "}
        {age(card.since)} · {visible(card.mode)}
      </p>
      {!isOpen && (
        <p class="notice" role="status">
          {visible(card.answered ?? `No longer open: ${card.state}.`)}
        </p>
      )}
      <CardBody card={card} />
      {card.hasParts && isOpen && (
        <label class="choosing">
          <input type="checkbox" checked={chosen !== undefined} onChange={() => setChosen(chosen ? undefined : chooseEverything(card))} />{" "}
          Approve only some files or changes
        </label>
      )}
      {card.files.length > 0 && <Diff files={card.files} split={split} chosen={chosen} choose={setChosen} />}
      {edit !== undefined && (
        <label class="edit">
          Edited input. It is checked again by your rules before it runs.
          <textarea ref={editField} value={edit} spellcheck={false} onInput={({ currentTarget }) => setEdit(currentTarget.value)} />
        </label>
      )}
      {problem !== "" && (
        <p class="problem" role="alert">
          {visible(problem)}
        </p>
      )}
      {isOpen && card.kind === "question" && <Questions card={card} isInert={isInert} say={say} />}
      {isOpen && (
        <div class="answers">
          <label>
            Reason
            <input
              ref={reasonField}
              value={reason}
              placeholder="shown to the model"
              onInput={({ currentTarget }) => setReason(currentTarget.value)}
            />
          </label>
          <button type="button" class="reject" disabled={isInert} onClick={() => say({ outcome: "reject" })}>
            {card.kind === "proposal" ? "Discard" : card.kind === "question" ? "Decline to answer" : "Reject"}
          </button>
          {card.kind === "approval" && (
            <button type="button" class="reject" disabled={isInert} onClick={() => say({ outcome: "reject", stop: true })}>
              Reject and stop
            </button>
          )}
          {card.editable !== null && edit === undefined && (
            <button type="button" onClick={() => void startEdit()}>
              Show the raw input and edit
            </button>
          )}
          {card.kind !== "question" && card.modes.length === 0 && (
            <button type="button" class="approve" disabled={isInert} onClick={approve}>
              {approveWords(card, isEditing, chosen !== undefined)}
            </button>
          )}
          {card.modes.map(({ mode, says }) => (
            <button key={mode} type="button" class="approve" disabled={isInert} onClick={() => say({ outcome: "approve", mode })}>
              {says}
            </button>
          ))}
          {card.effect?.write != null && (
            <button type="button" disabled={isInert} onClick={() => say({ outcome: "approve" })}>
              Run the command instead
            </button>
          )}
        </div>
      )}
      {isOpen && card.kind === "approval" && edit === undefined && chosen === undefined && (
        <Offers card={card} isInert={isInert} say={say} />
      )}
      <More card={card} />
    </article>
  );
}

function approveWords({ kind, effect }: InboxCard, isEdited: boolean, isPart: boolean): string {
  if (isEdited) return "Approve the edited version";
  if (isPart) return "Approve the chosen part";
  if (kind === "proposal") return "Apply";
  return effect?.write != null ? "Write exactly these changes" : "Approve once";
}

/** The part of the card without buttons, also for reviewing several cards together. */
export function CardBody({ card }: { readonly card: InboxCard }) {
  return (
    <>
      {card.warnings.map((warning) => (
        <p class="warning" key={warning}>
          <strong>Warning:</strong> {visible(warning)}
        </p>
      ))}
      {card.text !== null && <pre class="command">{visible(card.text)}</pre>}
      <dl>
        {card.facts.map(([label, text], at) => (
          <div key={`${at}`} class={label === "risk" ? "risk" : ""}>
            <dt>{label}</dt>
            <dd>{visible(text)}</dd>
          </div>
        ))}
      </dl>
      {card.fields.length > 0 && (
        <table class="fields">
          <caption>Arguments</caption>
          <tbody>
            {card.fields.map(([name, value]) => (
              <tr key={name}>
                <th scope="row">{visible(name)}</th>
                <td>
                  <pre>{visible(value)}</pre>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {card.effect && (
        <section class="effect" aria-label="Preview">
          <h3>Preview {visible(card.effect.heading)}</h3>
          {card.effect.changes.length > 0 && <pre>{visible(card.effect.changes.join("\n"))}</pre>}
          {card.effect.warnings.map((warning) => (
            <p class="warning" key={warning}>
              <strong>Warning:</strong> {visible(warning)}
            </p>
          ))}
          {card.effect.output !== "" && (
            <details>
              <summary>Output of the command</summary>
              <pre>{visible(card.effect.output)}</pre>
            </details>
          )}
          <p>{card.effect.outcome}</p>
        </section>
      )}
    </>
  );
}

function Offers({ card, isInert, say }: { readonly card: InboxCard; readonly isInert: boolean; readonly say: (body: AnswerBody) => void }) {
  if (card.offers.length === 0) return card.noOffer === null ? null : <p class="note">“Always” is not offered: {card.noOffer}.</p>;
  return (
    <details class="always">
      <summary>Always allow …</summary>
      {card.offers.map(({ scope, says, rules, risk }) => (
        <div class="offer" key={`${scope} ${rules.join()}`}>
          <button type="button" disabled={isInert} onClick={() => say({ outcome: "approve", remember: { scope, rules } })}>
            {says}
          </button>
          <span>
            stores <code>{visible(rules.join(", "))}</code>
            {risk !== null && `: ${risk}`}
          </span>
        </div>
      ))}
    </details>
  );
}

function More({ card }: { readonly card: InboxCard }) {
  return (
    <>
      {card.messages.length > 0 && (
        <details>
          <summary>Last messages of the session</summary>
          {card.messages.map(({ who, text }, at) => (
            <div class="message" key={`${at}`}>
              <strong>{who}</strong>
              <pre>{visible(text)}</pre>
            </div>
          ))}
        </details>
      )}
      <details>
        <summary>Why approval is needed</summary>
        <pre>{visible(card.explanation)}</pre>
      </details>
    </>
  );
}

/** Text that changes with what the card shows. An unchanged request that is opened again gives the same text. */
function shownText({ id, fingerprint, text, facts, warnings, effect }: InboxCard): string {
  return JSON.stringify([id, fingerprint, text, facts, warnings, effect]);
}

/** True for a moment after `what` changes. */
export function useInert(what: string): boolean {
  const [ready, setReady] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setReady(what), INERT_MS);
    return () => clearTimeout(timer);
  }, [what]);
  return ready !== what;
}

function chooseEverything({ files }: InboxCard): ChosenHunks {
  return new Map(files.map((file) => [file.path, new Set(hunkIds(file))]));
}

function chosenFiles({ files }: InboxCard, chosen: ChosenHunks): NonNullable<InboxAnswer["files"]> {
  return [...chosen].map(([path, picked]) => {
    const file = files.find((one) => one.path === path);
    return file && picked.size === hunkIds(file).length ? { path } : { path, hunks: [...picked] };
  });
}

function readEdit(text: string): NonNullable<InboxAnswer["input"]> | string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as NonNullable<InboxAnswer["input"]>;
    return "The input must be a JSON object.";
  } catch (error) {
    return `The input is not valid JSON: ${error instanceof Error ? error.message : error}`;
  }
}
