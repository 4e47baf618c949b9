/** Cuts a text to `longest` characters with an ellipsis; never splits a surrogate pair. */
export function cutText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const end = longest - 1;
  return `${text.slice(0, splitsPair(text, end) ? end - 1 : end)}…`;
}

/** True when a cut at this index would split a surrogate pair. */
export function splitsPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}
