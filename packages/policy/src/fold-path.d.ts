/**
 * The spelling in which denies compare paths, so that no file system's idea of equal names slips past: NFC, case folded (through upper case, which also joins letters
 * that have no lower-case twin of their own), trailing dots and blanks of each component removed.
 */
export declare function foldPath(path: string): string;
