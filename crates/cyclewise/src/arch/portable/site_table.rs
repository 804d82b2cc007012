//! The twin where no LOCK prefix is a site: the table is empty.

/// Whether there are LOCK prefixes to patch.
pub(crate) const HAS_SITES: bool = false;

/// The records of this link unit: none.
pub(crate) fn records() -> &'static [Record] {
    &[]
}

/// One entry of the table; here there is none.
pub(crate) enum Record {}

impl Record {
    /// The address of the prefix.
    pub(crate) fn site(&self) -> Option<*mut u8> {
        match *self {}
    }
}
