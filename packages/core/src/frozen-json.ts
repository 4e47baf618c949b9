/** The deep-frozen JSON copy of a schema; its numbers and texts are kept as they are. Throws for what is not JSON. */
export function frozenJson(value: unknown): unknown {
  const text = JSON.stringify(value, (key, inner: unknown) => {
    if (typeof inner === "function" || typeof inner === "symbol") throw new TypeError(`'${key}' is a ${typeof inner}`);
    return inner;
  });
  return JSON.parse(text, (_, inner: unknown) => Object.freeze(inner));
}
