/** A text of JSON from outside may nest so deep; reading a value level by level would otherwise exhaust the stack. */
export const MOST_LEVELS = 512;
const [QUOTE, BACKSLASH, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** True if a text of JSON nests more than 512 levels. Looks before the parser builds millions of them. */
export function isTooDeep(text: string): boolean {
  let level = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) i = endOfString(text, i);
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) level++;
    else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) level--;
    if (level > MOST_LEVELS) return true;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end === -1 ? text.length : end;
}

function isEscaped(text: string, index: number): boolean {
  let first = index;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (index - first) % 2 === 1;
}
