/** The JSON pointer of a place, from the keys that lead to it; "" is the whole. */
export function jsonPointer(keys: readonly PropertyKey[]): string {
  let pointer = "";
  for (const key of keys) pointer += pointerStep(key);
  return pointer;
}

/** The key that one step of a JSON pointer names. */
export function stepKey(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** One step of a JSON pointer, with the slash before it. */
export function pointerStep(key: PropertyKey): string {
  return typeof key === "string" ? `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}` : `/${String(key)}`;
}
