//! Where a line may end in a name or an interval: a browser breaks it at every hyphen or dash, and nowhere else.
#![allow(
    missing_docs,
    reason = "for the pages of this workspace; what a name does not say is documented"
)]

/// Words of at most this many letters are not broken.
const SHORT_WORD: usize = 14;
/// Nor are those with a hyphen or a dash up to this many.
const SHORT_NAME: usize = 20;

/// A part of a text, after which a line may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'t> {
    pub text: &'t str,
    /// Whether no line may end in it, though it has a hyphen or a dash.
    pub is_whole: bool,
}

/// The text in pieces: long names of functions and files, which have no spaces, may be broken after `::`, `/`, `_`, `<`, `(` and `,`, and
/// before a capital after a small letter.
pub fn pieces<T: AsRef<str> + ?Sized>(text: &T) -> Vec<Piece<'_>> {
    let text = text.as_ref();
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut cut = |to: usize, is_whole: bool| {
        if start < to {
            pieces.push(Piece {
                text: &text[start..to],
                is_whole,
            });
        }
        start = to;
    };
    let mut at = 0;
    for word in text.split_inclusive(' ') {
        let name = word.trim_end_matches(' ');
        let letters = name.chars().count();
        if letters <= SHORT_NAME && name.contains(['-', '–']) {
            cut(at, false);
            cut(at + name.len(), true);
        } else if letters > SHORT_WORD {
            ends(name).for_each(|end| cut(at + end, false));
        }
        at += word.len();
    }
    cut(text.len(), false);
    pieces
}

/// Where a long name may be broken.
fn ends(name: &str) -> impl Iterator<Item = usize> {
    let pairs = name.char_indices().zip(name.chars().skip(1));
    pairs.filter_map(move |((i, c), next)| {
        let may_end = match c {
            ':' => next != ':' && name[..i].ends_with(':'),
            '/' | '_' | '<' | '(' | ',' => next != c,
            _ => c.is_lowercase() && next.is_uppercase(),
        };
        may_end.then_some(i + c.len_utf8())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        pieces(text).into_iter().map(|piece| piece.text).collect()
    }

    #[test]
    fn long_names_end_lines_where_their_words_do() {
        assert_eq!(
            texts("./nptl/pthread_rwlock_common.c:254"),
            ["./", "nptl/", "pthread_", "rwlock_", "common.c:254"]
        );
        assert_eq!(
            texts("v8::internal::HeapMap<A>"),
            ["v8::", "internal::", "Heap", "Map<", "A>"]
        );
        assert_eq!(texts("a_b of c/d"), ["a_b of c/d"]);
        assert_eq!(
            texts("in a_function_with_a_name, once").concat(),
            "in a_function_with_a_name, once"
        );
        assert!(texts("").is_empty());
    }

    #[test]
    fn short_names_with_hyphens_stay_on_their_line() {
        let of = |text: &'static str| -> Vec<(&str, bool)> {
            let pieces = pieces(text).into_iter();
            pieces.map(|p| (p.text, p.is_whole)).collect()
        };
        assert_eq!(of("rseq-add-64"), [("rseq-add-64", true)]);
        assert_eq!(
            of("beside lock-add-64 of percpu"),
            [("beside ", false), ("lock-add-64", true), (" of percpu", false)]
        );
        assert_eq!(of("0.9837–0.9960"), [("0.9837–0.9960", true)]);
        // The twin: without a hyphen nothing holds it together, and a long one is left to the browser.
        assert_eq!(of("beside"), [("beside", false)]);
        assert_eq!(
            of("a-name-of-many-words-in-it"),
            [("a-name-of-many-words-in-it", false)]
        );
    }
}
