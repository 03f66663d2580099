//! Addresses of SQL Server as users write them.

use proptest::prelude::*;

use super::*;
use crate::Url;
use crate::url::Address;

fn parsed(text: &str) -> SqlServerAddress {
    match text.parse::<Url>() {
        Ok(Url(Address::SqlServer(address))) => *address,
        other => panic!("{text}: {other:?}"),
    }
}

fn refused(text: &str) -> String {
    text.parse::<Url>().unwrap_err().to_string()
}

#[test]
fn every_part_of_an_address_is_read() {
    let full = parsed(
        "sqlserver://ann:s%40cret@db.example:1500/plant%201?encrypt=strict&host-name-in-certificate=db&\
         ConnectTimeout=30&multi_subnet_failover=yes&application_intent=readonly&packet_size=16384&application_name=a%20b",
    );
    assert_eq!((full.host.as_str(), full.port), ("db.example", Some(1500)));
    assert_eq!(full.user.as_deref().zip(full.password.as_deref()), Some(("ann", "s@cret")));
    assert_eq!(full.database.as_deref(), Some("plant 1"));
    assert_eq!(full.encrypt(), Encrypt::Strict);
    assert_eq!(full.host_name_in_certificate.as_deref(), Some("db"));
    assert_eq!((full.connect_timeout_s, full.packet_bytes), (Some(30), Some(16_384)));
    assert!(full.multi_subnet_failover && full.is_read_only && !full.trust_server_certificate);
    assert_eq!(full.application_name.as_deref(), Some("a b"));
    let named: Url = "mssql://db.example?instance=PLANT".parse().unwrap();
    assert_eq!(named.host().as_deref(), Some("db.example\\PLANT"));
    let usual: Url = "sqlserver://[::1]/x".parse().unwrap();
    assert_eq!(usual.host().as_deref(), Some("[::1]:1433"));
    assert!(usual.is_local());
}

#[test]
fn connection_strings_say_the_same() {
    let url =
        parsed("sqlserver://ann:se;c'r}et@db.example:1500/plant?encrypt=on&trust_server_certificate=true");
    for text in [
        "Server=tcp:db.example,1500;Initial Catalog=plant;User ID=ann;Password=\"se;c'r}et\";Encrypt=True;\
         TrustServerCertificate=True;MultipleActiveResultSets=False;",
        "Driver={ODBC Driver 18 for SQL Server};Server=db.example,1500;Database=plant;UID=ann;PWD={se;c'r}}et};\
         Encrypt=yes;TrustServerCertificate=yes",
        " data source = db.example , 1500 ; database=plant; user=ann; password='se;c''r}et' ; encrypt = mandatory ; \
         Trust Server Certificate=1; Persist Security Info=False",
    ] {
        assert!(parsed(text) == url, "{text}");
    }
    let named = parsed("Server=(local)\\PLANT;Database=x;Integrated Security=false");
    assert_eq!((named.host.as_str(), named.instance.as_deref()), ("localhost", Some("PLANT")));
    assert_eq!(parsed("Server=.;").host, "localhost");
    assert_eq!(parsed("Server=h;Password=a b c ;").password.as_deref(), Some("a b c"));
}

/// A login by SqlClient with the password `{abc}` was tried as `abc`.
#[test]
fn marks_are_those_of_the_reader_that_a_string_is_for() {
    for (text, password) in [
        ("Server=depot;User ID=plant;Password={abc}", "{abc}"),
        ("Data Source=depot;UID=plant;PWD=abc", "abc"),
        ("Server=depot;Password={abc}", "{abc}"),
        ("Server=depot;Uid=plant;Pwd={abc}", "abc"),
        ("Driver={ODBC Driver 18 for SQL Server};Server=depot;Uid=plant;Pwd={a;b}}c}", "a;b}c"),
        ("Driver={x};Server=depot;Uid=plant;Pwd='abc'", "'abc'"),
        ("Server=depot;User ID=plant;Password='a''b'", "a'b"),
        ("Server=depot;User ID=plant;Password=one;Password=two", "two"),
        ("Driver={x};Server=depot;Pwd=one;Pwd=two", "one"),
    ] {
        assert_eq!(parsed(text).password.as_deref(), Some(password), "{text}");
    }
}

#[test]
fn what_leaves_the_machine_is_encrypted_and_checked() {
    assert_eq!(parsed("sqlserver://localhost/x").encrypt(), Encrypt::Off);
    assert_eq!(parsed("sqlserver://db.example/x").encrypt(), Encrypt::On);
    assert!(!parsed("Server=db.example").trust_server_certificate);
    assert_eq!(parsed("Server=db.example;Encrypt=Optional").encrypt(), Encrypt::Off);
}

