import type { Theme } from "./theme.ts";

/**
 * A key press, as every part of the screen reads it: `enter`, `escape`, `up`, `ctrl+c`, `shift+tab`, `a`, `?`; pasted text arrives whole.
 * `alone`: no other key came shortly before, so that it is known to be none of a word.
 */
export type Key = { readonly name: string; readonly alone?: true } | { readonly pasted: string };

/** The room there is, in columns and rows. */
export type Size = { readonly columns: number; readonly rows: number };

/** What a view is drawn with. */
export type Canvas = Size & { readonly theme: Theme };

/**
 * A part of the screen that takes keys until it has an outcome. Both functions are pure: the same state gives the same lines, which never exceed the canvas's columns,
 * and a key gives the next state. What is asked of the world (an editor, a clipboard) is an outcome, too: whoever shows the dialog does it and begins again with the answer.
 */
export type Dialog<State, Outcome> = {
  readonly view: (state: State, canvas: Canvas) => readonly string[];
  readonly key: (state: State, key: Key, size: Size) => { readonly state: State; readonly outcome?: Outcome };
};
