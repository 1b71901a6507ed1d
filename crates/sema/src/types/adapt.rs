//! Literals given to parameters whose type is not written: they take the type of what they meet in
//! the function, so that `clamp(x, 0.0, 1.0)` limits an `x` of any float type.
//!
//! The function is typed once with its literals open, which tells what becomes of them and of the
//! result, the *scheme* of the call. Everything that was made for that is forgotten; the call then
//! goes on with decided types, those that nothing decided by default. While a scheme is being found,
//! the calls inside the function are known by their schemes as well, because nothing is decided yet.
//!
//! Invariant: a scheme mentions no instance and no lambda that was made to find it.

use super::Checker;
use super::annotations::Env;
use super::instances::{InstanceId, Key};
use super::ty::{FnTy, Ty};
use super::vars::{Frozen, Kind};

/// The call that a scheme is about: its key with units for the arguments that are given, and those
/// as they are before anything is decided.
type Call = (Key, Frozen);

/// What is known of functions whose literals are open.
pub(super) type Schemes = einlang_source::map::HashMap<Call, Known>;

/// What is known of a call.
pub(super) struct Known {
    /// The scheme; none while it is being found.
    scheme: Option<Frozen>,
    /// What the call itself mentions.
    mentions: Made,
}

/// So many of the first instances and lambdas.
#[derive(Clone, Copy)]
struct Made {
    n_instances: usize,
    n_closures: usize,
}

impl Made {
    fn holds(self, other: Made) -> bool {
        other.n_instances <= self.n_instances && other.n_closures <= self.n_closures
    }

    /// What a type mentions.
    fn of(ty: &Ty) -> Made {
        let mut found = Made { n_instances: 0, n_closures: 0 };
        ty.map(&mut |part| {
            match part {
                Ty::Fn(FnTy::Def(_, Some(parent))) => found.instance(*parent),
                Ty::Fn(FnTy::Closure(id)) => {
                    found.n_closures = found.n_closures.max(id.index() + 1);
                }
                _ => {}
            }
            None
        });
        found
    }

    fn instance(&mut self, id: InstanceId) {
        self.n_instances = self.n_instances.max(id.index() + 1);
    }
}

impl Checker<'_> {
    /// Decides the literals in the arguments of a call, as far as the function decides them. Gives
    /// the result of the call where that is all that can be known yet.
    pub(super) fn adapt_literals(&mut self, key: &Key, env: &Env) -> Option<Ty> {
        let given: Vec<Ty> = key.args.iter().flatten().cloned().collect();
        let is_open = |ty: &Ty| matches!(ty, Ty::Var(var) if self.vars.kind(*var) != Kind::Any);
        let open = given.iter().any(|ty| ty.any(&is_open));
        if !open || given.iter().any(|ty| ty.any(&Ty::is_silent)) {
            return None;
        }
        let Some((decided, ret)) = self.scheme(key, env, &given) else {
            return self.adapting.then_some(Ty::Unknown);
        };
        for (open, found) in self.vars.free_in(&given).into_iter().zip(&decided) {
            self.unify(&Ty::Var(open), found);
        }
        self.adapting.then_some(ret)
    }

    /// What becomes of each undecided type in the arguments of a call, in order, and the type of the
    /// result, in new variables. None inside the call itself, and where there is no room to find it.
    fn scheme(&mut self, key: &Key, env: &Env, given: &[Ty]) -> Option<(Vec<Ty>, Ty)> {
        let places = key.args.iter().map(|given| given.as_ref().map(|_| Ty::unit())).collect();
        let call = (Key { args: places, ..key.clone() }, self.vars.freeze_alike(given));
        let known = match self.schemes.get(&call) {
            Some(known) => known.scheme.clone()?,
            None => {
                let mut mentions = Made::of(call.1.ty());
                key.parent.into_iter().for_each(|parent| mentions.instance(parent));
                self.schemes.insert(call.clone(), Known { scheme: None, mentions });
                let found = self.find_scheme(key, env)?;
                self.schemes.insert(call, Known { scheme: Some(found.clone()), mentions });
                found
            }
        };
        let Ty::Tuple(mut types) = self.vars.thaw(&known) else { return None };
        let ret = types.pop()?;
        Some((types, ret))
    }

    /// Types a function with the literals of its arguments open.
    fn find_scheme(&mut self, key: &Key, env: &Env) -> Option<Frozen> {
        let before = Made { n_instances: self.instances.len(), n_closures: self.closures.len() };
        let (key, env) = self.with_new_variables(key, env);
        let args: Vec<Ty> = key.args.iter().flatten().cloned().collect();
        let open = self.vars.free_in(&args).into_iter().map(Ty::Var);
        let id = self.instance(key, env)?;
        let found = (!self.is_too_deep(id)).then(|| {
            self.at(id).adapting = true;
            self.type_instance(id);
            let ret = self.at(id).ret.clone();
            let types = open.chain([ret]).map(|ty| match self.vars.deep(&ty) {
                ty if before.holds(Made::of(&ty)) => ty,
                _ => Ty::Error,
            });
            let types = Ty::Tuple(types.collect());
            self.vars.freeze(&types)
        });
        self.forget_all_since(before);
        found
    }

    /// The call with variables of its own, so that nothing outside learns from it.
    fn with_new_variables(&mut self, key: &Key, env: &Env) -> (Key, Env) {
        let generics = env.generics.iter().flatten();
        let types = Ty::Tuple(key.args.iter().flatten().chain(generics).cloned().collect());
        let frozen = self.vars.freeze(&types);
        let Ty::Tuple(types) = self.vars.thaw(&frozen) else { return (key.clone(), env.clone()) };
        let (mut key, mut env) = (key.clone(), env.clone());
        let places = key.args.iter_mut().flatten().chain(env.generics.iter_mut().flatten());
        places.zip(types).for_each(|(place, ty)| *place = ty);
        (key, env)
    }

    fn forget_all_since(&mut self, before: Made) {
        let older = |id: &InstanceId| id.index() < before.n_instances;
        self.instances.truncate(before.n_instances);
        self.closures.truncate(before.n_closures);
        self.keys.retain(|_, id| older(id));
        self.pending.retain(older);
        self.loadings.retain(|loading| older(&loading.instance));
        self.schemes.retain(|_, known| before.holds(known.mentions));
    }
}
