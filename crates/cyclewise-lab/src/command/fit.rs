//! `cyclewise simulate fit`: makes a machine file from a record.

use super::cli::FitArgs;
use super::progress::tell;
use crate::error::Result;
use crate::record;
use crate::simulate::fit;
use cyclewise_report::files::output;
use std::path::Path;

pub(super) fn fit(args: &FitArgs) -> Result<()> {
    output::check_named(&[("--out", &args.out)], std::slice::from_ref(&args.from))?;
    let fitted = fit::fit(&args.from.display().to_string(), &record::load(&args.from)?)?;
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
