//! Tables of classified messages, and the names that keys stand for. Keys count from 1.

use database::{Column, Kind, Table};

/// Domains of recipients.
pub static DOMAINS: Table = names("domains", &[integer("domain_id"), text("name")]);
/// Departments of senders.
pub static DEPARTMENTS: Table = names("departments", &[integer("department_id"), text("name")]);
/// What a message was classified as.
pub static CLASSIFICATIONS: Table = names("classifications", &[integer("classification_id"), text("name")]);
/// Messages; times are microseconds since 1970-01-01 UTC.
pub static MESSAGES: Table = Table {
    name: "messages",
    columns: &[
        big("message_id"),
        big("sent_us"),
        integer("sender_id"),
        integer("domain_id"),
        integer("department_id"),
        integer("classification_id"),
        integer("size_bytes"),
        text("subject"),
    ],
};

/// Which messages those are: a row, once all of them are there.
pub static MESSAGE_DATA: Table = Table {
    name: "message_data",
    columns: &[big("events"), integer("days"), integer("subject_bytes"), big("seed")],
};

/// How many domains there are.
pub(super) const DOMAIN_COUNT: u32 = 10_000;

/// Names of departments, the one with most senders first. Names are of characters that every engine's LIKE compares alike.
pub(super) const DEPARTMENT_NAMES: [&str; 16] = [
    "operations-field",
    "sales-domestic",
    "engineering-software",
    "support-customers",
    "finance-accounting",
    "sales-export",
    "engineering-hardware",
    "operations-logistics",
    "human-resources",
    "legal-contracts",
    "finance-treasury",
    "purchasing",
    "research",
    "legal-patents",
    "public-affairs",
    "board",
];

/// Names of classifications, and how many of a thousand messages have each.
pub(super) const CLASSES: [(&str, u32); 5] =
    [("internal", 560), ("public", 240), ("confidential", 140), ("personal", 45), ("secret", 15)];

/// The name of the domain with this key.
pub(super) fn domain_name(key: u32) -> String {
    format!("mail{key:05}.example")
}

const fn names(name: &'static str, columns: &'static [Column]) -> Table {
    Table { name, columns }
}

const fn integer(name: &'static str) -> Column {
    Column { name, kind: Kind::I32 }
}

const fn big(name: &'static str) -> Column {
    Column { name, kind: Kind::I64 }
}

const fn text(name: &'static str) -> Column {
    Column { name, kind: Kind::Text }
}
