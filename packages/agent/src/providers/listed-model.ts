/** What is known of models, by provider and name. */
export type ModelTable<T> = Readonly<Record<string, Readonly<Record<string, T>>>>;

/**
 * What a table says of a model's id `provider:name`, or of its bare name; undefined: nothing.
 * A dated name (`…-20251001`, `…-2026-04-23`) is looked up without its date, too.
 */
export function listed<T>(table: ModelTable<T>, model: string): T | undefined {
  const at = model.indexOf(":");
  const name = model.slice(at + 1);
  const bare = name.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, "");
  const rows = at < 0 ? Object.values(table) : [own(table, model.slice(0, at)) ?? {}];
  return rows.map((row) => own(row, name) ?? own(row, bare)).find((found) => found !== undefined);
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
