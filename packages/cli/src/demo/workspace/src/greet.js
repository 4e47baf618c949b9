import { fetchUser } from "./users.js";

export const greet = (id) => `Hello, ${fetchUser(id)}!`;
