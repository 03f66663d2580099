//! Addresses as users write them.

use proptest::prelude::*;

use super::encryption::{Mode, Words};
use super::*;

fn parsed(text: &str) -> Url {
    text.parse().unwrap()
}

fn refused(text: &str) -> String {
    text.parse::<Url>().unwrap_err().to_string()
}

fn server(text: &str) -> ServerAddress {
    parsed(text).server().unwrap().clone()
}

#[test]
fn every_part_of_an_address_is_read() {
    let full = server("postgres://ann:s%40cret%3A%2F@db.example:6000/plant%201?sslmode=require");
    assert_eq!(full.user.as_deref(), Some("ann"));
    assert_eq!(full.password.as_deref(), Some("s@cret:/"));
    assert_eq!(full.database.as_deref(), Some("plant 1"));
    assert_eq!(full.encryption.mode, Some(Mode::Require));
    assert_eq!(parsed("postgres://db.example:6000/x").host().as_deref(), Some("db.example:6000"));
    assert_eq!(parsed("mysql://db.example").host().as_deref(), Some("db.example:3306"));
    assert_eq!(parsed("postgresql://[::1]/x").host().as_deref(), Some("[::1]:5432"));
    assert_eq!(parsed("postgres://").host().as_deref(), Some("localhost:5432"));
    assert_eq!(parsed("postgres:///x").database(), Some("x"));
    assert_eq!(parsed("postgres:///x?host=/run/postgresql").host().as_deref(), Some("/run/postgresql"));
    assert_eq!(parsed("postgres://%2Frun%2Fpostgresql/x").host().as_deref(), Some("/run/postgresql"));
    assert_eq!(parsed("mysql://u@localhost/d?socket=/run/s.sock").host().as_deref(), Some("/run/s.sock"));
    assert_eq!(parsed("sqlite:a b%20.db").file(), Some(Path::new("a b%20.db")));
    assert_eq!(parsed("sqlite:/data/h.db").file(), Some(Path::new("/data/h.db")));
}

/// <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS>
#[test]
fn an_address_of_postgresql_may_have_several_hosts() {
    for (text, hosts) in [
        ("postgres://a,b:6000,[::1]:1/x", "a:5432,b:6000,[::1]:1"),
        ("postgres:///x?host=a,b&port=1,2", "a:1,b:2"),
        ("postgres:///x?host=a,b&port=7", "a:7,b:7"),
        ("postgres://%2Frun%2Fpg:5,b/x", "/run/pg,b:5432"),
    ] {
        let url = parsed(text);
        assert_eq!(url.host().as_deref(), Some(hosts), "{text}");
        assert_eq!(parsed(&url.to_string()), url, "{url}");
    }
    let wanted = "postgres://a,b/x?target_session_attrs=read-write";
    assert_eq!(parsed(wanted).to_string(), wanted);
    assert!(
        parsed("postgres://localhost,127.0.0.1/x").is_local()
            && !parsed("postgres://localhost,b/x").is_local()
    );
    assert!(parsed("postgres://a,b/x").is_same_place(&parsed("postgres://B:5432/y")));
    assert!(!parsed("postgres://a,b/x").is_same_place(&parsed("postgres://c/x")));
    let list = "postgres://a,b/x,postgresql://c/y,mysql://d/z,sqlite:e,f";
    assert_eq!(Url::split(list), ["postgres://a,b/x", "postgresql://c/y", "mysql://d/z", "sqlite:e,f"]);
    assert_eq!(Url::split("Server=h,1433;Database=x"), ["Server=h,1433;Database=x"]);
}

/// Which of them is taken needs no option: the first that can be written to.
#[test]
fn an_address_of_mysql_may_have_several_hosts() {
    for (text, hosts) in [
        ("mysql://me@a,b:6000,[::1]:1/x", "a:3306,b:6000,[::1]:1"),
        ("mariadb://a,b/x?port=1,2", "a:1,b:2"),
        ("mysql://%2Frun%2Fs.sock,b/x", "/run/s.sock,b:3306"),
    ] {
        let url = parsed(text);
        assert_eq!(url.host().as_deref(), Some(hosts), "{text}");
        assert_eq!(parsed(&url.to_string()), url, "{url}");
    }
    assert!(parsed("mysql://a,b/x").is_same_place(&parsed("mysql://B/y")));
    assert_eq!(Url::split("mysql://a,b/x,mysql://c/y"), ["mysql://a,b/x", "mysql://c/y"]);
}

