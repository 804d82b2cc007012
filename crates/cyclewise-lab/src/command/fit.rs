//! `cyclewise simulate fit`: a machine file from a record of this machine, or of any.

use super::cli::FitArgs;
use super::output;
use crate::error::Result;
use crate::record;
use crate::simulate::fit;
use std::path::Path;

pub(super) fn fit(args: &FitArgs) -> Result<()> {
    if let Some(path) = &args.out {
        output::writable("--out", path)?;
    }
    let fitted = fit::fit(&args.from.display().to_string(), &record::load(&args.from)?)?;
    let Some(path) = &args.out else {
        return output::put(Path::new("-"), &fitted.toml);
    };
    output::put(path, &fitted.toml)?;
    for (row, measured, simulated) in &fitted.rows {
        anstream::eprintln!("{row}: measured {measured:.2} ns/op, simulated {simulated:.2}");
    }
    anstream::eprintln!("wrote {}", path.display());
    Ok(())
}
