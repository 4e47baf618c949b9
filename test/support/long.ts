/** True in `npm run test:long`, where tests that scale run at full size. */
export const LONG: boolean = process.env["ASSENT_TEST_LONG"] === "1";
