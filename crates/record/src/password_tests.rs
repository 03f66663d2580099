//! Tests of what is a password in a text.

use proptest::prelude::*;

use super::*;
use crate::shown;

/// The password of all forms.
const SECRET: &str = "Geheim7x";

/// Addresses as people misspell them, and as other programs have them. `§` stands for the password.
const FORMS: [&str; 77] = [
    "postgres://joe:§@h/x",
    "POSTGRES://JOE:§@H/X",
    "postgres:/joe:§@h/x",
    "postgres:joe:§@h",
    "mariadb:joe:§@h",
    "joe:§@h",
    "joe:§@h:5432/x",
    "joe:§@",
    ":§@h",
    "//joe:§@h",
    "/joe:§@h/x",
    "postgres//joe:§@h",
    "postgres;//joe:§@h/x",
    "postgres:///joe:§@h/x",
    "postgres:\\\\joe:§@h",
    "postgres ://joe:§@h",
    "postgres:// joe:§@h",
    "postgres://joe:§",
    "postgres://joe:§/x",
    "postgres://joe:12§",
    "postgres://joe:§%40h/x",
    "postgres://joe@h?passwd=§",
    "postgres://joe@h/x?password=§&port=1",
    "postgres://h/x?user=joe&pwd=§",
    "postgres://h/x?sslmode=disable&PASSWORD=§",
    "mysql://h/x?user=joe&pass=§",
    "postgres%3A%2F%2Fjoe%3A§%40h%2Fx",
    "joe%3A§%40h",
    "postgres://h/x%3Fpassword%3D§",
    "host=h user=joe password=§",
    "password=§ host=h",
    "host = h user = joe password = §",
    "host=h password='my §' user=joe",
    "host=h password='it\\'s §' user=joe",
    "host=h password=\"§\"",
    "dbname=x passwd=§",
    "Server=h;User Id=sa;Password=§;Database=x",
    "Server=h;Uid=sa;Pwd=§",
    "Server=h; PWD = § ; Database=x",
    "Server=h;Password={a;§};Database=x",
    "Server=h;Password=\"a;§\"",
    "Server=h;Password='a;§'",
    "Driver={ODBC Driver 18 for SQL Server};Server=h;PWD=§",
    "DSN=plant;UID=sa;PWD=§",
    "Data Source=h;User ID=sa;Password=my § word",
    "sqlserver://h;user=sa;password=§",
    "sqlserver://h:1433;databaseName=x;user=sa;password=§;encrypt=true",
    "sqlserver://h%3Buser%3Dsa%3Bpassword%3D§/x",
    "sqlserver://h;user=sa;pw=§",
    "jdbc:sqlserver://h;user=sa;password={§}",
    "jdbc:postgresql://h:5432/x?user=joe&password=§",
    "jdbc:mysql://joe:§@h/x",
    "jdbc:mariadb://h/x?user=joe&password=§&useSSL=false",
    "jdbc:oracle:thin:joe:§@h:1521:x",
    "postgresql+asyncpg://joe:§@h/x",
    "mysql+pymysql://joe:§@h/x?charset=utf8",
    "mssql+pyodbc://sa:§@h/x?driver=ODBC",
    "mssql+pyodbc:///?odbc_connect=Driver%3D%7BODBC%7D%3BPWD%3D§",
    "joe:§@tcp(h:3306)/x",
    "joe:§@unix(/run/s.sock)/x",
    "odbc:joe:§@h",
    "tcp://joe:§@h:5432",
    "mongodb+srv://joe:§@h",
    "redis://:§@h",
    "weird-scheme.v2+x://joe:§@h",
    "postgers://joe:§@h",
    "postgres://joe:a/§@h/x",
    "postgres://joe:a?§@h/x",
    "postgres://joe:a §@h/x",
    "postgres://joe:a@§@h/x",
    "postgres://a:§@h,postgres://b:§@i/x",
    "sqlite:joe:§@h",
    "PGPASSWORD=§",
    "MYSQL_PWD=§",
    "--password=§",
    "{\"user\": \"joe\", \"password\": \"§\"}",
    "clickhouse://h:8123/?user=joe&password=§",
];

/// What surrounds a value in each kind of output.
const PLACES: [&str; 10] = [
    "{}",
    "from /etc/c.toml: --target={}",
    "from /etc/c.toml: --name={} --results=/r",
    "error: invalid value '{}' for '--target <URL>': no address",
    "error: unexpected argument '{}' found",
    "`{}` is no directory, and no run is called so",
    "{}: there is no such directory",
    "\"{}\", and",
    "plan of \"{}\": 3 trials",
    "PRONY_TARGET={}",
];

#[test]
fn no_form_of_an_address_shows_its_password_in_any_place() {
    for form in FORMS {
        assert!(form.contains('§'), "{form}");
        let form = form.replace('§', SECRET);
        for place in PLACES {
            let text = place.replace("{}", &form);
            let shown = shown(&text);
            assert!(!shown.contains(SECRET), "{text} is shown as {shown}");
            assert!(shown.contains(PASSWORD), "{shown}");
            assert_eq!(crate::shown(&shown), shown, "masked once: {text}");
            assert!(holds_password(&text) && !holds_password(&shown), "{text}");
        }
        let value = value_without_password(&form);
        assert!(!value.contains(SECRET), "{form} is shown as {value}");
        assert!(!value_without_password(&value).contains(SECRET));
    }
}

