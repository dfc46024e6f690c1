export const orders = [];
