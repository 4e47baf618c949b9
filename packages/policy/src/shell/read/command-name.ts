/** The name that deny and ask rules compare: the last path component, lower-cased, without `.exe`. */
export function commandName(text: string): string {
  if (text === last.text) return last.name;
  const name = BARE.test(text) ? text : nameOf(text);
  last = { text, name };
  return name;
}

/** Many rules ask for the name of one command. */
let last: { readonly text: string; readonly name: string } = { text: "", name: "" };

const BARE = /^[a-z0-9_-]+$/;

function nameOf(text: string): string {
  const path = text.replace(/[/\\\r]+$/, "");
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1).toLowerCase();
  return name.endsWith(".exe") ? name.slice(0, -4) : name;
}
