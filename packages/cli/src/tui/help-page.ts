import { type Binding, keyLines } from "./keys.ts";
import { slashLines } from "./slash-commands.ts";
import type { Block } from "./transcript/block.ts";

/** What `?` shows: the keys alone, which fit a small screen. */
export function keysPage(bindings: readonly Binding[]): readonly Block[] {
  return [{ type: "page", title: "Keys (/help lists the commands)", text: keyLines(bindings).join("\n") }];
}

/** What `/help` shows. The keys come last: what does not fit the screen are commands, which a slash lists as well. */
export function helpPages(bindings: readonly Binding[]): readonly Block[] {
  return [
    { type: "page", title: "Commands", text: slashLines().join("\n") },
    { type: "page", title: "Keys", text: keyLines(bindings).join("\n") },
  ];
}
