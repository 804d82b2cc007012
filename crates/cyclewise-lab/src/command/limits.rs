//! `cyclewise limits`: each primitive against its lower bound and best competitor, per machine.

use super::cli::LimitsArgs;
use crate::error::{Error, Result};
use crate::{export, limits, record};
use cyclewise_report::files::output::{self, tell};
use std::path::Path;

pub(super) fn limits(args: &LimitsArgs) -> Result<()> {
    output::check_named(&[("--into", &args.into)], &args.records)?;
    let records = args
        .records
        .iter()
        .map(|path| record::load(path))
        .collect::<Result<Vec<_>>>()?;
    let limits = limits::on_machines(records);
    let note = || {
        for made in &limits.without {
            tell(&format!("note: the record of {made} has no variant of a primitive"));
        }
    };
    let Some(page) = &args.into else {
        note();
        let text = match args.markdown {
            true => export::markdown::limits(&limits),
            false => export::table::limits(&limits, output::look(args.wide)),
        };
        return output::put(Path::new("-"), &text);
    };
    let refused = |why: &str| Error::usage(format!("--into {}: {why}", page.display()));
    if limits.machines.is_empty() {
        return Err(refused(
            "no record here has a variant of a primitive, so its tables would be empty; name a record that `cyclewise run` wrote",
        ));
    }
    if page.exists() && !page.is_file() {
        return Err(refused("it is no regular file; name a page that exists"));
    }
    let old = std::fs::read_to_string(page).map_err(|e| refused(&format!("{e}; name a page that exists")))?;
    let new = export::markdown::with_limits(&old, &export::markdown::limits(&limits)).ok_or_else(|| {
        refused("it lacks one line `<!-- cyclewise limits: begin -->` and after it one `<!-- cyclewise limits: end -->`; add them where the tables go")
    })?;
    note();
    output::put(page, &new)?;
    tell(&format!("wrote {}", page.display()));
    Ok(())
}
