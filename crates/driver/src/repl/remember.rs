//! A world in which files stay what they were when they were read first, so that the modules of a
//! session do not change under the values that it has.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use einlang_source::{World, WorldError};

pub(super) struct Remember<'w> {
    world: &'w dyn World,
    read: RefCell<HashMap<PathBuf, Vec<u8>>>,
}

impl<'w> Remember<'w> {
    pub(super) fn new(world: &'w dyn World) -> Remember<'w> {
        Remember { world, read: RefCell::default() }
    }

    pub(super) fn forget(&self) {
        self.read.borrow_mut().clear();
    }
}

impl World for Remember<'_> {
    fn read(&self, path: &Path) -> Result<Vec<u8>, WorldError> {
        if let Some(bytes) = self.read.borrow().get(path) {
            return Ok(bytes.clone());
        }
        let bytes = self.world.read(path)?;
        self.read.borrow_mut().insert(path.to_owned(), bytes.clone());
        Ok(bytes)
    }

    fn exists(&self, path: &Path) -> bool {
        self.read.borrow().contains_key(path) || self.world.exists(path)
    }

    fn write_atomic(&self, path: &Path, bytes: &[u8]) -> Result<(), WorldError> {
        self.world.write_atomic(path, bytes)
    }

    fn list(&self, directory: &Path) -> Vec<String> {
        self.world.list(directory)
    }
}
