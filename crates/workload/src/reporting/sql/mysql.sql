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
    size_bytes integer NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;

-- name: indexes
CREATE INDEX messages_sent ON messages (sent_us);
ANALYZE TABLE messages, domains, departments, classifications;

-- name: report_rows
SELECT domain.name, message.message_id, message.sent_us, message.sender_id, department.name, classification.name,
    message.size_bytes
FROM messages message
JOIN domains domain ON domain.domain_id = message.domain_id
JOIN departments department ON department.department_id = message.department_id
JOIN classifications classification ON classification.classification_id = message.classification_id
WHERE message.sent_us >= ? AND message.sent_us < ?
    AND department.name LIKE ? AND classification.name LIKE ?

-- name: report_aggregate
SELECT domain.name, count(*), CAST(sum(message.size_bytes) AS signed)
FROM messages message
JOIN domains domain ON domain.domain_id = message.domain_id
JOIN departments department ON department.department_id = message.department_id
JOIN classifications classification ON classification.classification_id = message.classification_id
WHERE message.sent_us >= ? AND message.sent_us < ?
    AND department.name LIKE ? AND classification.name LIKE ?
GROUP BY domain.name