#[test]
fn of_several_servers_the_one_that_fits_is_taken() {
    use super::hosts::Wanted;
    // Standby, and whether it only reads: a primary server, one that only reads, a standby.
    let servers = [(false, false), (false, true), (true, true)];
    for (name, fitting) in [
        ("any", [true, true, true]),
        ("read-write", [true, false, false]),
        ("read-only", [false, true, true]),
        ("primary", [true, true, false]),
        ("standby", [false, false, true]),
        ("prefer-standby", [false, false, true]),
    ] {
        let wanted = Wanted::read(name).unwrap();
        assert_eq!(servers.map(|(standby, reads)| wanted.fits(standby, reads)), fitting, "{name}");
    }
}

#[test]
fn engines_are_told_by_the_scheme() {
    for (text, engine) in [
        ("sqlite:x", Engine::Sqlite),
        ("postgres://h", Engine::Postgres),
        ("postgresql://h", Engine::Postgres),
        ("mysql://h", Engine::Mysql),
        ("mariadb://h", Engine::Mysql),
        ("fake:", Engine::Fake),
    ] {
        assert_eq!(parsed(text).engine(), engine, "{text}");
    }
}

#[test]
fn what_leaves_the_machine_is_told_by_the_host() {
    for (text, is_local) in [
        ("postgres://localhost/x", true),
        ("postgres://127.0.0.9/x", true),
        ("mysql://[::1]/x", true),
        ("postgres:///x?host=/run/postgresql", true),
        ("postgres://10.0.0.1/x", false),
        ("mysql://db.example/x", false),
    ] {
        assert_eq!(parsed(text).is_local(), is_local, "{text}");
    }
    assert!(parsed("sqlite:x").is_local() && parsed("fake:").is_local());
}

/// <https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-SSLMODE> and
/// <https://dev.mysql.com/doc/refman/8.4/en/connection-options.html#option_general_ssl-mode>
#[test]
fn encryption_is_spelled_as_by_libpq_and_by_the_client_of_mysql() {
    for (text, expected) in [
        ("postgres://h/x", Mode::Prefer),
        ("postgres://localhost/x", Mode::Prefer),
        ("postgres://h/x?sslmode=disable", Mode::Disable),
        ("postgres://h/x?sslmode=allow", Mode::Allow),
        ("postgres://h/x?sslmode=verify-ca&sslrootcert=/ca.pem", Mode::VerifyCa),
        ("postgres://h/x?sslrootcert=/ca.pem", Mode::Prefer),
        ("postgres://h/x?sslrootcert=system", Mode::VerifyFull),
        ("postgres://h/x?ssl-mode=VERIFY_IDENTITY", Mode::VerifyFull),
    ] {
        assert_eq!(server(text).encryption.mode(Words::Libpq), expected, "{text}");
    }
    for (text, expected) in [
        ("mysql://h/x", Mode::Prefer),
        ("mysql://h/x?ssl-mode=DISABLED", Mode::Disable),
        ("mysql://h/x?ssl-mode=preferred", Mode::Prefer),
        ("mysql://h/x?ssl-mode=REQUIRED", Mode::Require),
        ("mysql://h/x?ssl-mode=VERIFY_CA&ssl-ca=/ca.pem", Mode::VerifyCa),
        ("mysql://h/x?ssl-mode=VERIFY_IDENTITY", Mode::VerifyFull),
        ("mysql://h/x?sslmode=verify-full", Mode::VerifyFull),
        ("mysql://h/x?ssl-ca=/ca.pem", Mode::VerifyCa),
    ] {
        assert_eq!(server(text).encryption.mode(Words::Mysql), expected, "{text}");
    }
    let all = "postgres://h/x?sslmode=verify-full&sslrootcert=/etc/my%20ca.pem&sslcert=a.crt&sslkey=b.key&\
               ssl_min_protocol_version=TLSv1.3&channel_binding=require";
    assert_eq!(parsed(all).to_string(), all);
    let all =
        "mysql://h/x?ssl-mode=VERIFY_CA&ssl-ca=/ca.pem&ssl-cert=a&ssl-key=b&ssl_min_protocol_version=TLSv1.2";
    assert_eq!(parsed(all).to_string(), all);
}

