//! The page: it asks nothing of the network, hides nothing from a reader without eyes, and escapes what it is given.

use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use record::{DeviceLoad, MeasuredTrial, State};

use sha2::{Digest, Sha256};

use crate::fixture::{self, Made, Sold};
use crate::report::Report;
use crate::tests;

/// The pages of all studies, made once.
pub(crate) fn pages() -> &'static [String] {
    static PAGES: OnceLock<Vec<String>> = OnceLock::new();
    PAGES.get_or_init(|| {
        let empty = fixture::study("quick", Vec::new());
        let studies = [tests::quick(), tests::sweep(), tests::cdm(), tests::steady(), empty];
        let (historians, stores) = (tests::historian::all(), tests::orders::all());
        let compared = tests::comparison::all();
        studies
            .iter()
            .chain(&historians)
            .chain(&stores)
            .chain(&compared)
            .map(|study| Report::of(study).html())
            .collect()
    })
}

/// The page without its one script. The script is our own code, and is irrelevant to tests of foreign text.
pub(crate) fn without_script(page: &str) -> String {
    assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (1, 1));
    let (before, rest) = page.split_once("<script>").unwrap();
    let after = rest.strip_prefix(super::SCRIPT).unwrap().strip_prefix("</script>").unwrap();
    assert!(after.starts_with("</body>"), "{after}");
    format!("{before}{after}")
}

/// Data and log on devices of their own could not be told apart.
#[test]
fn several_devices_have_a_line_and_a_row_each_and_one_has_none() {
    let mut study = tests::quick();
    let environment = study.environment.as_mut().unwrap();
    let log = environment.volumes.values().next().unwrap().clone();
    environment.volumes.insert("log".to_owned(), log);
    for resources in study.trials.iter_mut().flat_map(|trial| &mut trial.resources) {
        let load = DeviceLoad { queue_depth: 3.5, writes_per_s: 1_234.0, ..DeviceLoad::default() };
        resources.devices.insert("sdb".to_owned(), load);
    }
    let several = Report::of(&study).html();
    for told in [
        "Block device of log, target",
        "Queues of the devices over time",
        "queue of nvme0n1 30.4",
        "queue of sdb 3.50",
        "1,234",
    ] {
        assert!(several.contains(told), "{told}");
    }
    let one = Report::of(&tests::quick()).html();
    assert!(one.contains("device queue 30.4") && one.contains("Block device of the target"));
    assert!(!one.contains("Queues of the devices"));
}

/// The script reads names from attributes, so a name never runs as code.
#[test]
fn a_series_of_a_hostile_name_is_only_read() {
    const EVIL: &str = "\"><script>alert('1')</script>'\u{1b}]0;\r\n&#34;";
    let mut study = tests::quick();
    for resources in study.trials.iter_mut().flat_map(|trial| &mut trial.resources) {
        resources.devices.insert(EVIL.to_owned(), DeviceLoad { queue_depth: 3.5, ..DeviceLoad::default() });
    }
    study.manifest.title = EVIL.to_owned();
    let page = without_script(&Report::of(&study).html());
    assert!(
        page.contains(
            "data-name=\"&quot;&gt;&lt;script&gt;alert('1')&lt;/script&gt;'\\x1b]0;\\r\\n&amp;#34;\""
        )
    );
    assert!(!page.contains('\u{1b}') && !page.contains("alert('1')<"));
}

#[test]
fn page_makes_no_request_to_anywhere() {
    for page in pages() {
        for outside in [
            "http:", "https:", "src=", "url(", "@import", "<link", "<base", "srcset", "xlink", "<iframe",
            "<img",
        ] {
            assert!(
                !page.contains(outside),
                "{outside} at {:?}",
                page.find(outside).map(|at| &page[at..at + 60])
            );
        }
        without_script(page);
        for link in page.split("href=").skip(1) {
            assert!(link.starts_with("\"#"), "{}", &link[..40]);
        }
    }
}

#[test]
fn script_reads_attributes_and_writes_texts() {
    for other in [
        "eval",
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "Function",
        "fetch",
        "XMLHttp",
        "import",
        "setTimeout",
        "cookie",
        "storage",
        "location",
        "</",
        "<!--",
        "http",
    ] {
        assert!(!super::SCRIPT.contains(other), "{other}");
    }
}

/// With this policy, a browser runs the script of a page only if the hash matches.
#[test]
fn policy_of_a_page_names_its_script_and_nothing_else() {
    let page = &pages()[0];
    let policy = page.split("http-equiv=\"Content-Security-Policy\" content=\"").nth(1).unwrap();
    let policy = policy.split('"').next().unwrap();
    let hash = STANDARD
        .encode(Sha256::digest(page.split("<script>").nth(1).unwrap().split("</script>").next().unwrap()));
    let expected = format!(
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; script-src 'sha256-{hash}'"
    );
    assert_eq!(policy, expected);
    let sheet = Report::of(&tests::quick()).sheet();
    assert!(
        sheet.contains("form-action 'none'\"") && !sheet.contains("<script") && !sheet.contains("script-src")
    );
}

#[test]
fn every_link_has_its_section() {
    for page in pages() {
        for target in page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(page.contains(&format!("id=\"{target}\"")), "{target}");
        }
    }
}

