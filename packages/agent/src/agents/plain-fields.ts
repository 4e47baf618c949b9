/** A text that YAML reads as itself: it begins with a letter, and holds nothing that YAML could take for something else. */
const TEXT = /^[A-Za-z](?:[\w ,.;()'/*-]*[\w.;()'/*-])?$/;
const NAME = /^[A-Za-z][\w*-]*$/;
/** Words that are no text in YAML. */
const OTHER = /^(?:true|false|null)$/i;
const LINE = /^([A-Za-z]+): (?:\[([^[\]]+)\]|(.+))$/;

/**
 * Front matter of nothing but `key: text` and `key: [name, name]`, which needs no YAML parser: loading one takes longer than everything else that is
 * done with definitions. Undefined: it may hold more than that.
 */
export function plainFields(text: string): Readonly<Record<string, string | readonly string[]>> | undefined {
  const fields = new Map<string, string | readonly string[]>();
  for (const line of text.split(/\r?\n/)) {
    const [, key = "", list, plain = ""] = LINE.exec(line) ?? [];
    const value = list === undefined ? plain : list.split(/, ?/);
    if (fields.has(key) || OTHER.test(key) || !isPlain(value)) return undefined;
    fields.set(key, value);
  }
  return Object.fromEntries(fields);
}

function isPlain(value: string | readonly string[]): boolean {
  if (typeof value === "string") return TEXT.test(value) && !OTHER.test(value);
  return value.every((name) => NAME.test(name) && !OTHER.test(name));
}