#[test]
fn mistakes_are_named_with_the_remedy() {
    for (text, part) in [
        ("", "give sqlite:FILE"),
        ("historian.db", "give sqlite:FILE"),
        ("oracle://h/x", "unknown kind of address `oracle:`"),
        ("sqlite:", "needs a file"),
        ("sqlite::memory:", "is not a file"),
        ("postgres:localhost/x", "needs two slashes"),
        ("postgres://h:0/x", "from 1 to 65535"),
        ("postgres://h:65536/x", "from 1 to 65535"),
        ("postgres://a,b:1,c:2:3/x", "from 1 to 65535"),
        ("postgres:///x?host=a,b,c&port=1,2", "3 hosts and 2 ports"),
        ("postgres://a/x,b/y", "several hosts before the database"),
        ("postgres://a/x?target_session_attrs=master", "use any, read-write, read-only, primary"),
        ("clickhouse://a,b/x", "only PostgreSQL, MySQL and MariaDB support several hosts"),
        ("mysql://a,b/x?target_session_attrs=any", "`target_session_attrs` is not known"),
        ("postgres://[::1/x", "has no ]"),
        ("postgres://[::1]5/x", "can follow ]"),
        ("postgres://h/x?sslmode=verify", "unknown encryption `verify`: use disable"),
        ("mysql://h/x?ssl-mode=allow", "DISABLED, PREFERRED"),
        ("postgres://h/x?sslmode=require&sslrootcert=system", "use sslmode=verify-full"),
        ("postgres://h/x?sslcert=a", "both sslcert and sslkey"),
        ("mysql://h/x?ssl-key=a", "both ssl-cert and ssl-key"),
        ("postgres://h/x?sslrootcert=", "sslrootcert names no file"),
        ("postgres://h/x?ssl_min_protocol_version=SSLv3", "TLSv1.2 or TLSv1.3"),
        ("postgres://h/x?channel_binding=yes", "disable, prefer or require"),
        ("postgres://h/x?timeout=3", "`timeout` is not known"),
        ("postgres://h/x?port=1&port=2", "`port` is given twice"),
        ("mysql://h/x?socket=relative", "begins with /"),
        ("mysql://u:100%@h/x", "the password has a %"),
        ("mysql://h/%ff", "the database is not UTF-8"),
        ("fake:?speed=3", "`speed` is not known"),
        ("fake:?append=3", "append"),
    ] {
        let message = refused(text);
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn a_password_is_never_shown() {
    for text in ["postgres://ann:Hush77@h/x", "mysql://ann:Hush77@h:1/x?ssl-mode=require"] {
        let url = parsed(text);
        assert!(!format!("{url} {url:?}").contains("Hush77"), "{url}");
        assert!(url.to_string().contains("ann@h"), "{url}");
    }
    // A slash or an @ that was not encoded moves the borders of the parts.
    for text in [
        "postgres://ann:Hush77/x@h/x",
        "postgres://ann:1/Hush77@h/x",
        "mysql://ann:1?Hush77@h/x",
        "mysql://ann:1?Hush77=1@h/x",
        "mysql://h?password=Hush77",
        "mysql://ann:Hush77%@h/x",
    ] {
        assert!(!refused(text).contains("Hush77"), "{text}");
    }
}

proptest! {
    #[test]
    fn no_text_breaks_the_parser(text in "(sqlite|postgres|mysql|fake)?:?(//)?\\PC{0,40}") {
        let _ = text.parse::<Url>();
    }

    #[test]
    fn what_is_shown_is_read_back_as_the_same(
        scheme in prop_oneof![Just("postgres"), Just("mysql")],
        user in proptest::option::of("[^\\x00]{1,12}"),
        host in prop_oneof!["[a-z][a-z0-9.-]{0,12}", Just("[::1]".to_owned())],
        port in proptest::option::of(1u16..),
        database in proptest::option::of("[^\\x00]{1,12}"),
        mode in proptest::option::of(0usize..3),
    ) {
        let modes = [Mode::Disable, Mode::Require, Mode::VerifyFull];
        let mut text = format!("{scheme}://");
        if let Some(user) = &user { text += &format!("{}:secret@", Encoded(user)); }
        text += &host;
        if let Some(port) = port { text += &format!(":{port}"); }
        if let Some(database) = &database { text += &format!("/{}", Encoded(database)); }
        if let Some(mode) = mode { text += &format!("?sslmode={}", modes[mode].name(Words::Libpq)); }
        let given = parsed(&text);
        prop_assert_eq!(given.database(), database.as_deref());
        let mut without_password = given.clone();
        if let Address::Postgres(server) | Address::Mysql(server) = &mut without_password.0 {
            prop_assert_eq!(&server.user, &user);
            server.password = None;
        }
        prop_assert_eq!(parsed(&given.to_string()), without_password);
        let mut written = Vec::new();
        super::whole::serialize(&given, &mut serde_json::Serializer::new(&mut written)).unwrap();
        let again = super::whole::deserialize(&mut serde_json::Deserializer::from_slice(&written)).unwrap();
        prop_assert_eq!(again, given);
    }

    #[test]
    fn a_fake_is_read_back_as_the_same(
        append in 0u64..10_000_000_000,
        down in 0u64..100_000,
        lose_at in proptest::option::of(1u64..),
        discard in any::<bool>(),
    ) {
        let fake = Fake {
            append: std::time::Duration::from_nanos(append),
            down: std::time::Duration::from_millis(down),
            lose_at,
            discard,
            ..Fake::default()
        };
        let url = Url::from(fake.clone());
        let again = parsed(&url.to_string());
        prop_assert_eq!(again.fake(), Some(&fake));
    }
}
