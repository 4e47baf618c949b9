import type { Clock } from "@assent/core";
import { cut } from "../../io/display-width.ts";
import type { Canvas, Key, Size } from "../draw/dialog.ts";

export type StackedCard = {
  readonly id: string;
  readonly title: string;
  readonly view: (canvas: Canvas) => readonly string[];
  readonly press: (key: Key, size: Size) => void;
  /** Called when this canvas is on the screen. */
  readonly shown: (canvas: Canvas) => void;
  /** Its call; cards of one session keep the order of their calls. */
  readonly call?: { readonly session: string; readonly place: () => number | undefined };
  /** True if nothing is selected or typed on it, so that other keys may leave it. */
  readonly isIdle?: () => boolean;
  /** Ctrl-C goes to this card instead of interrupting the turn. */
  readonly cancels?: boolean;
};

/** The cards that wait for the person, one of them in front. */
export type CardStack = {
  /** Adds a card at the back, before later calls of its session, or in place of another card. Returns a function that removes it. */
  readonly put: (item: StackedCard, instead?: StackedCard) => () => void;
  readonly front: () => StackedCard | undefined;
  readonly waiting: () => readonly StackedCard[];
  readonly turn: () => void;
  readonly view: (canvas: Canvas) => readonly string[];
  /** Called when a frame is on the screen. Keys count a moment later, when the card could be read. */
  readonly painted: (canvas: Canvas) => void;
  /** False if no card takes the key: none waits, or it appeared too recently to have been read. */
  readonly key: (key: Key, size: Size) => boolean;
  readonly changed: () => void;
};

/** Keys pressed earlier than this were not meant for the card. */
const GRACE_MS = 300;
/** A key after a pause this long is not part of a typed word. */
const ALONE_MS = 600;

export function createCardStack({ clock, changed }: { readonly clock: Clock; readonly changed: () => void }): CardStack {
  const line = waitingLine();
  const { items, front } = line;
  let pressedAt = Number.NEGATIVE_INFINITY;
  let painted: { readonly item: StackedCard; readonly at: number; readonly follows: boolean } | undefined;
  /** One row goes to the note that other cards wait. */
  const roomOf = <T extends Size>(size: T): T => (items.length > 1 ? { ...size, rows: size.rows - 1 } : size);
  const isReadable = (item: StackedCard): boolean => painted?.item === item && clock.now() - painted.at >= GRACE_MS;
  /** The card replaced another one; early keys were meant for that one and are dropped. */
  const follows = (item: StackedCard): boolean => painted !== undefined && (painted.item !== item || painted.follows);
  return {
    front,
    changed,
    waiting: () => items,
    put: (item, instead) => {
      line.add(item, { instead, isReadable });
      changed();
      return () => {
        if (!line.remove(item)) return;
        if (items.length === 0) painted = undefined; // the prompt has the keys again
        changed();
      };
    },
    turn: () => {
      line.turn();
      changed();
    },
    view: (canvas) => {
      const item = front();
      if (!item) return [];
      const place = `${items.indexOf(item) + 1} of ${items.length} waiting; ctrl+n shows the next`;
      const note = items.length === 1 ? [] : [canvas.theme.dim(cut(place, canvas.columns))];
      return [...note, ...item.view(roomOf(canvas))];
    },
    painted: (canvas) => {
      const item = front();
      if (!item) return;
      if (painted?.item !== item) painted = { item, at: clock.now(), follows: painted !== undefined };
      item.shown(roomOf(canvas));
    },
    key: (key, size) => {
      const isAlone = clock.now() - pressedAt >= ALONE_MS;
      pressedAt = clock.now();
      const item = front();
      const isInterrupt = "name" in key && key.name === "ctrl+c";
      if (!item || (isInterrupt && !item.cancels)) return false;
      if (!isReadable(item)) return follows(item);
      item.press("name" in key && isAlone ? { ...key, alone: true } : key, roomOf(size));
      changed();
      return true;
    },
  };
}

type AddOptions = { readonly instead: StackedCard | undefined; readonly isReadable: (item: StackedCard) => boolean };

/** The cards in order. Turning to the next card does not reorder them. */
function waitingLine() {
  const items: StackedCard[] = [];
  let front: StackedCard | undefined;
  return {
    items,
    front: (): StackedCard | undefined => front,
    add: (item: StackedCard, { instead, isReadable }: AddOptions): void => {
      const place = instead ? items.indexOf(instead) : -1;
      const at = place === -1 ? placeFor(items, item) : place;
      const before = items[at];
      items.splice(at, place === -1 ? 0 : 1, item);
      // an earlier call takes the front, unless the person is reading the front card
      if (!front || (before === front && (place !== -1 || !isReadable(front)))) front = item;
    },
    remove: (item: StackedCard): boolean => {
      const at = items.indexOf(item);
      if (at === -1) return false;
      items.splice(at, 1);
      if (front === item) front = items[at] ?? items[0];
      return true;
    },
    turn: (): void => {
      front = items[front ? items.indexOf(front) + 1 : 0] ?? items[0];
    },
  };
}

/** At the back, but before later calls of its own session. */
function placeFor(items: readonly StackedCard[], { call }: StackedCard): number {
  const place = call?.place();
  const isLater = (other: StackedCard["call"]): boolean =>
    place !== undefined && other?.session === call?.session && (other?.place() ?? place) > place;
  const later = items.findIndex((other) => isLater(other.call));
  return later === -1 ? items.length : later;
}
