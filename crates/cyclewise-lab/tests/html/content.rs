//! The page as text: complete, self-contained, escaped, small.

use crate::fixtures;
use crate::visible::text;
use cyclewise_bench::record::made_up::sampled;
use cyclewise_lab::export::html::{render, render_comparison};
use cyclewise_lab::record::{Record, Unit, Verdict};

fn page(records: &[Record]) -> String {
    render(records, &fixtures::published).unwrap()
}

/// The page without its style.
fn body(page: &str) -> &str {
    page.split_once("<main>").unwrap().1
}

/// Vertices of lines drawn with markers, in each of the page's plots.
pub(crate) fn markers(page: &str) -> Vec<usize> {
    let plots = page.split("<svg class=\"plot").skip(1);
    let is_marker = |line: &&str| {
        ["#0600", "#0700", "#0800"]
            .iter()
            .any(|c| line.contains(&format!("stroke=\"{c}")))
    };
    plots
        .map(|plot| {
            let lines = plot.split("<polyline").filter(is_marker);
            lines
                .map(|line| {
                    let points = line.split_once("points=\"").unwrap().1;
                    points.split('"').next().unwrap().split_whitespace().count()
                })
                .sum()
        })
        .collect()
}

#[test]
fn a_record_reads_as_it_should() {
    insta::assert_snapshot!(text(&page(&[fixtures::small()])));
}

#[test]
fn times_between_cpus_are_a_map_and_few_of_them_are_strips_as_well() {
    let pairs = |n: u32| -> Vec<_> {
        (1..=n)
            .map(|b| sampled(&format!("socket-0-{b}"), vec![f64::from(40 + b); 3]))
            .collect()
    };
    let of = |n| {
        let mut e = fixtures::plain(Unit::NanosPerOp, pairs(n));
        e.name = "core-to-core".to_owned();
        page(&[fixtures::record_of(vec![e])])
    };
    let few = of(3);
    assert_eq!(few.matches("<figure>").count(), 2);
    assert_eq!(markers(&few), [0, 0, 9, 9], "a map for each page, then strips");
    assert!(few.contains("socket 42.0 ns (3 pairs)"), "{}", text(&few));
    let many = of(80);
    assert_eq!(markers(&many), [0, 0], "the map alone");
    assert_says!(many, "too many pairs for strips");
}

#[test]
fn a_comparison_reads_as_it_should() {
    let mut report = fixtures::comparison();
    report.experiments.truncate(1);
    report.experiments[0].rows.truncate(3);
    insta::assert_snapshot!(text(&render_comparison(&report).unwrap()));
}

#[test]
fn every_kept_sample_is_drawn_wide_and_narrow() {
    let record = fixtures::record(7, 300);
    let kept: Vec<usize> = record
        .experiments
        .iter()
        .flat_map(|e| [e.variants.iter().map(|v| v.samples.len()).sum(); 2])
        .collect();
    assert_eq!(markers(&page(&[record])), kept);

    let report = fixtures::comparison();
    let kept: Vec<usize> = report
        .experiments
        .iter()
        .flat_map(|e| {
            let both = e.rows.iter().map(|r| r.base_samples.len() + r.other_samples.len());
            [both.sum(); 2]
        })
        .collect();
    assert_eq!(markers(&render_comparison(&report).unwrap()), kept);
}

#[test]
fn far_samples_are_counted_in_the_caption() {
    let mut samples = vec![1.0; 300];
    samples.extend([70.0, 80.0]);
    let e = fixtures::plain(Unit::TicksPerOp, vec![sampled("v", samples)]);
    let page = page(&[fixtures::record_of(vec![e])]);
    assert_eq!(markers(&page), [302, 302]);
    assert_says!(text(&page), "2 lie beyond the axis, from 70.0 to 80.0 tick/op (2 v)");
}

