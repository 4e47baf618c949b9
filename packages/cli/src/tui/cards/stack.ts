import type { Clock } from "@assent/core";
import { cut } from "../../io/display-width.ts";
import type { Canvas, Key, Size } from "../draw/dialog.ts";

/** Something that waits for the person: an approval, a question. */
export type StackedCard = {
  readonly id: string;
  readonly title: string;
  readonly view: (canvas: Canvas) => readonly string[];
  readonly press: (key: Key, size: Size) => void;
  /** This canvas was on the screen. */
  readonly shown: (canvas: Canvas) => void;
  /** Which call of which session it is about, as it stands now: those of one session are in the order of its calls. */
  readonly call?: { readonly session: string; readonly place: () => number | undefined };
  /** Ctrl-C is a key for it, and not for the turn under way. */
  readonly cancels?: boolean;
};

/** What waits for the person, one in front of the others; in any order the person likes. */
export type CardStack = {
  /** Puts something up behind what is there, before what comes later in its own turn, or in the place of something; the returned function takes it away. */
  readonly put: (item: StackedCard, instead?: StackedCard) => () => void;
  readonly front: () => StackedCard | undefined;
  readonly waiting: () => readonly StackedCard[];
  /** Brings the next one to the front. */
  readonly turn: () => void;
  /** The front one, drawn. */
  readonly view: (canvas: Canvas) => readonly string[];
  /** The frame with this canvas is on the screen: from now on, and a short while, it can be read. */
  readonly painted: (canvas: Canvas) => void;
  /** False: the key is not for the stack, because nothing waits, or because something came over the text a person writes and could not be read yet. */
  readonly key: (key: Key, size: Size) => boolean;
  /** Something on the stack changed by itself: it is to be drawn again. */
  readonly changed: () => void;
};

/** Keys pressed before a card could be read were meant for something else. */
const GRACE_MS = 300;
/** A key that comes this long after the one before is none of a word that somebody types. */
const ALONE_MS = 600;

/** An empty stack; `changed` is called whenever it is to be drawn again. */
export function createCardStack({ clock, changed }: { readonly clock: Clock; readonly changed: () => void }): CardStack {
  const line = waitingLine();
  const { items, front } = line;
  let pressedAt = Number.NEGATIVE_INFINITY;
  let painted: { readonly item: StackedCard; readonly at: number; readonly follows: boolean } | undefined;
  /** What an item has of the room: a row goes to the note that others wait. */
  const roomOf = <T extends Size>(size: T): T => (items.length > 1 ? { ...size, rows: size.rows - 1 } : size);
  const isReadable = (item: StackedCard): boolean => painted?.item === item && clock.now() - painted.at >= GRACE_MS;
  /** It came in the place of another one: keys that are too early were for that one, and are for nobody now. */
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
        if (items.length === 0) painted = undefined; // the text that is written has the keys again
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

type Adding = { readonly instead: StackedCard | undefined; readonly isReadable: (item: StackedCard) => boolean };

type WaitingLine = {
  readonly items: readonly StackedCard[];
  readonly front: () => StackedCard | undefined;
  readonly add: (item: StackedCard, adding: Adding) => void;
  /** False: it was not there. */
  readonly remove: (item: StackedCard) => boolean;
  readonly turn: () => void;
};

/** What waits, in its order, and the one that is in front: walking over them changes nobody's place. */
function waitingLine(): WaitingLine {
  const items: StackedCard[] = [];
  let front: StackedCard | undefined;
  return {
    items,
    front: () => front,
    add: (item, { instead, isReadable }) => {
      const place = instead ? items.indexOf(instead) : -1;
      const at = place === -1 ? placeFor(items, item) : place;
      const before = items[at];
      items.splice(at, place === -1 ? 0 : 1, item);
      // what comes earlier takes the front, unless the person reads what is there by now
      if (!front || (before === front && (place !== -1 || !isReadable(front)))) front = item;
    },
    remove: (item) => {
      const at = items.indexOf(item);
      if (at === -1) return false;
      items.splice(at, 1);
      if (front === item) front = items[at] ?? items[0];
      return true;
    },
    turn: () => {
      front = items[front ? items.indexOf(front) + 1 : 0] ?? items[0];
    },
  };
}

/** Behind everything, but before the later calls of its own session. */
function placeFor(items: readonly StackedCard[], { call }: StackedCard): number {
  const place = call?.place();
  const isLater = (other: StackedCard["call"]): boolean =>
    place !== undefined && other?.session === call?.session && (other?.place() ?? place) > place;
  const later = items.findIndex((other) => isLater(other.call));
  return later === -1 ? items.length : later;
}
