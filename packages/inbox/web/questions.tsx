import type { InboxCard } from "../src/desk.ts";
import type { AnswerBody } from "./card.tsx";
import { useDraft } from "./draft.ts";
import { visible } from "./text.ts";

type QuestionsProps = {
  readonly card: InboxCard;
  readonly isInert: boolean;
  readonly say: (body: AnswerBody) => void;
};

/** What is filled in for one question. */
type Draft = { readonly selected: readonly string[]; readonly custom: string; readonly note: string };

const EMPTY: Draft = { selected: [], custom: "", note: "" };

export function Questions({ card, isInert, say }: QuestionsProps) {
  const [drafts, setDrafts] = useDraft<Readonly<Record<string, Draft>>>(card, "answers", {});
  const draftOf = (id: string): Draft => drafts[id] ?? EMPTY;
  const change = (id: string, part: Partial<Draft>): void => setDrafts({ ...drafts, [id]: { ...draftOf(id), ...part } });
  const isComplete = card.questions.every(({ id }) => draftOf(id).selected.length > 0 || draftOf(id).custom.trim() !== "");
  const send = (): void =>
    say({
      outcome: "approve",
      answers: card.questions.map(({ id }) => {
        const { selected, custom, note } = draftOf(id);
        return { id, selected: [...selected], ...(custom.trim() !== "" && { custom }), ...(note.trim() !== "" && { note }) };
      }),
    });
  return (
    <form
      class="questions"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {card.questions.map(({ id, question, options, multi, recommended }) => (
        <fieldset key={id}>
          <legend>{visible(question)}</legend>
          {options.map(({ label, description }, at) => (
            <label key={label}>
              <input
                type={multi ? "checkbox" : "radio"}
                name={id}
                checked={draftOf(id).selected.includes(label)}
                onChange={({ currentTarget: { checked } }) => {
                  const others = multi ? draftOf(id).selected.filter((one) => one !== label) : [];
                  change(id, { selected: checked ? [...others, label] : others, ...(multi ? {} : { custom: "" }) });
                }}
              />
              <span>
                {visible(label)}
                {recommended === at && " (recommended)"}
                {description !== undefined && <small>{visible(description)}</small>}
              </span>
            </label>
          ))}
          <label>
            Other
            <input
              value={draftOf(id).custom}
              onInput={({ currentTarget: { value } }) => change(id, { custom: value, ...(multi || value === "" ? {} : { selected: [] }) })}
            />
          </label>
          <label>
            Note
            <input value={draftOf(id).note} onInput={({ currentTarget: { value } }) => change(id, { note: value })} />
          </label>
        </fieldset>
      ))}
      <button type="submit" class="approve" disabled={isInert || !isComplete}>
        Send the answers
      </button>
    </form>
  );
}
