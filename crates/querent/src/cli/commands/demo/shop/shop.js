import { orders } from "./orders.js";

export const buy = (buyer, lines) => {
  const order = { id: orders.length + 1, buyer, lines };
  orders.push(order);
  return order;
};
