import { type StandardSchema } from "@assent/core";
/** One field of an input: how it is shown to the model, and what is wrong with a value, if anything. */
export type Field<T, Optional extends boolean = false> = {
  readonly shown: Readonly<Record<string, unknown>>;
  readonly fault: (value: unknown) => string | undefined;
  readonly optional: Optional;
  /** Only for the type checker. */
  readonly of?: T;
};
type Fields = Readonly<Record<string, Field<unknown, boolean>>>;
type ValueOf<F> = F extends Field<infer T, boolean> ? T : never;
type OptionalKey<F extends Fields> = {
  [K in keyof F]: F[K]["optional"] extends true ? K : never;
}[keyof F];
/** The input that a record of fields describes. */
export type InputOf<F extends Fields> = {
  readonly [K in Exclude<keyof F, OptionalKey<F>>]: ValueOf<F[K]>;
} & {
  readonly [K in OptionalKey<F>]?: ValueOf<F[K]>;
};
/** A text; its length is counted in UTF-16 units. */
export declare function string({
  description,
  minLength,
  maxLength,
}: {
  description: string;
  minLength?: number;
  maxLength?: number;
}): Field<string>;
/** A whole number within its bounds. */
export declare function integer({
  description,
  minimum,
  maximum,
}: {
  description: string;
  minimum: number;
  maximum: number;
}): Field<number>;
/** True or false. */
export declare function boolean({ description }: { description: string }): Field<boolean>;
/** A field that may be left out. */
export declare function optional<T>(field: Field<T>): Field<T, true>;
/**
 * The input of a built-in tool as a Standard Schema that describes itself. It exists because loading a schema library costs more than starting the program;
 * it knows flat objects only, refuses unknown fields, and answers in the words that JSON Schema validators use. Fields in `hidden` are accepted but not shown.
 */
export declare function object<const F extends Fields, const H extends Fields = Record<never, never>>(
  fields: F,
  hidden?: H,
): StandardSchema<unknown, InputOf<F> & Partial<InputOf<H>>>;
