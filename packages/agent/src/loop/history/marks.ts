import { isObject } from "@assent/core";

/** Marks on messages and results for the scripted model, which reads requests directly. Providers ignore them. */
export type Mark = {
  readonly origin?: "user" | "reminder" | "notice" | "schedule" | "summary";
  readonly outcome?: string;
  readonly type?: string;
};

/** The provider options that carry a mark. */
export function marked(mark: Mark): { readonly assent: Record<string, string> } {
  return { assent: { ...mark } };
}

/** The mark of a message or part; empty when it has none. */
export function markOf(part: { readonly providerOptions?: Readonly<Record<string, unknown>> | undefined }): Mark {
  const mark = part.providerOptions?.["assent"];
  // Parsing: only `marked` writes under this name.
  return isObject(mark) ? (mark as Mark) : {};
}
