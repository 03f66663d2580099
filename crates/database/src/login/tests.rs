//! Where what an address leaves open comes from.

use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::Url;
use crate::url::Address;

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn put(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    fn around(&self, variables: &[(&str, &str)]) -> Surroundings {
        let home = ("HOME", self.0.path().to_str().unwrap());
        let all = variables.iter().chain([&home]);
        let variables = all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Surroundings {
            variables,
            option_files: vec![self.0.path().join("etc.cnf")],
            service_files: vec![self.0.path().join("services")],
        }
    }
}

fn login(text: &str, around: &Surroundings) -> Result<Login, String> {
    match place::located(Url::read(text).unwrap(), around).unwrap().0 {
        Address::Postgres(server) => Login::of_postgres(&server, around),
        Address::Mysql(server) => Login::of_mysql(&server, around),
        Address::Sqlite(_)
        | Address::SqlServer(_)
        | Address::ClickHouse(_)
        | Address::DuckDb(_)
        | Address::Fake(_) => unreachable!(),
    }
}

/// Where it is, and what of that came from elsewhere.
fn place(text: &str, around: &Surroundings) -> (String, Vec<String>) {
    let url = place::located(Url::read(text).unwrap(), around).unwrap();
    assert_eq!(Url::read(&url.to_string()).unwrap().host(), url.host(), "what is shown is complete");
    (url.to_string(), url.taken().to_vec())
}

#[track_caller]
fn has(login: &Login, user: &str, password: &str, taken: &[&str]) {
    assert_eq!((login.user.as_deref(), login.password.as_deref()), (Some(user), Some(password)));
    let told = login.taken.join("; ");
    assert!(taken.iter().all(|words| told.contains(words)), "{told}");
    assert!(!told.contains(password), "{told}");
}

#[test]
fn a_login_of_postgresql_is_of_the_address_then_of_variables_then_of_the_file() {
    let home = Home::new();
    let file = home.put(".pgpass", "db:5432:app:ann:of the file\ndb:5432:app:eve:for eve\n", 0o600);
    let around = home.around(&[("PGUSER", "eve")]);
    let file = file.to_str().unwrap();
    has(&login("postgres://ann@db/app", &around).unwrap(), "ann", "of the file", &[file]);
    has(&login("postgres://db/app", &around).unwrap(), "eve", "for eve", &["user from PGUSER", file]);
    let given = login("postgres://ann:given@db/app", &around).unwrap();
    assert_eq!((given.password.as_deref(), given.taken.len()), (Some("given"), 0));
    let both = home.around(&[("PGPASSWORD", "of a variable")]);
    has(&login("postgres://ann@db/app", &both).unwrap(), "ann", "of a variable", &["PGPASSWORD"]);
    let secret = home.put("secret", "in a file\n", 0o600);
    let text = format!("postgres://ann@db/app?password_file={}", secret.display());
    has(&login(&text, &both).unwrap(), "ann", "in a file", &["secret"]);
    home.put("secret", " with blanks \r\nand more\n", 0o600);
    has(&login(&text, &both).unwrap(), "ann", " with blanks ", &["secret"]);
    let other = home.put("other", "*:*:*:*:of another\n", 0o600);
    let named = home.around(&[("PGPASSFILE", other.to_str().unwrap())]);
    has(&login("postgres://ann@db/app", &named).unwrap(), "ann", "of another", &["other"]);
    let text = format!("postgres://ann@db/app?passfile={file}");
    has(&login(&text, &named).unwrap(), "ann", "of the file", &[file]);
}

/// <https://www.postgresql.org/docs/current/libpq-pgpass.html>: "if the permissions are less strict than this, the file will be ignored".
#[test]
fn a_file_of_passwords_that_others_can_read_is_ignored_and_told() {
    let home = Home::new();
    for mode in [0o640, 0o604, 0o644] {
        home.put(".pgpass", "*:*:*:*:seen by all\n", mode);
        let found = login("postgres://ann@db/app", &home.around(&[])).unwrap();
        assert_eq!(found.password, None);
        assert!(found.ignored.is_some_and(|why| why.contains("chmod 600")));
        assert!(
            found.taken[0].contains(".pgpass was not read") && found.taken[0].contains("chmod 600"),
            "{:?}",
            found.taken
        );
    }
}

