/** A bell that is heard even when it rang before anyone listened. */
export declare function makeBell(): {
  readonly ring: () => void;
  readonly heard: () => Promise<void>;
};
