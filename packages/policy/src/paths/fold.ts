/**
 * The spelling in which denies compare paths, so that no file system's idea of equal names slips past: NFC, case folded (down, up and down again, which also joins letters
 * that have no twin of their own), characters that some systems ignore and trailing dots and blanks of each component removed.
 */
export function foldPath(path: string): string {
  if (!UNUSUAL.test(path)) return path.toLowerCase();
  return path
    .normalize("NFC")
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(IGNORED, "")
    .split("/")
    .map((name) => name.replace(/[. ]+$/, "") || name)
    .join("/");
}

/** In ASCII without a dot or a blank at the end of a component, nothing but case can differ. */
const UNUSUAL = /[^\t\n -~]|[. ](?:\/|$)/;

const IGNORED = /\p{Default_Ignorable_Code_Point}/gu;
