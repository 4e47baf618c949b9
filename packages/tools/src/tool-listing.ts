import type { Kind } from "@assent/core";
import { description } from "./description.ts";

/** What lists, titles and prompts say about a built-in tool. Each tool declares its own. */
export type ToolListing = {
  readonly name: string;
  readonly title: string;
  readonly kind: Kind;
  /** The input field that says what a call is about: a command, a path, a pattern. */
  readonly subject?: string;
};

type ListedFields = { readonly name: string; readonly title: string; readonly kind: Kind; readonly description: string };

/** The fields that a tool's definition takes from its listing and its text (`builtin/NAME.md`). */
export function listedFields({ name, title, kind }: ToolListing): ListedFields {
  return { name, title, kind, description: description(name.replaceAll("_", "-")) };
}
