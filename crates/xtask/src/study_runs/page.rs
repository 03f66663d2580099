//! Finds what a browser would ask for when it shows an HTML page.
//!
//! It does not parse HTML: it looks at everything between `<` and `>` and at a few words of CSS and JavaScript,
//! so it may find too much in an unusual page. Too much is a failed check; too little would be a leak.

/// Attributes whose value is an address that is fetched or followed.
const ADDRESS_ATTRIBUTES: [&str; 8] =
    ["src", "href", "srcset", "action", "formaction", "poster", "data", "background"];

/// Words that fetch without an attribute.
const FETCHING_WORDS: [&str; 7] =
    ["@import", "fetch(", "XMLHttpRequest", "WebSocket(", "EventSource(", "sendBeacon(", "importScripts("];

/// Everything in the page that is an address outside of it.
pub(super) fn requests(page: &str) -> Vec<String> {
    let tags = page.split('<').skip(1).map(|part| part.split('>').next().unwrap_or_default());
    let by_attribute = tags.flat_map(requests_of_tag);
    let by_style = page.split("url(").skip(1).filter_map(|part| {
        let address = part.split(')').next()?.trim().trim_matches(['"', '\'']);
        (!is_inside(address)).then(|| format!("url({address})"))
    });
    let by_word = FETCHING_WORDS.into_iter().filter(|word| page.contains(word)).map(str::to_owned);
    by_attribute.chain(by_style).chain(by_word).collect()
}

fn requests_of_tag(tag: &str) -> Vec<String> {
    let is_link_to_follow = tag.starts_with("a ") || tag.starts_with("a\n");
    attributes(tag)
        .into_iter()
        .filter(|(name, _)| ADDRESS_ATTRIBUTES.contains(&name.rsplit(':').next().unwrap_or_default()))
        .filter(|(_, address)| !(is_inside(address) || is_link_to_follow && is_beside(address)))
        .map(|(name, address)| format!("{name}=\"{address}\""))
        .collect()
}

/// Names in lower case, and values without quotes.
fn attributes(tag: &str) -> Vec<(String, &str)> {
    let mut attributes = Vec::new();
    let mut rest = tag;
    while let Some((before, after)) = rest.split_once('=') {
        let name = before.rsplit(char::is_whitespace).find(|word| !word.is_empty()).unwrap_or_default();
        let after = after.trim_start();
        let (value, following) = match after.chars().next() {
            Some(quote @ ('"' | '\'')) => after[1..].split_once(quote).unwrap_or((&after[1..], "")),
            _ => after.split_once(char::is_whitespace).unwrap_or((after, "")),
        };
        attributes.push((name.to_ascii_lowercase(), value));
        rest = following;
    }
    attributes
}

/// Part of the page itself.
fn is_inside(address: &str) -> bool {
    address.is_empty() || address.starts_with('#') || address.starts_with("data:")
}

/// A file beside the page, which is only opened when someone follows the link.
fn is_beside(address: &str) -> bool {
    !address.contains(':') && !address.starts_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_holds_everything_asks_for_nothing() {
        let page = "<html><head><style>a { fill: url(#gradient) }</style></head><body>\
                    <a href=\"#raw\">raw</a> <a href='trials/0001/samples.ndjson'>samples</a>\
                    <img alt='a = b' src=\"data:image/png;base64,AA==\">\
                    <svg xmlns=\"http://www.w3.org/2000/svg\"><use xlink:href=\"#dot\"/></svg></body></html>";
        assert_eq!(requests(page), [""; 0]);
    }

    #[test]
    fn each_way_to_ask_is_found() {
        for page in [
            "<script src=\"https://a.example/b.js\">",
            "<img class=x\n SRC=b.png>",
            "<link rel=stylesheet href='//a.example/b.css'>",
            "<a href=\"https://a.example\">",
            "<style>@import 'b.css'</style>",
            "<p style=\"background: url('b.png')\">",
            "<script>fetch('/b')</script>",
            "<svg><image xlink:href=\"b.png\"/></svg>",
        ] {
            assert_eq!(requests(page).len(), 1, "{page}: {:?}", requests(page));
        }
    }
}
