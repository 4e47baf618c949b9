/**
 * A regular expression with classes of Unicode, made when it is first wanted. In a literal their tables are looked up when the file is read, used or not: that was
 * a sixth of the time an import of this package took.
 */
export function unicodePattern(source: string, flags: string): () => RegExp {
  let made: RegExp | undefined;
  return () => {
    made ??= new RegExp(source, flags);
    return made;
  };
}