#[test]
fn encryption_that_the_address_leaves_open_is_of_variables() {
    let home = Home::new();
    let around = home.around(&[
        ("PGSSLMODE", "verify-full"),
        ("PGSSLROOTCERT", "/ca.pem"),
        ("PGCHANNELBINDING", "require"),
    ]);
    let found = login("postgres://ann@db/app", &around).unwrap();
    assert_eq!(found.encryption.mode, Some(Mode::VerifyFull));
    assert_eq!(found.encryption.roots, Some(Roots::File("/ca.pem".into())));
    assert_eq!(found.encryption.binding, Some(Binding::Require));
    assert!(found.taken.contains(&"encryption by PGSSLMODE".to_owned()), "{:?}", found.taken);
    let given = login("postgres://ann@db/app?sslmode=disable", &around).unwrap();
    assert_eq!(given.encryption.mode, Some(Mode::Disable));
    let wrong = login("postgres://ann@db/app", &home.around(&[("PGSSLMODE", "maybe")])).err().unwrap();
    assert!(wrong.contains("PGSSLMODE") && wrong.contains("`maybe`"), "{wrong}");
}

#[test]
fn a_login_of_mysql_is_of_the_address_then_of_files_of_options_then_of_the_variable() {
    let home = Home::new();
    home.put("more.cnf", "[client-mariadb]\nssl_ca = /of/mariadb.pem\n", 0o644);
    let more = home.0.path().join("more.cnf");
    let text = format!(
        "[mysqld]\nuser=mysql\n[client]\nuser=all\npassword='of all'\nport=1\n!include {}\n[mysqldump]\npassword=x\n",
        more.display()
    );
    home.put("etc.cnf", &text, 0o644);
    home.put(".my.cnf", "[client]\n# user=no\npassword = \"of \\\"mine\n[mysql]\nuser = mine # me\n", 0o600);
    let around = home.around(&[("MYSQL_PWD", "of a variable")]);
    let found = login("mysql://db/app", &around).unwrap();
    assert_eq!(found.user.as_deref(), Some("mine"), "the last file that says it");
    assert_eq!(found.encryption.roots, Some(Roots::File("/of/mariadb.pem".into())));
    assert!(found.taken.iter().any(|taken| taken.starts_with("ssl-ca from") && taken.ends_with("more.cnf")));
    let given = login("mysql://ann:given@db/app?ssl-ca=/own.pem", &around).unwrap();
    assert_eq!(
        (given.user.as_deref(), given.password.as_deref(), given.taken.len()),
        (Some("ann"), Some("given"), 0)
    );
    assert_eq!(given.encryption.roots, Some(Roots::File("/own.pem".into())));
    home.put(".my.cnf", "[client]\nuser=evil\n", 0o646);
    let found = login("mysql://db/app", &around).unwrap();
    has(&found, "all", "of all", &["user from", "etc.cnf", ".my.cnf was not read: everybody can write"]);
    let alone = Home::new();
    let found = login("mysql://ann@db/app", &alone.around(&[("MYSQL_PWD", "of a variable")])).unwrap();
    has(&found, "ann", "of a variable", &["MYSQL_PWD"]);
}

/// <https://www.postgresql.org/docs/current/libpq-envars.html>
#[test]
fn a_place_that_the_address_leaves_open_is_of_variables() {
    let home = Home::new();
    let around = home.around(&[
        ("PGHOST", "db7,/run/postgresql,::1"),
        ("PGPORT", "5433,5434,"),
        ("PGDATABASE", "app"),
        ("PGTARGETSESSIONATTRS", "read-write"),
    ]);
    let (shown, taken) = place("postgres:///", &home.around(&[]));
    assert_eq!((shown.as_str(), taken.len()), ("postgres://localhost", 0));
    let (shown, taken) = place("postgres://ann@/", &around);
    assert_eq!(
        shown,
        "postgres://ann@db7:5433,%2Frun%2Fpostgresql:5434,%5B%3A%3A1%5D/app?target_session_attrs=read-write"
            .replace("%5B%3A%3A1%5D", "[::1]")
    );
    assert_eq!(
        taken,
        [
            "host from PGHOST",
            "port from PGPORT",
            "database from PGDATABASE",
            "target_session_attrs from PGTARGETSESSIONATTRS"
        ]
    );
    let (shown, taken) =
        place("postgres:///other?target_session_attrs=any", &home.around(&[("PGHOST", "/run/pg")]));
    assert_eq!((shown.as_str(), taken.len()), ("postgres:///other?host=/run/pg", 1));
    for complete in ["postgres://db/app", "postgres://:5436/app", "postgres:///app?host=/run/pg"] {
        assert_eq!(place(complete, &around).1, [] as [&str; 0], "{complete}");
    }
    let refused = |variables: &[(&str, &str)]| {
        place::located(Url::read("postgres:///").unwrap(), &home.around(variables)).unwrap_err().to_string()
    };
    assert!(refused(&[("PGHOSTADDR", "10.0.0.1")]).contains("PGHOSTADDR"));
    assert!(refused(&[("PGHOST", "a,b"), ("PGPORT", "1,2,3")]).contains("2 hosts and 3 ports"));
    assert!(refused(&[("PGPORT", "x")]).starts_with("PGPORT: the port must be a number"));
    assert!(refused(&[("PGTARGETSESSIONATTRS", "fast")]).contains("prefer-standby"));
}

