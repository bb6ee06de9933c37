"""PostgreSQL as Django knows it, with a pool whose connections are checked without asking the database."""
