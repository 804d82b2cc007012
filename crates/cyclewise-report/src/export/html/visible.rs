//! What of a page a reader sees. Tests of several packages include this file by its path.
#![allow(dead_code, reason = "some need one of the functions only")]

/// The text of a page, one line per element.
pub(crate) fn text(page: &str) -> String {
    let body = joined(page.split_once("<body>").unwrap().1);
    let words = |piece: &str| {
        piece
            .split_once('>')
            .map_or(piece, |(_, words)| words)
            .trim()
            .to_owned()
    };
    let lines = body.split('<').map(words).filter(|words| !words.is_empty());
    lines.map(|words| words + "\n").collect()
}

/// The page without what says where its lines may end.
pub(crate) fn joined(page: &str) -> String {
    ["<wbr>", "<bdi>", "</bdi>"]
        .iter()
        .fold(page.to_owned(), |page, tag| page.replace(tag, ""))
}