#[test]
fn mistakes_are_named_with_the_remedy() {
    for (text, part) in [
        ("sqlserver:h/x", "needs two slashes"),
        ("sqlserver://h:0/x", "a number from 1 to 65535"),
        ("sqlserver://h/x?encrypt=prefer", "use off, on or strict"),
        ("sqlserver://h/x?colour=3", "`colour` is not known: give encrypt"),
        ("sqlserver://h/x?pooling=true", "`pooling` is not known"),
        ("sqlserver://h/x?encrypt=on&encrypt=off", "given twice"),
        ("sqlserver://h:1/x?port=1", "given twice"),
        ("sqlserver://h/x?packet_size=100", "512 to 32767"),
        ("sqlserver://h/x?application_intent=both", "ReadOnly or ReadWrite"),
        ("sqlserver://h/x?trust_server_certificate=maybe", "yes or no"),
        ("sqlserver://h/x?encrypt=strict&trust_server_certificate=yes", "sslrootcert=FILE"),
        ("sqlserver://u@h/x?access_token_file=/t", "replaces user and password"),
        ("Server=h;Integrated Security=SSPI", "login of Windows"),
        ("Server=np:h", "use host,port"),
        ("Server=\\\\.\\pipe\\sql", "use host,port"),
        ("Server=(localdb)\\x", "use host,port"),
        ("Server=h;Colour=3", "unknown keyword `Colour`"),
        ("Server=h;Database", "has no ="),
        ("Server=h;Pwd={x", "no } at its end"),
        ("Server=h;Pwd={x}y;", "something stands between"),
        ("Server=h;Password=\"x\"y;", "something stands between"),
        ("Server=h;Uid=a;Password={x}", "keys of both"),
    ] {
        let message = refused(text);
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn a_password_is_never_shown() {
    for text in [
        "sqlserver://ann:Hush77@h/x?encrypt=on",
        "Server=h;Uid=ann;Pwd=Hush77",
        "Server=h;User=ann;Password={Hush77}",
        "Server=h;Uid=ann;Password=Hush77;Password=Hush77",
    ] {
        let url: Url = text.parse().unwrap();
        assert!(!format!("{url} {url:?}").contains("Hush77") && url.to_string().contains("ann@h"), "{url}");
    }
    for text in [
        "sqlserver://ann:1/Hush77@h/x",
        "sqlserver://ann:1?Hush77@h/x",
        "sqlserver://h?password=Hush77",
        "sqlserver://ann:Hush77%@h/x",
        "Server=h;Password=1;Hush77=2",
        "Server=h;Password=1;Hush77",
        "Server=h;Pwd={1}Hush77;",
        "Server=h;Password=\"Hush77",
        "Driver={x};Server=h;Pwd={Hush77",
    ] {
        assert!(!refused(text).contains("Hush77"), "{text}");
    }
}

#[test]
fn a_list_is_split_where_it_has_several() {
    assert_eq!(Url::split("sqlserver://a,postgres://b"), ["sqlserver://a", "postgres://b"]);
    assert_eq!(Url::split("Server=tcp:a,1433;Database=x"), ["Server=tcp:a,1433;Database=x"]);
}

#[test]
fn one_server_is_one_place() {
    let place = |text: &str| text.parse::<Url>().unwrap();
    assert!(place("sqlserver://a:b@H/x").is_same_place(&place("Server=h,1433;Database=y")));
    assert!(place("Server=h\\one").is_same_place(&place("sqlserver://h?instance=ONE")));
    assert!(!place("Server=h\\one").is_same_place(&place("Server=h\\two")));
    assert!(!place("sqlserver://h").is_same_place(&place("sqlserver://h:1434")));
}

proptest! {
    #[test]
    fn no_text_breaks_the_parser(text in "(sqlserver://|Server=|Pwd=|Driver=\\{)?\\PC{0,40}") {
        let _ = text.parse::<Url>();
    }

    #[test]
    fn what_is_shown_is_read_back_as_the_same(
        user in proptest::option::of("[^\\x00]{1,12}"),
        host in prop_oneof!["[a-z][a-z0-9.-]{0,12}", Just("::1".to_owned())],
        port in proptest::option::of(1u16..),
        database in proptest::option::of("[^\\x00]{1,12}"),
        instance in proptest::option::of("[A-Z]{1,9}"),
        encrypt in proptest::option::of(0usize..3),
        name in proptest::option::of("[^\\x00]{1,9}"),
        seconds in proptest::option::of(1u16..3600),
        truths in any::<[bool; 2]>(),
    ) {
        let given = SqlServerAddress {
            host, port, user, database, instance,
            encrypt: encrypt.map(|index| Encrypt::ALL[index]),
            host_name_in_certificate: name,
            connect_timeout_s: seconds,
            multi_subnet_failover: truths[0],
            is_read_only: truths[1],
            ..SqlServerAddress::default()
        };
        let usual = given.port == Some(DEFAULT_PORT) && given.instance.is_none();
        let again = parsed(&given.to_string());
        let expected = SqlServerAddress { port: given.port.filter(|_| !usual), ..given.clone() };
        prop_assert!(again == expected, "{given}");
        let url = Url(Address::SqlServer(Box::new(SqlServerAddress { password: Some("p".to_owned()), ..given })));
        let mut written = Vec::new();
        crate::url::whole::serialize(&url, &mut serde_json::Serializer::new(&mut written)).unwrap();
        let again = crate::url::whole::deserialize(&mut serde_json::Deserializer::from_slice(&written)).unwrap();
        prop_assert_eq!(again, url);
    }

    #[test]
    fn a_value_in_braces_or_quotes_is_read_as_it_is(
        password in "[^\\x00]{0,20}",
        quote in prop_oneof![Just(('{', '}', "Pwd")), Just(('"', '"', "Password")), Just(('\'', '\'', "Password"))],
    ) {
        let (begin, end, key) = quote;
        let doubled = password.replace(end, &format!("{end}{end}"));
        let text = format!("Server=h;{key}={begin}{doubled}{end};Database=x");
        let given = parsed(&text);
        prop_assert_eq!(given.password.as_deref(), Some(password.as_str()));
        prop_assert_eq!(given.database.as_deref(), Some("x"));
    }
}
