/** The name that rules compare: the last path component, lower-cased, without `.exe`. */
export function commandName(text: string): string {
  const path = text.replace(/[/\\\r]+$/, "");
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1).toLowerCase();
  return name.endsWith(".exe") ? name.slice(0, -4) : name;
}
