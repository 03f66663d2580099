//! Tables of the order store: names and columns, which generator, schema and loader share.
//!
//! The types are those that every engine has. Money is whole cents and a time is microseconds since 1970-01-01 UTC, so that
//! sums and comparisons are exact everywhere. Customers, orders and products are numbered from 1; an order line belongs to
//! an order, and each line has a row in `cust_hist`.

use database::{Column, Kind, Table};

/// Tables that a load fills, in an order in which each row's parents come before it. `reorder` begins empty.
pub static TABLES: [&Table; 7] =
    [&CATEGORIES, &PRODUCTS, &INVENTORY, &CUSTOMERS, &ORDERS, &ORDERLINES, &CUST_HIST];

/// Customers. `address2` and, outside the US, `state` are null; `gender` is `F` or `M`.
pub static CUSTOMERS: Table = Table {
    name: "customers",
    columns: &[
        integer("customerid"),
        text("firstname"),
        text("lastname"),
        text("address1"),
        text("address2"),
        text("city"),
        text("state"),
        integer("zip"),
        text("country"),
        small("region"),
        text("email"),
        text("phone"),
        small("creditcardtype"),
        text("creditcard"),
        text("creditcardexpiration"),
        text("username"),
        text("password"),
        small("age"),
        integer("income"),
        text("gender"),
    ],
};

/// Orders. Those of a load lie at midnight of a day of 2009.
pub static ORDERS: Table = Table {
    name: "orders",
    columns: &[
        integer("orderid"),
        big("orderdate_us"),
        integer("customerid"),
        big("netamount_cents"),
        big("tax_cents"),
        big("totalamount_cents"),
    ],
};

/// Order lines, numbered from 1 within their order; the time is the order's.
pub static ORDERLINES: Table = Table {
    name: "orderlines",
    columns: &[
        small("orderlineid"),
        integer("orderid"),
        integer("prod_id"),
        small("quantity"),
        big("orderdate_us"),
    ],
};

/// What a customer bought: a row for each order line.
pub static CUST_HIST: Table =
    Table { name: "cust_hist", columns: &[integer("customerid"), integer("orderid"), integer("prod_id")] };

/// Products. `special` is 0 or 1; `common_prod_id` is a product that is bought together with this one.
pub static PRODUCTS: Table = Table {
    name: "products",
    columns: &[
        integer("prod_id"),
        small("category"),
        text("title"),
        text("actor"),
        big("price_cents"),
        small("special"),
        integer("common_prod_id"),
    ],
};

/// Stock of each product, and how many of it were sold: the sum of the quantities of its order lines.
pub static INVENTORY: Table =
    Table { name: "inventory", columns: &[integer("prod_id"), integer("quan_in_stock"), integer("sales")] };

/// Categories of products.
pub static CATEGORIES: Table =
    Table { name: "categories", columns: &[small("category"), text("categoryname")] };

const fn small(name: &'static str) -> Column {
    Column { name, kind: Kind::I16 }
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
