-- Written down by the database itself, in the transaction of each group: which connection moved the end of which log,
-- and with which token. The tests compare it with the leases: see checker.py.
CREATE SCHEMA witness;
CREATE TABLE witness.writes (
  number bigserial PRIMARY KEY,
  bandit bigint NOT NULL,
  owner bigint NOT NULL,
  token bigint NOT NULL,
  old_owner bigint NOT NULL,
  old_token bigint NOT NULL,
  old_last bigint NOT NULL,
  last bigint NOT NULL,
  application text NOT NULL,
  transaction bigint NOT NULL,
  time timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE FUNCTION witness.log_ends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO witness.writes (bandit, owner, token, old_owner, old_token, old_last, last, application, transaction)
    VALUES (NEW.bandit, NEW.owner, NEW.token, OLD.owner, OLD.token, OLD.last, NEW.last,
      current_setting('application_name'), txid_current());
  RETURN NULL;
END $$;
CREATE TRIGGER witness AFTER UPDATE ON eenet.log_ends FOR EACH ROW EXECUTE FUNCTION witness.log_ends();
