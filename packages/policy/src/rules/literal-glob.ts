/** A glob that means this text and no other. */
export function literalGlob(text: string): string {
  return text.replaceAll(/[\\*?[]/g, "\\$&");
}
