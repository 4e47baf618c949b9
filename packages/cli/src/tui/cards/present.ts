import type { ApprovalCard, CardBeginning, CardOutcome } from "./approval-card.ts";
import type { CardStack, StackedCard } from "./stack.ts";

/** A card's place on the stack, which the card after an edit takes over. */
export type StackPlace = { item: StackedCard | undefined; leave: () => void };

export function freePlace(): StackPlace {
  return { item: undefined, leave: () => undefined };
}

export type PresentedCard = Pick<StackedCard, "id" | "title" | "call"> & {
  readonly card: ApprovalCard;
  readonly beginning: CardBeginning;
  readonly place: StackPlace;
};

/** Shows a card until it has an outcome. Resolves with undefined if it was answered or closed elsewhere. */
export function presentCard(
  stack: CardStack,
  { card, beginning, place, ...about }: PresentedCard,
  signal: AbortSignal,
): Promise<CardOutcome | undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    let state = card.begin(beginning);
    let isOver = false;
    const end = (outcome: CardOutcome | undefined): void => {
      isOver = true;
      signal.removeEventListener("abort", withdrawn);
      resolve(outcome);
    };
    const withdrawn = (): void => end(undefined);
    const item: StackedCard = {
      ...about,
      view: (canvas) => card.view(state, canvas),
      isIdle: () => !state.field && state.selected === -1 && state.text === "none",
      shown: (canvas) => {
        state = card.shown(state, canvas);
      },
      press: (key, size) => {
        if (isOver) return;
        const pressed = card.key(state, key, size);
        state = pressed.state;
        if (pressed.outcome) end(pressed.outcome);
      },
    };
    place.leave = stack.put(item, place.item);
    place.item = item;
    signal.addEventListener("abort", withdrawn, { once: true });
  });
}
