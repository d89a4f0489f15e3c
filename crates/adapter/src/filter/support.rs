//! What a sink serves, as the capabilities say it.

use shelfward_core::filter::{FilterBuilder, FilterSupport, any_of, key, not};
use shelfward_core::{CollectionSpec, FieldKind, Scalar, Text};

use super::{FilterSink, render};

/// What a sink serves of filters on a collection, found out from the sink itself: a flag is set where
/// every field that the collection may have serves it. So capabilities never claim what the rendering
/// leaves, and there is nothing to keep in step by hand.
///
/// The kernel (`$eq`, `$in`, `$all` and "and") is what a sink has to serve; it is not asked for.
pub fn filter_support<S: FilterSink + ?Sized>(
    sink: &mut S,
    spec: &CollectionSpec,
) -> FilterSupport {
    let mut support = FilterSupport::full();
    let declared = spec
        .fields
        .iter()
        .map(|f| (f.key.to_string(), Some(f.kind)));
    let open = spec.open_fields.then(|| (undeclared(spec), None));
    for (name, kind) in declared.chain(open) {
        for x in operands(kind) {
            let mut serves = |filter: FilterBuilder| {
                // Nothing is wrong with so small a filter; if it were, it would not be served.
                (filter.build()).is_ok_and(|filter| render(&filter, sink).residual.is_none())
            };
            let field = || key(&name);
            support.ne &= serves(field().ne(x.clone()));
            support.nin &= serves(field().not_in([x.clone()]));
            support.exists &= serves(field().exists(true)) && serves(field().exists(false));
            support.or &= serves(any_of([field().eq(x.clone()), field().eq(x.clone())]));
            support.not &= serves(not(field().eq(x.clone())));
            let ranges = match x {
                Scalar::Bool(_) => continue,
                Scalar::Text(_) => &mut support.text_ranges,
                Scalar::Integer(_) | Scalar::Float(_) => &mut support.number_ranges,
            };
            *ranges &= serves(field().gt(x.clone()))
                && serves(field().gte(x.clone()))
                && serves(field().lt(x.clone()))
                && serves(field().lte(x));
        }
    }
    support
}

/// An operand of each kind that a field can hold.
fn operands(kind: Option<FieldKind>) -> Vec<Scalar> {
    let text = Text::new("a").map(Scalar::from).ok();
    let float = Scalar::float(1.5).ok();
    let (integer, truth) = (Scalar::from(1), Scalar::from(true));
    match kind {
        Some(FieldKind::Integer) => vec![integer],
        Some(FieldKind::Float) => float.into_iter().collect(),
        Some(FieldKind::Bool) => vec![truth],
        Some(_) => text.into_iter().collect(),
        None => [integer, truth]
            .into_iter()
            .chain(float)
            .chain(text)
            .collect(),
    }
}

/// A key that a spec does not declare.
fn undeclared(spec: &CollectionSpec) -> String {
    let mut key = String::from("open");
    while spec.field(&key).is_some() {
        key.push('_');
    }
    key
}