#[test]
fn the_page_asks_for_nothing_from_elsewhere() {
    for page in [
        page(&[fixtures::record(1, 50)]),
        render_comparison(&fixtures::comparison()).unwrap(),
    ] {
        assert_says!(page, "default-src 'none'; style-src 'unsafe-inline'; img-src data:");
        for external in ["http:", "https:", "//", "src=", "@import", "<script", "<link", "url(\""] {
            assert!(!page.contains(external), "the page holds {external}");
        }
        assert!(page.split("url(").skip(1).all(|u| u.starts_with('#')));
        assert!(page.split("href=\"").skip(1).all(|u| u.starts_with('#')));
    }
}

#[test]
fn one_page_serves_light_dark_and_paper() {
    let page = page(&[fixtures::small()]);
    assert_says!(
        page,
        "--paper:",
        "@media screen and (prefers-color-scheme: dark)",
        "@media print",
        "var(--series-1)"
    );
}

#[test]
fn what_a_record_says_is_escaped() {
    const EVIL: &str = "<script>alert('x')</script>\"&";
    let mut r = fixtures::small();
    let e = &mut r.experiments[0];
    e.variants[0].name = EVIL.to_owned();
    e.comparisons[0].a = EVIL.to_owned();
    for text in [
        &mut e.name,
        &mut e.question,
        &mut e.source,
        &mut e.notes[0],
        &mut r.created,
    ] {
        *text = EVIL.to_owned();
    }
    for text in [
        &mut r.machine.cpu_model,
        &mut r.machine.kernel,
        r.machine.warnings[0].text_mut(),
        &mut r.command[0],
    ] {
        *text = EVIL.to_owned();
    }
    let one = page(&[r.clone()]);
    let mut report = fixtures::comparison();
    report.records[0].machine.cpu_model = EVIL.to_owned();
    report.experiments[0].rows[0].variant = EVIL.to_owned();
    for page in [one, page(&[r.clone(), r]), render_comparison(&report).unwrap()] {
        assert!(!page.contains("<script"), "unescaped");
        assert!(!page.contains("')</"), "unescaped");
        assert!(
            page.contains("&lt;script") && page.contains("&#60;script"),
            "neither writer was tried"
        );
    }
}

#[test]
fn several_records_have_an_index() {
    let page = page(&[fixtures::small(), fixtures::small()]);
    assert_says!(
        page,
        "<nav",
        "href=\"#r1\"",
        "href=\"#r2\"",
        "id=\"r1-e1\"",
        "id=\"r2-e1\""
    );
    assert_says!(text(&self::page(&[])), "No records were given.");
}

#[test]
fn odd_data_become_words() {
    let odd = [
        vec![],
        vec![f64::NAN],
        vec![0.0],
        vec![1.0, f64::INFINITY],
        vec![-1e300, 1e300],
        vec![5e-324],
    ];
    for unit in [Unit::TicksPerOp, Unit::OpsPerSecond] {
        for samples in &odd {
            let mut e = fixtures::plain(unit, vec![sampled("odd", samples.clone())]);
            e.control = None;
            let text = text(&page(&[fixtures::record_of(vec![e])]));
            assert!(!text.contains("NaN") && !text.contains("inf "), "{samples:?}: {text}");
            if samples.is_empty() {
                assert_says!(text, "no samples kept", "nothing to plot");
            }
        }
    }
    let nothing = fixtures::plain(Unit::Seconds, Vec::new());
    assert_says!(text(&page(&[fixtures::record_of(vec![nothing])])), "No comparisons.");
}

#[test]
fn a_verdict_is_more_than_a_colour() {
    let mut r = fixtures::small();
    for (verdict, sign) in [
        (Verdict::Faster, "▲"),
        (Verdict::Slower, "▼"),
        (Verdict::Same, "≈"),
        (Verdict::Undecided, "?"),
        (Verdict::None, "–"),
        (Verdict::Depends, "◆"),
    ] {
        r.experiments[0].comparisons[0].verdict = verdict;
        let text = text(&page(&[r.clone()]));
        assert!(text.contains(sign) && text.contains(verdict.in_words()), "{text}");
    }
}

