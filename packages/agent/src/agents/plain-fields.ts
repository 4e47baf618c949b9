/** Text that YAML reads as a plain string. */
const TEXT = /^[A-Za-z](?:[\w ,.;()'/*-]*[\w.;()'/*-])?$/;
const NAME = /^[A-Za-z][\w*-]*$/;
/** Words that YAML does not read as strings. */
const OTHER = /^(?:true|false|null)$/i;
const LINE = /^([A-Za-z]+): (?:\[([^[\]]+)\]|(.+))$/;

/** Reads plain front matter without the YAML parser, which takes long to load. Undefined if there may be more. */
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
