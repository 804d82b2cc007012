//! `cyclewise simulate fit`: makes a machine file from a record.

use super::cli::FitArgs;
use crate::from_record;
use cyclewise_bench::error::Result;
use cyclewise_bench::record;
use cyclewise_report::files::output;
use cyclewise_report::files::output::tell;
use std::path::Path;

pub(super) fn fit(args: &FitArgs) -> Result<()> {
    output::check_named(&[("--out", &args.out)], std::slice::from_ref(&args.from))?;
    let fitted = from_record::fit(&args.from.display().to_string(), &record::load(&args.from)?)?;
    let Some(path) = &args.out else {
        return output::put(Path::new("-"), &fitted.toml);
    };
    output::put(path, &fitted.toml)?;
    for line in &fitted.lines {
        tell(line);
    }
    tell(&format!("wrote {}", path.display()));
    Ok(())
}