/// A record as large as that of a whole run: 17 experiments, 220 rows, two states, a quarter of a million samples.
fn whole_run() -> Record {
    let mut r = fixtures::record(3, 1200);
    let mut large = r.experiments.swap_remove(0);
    for v in &mut large.variants {
        v.sample_states = v
            .samples
            .iter()
            .enumerate()
            .map(|(i, _)| if i % 3 == 0 { 'b' } else { 'q' })
            .collect();
    }
    large.comparisons.extend_from_within(..);
    r.experiments = vec![large; 17];
    r
}

#[test]
fn the_page_of_a_whole_run_is_at_most_a_megabyte_and_a_half() {
    let r = whole_run();
    let variants = || r.experiments.iter().flat_map(|e| &e.variants);
    assert!(variants().count() > 200 && variants().map(|v| v.n).sum::<usize>() > 250_000);
    let page = page(std::slice::from_ref(&r));
    assert!(page.len() <= 1_500_000, "{} bytes", page.len());
    // The twin: the samples alone, a dot each in both shapes, would take more.
    assert!(variants().map(|v| v.n).sum::<usize>() * 2 * 8 > 1_500_000);
    for drawn in markers(&page) {
        assert!(drawn > 13 * 40, "{drawn} dots hide the spread");
    }
    assert_says!(text(&page), "as many of its quantiles");
}

#[test]
fn a_page_begins_with_the_answer_and_ends_with_the_machine() {
    let text = text(&page(&[fixtures::small()]));
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("no {words}: {text}"));
    assert!(at("What this run says") < at("By experiment"));
    assert!(at("By experiment") < at("What each variant costs"));
    assert!(at("What each variant costs") < at("Published figures"));
    assert!(at("Published figures") < at("The machine and the run"));
    assert!(at("The machine and the run") < at("Clock source"));
}

#[test]
fn states_are_told_apart_by_colour_height_and_words() {
    let mut v = sampled("v", (0..60).map(|i| 5.0 + f64::from(i % 7) / 10.0).collect());
    let of = |v: &_| {
        page(&[fixtures::record_of(vec![fixtures::plain(
            Unit::TicksPerOp,
            vec![Clone::clone(v)],
        )])])
    };
    let one = of(&v);
    assert!(!one.contains("upper half: quiet rounds") && !body(&one).contains("stroke=\"#060002\""));
    v.sample_states = "qqb".repeat(20);
    let two = of(&v);
    assert_says!(two, "upper half: quiet rounds", "lower half: busy rounds");
    assert_says!(body(&two), "stroke=\"#060001\"", "stroke=\"#060002\"");
    assert_eq!(markers(&two), [60, 60]);
}

#[test]
fn one_outlier_does_not_hide_the_others() {
    let with = |outlier: f64| {
        let mut samples: Vec<f64> = (0..400).map(|i| 6.0 + f64::from(i % 20) / 20.0).collect();
        samples[7] = outlier;
        let e = fixtures::plain(Unit::TicksPerOp, vec![sampled("v", samples)]);
        page(&[fixtures::record_of(vec![e])])
    };
    let page = with(1e9);
    assert_says!(text(&page), "1 lies beyond the axis, at");
    // The dots of the others spread over more than a third of the plot: 960 pixels of 10 units.
    let spread = |page: &str| {
        let dots = body(page).split("stroke=\"#060001\"").nth(1).unwrap();
        let points = dots.split_once("points=\"").unwrap().1.split('"').next().unwrap();
        let x = points
            .split_whitespace()
            .map(|p| p.split(',').next().unwrap().parse::<f64>().unwrap());
        let (lo, hi) = x.fold((f64::MAX, f64::MIN), |(lo, hi), x| (lo.min(x), hi.max(x)));
        hi - lo
    };
    // As far as without the outlier, but for the lane that it takes.
    assert!(
        spread(&page) > 0.5 * spread(&with(6.5)),
        "{} of {}",
        spread(&page),
        spread(&with(6.5))
    );
}
