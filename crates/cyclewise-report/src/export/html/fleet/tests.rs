//! The page: what it says, what it must not hold, and its size.

use crate::export::html::{render_fleet, visible};
use crate::fleet::made_up::outputs;
use crate::record::fleet_report::FleetReport;

fn page(report: &FleetReport) -> String {
    visible::joined(&render_fleet(report).unwrap())
}

#[test]
fn it_has_every_part_of_the_report() {
    let page = page(&outputs::report(60));
    assert_says!(
        page,
        "60 machines in 3 groups",
        "steal 11 %",
        "other rows within 1 %",
        "0xa0011d5",
        "spinlock-contention",
        "Runs of a machine",
        "Linux 4.14 has none",
        "node-00009: percpu sums-are-exact: 3 of 9 000 000",
        "ends too early",
        "in-context has a matrix"
    );
    // A row that is no headline is in the CSV only; the outlier's evidence may name it.
    assert_lacks!(page, "<h2>lock-add32</h2>");
    // The twin: without an outlier, nothing says that there is one.
    let mut well = outputs::report(60);
    well.outliers.clear();
    well.unlike.clear();
    let well = self::page(&well);
    assert_says!(well, "No outlier in 236 tests");
    assert_lacks!(well, "steal 11 %");
}

#[test]
fn sentences_have_wide_columns_and_numbers_one_line() {
    let page = render_fleet(&outputs::report(60)).unwrap();
    let (before, _) = page.split_once("ends too early").unwrap();
    assert!(before.ends_with("<td class=\"words long\">") && page.contains("\ntd.words.long"));
    let numbers = page.split("<td class=\"number\">").skip(1);
    let mut numbers = numbers.filter_map(|cell| cell.split(['<', '>']).next());
    assert!(numbers.any(|number| number.contains('–')), "an interval is whole");
    // The twin: a short text.
    let (before, _) = page.split_once("torn</td>").unwrap();
    assert!(before.ends_with("<td class=\"words\">"));
}

#[test]
fn it_loads_nothing_and_text_from_records_is_escaped() {
    let mut report = outputs::report(60);
    let evil = "<script>alert(1)</script>".to_owned();
    report.groups[0].label.clone_from(&evil);
    report.groups[0].facts[1].1.clone_from(&evil);
    report.machines[3].name.clone_from(&evil);
    report.unlike[0].sentence.clone_from(&evil);
    report.rows[0].variant.clone_from(&evil);
    report.problems[0].why.clone_from(&evil);
    let page = page(&report);
    assert_lacks!(page, "<script");
    assert!(
        page.contains("&#60;script") || page.contains("&lt;script"),
        "what was there is still said"
    );
    for loads in ["http:", "https:", "src=", "@import", "url(//"] {
        assert!(!page.contains(loads), "{loads}");
    }
}

/// As much as a browser shows at once.
const MOST_BYTES: usize = 3_000_000;

#[test]
fn the_page_of_a_large_fleet_with_everything_in_it_is_bounded() {
    let mut report = outputs::report(400);
    let of_last = report.rows[0].groups[1].clone();
    for i in 3..300 {
        let mut group = report.groups[1].clone();
        group.facts[2].1 = "x".repeat(2000);
        group.name = crate::record::letters(i);
        report.groups.push(group);
        for row in &mut report.rows {
            let mut spread = of_last.clone();
            spread.group = i;
            spread.bins = (0..64).map(|bin| (bin * 7919 + i as u32) % 1000).collect();
            row.groups.push(spread);
        }
    }
    report.rows = std::iter::repeat_with(|| report.rows[0].clone()).take(25).collect();
    report.outliers = vec![report.outliers[0].clone(); 5000];
    report.unlike = vec![report.unlike[0].clone(); 5000];
    report.problems = vec![report.problems[0].clone(); 20_000];
    report.pairs = vec![report.pairs[0].clone(); 5000];
    let large = render_fleet(&report).unwrap();
    assert!(large.len() < MOST_BYTES, "{}", large.len());
    let large = visible::joined(&large);
    assert_says!(
        large,
        "The first 300 are listed",
        "The first 200 are listed",
        "284 smaller groups are not drawn"
    );
}

#[test]
fn one_machine_and_none_have_a_page() {
    let mut one = outputs::report(60);
    one.machines.truncate(1);
    one.groups.truncate(1);
    one.outliers.clear();
    one.unlike.clear();
    one.pairs.clear();
    for row in &mut one.rows {
        row.groups.truncate(1);
        row.values.truncate(1);
        row.components = None;
        row.groups[0].quantiles = [f64::NAN; 4];
        row.range = [row.groups[0].median; 2];
    }
    for report in [one, FleetReport::default()] {
        let page = page(&report);
        assert_lacks!(page, "NaN");
    }
}
