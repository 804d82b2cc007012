//! The page as a browser renders it on a desktop, a tablet and a phone, and pages broken on purpose, which the same check must
//! catch.

mod chromium;

use crate::fixtures;
use chromium::{Chromium, Picture};
use cyclewise_lab::export::html::{render, render_comparison};

const PHONE: u32 = 360;
const TABLET: u32 = 768;
const DESKTOP: u32 = 1200;

/// Says how `page` fails a reader at this width, if it does: `samples` is how many dots its plots must hold.
fn check(chromium: &Chromium, page: &str, width: u32, samples: usize) -> Result<(), String> {
    let layout = chromium.lay_out(page, width);
    if layout.scroll_width > width {
        return Err(format!("the page is {} wide at {width}", layout.scroll_width));
    }
    let drawn: usize = layout.plots.iter().map(|p| p.markers).sum();
    if drawn != samples {
        return Err(format!("{drawn} of {samples} samples are drawn at {width}"));
    }
    let picture = chromium.picture(page, width, layout.height);
    for (i, plot) in layout.plots.iter().enumerate() {
        if plot.width < 200.0 || plot.height < 40.0 {
            return Err(format!("plot {i} is {} by {}", plot.width, plot.height));
        }
        if plot.width < 0.8 * f64::from(width) {
            return Err(format!("plot {i} takes {} of the page's {width}", plot.width));
        }
        let painted = dots(&picture, plot);
        if painted < 20 {
            return Err(format!("plot {i} shows {painted} pixels of dots"));
        }
    }
    Ok(())
}

/// Pixels of the plot in a dot's colour; nothing else in a plot is coloured.
fn dots(picture: &Picture, plot: &chromium::Plot) -> usize {
    let (left, top) = (plot.x as u32, plot.y as u32);
    let (right, bottom) = ((plot.x + plot.width) as u32, (plot.y + plot.height) as u32);
    let inside = (top..bottom).flat_map(|y| (left..right).map(move |x| (x, y)));
    inside
        .filter(|&(x, y)| {
            let rgb = picture.pixel(x, y);
            rgb.iter().max().unwrap() - rgb.iter().min().unwrap() > 60
        })
        .count()
}

fn page() -> (String, usize) {
    let mut record = fixtures::record(7, 60);
    record.experiments.swap_remove(1);
    let samples = record.experiments.iter().flat_map(|e| &e.variants).map(|v| v.n).sum();
    (render(&[record], &fixtures::published).unwrap(), samples)
}

#[test]
fn a_browser_shows_every_dot_on_a_desktop_a_tablet_and_a_phone() {
    let Some(chromium) = Chromium::find() else { return };
    let (page, samples) = page();
    for width in [DESKTOP, TABLET, PHONE] {
        check(&chromium, &page, width, samples).unwrap();
    }
}

#[test]
fn a_browser_shows_a_comparison_on_a_phone() {
    let Some(chromium) = Chromium::find() else { return };
    let mut report = fixtures::comparison();
    report.experiments.remove(0);
    let rows = report.experiments.iter().flat_map(|e| &e.rows);
    let samples = rows.map(|r| r.base_samples.len() + r.other_samples.len()).sum();
    check(&chromium, &render_comparison(&report).unwrap(), PHONE, samples).unwrap();
}

#[test]
fn broken_pages_are_caught() {
    let Some(chromium) = Chromium::find() else { return };
    let (page, samples) = page();
    let caught = |page: &str, says: &str| {
        let error = check(&chromium, page, PHONE, samples).unwrap_err();
        assert!(error.contains(says), "{error}");
    };
    caught(&emptied(&page), "samples are drawn");
    caught(
        &page.replace("--dot-opacity: 0.42", "--dot-opacity: 0"),
        "pixels of dots",
    );
    caught(
        &page.replace("max-width: 36rem", "max-width: 15rem"),
        "of the page's 360",
    );
    caught(
        &page.replace("<main>", "<main><div style=\"width:50rem\">wide</div>"),
        "wide at 360",
    );
}

/// The page with the samples removed from its plots.
fn emptied(page: &str) -> String {
    let mut pieces = page.split("<polyline");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        out.push_str(piece.split_once("/>").unwrap().1);
    }
    out
}
