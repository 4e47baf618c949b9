import { isObject, type StandardIssue, type StandardSchema } from "@assent/core";

/** One field of an input: its JSON Schema and its check. */
export type Field<T, Optional extends boolean = false> = {
  readonly schema: Readonly<Record<string, unknown>>;
  /** Returns a message for the value itself, issues with nested values, or undefined. */
  readonly fault: (value: unknown) => string | readonly StandardIssue[] | undefined;
  readonly optional: Optional;
  /** Only for the type checker. */
  readonly of?: T;
};

type Fields = Readonly<Record<string, Field<unknown, boolean>>>;
type ValueOf<F> = F extends Field<infer T, boolean> ? T : never;
type OptionalKey<F extends Fields> = { [K in keyof F]: F[K]["optional"] extends true ? K : never }[keyof F];

/** The type of the input that fields describe. */
export type InputOf<F extends Fields> = { readonly [K in Exclude<keyof F, OptionalKey<F>>]: ValueOf<F[K]> } & {
  readonly [K in OptionalKey<F>]?: ValueOf<F[K]>;
};

/** A string; lengths count UTF-16 units. */
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
    schema: { type: "string", description, ...least, ...most },
    optional: false,
    fault: (value) => {
      if (typeof value !== "string") return "must be string";
      if (value.length < minLength) return `must NOT have fewer than ${minLength} characters`;
      return maxLength !== undefined && value.length > maxLength ? `must NOT have more than ${maxLength} characters` : undefined;
    },
  };
}

/** An integer within bounds. */
export function integer({ description, minimum, maximum }: { description: string; minimum: number; maximum: number }): Field<number> {
  return {
    schema: { type: "integer", description, minimum, maximum },
    optional: false,
    fault: (value) => {
      if (typeof value !== "number" || !Number.isInteger(value)) return "must be integer";
      if (value < minimum) return `must be >= ${minimum}`;
      return value > maximum ? `must be <= ${maximum}` : undefined;
    },
  };
}

/** A boolean. */
export function boolean({ description }: { description: string }): Field<boolean> {
  return {
    schema: { type: "boolean", description },
    optional: false,
    fault: (value) => (typeof value === "boolean" ? undefined : "must be boolean"),
  };
}

/** One of several strings. */
export function oneOf<const W extends string>({ description, values }: { description: string; values: readonly W[] }): Field<W> {
  const known: readonly unknown[] = values;
  return {
    schema: { type: "string", description, enum: values },
    optional: false,
    fault: (value) => (known.includes(value) ? undefined : `must be equal to one of the allowed values: ${values.join(", ")}`),
  };
}

/** A list of items of one kind. */
export function array<T>({
  description,
  items,
  minItems = 0,
  maxItems,
}: {
  description: string;
  items: Field<T>;
  minItems?: number;
  maxItems: number;
}): Field<readonly T[]> {
  return {
    schema: { type: "array", description, items: items.schema, ...(minItems > 0 && { minItems }), maxItems },
    optional: false,
    fault: (value) => {
      if (!Array.isArray(value)) return "must be array";
      if (value.length < minItems) return `must NOT have fewer than ${minItems} items`;
      if (value.length > maxItems) return `must NOT have more than ${maxItems} items`;
      return value.flatMap((item, index) => prefixIssues(index, items.fault(item)));
    },
  };
}

/** A nested object. */
export function record<const F extends Fields>(fields: F): Field<InputOf<F>> {
  return {
    schema: describeFields(fields),
    optional: false,
    fault: (value) => {
      const issues: StandardIssue[] = [];
      collectIssues(fields, value, issues);
      return issues;
    },
  };
}

/** Makes a field optional. */
export function optional<T>(field: Field<T>): Field<T, true> {
  return { ...field, optional: true };
}

/**
 * The input of a built-in tool as a Standard Schema with its JSON Schema. Refuses unknown fields and words problems like JSON Schema
 * validators. Fields in `hidden` are accepted but not shown. See decision 40 for why this is not zod.
 */
export function object<const F extends Fields, const H extends Fields = Record<never, never>>(
  fields: F,
  hidden?: H,
): StandardSchema<unknown, InputOf<F> & Partial<InputOf<H>>> {
  const known: Fields = { ...fields, ...hidden };
  const shown = describeFields(fields);
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

function describeFields(fields: Fields): Record<string, unknown> {
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.schema])),
    required: Object.keys(fields).filter((name) => !fields[name]?.optional),
    additionalProperties: false,
  };
}

function collectIssues<T>(known: Fields, value: unknown, issues: StandardIssue[]): value is T {
  if (!isObject(value)) return issues.push({ message: "must be object" }) === 0;
  for (const name in known) issues.push(...checkField(name, known[name], value));
  for (const name in value) {
    if (!Object.hasOwn(known, name)) issues.push({ message: `must NOT have additional property '${name}'` });
  }
  return issues.length === 0;
}

function checkField(
  name: string,
  field: Field<unknown, boolean> | undefined,
  value: Readonly<Record<string, unknown>>,
): readonly StandardIssue[] {
  if (!field) return [];
  if (!Object.hasOwn(value, name)) return field.optional ? [] : [{ message: `must have required property '${name}'` }];
  return prefixIssues(name, field.fault(value[name]));
}

function prefixIssues(key: PropertyKey, fault: ReturnType<Field<unknown>["fault"]>): readonly StandardIssue[] {
  if (fault === undefined) return [];
  if (typeof fault === "string") return [{ message: fault, path: [key] }];
  return fault.map(({ message, path = [] }) => ({ message, path: [key, ...path] }));
}
