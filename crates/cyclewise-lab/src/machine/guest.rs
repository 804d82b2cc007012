//! Who runs a guest of ring 0 on this machine: a CPU in guest mode or an emulator, by several witnesses.

use crate::error::{Error, Result};
use crate::record::Guest;

/// What the package of the guest says, as the command says it.
#[cfg(ring0)]
pub(crate) fn error(error: cyclewise_guest::error::Error) -> Error {
    use cyclewise_guest::error::ErrorKind;
    match error.kind {
        ErrorKind::Usage => Error::usage(error.message),
        ErrorKind::Unsupported => Error::unsupported(error.message),
        ErrorKind::Failed | ErrorKind::Interrupted => Error::check(error.message),
    }
    .in_one_line()
}

/// Runs a guest to find out; what it says of rows and cases is left empty.
///
/// # Errors
/// Where no guest runs: what is missing, and how to get it.
#[cfg(ring0)]
pub(crate) fn examine() -> Result<Guest> {
    use cyclewise_guest::provenance::Provenance;
    use cyclewise_guest::vm::Kvm;
    /// An emulator needs milliseconds.
    const LIMIT: std::time::Duration = std::time::Duration::from_secs(2);
    let mut kvm = Kvm::new(LIMIT).map_err(error)?;
    let provenance = Provenance::of_kvm(&mut kvm).map_err(error)?;
    Ok(of_provenance(&provenance))
}

/// There is no guest.
#[cfg(not(ring0))]
pub(crate) fn examine() -> Result<Guest> {
    Err(missing())
}

/// Why there is no guest.
#[cfg(not(ring0))]
pub(crate) fn missing() -> Error {
    Error::unsupported(match cfg!(target_arch = "x86_64") {
        true => "this program was built without the guest of ring 0; build it with the feature ring0",
        false => "the guest of ring 0 is written for x86-64",
    })
}

/// A verdict and its witnesses, in the record's words.
#[cfg(ring0)]
pub(crate) fn of_provenance(provenance: &cyclewise_guest::provenance::Provenance) -> Guest {
    use crate::record::guest::{self, Witness};
    use cyclewise_guest::provenance::Says;
    let witnesses = provenance.witnesses.iter().map(|w| Witness {
        name: w.name.to_string(),
        found: w.found.clone(),
        says: match w.says {
            Says::Hardware => guest::Says::Hardware,
            Says::Nested => guest::Says::Nested,
            Says::Emulated => guest::Says::Emulated,
            Says::Nothing => guest::Says::Nothing,
        },
    });
    Guest {
        provenance: provenance.kind.as_str().to_string().into(),
        hardware: provenance.kind.is_hardware(),
        witnesses: witnesses.collect(),
        ..Guest::default()
    }
}
