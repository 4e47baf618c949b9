import type { Clock } from "@assent/core";
import { cut } from "../../display-width.ts";
import type { Canvas, Key, Size } from "../dialog.ts";

/** Something that waits for the person: an approval, a question. */
export type DeskItem = {
  readonly id: string;
  readonly title: string;
  readonly view: (canvas: Canvas) => readonly string[];
  readonly press: (key: Key, size: Size) => void;
  /** This canvas was on the screen. */
  readonly shown: (canvas: Canvas) => void;
  /** Ctrl-C is a key for it, and not for the turn under way. */
  readonly cancels?: boolean;
};

/** What waits for the person, one in front of the others; in any order the person likes. */
export type Desk = {
  /** Puts something up behind what is there, or in the place of something; the returned function takes it away. */
  readonly put: (item: DeskItem, instead?: DeskItem) => () => void;
  readonly front: () => DeskItem | undefined;
  readonly waiting: () => readonly DeskItem[];
  /** Brings the next one to the front. */
  readonly turn: () => void;
  /** The front one, drawn. */
  readonly view: (canvas: Canvas) => readonly string[];
  /** The frame with this canvas is on the screen: from now on, and a short while, it can be read. */
  readonly painted: (canvas: Canvas) => void;
  /** False: the key is not for the desk, because nothing waits, or because something came over the text a person writes and could not be read yet. */
  readonly key: (key: Key, size: Size) => boolean;
  /** Something on the desk changed by itself: it is to be drawn again. */
  readonly changed: () => void;
};

/** Keys pressed before a card could be read were meant for something else. */
const GRACE_MS = 300;

/** An empty desk; `changed` is called whenever it is to be drawn again. */
export function createDesk({ clock, changed }: { readonly clock: Clock; readonly changed: () => void }): Desk {
  const items: DeskItem[] = [];
  let painted: { readonly item: DeskItem; readonly at: number; readonly follows: boolean } | undefined;
  const front = (): DeskItem | undefined => items[0];
  /** What an item has of the room: a row goes to the note that others wait. */
  const roomOf = <T extends Size>(size: T): T => (items.length > 1 ? { ...size, rows: size.rows - 1 } : size);
  const isReadable = (item: DeskItem): boolean => painted?.item === item && clock.now() - painted.at >= GRACE_MS;
  /** It came in the place of another one: keys that are too early were for that one, and are for nobody now. */
  const follows = (item: DeskItem): boolean => painted !== undefined && (painted.item !== item || painted.follows);
  return {
    front,
    changed,
    waiting: () => items,
    put: (item, instead) => {
      const place = instead ? items.indexOf(instead) : -1;
      if (place === -1) items.push(item);
      else items.splice(place, 1, item);
      changed();
      return () => {
        const at = items.indexOf(item);
        if (at === -1) return;
        items.splice(at, 1);
        if (items.length === 0) painted = undefined; // the text that is written has the keys again
        changed();
      };
    },
    turn: () => {
      const item = items.shift();
      if (item) items.push(item);
      changed();
    },
    view: (canvas) => {
      const item = front();
      if (!item) return [];
      const others = items.length - 1;
      const note = others === 0 ? [] : [canvas.theme.dim(cut(`1 of ${items.length} waiting; ctrl+n shows the next`, canvas.columns))];
      return [...note, ...item.view(roomOf(canvas))];
    },
    painted: (canvas) => {
      const item = front();
      if (!item) return;
      if (painted?.item !== item) painted = { item, at: clock.now(), follows: painted !== undefined };
      item.shown(roomOf(canvas));
    },
    key: (key, size) => {
      const item = front();
      const isInterrupt = "name" in key && key.name === "ctrl+c";
      if (!item || (isInterrupt && !item.cancels)) return false;
      if (!isReadable(item)) return follows(item);
      item.press(key, roomOf(size));
      changed();
      return true;
    },
  };
}