#[test]
fn elements_are_closed_in_order() {
    const VOID: [&str; 2] = ["meta", "br"];
    for page in pages() {
        let mut open: Vec<String> = Vec::new();
        for tag in page.split('<').skip(1) {
            let Some((inside, _)) = tag.split_once('>') else { panic!("{tag}") };
            let name: String =
                inside.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
            if inside.starts_with('/') {
                assert_eq!(open.pop().as_deref(), Some(name.as_str()));
            } else if !(inside.starts_with('!') || inside.ends_with('/') || VOID.contains(&name.as_str())) {
                open.push(name);
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }
}

#[test]
fn every_chart_says_what_it_shows() {
    for page in pages() {
        for svg in page.split("<svg ").skip(1) {
            assert!(svg.starts_with("role=\"img\" viewBox=\"0 0 "), "{}", &svg[..60]);
            let (head, _) = svg.split_once("</desc>").unwrap();
            assert!(head.contains("<title>") && head.contains("</title><desc>"), "{head}");
            assert!(!head.ends_with("<desc>") && !head.contains("<title></title>"), "{head}");
        }
        let figures = page.matches("<figure>").count();
        assert_eq!(page.matches("Figures of this chart").count(), figures, "a table below each");
        assert_eq!(page.matches("<svg ").count(), figures);
    }
}

#[test]
fn all_colours_are_the_pages_own() {
    for page in pages() {
        let (_, body) = page.split_once("</style>").unwrap();
        assert!(!body.contains("\"#0101"), "a stand-in was left");
        assert!(!body.contains("fill=\"#") && !body.contains("stroke=\"#"));
    }
}

#[test]
fn tables_have_captions_and_scopes() {
    for page in pages() {
        assert_eq!(page.matches("<table").count(), page.matches("<caption>").count());
        assert!(!page.contains("<th>"), "a head without scope");
    }
}

#[test]
fn what_is_given_is_escaped_everywhere() {
    let evil = "<script>alert(\"1\")</script>";
    let level = |made: Made, depth: u32| made.level("outstanding", &depth.to_string());
    let mut trials: Vec<MeasuredTrial> = (0..9)
        .map(|power| {
            level(Made::read(evil).with(|s| (s.path, s.pattern) = (evil.into(), evil.into())), 1 << power)
        })
        .enumerate()
        .map(|(index, made)| made.recorded(|r| r.notes = vec![evil.to_owned()]).trial(index as u32 + 1))
        .collect();
    trials.push(Made::read(evil).unmeasured(20, State::Failed, evil));
    trials.push(Made::mixed(evil).trial(21));
    trials.push(Made::write(evil).recorded(|r| r.parameters = serde_json::json!({evil: evil})).trial(22));
    let mut study = fixture::study("cdm3", trials);
    study.manifest.title = evil.to_owned();
    study.manifest.command = vec![evil.to_owned()];
    study.manifest.expect = Some(evil.to_owned());
    study.study_toml = evil.to_owned();
    study.damage = vec![evil.to_owned()];
    if let Some(environment) = &mut study.environment {
        environment.host = evil.to_owned();
    }
    let page = Report::of(&study).html();
    let page = without_script(&page);
    assert!(page.contains("&lt;script&gt;"));
}

#[test]
fn what_an_order_store_is_given_is_escaped_too() {
    const EVIL: &str = "<script>alert(\"1\")</script>";
    let setup = |setup: &mut record::OrdersSetup| {
        for target in &mut setup.targets {
            (target.database, target.target, target.size) = (EVIL.into(), EVIL.into(), EVIL.into());
            (target.server.version, target.server.durability) = (EVIL.into(), EVIL.into());
            target.server.is_durable = false;
        }
    };
    let outcome = |outcome: &mut record::OrdersOutcome| {
        outcome.notes = vec![EVIL.to_owned()];
        outcome.targets[0].stopped = vec![EVIL.to_owned()];
    };
    let made = Sold::at(EVIL, &[20.0, 20.0]).think_ms(20.0).with(setup).outcome(outcome);
    let mut study = fixture::study("orders", vec![made.trial(1)]);
    let mut prices = fixture::prices();
    (prices.currency, prices.source, prices.term) = (Some(EVIL.into()), Some(EVIL.into()), Some(EVIL.into()));
    prices.items[0].name = EVIL.to_owned();
    study.manifest.prices = Some(prices);
    let page = Report::of(&study).html();
    let page = without_script(&page);
    assert!(page.contains("&lt;script&gt;"));
}

#[test]
fn an_hour_of_seconds_makes_a_page_of_bounded_size() {
    let page = |seconds: usize| {
        let study = fixture::study("quick", vec![Made::mixed("hour").seconds(seconds).noise(0.3).trial(1)]);
        Report::of(&study).html()
    };
    let (hour, two) = (page(3_600), page(7_200));
    assert!(hour.contains("3,602 seconds, reduced to the lowest and highest point of each of 360 columns."));
    assert!(hour.len() < 400_000, "{} bytes", hour.len());
    assert!(two.len() < hour.len() * 11 / 10, "{} after {} bytes", two.len(), hour.len());
}
