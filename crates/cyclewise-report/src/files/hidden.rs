//! Command lines without the names of files, for records that say nothing of who measured.

/// Stands for a path of the command line.
const HIDDEN: &str = "FILE";

/// The command line with the value of each of the `options` replaced; those behind `--` are a program's.
pub fn without_paths(command: &[String], options: &[String]) -> Vec<String> {
    let mut words = command.iter().cloned();
    let mut out = Vec::new();
    while let Some(word) = words.next() {
        if word == "--" {
            out.push(word);
            out.extend(words.by_ref());
        } else if options.contains(&word) {
            out.push(word);
            out.extend(words.next().map(|_| HIDDEN.to_owned()));
        } else {
            let assigned = word
                .split_once('=')
                .filter(|(option, _)| options.iter().any(|o| o == option));
            out.push(assigned.map_or(word.clone(), |(option, _)| format!("{option}={HIDDEN}")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is_hidden(line: &str, expected: &str) {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let options = ["--json", "--html", "--csv", "--anonymous"].map(str::to_owned);
        assert_eq!(without_paths(&words, &options).join(" "), expected);
    }

    #[test]
    fn paths_of_options_are_left_out_and_nothing_else() {
        is_hidden(
            "run popf --json /users/alice/n17.json --html=x.html --seed 7 --anonymous key --threads=1,2",
            "run popf --json FILE --html=FILE --seed 7 --anonymous FILE --threads=1,2",
        );
        is_hidden("time --csv a -n 2 make", "time --csv FILE -n 2 make");
        is_hidden("time -- --json x", "time -- --json x");
        is_hidden("run --json", "run --json");
        assert_eq!(without_paths(&[], &[]), Vec::<String>::new());
    }
}
