//! Code that is kept from one run of a program to the next.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use einlang_loops::schedule::Schedule;

use crate::bytecode::Compiled;

/// Code that is kept from one run of a program to the next. Its copies are one store, which belongs to
/// one program and one choice of options.
#[derive(Clone, Debug, Default)]
pub struct Kept(pub(crate) Option<Store>);

/// The code of modules by their names, or why there is none.
type Store = Arc<Mutex<HashMap<String, Result<Arc<Compiled>, String>>>>;

impl Kept {
    /// An empty store.
    pub fn new() -> Kept {
        Kept(Some(Store::default()))
    }

    /// Whether every module of a program has its code.
    pub fn has_all(&self, program: &einlang_tir::host::Program) -> bool {
        program.modules.iter().all(|module| self.get(&module.name).is_some())
    }

    /// The schedules that others could replace: those of machine code, by the names of the modules, but for
    /// modules that may keep segments of their trajectories.
    pub fn schedules(&self) -> Vec<Schedule> {
        self.schedules_of(Compiled::may_be_replaced)
    }

    /// The schedules of all code.
    pub fn used(&self) -> Vec<Schedule> {
        self.schedules_of(|_| true)
    }

    fn schedules_of(&self, wanted: impl Fn(&Compiled) -> bool) -> Vec<Schedule> {
        let Some(Ok(store)) = self.0.as_ref().map(|store| store.lock()) else { return Vec::new() };
        let made = store.values().filter_map(|made| made.as_ref().ok());
        let made = made.filter(|made| wanted(made));
        let mut found: Vec<Schedule> = made.map(|made| made.schedule().clone()).collect();
        found.sort_by(|one, other| one.module.cmp(&other.module));
        found
    }

    /// A store of its own with the same code, but for that of some modules.
    pub fn without(&self, modules: &[&str]) -> Kept {
        let Some(Ok(store)) = self.0.as_ref().map(|store| store.lock()) else { return Kept::new() };
        let mut others = store.clone();
        others.retain(|name, _| !modules.contains(&name.as_str()));
        Kept(Some(Arc::new(Mutex::new(others))))
    }

    pub(crate) fn get(&self, module: &str) -> Option<Result<Arc<Compiled>, String>> {
        self.0.as_ref()?.lock().ok()?.get(module).cloned()
    }

    pub(crate) fn put(&self, module: &str, made: &Result<Arc<Compiled>, String>) {
        if let Some(Ok(mut store)) = self.0.as_ref().map(|store| store.lock()) {
            store.insert(module.to_owned(), made.clone());
        }
    }
}

/// It is no part of what a run means, so all are equal.
impl PartialEq for Kept {
    fn eq(&self, _: &Kept) -> bool {
        true
    }
}