#[test]
fn ordinary_words_are_shown_as_they_are() {
    for text in [
        "the password = wrong, says the server",
        "give password_file=FILE, or passfile=FILE",
        "password_file=/etc/prony/pw?",
        "check user and password of the address, PGPASSWORD, and pg_hba.conf",
        "user@host",
        "git@host:owner/repository",
        "postgres://me@h:5432/x",
        "postgres://USER@HOST:PORT/",
        "http://host:port/ready",
        "http://[2001:db8::7]:8008/x",
        "postgres://me@[::1]:5432/x",
        "https://docs.rs/x/latest/x:y",
        "modbus://h:502",
        "http://h:80/ready, says me@home",
        "12:30 by me@home",
        "12:30@7",
        "a.sql@3",
        "/data/runs@home/a.db",
        "sqlite:/data/me@home/a.db",
        "duckdb:/data/me@home/a.db",
        "csv:/data/me@home/a.csv",
        "C:\\tests\\me@home\\x.dat",
        "C:\\test\\new.dat",
        "a:b:c",
        "08:00:00,123",
        "2026-11-27T01:02:03Z",
        "kill at 3s, lasts 4s",
        "--size=10MB",
        "--tag=pass=3",
        "--tag=note=two words",
        "token=5",
        "100% of 5%",
        "a%20b.csv",
        "p99_ms < 20",
        "error: --threads: 0: give a number from 1 to 1024",
        "SET @a = 1; SELECT @a::int",
        "it's 12:30 at Joe's me@home",
        "Server=h,1433;Database=x;User Id=sa",
        "{\"name\": \"password\"}",
        "password: missing",
    ] {
        assert_eq!(shown(text), text);
        assert_eq!(value_without_password(text), text);
    }
}

/// The words around a value are not lost with its password.
#[test]
fn only_the_password_is_left_out() {
    for (text, seen) in [
        ("'joe:my pw@h' is no name", "'joe:…@h' is no name"),
        ("host=h password=pw user=joe", "host=h password=… user=joe"),
        ("'host=h password=pw' is no name", "'host=h password=…' is no name"),
        ("Password=pw;Server=h", "Password=…;Server=h"),
        ("invalid value 'Pwd=a b' for '--x': no", "invalid value 'Pwd=…' for '--x': no"),
        ("postgres:joe:pw@h/x", "postgres:…@h/x"),
        ("`postgres://joe:pw` is no file", "`postgres://joe:…` is no file"),
        ("jdbc:mysql://h/x?user=u&password=pw&a=b", "jdbc:mysql://h/x?user=u&password=…&a=b"),
        ("{\"password\":\"pw\",\"a\":1}", "{\"password\":\"…\",\"a\":1}"),
    ] {
        assert_eq!(shown(text), seen);
    }
    // Without quotes only whoever knows where the value ends can tell.
    assert_eq!(value_without_password("joe:my pw@h"), "joe:…@h");
    assert_eq!(value_without_password("//joe:my pw@h/x of y"), "//joe:…@h/x of y");
}

#[test]
fn passwords_among_words_are_hidden() {
    for (text, seen) in [
        ("postgres://me:secret@h/x", "postgres://me:…@h/x"),
        ("is \"mysql://me:se:c/r@et@h:1/x\", and", "is \"mysql://me:…@h:1/x\", and"),
        ("postgres://a:s1@h,postgres://b:s2@i/x", "postgres://a:…@h,postgres://b:…@i/x"),
        ("postgres://u:s1://s2@h", "postgres://u:…@h"),
        ("postgres://:s@h to http://h/ready", "postgres://:…@h to http://h/ready"),
        ("mysql://h/x?password=s&port=1", "mysql://h/x?password=…&port=1"),
        ("postgres://me:my secret@h/x of me@home", "postgres://me:…@h/x of me@home"),
        ("modbus://h:502", "modbus://h:502"),
        (
            "Server=h,1433;User Id=a;Password=my s:e@c/r=t;Database=x",
            "Server=h,1433;User Id=a;Password=…;Database=x",
        ),
        ("Driver={ODBC};UID=a;PWD={a;b}}c};Encrypt=yes", "Driver={ODBC};UID=a;PWD=…;Encrypt=yes"),
        ("Server=h; password = \"a;b\" ;Pwd='c';", "Server=h; password = … ;Pwd=…;"),
        ("Password=secret", "Password=…"),
        ("Server=h;Password={never closed", "Server=h;Password=…"),
        ("the password = wrong, says the server", "the password = wrong, says the server"),
        ("http://h:80/ready, says me@home", "http://h:80/ready, says me@home"),
        ("postgres://me@h:5432/x mail me@h", "postgres://me@h:5432/x mail me@h"),
        ("12:30 by me@home", "12:30 by me@home"),
    ] {
        assert_eq!(shown(text), seen);
        assert_eq!(holds_password(text), seen != text, "{text}");
        assert!(!holds_password(seen), "{seen} is masked once");
    }
}

proptest! {
    #[test]
    fn no_password_is_left(
        user in "[a-z]{0,4}", password in "[!-~]{1,12}", before in "[a-z \"]{0,4}", after in "[a-z /]{0,4}",
    ) {
        let text = format!("{before}postgres://{user}:0{password}0@h{after}");
        prop_assert_eq!(without_password(&text), format!("{before}postgres://{user}:…@h{after}"));
    }

    #[test]
    fn no_password_of_a_connection_string_is_left(
        password in "[!-:<-z|~][!-:<-~ ]{0,12}", key in "(Password|PWD|password )",
    ) {
        prop_assume!(!password.starts_with(['"', '\'']));
        let text = format!("Server=h;{key}={password};Database=x");
        let shown = without_password(&text).into_owned();
        prop_assert_eq!(shown, format!("Server=h;{key}=…;Database=x"));
    }
}
