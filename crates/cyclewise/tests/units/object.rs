//! A shared object made from `unit.c`.

use crate::common::{cc, dl};
use cyclewise::patch::units::{Key, Unit};
use std::ffi::{CString, c_int, c_long, c_void};
use std::path::Path;

/// An object that is loaded until it is closed.
pub(crate) struct Object {
    handle: *mut c_void,
    name: &'static str,
}

// SAFETY: any thread may use the handle, and the object's functions.
unsafe impl Sync for Object {}
// SAFETY: as above.
unsafe impl Send for Object {}

/// Compiles one, whose functions' names begin with `name`, with some of the source's macros.
pub(crate) fn compile(name: &str, options: &[&str]) -> std::path::PathBuf {
    let name_option = format!("-DNAME={name}");
    let options: Vec<_> = [name_option.as_str()]
        .into_iter()
        .chain(options.iter().copied())
        .collect();
    cc::shared_object("tests/units/unit.c", name, &options)
}

/// Loads an object that exports `cw_unit_register`: constructors of units call it from now on.
pub(crate) fn register_by_constructor() {
    extern "C" fn register(unit: *const Unit) -> c_int {
        // SAFETY: a constructor passes its unit's descriptor.
        match unsafe { cyclewise::patch::units::register(unit) } {
            Ok(elided) => c_int::from(elided),
            Err(_) => -1,
        }
    }
    type Registrar = extern "C" fn(*const Unit) -> c_int;
    let path = cc::shared_object("tests/units/registrar.c", "registrar", &[]);
    let object = dl::open(&path, libc::RTLD_GLOBAL);
    assert!(!object.is_null(), "{path:?} cannot be loaded");
    let registrar = dl::symbol(object, c"registrar").cast::<Registrar>();
    // SAFETY: the object's variable, of this type.
    unsafe { registrar.write(register) };
}

impl Object {
    pub(crate) fn load_apart(path: &Path, name: &'static str) -> Option<Self> {
        let handle = dl::open_apart(path);
        (!handle.is_null()).then_some(Self { handle, name })
    }

    /// Loads one whose functions' names begin with `name`; `None` where the dynamic linker refuses.
    pub(crate) fn try_load(path: &Path, name: &'static str, flags: c_int) -> Option<Self> {
        let handle = dl::open(path, flags);
        (!handle.is_null()).then_some(Self { handle, name })
    }

    pub(crate) fn load(path: &Path, name: &'static str, flags: c_int) -> Self {
        Self::try_load(path, name, flags).unwrap_or_else(|| panic!("{path:?} cannot be loaded"))
    }

    pub(crate) fn address(&self, function: &str) -> *mut c_void {
        let name = CString::new(format!("{}_{function}", self.name)).unwrap();
        dl::symbol(self.handle, &name)
    }

    fn get<T>(&self, function: &str) -> T {
        // SAFETY: the function takes nothing and returns the caller's type.
        let function = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> T>(self.address(function)) };
        function()
    }

    pub(crate) fn sites(&self) -> usize {
        self.get("sites")
    }

    pub(crate) fn having(&self, byte: u8) -> usize {
        // SAFETY: the function's type in `unit.c`.
        let having =
            unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(c_int) -> usize>(self.address("having")) };
        having(c_int::from(byte))
    }

    pub(crate) fn is_locked(&self) -> bool {
        self.having(0xf0) == self.sites()
    }

    pub(crate) fn is_elided(&self) -> bool {
        self.having(0x3e) == self.sites()
    }

    pub(crate) fn has_any(&self, byte: u8) -> bool {
        self.having(byte) > 0
    }

    /// Adds to a word by its site.
    pub(crate) fn load_word(&self, word: *mut c_long, times: c_long) {
        // SAFETY: the function's type in `unit.c`.
        let load =
            unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(*mut c_long, c_long)>(self.address("load")) };
        load(word, times);
    }

    /// Adds to a word by a site of its own and one of the object that it needs.
    pub(crate) fn both(&self, word: *mut c_long) {
        // SAFETY: the function's type in `unit.c`.
        let both = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(*mut c_long)>(self.address("both")) };
        both(word);
    }

    /// What its last destructor calls, with whether all its sites have LOCK.
    pub(crate) fn say_last(&self, last: extern "C" fn(c_int)) {
        let place = self.address("last").cast::<extern "C" fn(c_int)>();
        // SAFETY: the object's variable, of this type.
        unsafe { place.write(last) };
    }

    /// Does what its destructor does.
    pub(crate) fn end(&self) {
        self.get("end")
    }

    pub(crate) fn each_site(&self, mut visit: impl FnMut(usize)) {
        let site = self.address("site");
        // SAFETY: the function's type in `unit.c`.
        let site = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn(usize) -> usize>(site) };
        (0..self.sites()).for_each(|number| visit(site(number)));
    }

    pub(crate) fn descriptor(&self) -> *const Unit {
        self.get("descriptor")
    }

    pub(crate) fn key(&self) -> *const Key {
        self.get("key")
    }

    pub(crate) fn set_key(&self, on: bool) -> Result<(), cyclewise::error::Refusal> {
        // SAFETY: descriptor and key of one object, which stays loaded.
        unsafe { cyclewise::patch::units::key_set(self.descriptor(), self.key(), on) }
    }

    /// What its key's test says.
    pub(crate) fn is_on(&self) -> bool {
        self.get::<c_int>("is_on") != 0
    }

    /// Closes it. The caller uses nothing of it after this.
    pub(crate) fn close(&self) {
        // SAFETY: the caller's promise.
        assert_eq!(unsafe { libc::dlclose(self.handle) }, 0);
    }
}
