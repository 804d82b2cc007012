//! CSV: what cyclewise-bench writes of records, and the rows of a fleet.

pub mod fleet;

pub use cyclewise_bench::export::csv::*;
pub use fleet::fleet;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::made_up::{added, cell, matrix_of, operation, record_of, surrounding};

    fn lines(text: &str) -> Vec<Vec<String>> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(text.as_bytes());
        let line = |l: std::result::Result<csv::StringRecord, _>| l.unwrap().iter().map(str::to_owned).collect();
        reader.records().map(line).collect()
    }

    #[test]
    fn the_first_columns_keep_their_names_and_each_line_has_them_all() {
        let all = lines(&record(&crate::answer::tests::record()).unwrap());
        assert_eq!(all[0][..3], ["experiment", "variant", "unit"]);
        assert_eq!(all[0][14..17], ["cycles_source", "headline_median", "headline_low"]);
        let popf = all.iter().find(|l| l[1] == "push-popf").unwrap();
        assert_eq!((popf[15].as_str(), popf[19].as_str()), ("13", "quiet"));
        assert!(all.iter().all(|l| l.len() == all[0].len()));
    }

    #[test]
    fn a_row_of_a_guest_says_who_ran_it_and_others_say_nothing() {
        let mut r = crate::answer::tests::record();
        let experiment = r.experiments.iter_mut().find(|e| e.variants.len() > 1).unwrap();
        experiment.variants[0].provenance = Some(crate::record::guest::Provenance::Svm);
        let all = lines(&record(&r).unwrap());
        let at = all[0].iter().position(|name| name == "provenance").unwrap();
        let said: Vec<&str> = all[1..].iter().map(|line| line[at].as_str()).collect();
        assert_eq!(said.iter().filter(|said| **said == "svm").count(), 1);
        assert_eq!(said.iter().filter(|said| said.is_empty()).count(), said.len() - 1);
    }

    #[test]
    fn a_cell_of_a_matrix_has_a_line_with_what_it_adds() {
        let mut cell = cell(added(0.5, 0.25), 0.0);
        (cell.added.n, cell.added.ci95[1]) = (2, None);
        cell.samples = vec![Some(2.5); 2];
        let mut surrounding = surrounding("loads-32");
        surrounding.samples = vec![Some(2.0); 2];
        let e = matrix_of(vec![surrounding], vec![operation("lock-inc64", [Some(cell)])]);
        let all = lines(&record(&record_of(vec![e])).unwrap());
        assert_eq!(all[1][..3], ["in-context", "lock-inc64/loads-32", "tick/op"]);
        assert_eq!(
            all[1][15..19],
            ["0.5", "0.25", "", "2"],
            "a bound that does not exist is empty"
        );
        assert_eq!(all[1][9..11], ["", ""], "the mean has no interval");
    }
}
