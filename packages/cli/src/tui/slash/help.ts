import { type Binding, keyLines } from "../input/keys.ts";
import type { Block } from "../transcript/block.ts";
import { slashLines } from "./commands.ts";

/** What `?` shows: the keys alone, which fit a small screen. */
export function keysPage(bindings: readonly Binding[]): readonly Block[] {
  return [{ type: "page", title: "Keys (/help lists the commands)", text: keyLines(bindings).join("\n") }];
}

/** What `/help` shows: the commands alone, which fit a small screen; where there are keys, one shows them. */
export function helpPage(bindings: readonly Binding[]): readonly Block[] {
  const keys = bindings.find(({ action }) => action === "help")?.keys.join(", ");
  return [{ type: "page", title: `Commands${keys === undefined ? "" : ` (${keys} shows the keys)`}`, text: slashLines().join("\n") }];
}
