PRAGMA page_size = 8192;
PRAGMA application_id = 1162169940;
PRAGMA user_version = 1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE bandits (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  archived INTEGER NOT NULL DEFAULT 0,
  settled_to INTEGER NOT NULL DEFAULT 0, -- all decisions up to this event are settled
  settings TEXT -- those in force
);
INSERT INTO bandits VALUES(1,'shop',0,4,'{"dim":2}');
INSERT INTO bandits VALUES(2,'news',1,0,'{"dim":2}');
CREATE TABLE events (
  place INTEGER PRIMARY KEY, -- bandit << 40 | number
  kind INTEGER NOT NULL, -- see the view log
  time INTEGER NOT NULL, -- microseconds since 1970
  id TEXT,
  decision INTEGER, -- number of the decision that a reward or a settlement is of
  value REAL,
  outcome INTEGER, -- see the view log
  reward_id TEXT,
  body BLOB
);
INSERT INTO events VALUES(1099511627777,6,0,NULL,NULL,NULL,NULL,NULL,X'7b2264696d223a327d');
INSERT INTO events VALUES(1099511627778,1,1,'first',NULL,NULL,NULL,NULL,X'6465636973696f6e');
INSERT INTO events VALUES(1099511627779,2,2,'first',2,0.5,1,'click-1',NULL);
INSERT INTO events VALUES(1099511627780,3,2,NULL,2,0.5,6,NULL,NULL);
INSERT INTO events VALUES(1099511627781,1,3,'second',NULL,NULL,NULL,NULL,X'6465636973696f6e');
INSERT INTO events VALUES(1099511627782,2,4,'unknown',NULL,-1.0,4,NULL,NULL);
INSERT INTO events VALUES(1099511627783,4,5,NULL,NULL,NULL,NULL,NULL,X'06000000000000000100000000000000');
INSERT INTO events VALUES(2199023255553,6,0,NULL,NULL,NULL,NULL,NULL,X'7b2264696d223a327d');
CREATE TABLE decisions (
  place INTEGER PRIMARY KEY,
  time INTEGER NOT NULL,
  request_a INTEGER NOT NULL, -- checksum of the request
  request_b INTEGER NOT NULL,
  rewards INTEGER NOT NULL,
  settled INTEGER NOT NULL,
  value REAL NOT NULL
);
INSERT INTO decisions VALUES(1099511627778,1,81985529216486895,-81985529216486896,1,1,0.5);
INSERT INTO decisions VALUES(1099511627781,3,7,8,0,0,0.0);
CREATE TABLE ids (
  bandit INTEGER NOT NULL,
  id TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (bandit, id)
) WITHOUT ROWID;
INSERT INTO ids VALUES(1,'first',2);
INSERT INTO ids VALUES(1,'second',5);
CREATE TABLE reward_ids (
  bandit INTEGER NOT NULL,
  id TEXT NOT NULL,
  reward_id TEXT NOT NULL,
  value REAL NOT NULL,
  outcome INTEGER NOT NULL,
  PRIMARY KEY (bandit, id, reward_id)
) WITHOUT ROWID;
INSERT INTO reward_ids VALUES(1,'first','click-1',0.5,1);
CREATE TABLE unclaimed (
  bandit INTEGER NOT NULL,
  id TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (bandit, id, number)
) WITHOUT ROWID;
INSERT INTO unclaimed VALUES(1,'unknown',6);
CREATE INDEX rare_events ON events (kind, place) WHERE kind >= 4;
CREATE VIEW log AS SELECT
  bandits.name AS bandit,
  place & 0xffffffffff AS number,
  CASE kind WHEN 1 THEN 'decision' WHEN 2 THEN 'reward' WHEN 3 THEN 'settled' WHEN 4 THEN 'step'
    WHEN 5 THEN 'checkpoint' WHEN 6 THEN 'settings' WHEN 7 THEN 'model' END AS kind,
  strftime('%Y-%m-%dT%H:%M:%S', time / 1000000, 'unixepoch') || printf('.%06dZ', time % 1000000) AS time,
  id, decision, value,
  CASE outcome WHEN 1 THEN 'joined' WHEN 2 THEN 'repeated' WHEN 3 THEN 'late' WHEN 4 THEN 'unknown'
    WHEN 5 THEN 'claimed' WHEN 6 THEN 'rewarded' WHEN 7 THEN 'default' WHEN 8 THEN 'nothing' END AS outcome,
  reward_id, length(body) AS bytes
FROM events JOIN bandits ON bandits.number = place >> 40;
COMMIT;
