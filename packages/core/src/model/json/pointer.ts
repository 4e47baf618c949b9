/** The JSON pointer for a list of keys. */
export function jsonPointer(keys: readonly PropertyKey[]): string {
  let pointer = "";
  for (const key of keys) pointer += pointerStep(key);
  return pointer;
}

export function stepKey(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** One step of a JSON pointer, with its slash. */
export function pointerStep(key: PropertyKey): string {
  return typeof key === "string" ? `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}` : `/${String(key)}`;
}
