//! The report's page: what it holds, what it must not hold, and that odd data do not stop it.

mod fixtures;
#[test]
fn write_out() {
    let r = fixtures::record(7, 500);
    std::fs::write(
        "/tmp/wt/run.html",
        cyclewise_lab::export::html::render(&[r], &fixtures::published).unwrap(),
    )
    .unwrap();
    std::fs::write(
        "/tmp/wt/cmp.html",
        cyclewise_lab::export::html::render_comparison(&fixtures::comparison()).unwrap(),
    )
    .unwrap();
}
