/** Folds a path so that no file system's idea of equal names bypasses a deny: NFC, case folded, ignorable characters and trailing dots and spaces removed. */
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

/** In plain ASCII only the case can differ. */
const UNUSUAL = /[^\t\n -~]|[. ](?:\/|$)/;

const IGNORED = /\p{Default_Ignorable_Code_Point}/gu;
