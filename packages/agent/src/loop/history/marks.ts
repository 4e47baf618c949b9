import { isObject } from "@assent/core";

/** Marks that the loop puts on messages and results for the scripted model. Providers ignore them. */
export type Mark = {
  readonly origin?: "user" | "reminder" | "notice" | "schedule" | "summary";
  readonly outcome?: string;
  readonly type?: string;
};

export function marked(mark: Mark): { readonly assent: Record<string, string> } {
  return { assent: { ...mark } };
}

/** The mark of a message or part; empty if it has none. */
export function markOf(part: { readonly providerOptions?: Readonly<Record<string, unknown>> | undefined }): Mark {
  const mark = part.providerOptions?.["assent"];
  return isObject(mark) ? (mark as Mark) : {};
}
