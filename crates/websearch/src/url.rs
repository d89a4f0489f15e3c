//! Web addresses, made alike.

/// A form of `url` that is the same for addresses of the same page.
///
/// In this order it drops `http://` or `https://` (in lower case alone), one leading `www.`, the
/// slashes at the end, each parameter `utm_*`, `ref`, `source`, `fbclid` and `gclid` with the `?` or
/// `&` before it, and one `?` at the end. A dropped parameter reaches to the next `&`, so a fragment
/// behind it goes too. What follows the first of several parameters keeps its `&`.
///
/// It is a key to compare by and no address to open. Takes any text.
///
/// ```
/// use shelfward_websearch::normalize_url;
///
/// assert_eq!(normalize_url("https://www.example.com/a/?utm_source=x"), "example.com/a/");
/// assert_eq!(normalize_url("http://example.com/a?ref=tw&id=1"), "example.com/a&id=1");
/// ```
#[must_use]
pub fn normalize_url(url: &str) -> String {
    let schemes = ["https://", "http://"];
    let scheme = schemes.iter().find_map(|scheme| url.strip_prefix(scheme));
    let rest = scheme.unwrap_or(url);
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    let kept = without_tracking(rest.trim_end_matches('/'));
    match kept.strip_suffix('?') {
        Some(kept) => kept.to_owned(),
        None => kept,
    }
}

fn without_tracking(url: &str) -> String {
    let mut kept = String::with_capacity(url.len());
    let mut rest = url;
    while let Some(at) = rest.find(['?', '&']) {
        let (before, from_mark) = rest.split_at(at);
        kept.push_str(before);
        let (mark, parameter) = from_mark.split_at(1);
        if is_tracking(parameter) {
            let end = parameter.find('&').unwrap_or(parameter.len());
            rest = parameter.get(end..).unwrap_or_default();
        } else {
            kept.push_str(mark);
            rest = parameter;
        }
    }
    kept.push_str(rest);
    kept
}

/// Whether a parameter, with whatever follows it, tells only where a visitor came from.
fn is_tracking(parameter: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = parameter.find(|c| !word(c)).unwrap_or(parameter.len());
    let (name, after) = parameter.split_at(end);
    let campaign = name
        .strip_prefix("utm_")
        .is_some_and(|rest| !rest.is_empty());
    let known = matches!(name, "ref" | "source" | "fbclid" | "gclid");
    after.starts_with('=') && (campaign || known)
}
