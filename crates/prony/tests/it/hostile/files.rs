//! Files that a user names, and what stands in their places: links, FIFOs, sockets, device nodes, files of others.

use rustix::fs::FileType;

use super::{By, ROW, Row, run};

const READS: &str = "disk there --duration 50ms --warm-up 0s --cache buffered";
const WRITES: &str = "disk there --read-share 0 --overwrite --duration 50ms --warm-up 0s --cache buffered";
const GENERATES: &str = "orders generate --csv . --size 1MB";
const EXPORTS: &str = "export none --csv --output there";

const ROWS: &[Row] = &[
    Row {
        name: "a FIFO is not written",
        before: |scene| {
            scene.fifo("there");
            true
        },
        command: WRITES,
        says: "not a directory, a regular file or a block device",
        ..ROW
    },
    Row {
        name: "a FIFO is not waited for",
        before: |scene| {
            scene.fifo("there");
            true
        },
        command: READS,
        says: "not a directory, a regular file or a block device",
        ..ROW
    },
    Row {
        name: "a socket is not written",
        before: |scene| {
            scene.socket("there");
            true
        },
        command: WRITES,
        says: "not a directory, a regular file or a block device",
        ..ROW
    },
    Row {
        name: "a character device is not written",
        by: &[By::Root],
        before: |scene| scene.node("there", FileType::CharacterDevice, 1, 3),
        command: WRITES,
        says: "not a directory, a regular file or a block device",
        ..ROW
    },
    Row {
        name: "a file of others is not written without --overwrite",
        before: |scene| {
            scene.write("there", vec![7; 1 << 20]);
            true
        },
        command: "disk there --read-share 0 --create --duration 50ms --cache buffered",
        says: "add --overwrite",
        ..ROW
    },
    Row {
        name: "a link to a file of others is not followed to write it",
        before: |scene| {
            scene.write("precious", vec![7; 1 << 20]);
            scene.link("there", "precious");
            true
        },
        command: "disk there --read-share 0 --create --duration 50ms --cache buffered",
        says: "add --overwrite",
        ..ROW
    },
    Row {
        name: "a link to nowhere makes no file",
        before: |scene| {
            scene.link("there", "nowhere");
            true
        },
        command: "disk there --read-share 0 --create --duration 50ms --cache buffered",
        says: "a link to a file that does not exist",
        after: |scene, _| assert!(!scene.path("nowhere").exists()),
        ..ROW
    },
    Row {
        name: "test files in a directory take nothing's place",
        before: |scene| {
            scene.write("there/prony-1-0.tmp", "precious");
            scene.link("there/prony-2-0.tmp", "prony-1-0.tmp");
            true
        },
        command: "disk there --file-size 1MiB --read-share 0 --duration 50ms --warm-up 0s --cache buffered",
        code: 0,
        after: |scene, _| assert_eq!(scene.bench().names("there").len(), 2),
        ..ROW
    },
    Row {
        name: "sqlio waits for no FIFO",
        before: |scene| {
            scene.fifo("there");
            true
        },
        command: "sqlio -kW -s1 there",
        says: "not a directory, a regular file or a block device",
        ..ROW
    },
    Row {
        name: "rows take the place of no file",
        before: |scene| {
            scene.write("orders.csv", "precious");
            true
        },
        command: GENERATES,
        says: "orders.csv is already in the directory",
        ..ROW
    },
    Row {
        name: "rows take the place of no link, and are not written through one",
        before: |scene| {
            scene.write("precious", "precious");
            scene.link("orders.csv", "precious");
            scene.link("products.csv", "nowhere");
            true
        },
        command: GENERATES,
        says: "are already in the directory",
        ..ROW
    },
    Row {
        name: "rows take the place of no FIFO",
        before: |scene| {
            scene.fifo("inventory.csv");
            true
        },
        command: GENERATES,
        says: "inventory.csv is already in the directory",
        ..ROW
    },
    Row {
        name: "rows stand beside what others have there",
        before: |scene| {
            scene.write("orders.csv.partial", "precious");
            scene.write("precious", "precious");
            scene.link("customers.csv.partial", "precious");
            scene.fifo(".orders.csv.new");
            true
        },
        command: GENERATES,
        code: 0,
        ..ROW
    },
    Row {
        name: "root follows no link of a user to a directory for rows",
        by: &[By::Root],
        before: |scene| {
            std::fs::create_dir(scene.path("private")).unwrap();
            scene.link("there", "private");
            scene.give_away("there");
            true
        },
        command: "orders generate --csv there --size 1MB",
        says: "was made by user 65534",
        after: |scene, _| assert_eq!(scene.bench().names("private"), [""; 0]),
        ..ROW
    },
    Row {
        name: "an export takes the place of no file",
        before: |scene| {
            scene.write("there", "precious");
            true
        },
        command: EXPORTS,
        says: "there already exists, and prony does not overwrite it",
        ..ROW
    },
    Row {
        name: "an export takes the place of no link to nowhere",
        before: |scene| {
            scene.link("there", "nowhere");
            true
        },
        command: EXPORTS,
        says: "there already exists, and prony does not overwrite it",
        after: |scene, _| assert!(!scene.path("nowhere").exists()),
        ..ROW
    },
    Row {
        name: "an export takes the place of no FIFO",
        before: |scene| {
            scene.fifo("there");
            true
        },
        command: EXPORTS,
        says: "there already exists, and prony does not overwrite it",
        ..ROW
    },
    Row {
        name: "a recording that is a FIFO is not waited for",
        before: |scene| {
            scene.fifo("there");
            true
        },
        command: "historian --target sqlite:h.db --source csv:there --duration 1s",
        says: "it is a FIFO: give a regular file",
        ..ROW
    },
];

#[test]
fn nothing_of_the_users_files_is_touched() {
    run(ROWS);
}
