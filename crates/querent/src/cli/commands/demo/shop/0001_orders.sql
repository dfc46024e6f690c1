-- Protected: whoever changes this directory needs permission.
CREATE TABLE orders (id INTEGER PRIMARY KEY, buyer TEXT NOT NULL, total INTEGER NOT NULL);
