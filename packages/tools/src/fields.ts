import { isObject, type StandardIssue, type StandardSchema } from "@assent/core";

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
type OptionalKey<F extends Fields> = { [K in keyof F]: F[K]["optional"] extends true ? K : never }[keyof F];

/** The input that a record of fields describes. */
export type InputOf<F extends Fields> = { readonly [K in Exclude<keyof F, OptionalKey<F>>]: ValueOf<F[K]> } & {
  readonly [K in OptionalKey<F>]?: ValueOf<F[K]>;
};

/** A text; its length is counted in UTF-16 units. */
export function string({
  description,
  minLength = 0,
  maxLength,
}: {
  description: string;
  minLength?: number;
  maxLength?: number;
}): Field<string> {
  const least = minLength > 0 ? { minLength } : {};
  const most = maxLength === undefined ? {} : { maxLength };
  return {
    shown: { type: "string", description, ...least, ...most },
    optional: false,
    fault: (value) => {
      if (typeof value !== "string") return "must be string";
      if (value.length < minLength) return `must NOT have fewer than ${minLength} characters`;
      return maxLength !== undefined && value.length > maxLength ? `must NOT have more than ${maxLength} characters` : undefined;
    },
  };
}

/** A whole number within its bounds. */
export function integer({ description, minimum, maximum }: { description: string; minimum: number; maximum: number }): Field<number> {
  return {
    shown: { type: "integer", description, minimum, maximum },
    optional: false,
    fault: (value) => {
      if (typeof value !== "number" || !Number.isInteger(value)) return "must be integer";
      if (value < minimum) return `must be >= ${minimum}`;
      return value > maximum ? `must be <= ${maximum}` : undefined;
    },
  };
}

/** True or false. */
export function boolean({ description }: { description: string }): Field<boolean> {
  return {
    shown: { type: "boolean", description },
    optional: false,
    fault: (value) => (typeof value === "boolean" ? undefined : "must be boolean"),
  };
}

/** A field that may be left out. */
export function optional<T>(field: Field<T>): Field<T, true> {
  return { ...field, optional: true };
}

/**
 * The input of a built-in tool as a Standard Schema that describes itself. It exists because loading a schema library costs more than starting the program;
 * it knows flat objects only, refuses unknown fields, and answers in the words that JSON Schema validators use. Fields in `hidden` are accepted but not shown.
 */
export function object<const F extends Fields, const H extends Fields = Record<never, never>>(
  fields: F,
  hidden?: H,
): StandardSchema<unknown, InputOf<F> & Partial<InputOf<H>>> {
  const known: Fields = { ...fields, ...hidden };
  const shown = {
    type: "object",
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.shown])),
    required: Object.keys(fields).filter((name) => !fields[name]?.optional),
    additionalProperties: false,
  };
  return {
    "~standard": {
      version: 1,
      vendor: "assent",
      validate: (value) => {
        const issues: StandardIssue[] = [];
        return collectIssues<InputOf<F> & Partial<InputOf<H>>>(known, value, issues) ? { value } : { issues };
      },
      jsonSchema: { input: () => shown },
    },
  };
}

/** True when there was nothing to collect: then the value is what the fields describe. */
function collectIssues<T>(known: Fields, value: unknown, issues: StandardIssue[]): value is T {
  if (!isObject(value)) return issues.push({ message: "must be object" }) === 0;
  for (const name in known) {
    const issue = issueOf(name, known[name], value);
    if (issue) issues.push(issue);
  }
  for (const name in value) {
    if (!Object.hasOwn(known, name)) issues.push({ message: `must NOT have additional property '${name}'` });
  }
  return issues.length === 0;
}

function issueOf(
  name: string,
  field: Field<unknown, boolean> | undefined,
  value: Readonly<Record<string, unknown>>,
): StandardIssue | undefined {
  if (!field) return undefined;
  if (!Object.hasOwn(value, name)) return field.optional ? undefined : { message: `must have required property '${name}'` };
  const message = field.fault(value[name]);
  return message === undefined ? undefined : { message, path: [name] };
}
