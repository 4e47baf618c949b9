import { type Json } from "./json.ts";

/** One violation, as a validator tells it. */
type Problem = {
  readonly pointer: string;
  readonly text: string;
};
/** The message of an invalid input: the first ten violations in the validator's words, without long values. */
export declare function problemText(problems: readonly Problem[], input: Json): string;