/// <https://www.postgresql.org/docs/current/libpq-pgservice.html>
#[test]
fn a_service_says_where_and_who_and_its_name_stays_with_the_address() {
    let home = Home::new();
    home.put("services", "[of all]\nhost=all\n[both]\nhost=system\n", 0o644);
    home.put(
        ".pg_service.conf",
        "# mine\n[other]\nhost=no\n[both]\nhost=db\nport=6000\ndbname=app\nuser=eve\npassword=s3cret\n\
         sslmode=require\nconnect_timeout=3\n[last]\nhostaddr=1.2.3.4\n[odd]\nsecret\n",
        0o600,
    );
    let around = home.around(&[("PGHOST", "no"), ("PGPASSWORD", "no"), ("PGUSER", "no")]);
    let (shown, taken) = place("postgres:///?service=both", &around);
    assert_eq!(shown, "postgres://db:6000/app?service=both");
    let file = home.0.path().join(".pg_service.conf").display().to_string();
    assert_eq!(taken[0], format!("host from the service both of {file}"));
    let found = login(&shown, &around).unwrap();
    has(
        &found,
        "eve",
        "s3cret",
        &["user from the service both", "encryption by sslmode", "ignored connect_timeout in"],
    );
    assert_eq!(found.encryption.mode, Some(Mode::Require));
    let (shown, taken) = place("postgres://ann@/x", &home.around(&[("PGSERVICE", "of all")]));
    assert_eq!(shown, "postgres://ann@all/x?service=of%20all");
    assert_eq!(taken[0], "service from PGSERVICE");
    let (shown, _) = place("postgres://own:5/x?service=both", &around);
    assert_eq!(shown, "postgres://own:5/x?service=both", "what the address says wins");
    let refused = |text: &str| place::located(Url::read(text).unwrap(), &around).unwrap_err().to_string();
    let none = refused("postgres:///?service=none");
    assert!(
        none.contains("unknown service `none` in") && none.contains(&file) && none.contains("services"),
        "{none}"
    );
    assert!(refused("postgres:///?service=last").contains("line 13: hostaddr"));
    let odd = refused("postgres:///?service=odd");
    assert!(odd.contains("line 15: expected `key=value`") && !odd.contains("secret"), "{odd}");
}

/// <https://dev.mysql.com/doc/refman/8.4/en/environment-variables.html>
#[test]
fn a_place_of_mysql_is_of_files_of_options_then_of_variables() {
    let home = Home::new();
    home.put("etc.cnf", "[client]\nhost=db\nport=3307\nsocket=/run/s.sock\n", 0o644);
    let around = home.around(&[("MYSQL_HOST", "no"), ("MYSQL_TCP_PORT", "1")]);
    let (shown, taken) = place("mysql://ann@/app", &around);
    assert_eq!(shown, "mysql://ann@db:3307/app", "a socket is for this machine alone");
    assert_eq!(taken.len(), 2);
    assert_eq!(place("mysql://localhost/app", &around), ("mysql://localhost/app".to_owned(), vec![]));
    home.put(".my.cnf", "[mysql]\nhost = localhost\n", 0o600);
    let (shown, taken) = place("mysql:///app", &around);
    assert_eq!(shown, "mysql:///app?socket=/run/s.sock&port=3306".replace("&port=3306", ""));
    assert!(taken[0].starts_with("socket from") && taken[0].ends_with("etc.cnf"), "{taken:?}");
    let alone = Home::new();
    let variables = [("MYSQL_HOST", "db2"), ("MYSQL_TCP_PORT", "3308")];
    let (shown, taken) = place("mysql:///app", &alone.around(&variables));
    assert_eq!((shown.as_str(), taken.len()), ("mysql://db2:3308/app", 2));
    let (shown, _) = place("mysql:///app", &alone.around(&[("MYSQL_UNIX_PORT", "/run/m.sock")]));
    assert_eq!(shown, "mysql:///app?socket=/run/m.sock");
}

#[test]
fn a_password_that_is_asked_for_needs_a_terminal_and_one_of_a_file_a_line() {
    let home = Home::new();
    let empty = home.put("empty", "\n", 0o600);
    let error =
        login(&format!("mysql://ann@db?password_file={}", empty.display()), &home.around(&[])).err().unwrap();
    assert!(error.contains("has no password"), "{error}");
}
