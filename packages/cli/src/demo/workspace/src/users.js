const users = new Map([
  [1, "Ada"],
  [2, "Grace"],
]);

export function fetchUser(id) {
  return users.get(id) ?? "nobody";
}
