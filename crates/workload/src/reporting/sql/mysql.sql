-- What reports run in MySQL and MariaDB. Every dialect's file has the same names in the same order.

-- name: create
CREATE TABLE domains (
    domain_id integer NOT NULL PRIMARY KEY,
    name varchar(50) NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
CREATE TABLE departments (
    department_id integer NOT NULL PRIMARY KEY,
    name varchar(50) NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
CREATE TABLE classifications (
    classification_id integer NOT NULL PRIMARY KEY,
    name varchar(50) NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
CREATE TABLE messages (
    message_id bigint NOT NULL PRIMARY KEY,
    sent_us bigint NOT NULL,
    sender_id integer NOT NULL,
    domain_id integer NOT NULL,
    department_id integer NOT NULL,
    classification_id integer NOT NULL,
    size_bytes integer NOT NULL,
    subject varchar(2000) NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
CREATE TABLE message_data (
    events bigint NOT NULL,
    days integer NOT NULL,
    subject_bytes integer NOT NULL,
    seed bigint NOT NULL
) ENGINE = InnoDB;

-- name: indexes
CREATE INDEX messages_sent ON messages (sent_us)

-- name: are_indexed
-- One where all of them are there.
SELECT COUNT(DISTINCT INDEX_NAME) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'messages' AND INDEX_NAME = 'messages_sent'

-- name: statistics
ANALYZE TABLE messages, domains, departments, classifications

-- name: report_rows
SELECT domain.name, message.message_id, message.sent_us, message.sender_id, department.name, classification.name,
    message.size_bytes
FROM messages message
JOIN domains domain ON domain.domain_id = message.domain_id
JOIN departments department ON department.department_id = message.department_id
JOIN classifications classification ON classification.classification_id = message.classification_id
WHERE message.sent_us >= {from_us} AND message.sent_us < {to_us}
    AND department.name LIKE {department} AND classification.name LIKE {classification}

-- name: report_aggregate
SELECT domain.name, count(*), CAST(sum(message.size_bytes) AS signed)
FROM messages message
JOIN domains domain ON domain.domain_id = message.domain_id
JOIN departments department ON department.department_id = message.department_id
JOIN classifications classification ON classification.classification_id = message.classification_id
WHERE message.sent_us >= {from_us} AND message.sent_us < {to_us}
    AND department.name LIKE {department} AND classification.name LIKE {classification}
GROUP BY domain.name

-- name: create_report_rows
CREATE PROCEDURE report_rows(
    IN from_us bigint, IN to_us bigint,
    IN department_pattern varchar(50) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci,
    IN classification_pattern varchar(50) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci
)
READS SQL DATA
SELECT domain.name, message.message_id, message.sent_us, message.sender_id, department.name, classification.name,
    message.size_bytes
FROM messages message
JOIN domains domain ON domain.domain_id = message.domain_id
JOIN departments department ON department.department_id = message.department_id
JOIN classifications classification ON classification.classification_id = message.classification_id
WHERE message.sent_us >= from_us AND message.sent_us < to_us
    AND department.name LIKE department_pattern AND classification.name LIKE classification_pattern

-- name: create_report_aggregate
CREATE PROCEDURE report_aggregate(
    IN from_us bigint, IN to_us bigint,
    IN department_pattern varchar(50) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci,
    IN classification_pattern varchar(50) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci
)
READS SQL DATA
SELECT domain.name, count(*), CAST(sum(message.size_bytes) AS signed)
FROM messages message
JOIN domains domain ON domain.domain_id = message.domain_id
JOIN departments department ON department.department_id = message.department_id
JOIN classifications classification ON classification.classification_id = message.classification_id
WHERE message.sent_us >= from_us AND message.sent_us < to_us
    AND department.name LIKE department_pattern AND classification.name LIKE classification_pattern
GROUP BY domain.name

-- name: call_report_rows
CALL report_rows(?, ?, ?, ?)

-- name: call_report_aggregate
CALL report_aggregate(?, ?, ?, ?)
