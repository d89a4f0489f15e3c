//! Filters from JSON, by visitors of our own: through `serde_json::Value` a repeated member would
//! be lost, and with it a condition.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::limits::{MAX_DEPTH, Size};
use super::{Filter, FilterError, FilterLimits, FilterProblem, Op, Test};
use crate::metadata::{Kind, MetadataKey, MetadataProblem, Scalar, first_integer_out_of_range};

impl Filter {
    /// Reads the JSON form, within the default [`FilterLimits`].
    ///
    /// # Errors
    /// [`FilterError`] with the path of whatever the grammar does not have.
    ///
    /// ```
    /// use shelfward_core::Filter;
    /// let error = Filter::from_json(r#"{"$or":[{"tags":{"$al":["a"]}}]}"#).unwrap_err();
    /// assert_eq!(error.path(), "$or[0].tags.$al");
    /// ```
    pub fn from_json(json: &str) -> Result<Self, FilterError> {
        Self::from_json_within(json, &FilterLimits::default())
    }

    /// Reads the JSON form within limits of one's own.
    ///
    /// # Errors
    /// As [`Filter::from_json`].
    pub fn from_json_within(json: &str, limits: &FilterLimits) -> Result<Self, FilterError> {
        if let Some(literal) = first_integer_out_of_range(json) {
            return Err(FilterError::new(
                literal,
                MetadataProblem::IntegerRange.into(),
            ));
        }
        let reader = Reader::new(limits);
        let mut deserializer = serde_json::Deserializer::from_str(json);
        // Its limit of 128 would refuse a legal depth: each `$and` is a list and an object. Nothing
        // is read here without our own check of the depth.
        deserializer.disable_recursion_limit();
        let read = reader.filter(Path::Root, 1).deserialize(&mut deserializer);
        let read = read.and_then(|filter| deserializer.end().map(|()| filter));
        let filter = read.map_err(|e| reader.refusal().unwrap_or_else(|| json_error(&e)))?;
        limits.check(&filter)?;
        Ok(filter)
    }
}

fn json_error(error: &serde_json::Error) -> FilterError {
    FilterError::new(
        "",
        FilterProblem::Json {
            reason: error.to_string(),
        },
    )
}

/// For filters inside larger documents. serde's JSON parser rounds an integer outside 64 bits to a
/// float before it hands it over, so a number of 2^63 or more is refused here, whether it was written
/// as an integer or as a float: [`Filter::from_json`] sees the text itself and takes floats of any
/// size. The parser's own limit on the nesting of the JSON holds too.
impl<'de> Deserialize<'de> for Filter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let limits = FilterLimits::default();
        let filter = Reader::new(&limits)
            .filter(Path::Root, 1)
            .deserialize(deserializer)?;
        limits.check(&filter).map_err(de::Error::custom)?;
        if let Some(test) = filter.tests().into_iter().find(|test| holds_large(test)) {
            let error = FilterError::new(test.key(), MetadataProblem::IntegerRange.into());
            return Err(de::Error::custom(error));
        }
        Ok(filter)
    }
}

/// Whether an operand may have been an integer outside 64 bits.
fn holds_large(test: &Test) -> bool {
    const OUTSIDE: f64 = 9_223_372_036_854_775_808.0;
    let large = |value: &Scalar| matches!(value, Scalar::Float(x) if x.get().abs() >= OUTSIDE);
    test.op().operands().iter().any(large)
}

/// What all visitors of one reading share: what has been counted, and the first typed refusal,
/// carried past serde's text-only errors.
struct Reader<'l> {
    limits: &'l FilterLimits,
    counted: RefCell<Size>,
    refusal: RefCell<Option<FilterError>>,
}

/// Where a visitor stands, as a chain through the stack.
#[derive(Clone, Copy)]
enum Path<'p> {
    Root,
    Member(&'p Path<'p>, &'p str),
    At(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member(Self::Root, name) => f.write_str(name),
            Self::Member(above, name) => write!(f, "{above}.{name}"),
            Self::At(above, index) => write!(f, "{above}[{index}]"),
        }
    }
}

impl<'l> Reader<'l> {
    fn new(limits: &'l FilterLimits) -> Self {
        let counted = Size {
            depth: 0,
            nodes: 0,
            values: 0,
        };
        Self {
            limits,
            counted: RefCell::new(counted),
            refusal: RefCell::new(None),
        }
    }

    fn refusal(&self) -> Option<FilterError> {
        self.refusal.borrow_mut().take()
    }

    fn refuse<E: de::Error>(&self, path: Path<'_>, problem: impl Into<FilterProblem>) -> E {
        let error = FilterError::new(path, problem.into());
        let message = error.to_string();
        self.refusal.borrow_mut().get_or_insert(error);
        E::custom(message)
    }

    fn shape<E: de::Error>(
        &self,
        path: Path<'_>,
        expected: &'static str,
        found: &'static str,
    ) -> E {
        self.refuse(path, FilterProblem::Shape { expected, found })
    }

    /// Counts while reading, so that an over-large filter is refused before it is held.
    fn count<E: de::Error>(&self, path: Path<'_>, nodes: usize, values: usize) -> Result<(), E> {
        let mut counted = self.counted.borrow_mut();
        counted.nodes += nodes;
        counted.values += values;
        self.limits
            .check_size(*counted)
            .map_err(|problem| self.refuse(path, problem))
    }

    fn filter<'a>(&'a self, path: Path<'a>, depth: usize) -> FilterSeed<'a> {
        FilterSeed {
            reader: self,
            path,
            depth,
        }
    }
}

/// Reads one filter object.
#[derive(Clone, Copy)]
struct FilterSeed<'a> {
    reader: &'a Reader<'a>,
    path: Path<'a>,
    depth: usize,
}

/// The visits that answer "another shape is due here", for every visitor below.
macro_rules! refuse_shapes {
    ($expected:expr; $($visit:ident($arg:ty) $found:expr),* $(; $rest:ident)*) => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str($expected)
        }
        $(fn $visit<E: de::Error>(self, _: $arg) -> Result<Self::Value, E> {
            Err(self.reader.shape(self.path, $expected, $found))
        })*
        $(refuse_shapes!(@$rest $expected);)*
    };
    (@unit $expected:expr) => {
        fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
            Err(self.reader.shape(self.path, $expected, "null"))
        }
    };
    (@seq $expected:expr) => {
        fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
            Err(self.reader.shape(self.path, $expected, "a list"))
        }
    };
    (@map $expected:expr) => {
        fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
            Err(self.reader.shape(self.path, $expected, "an object"))
        }
    };
}

impl<'de> DeserializeSeed<'de> for FilterSeed<'_> {
    type Value = Filter;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Filter, D::Error> {
        if self.depth > MAX_DEPTH {
            return Err(self
                .reader
                .refuse(self.path, FilterProblem::TooDeep { max: MAX_DEPTH }));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FilterSeed<'_> {
    type Value = Filter;

    refuse_shapes! {
        "a filter object";
        visit_bool(bool) "a boolean", visit_i64(i64) "a number", visit_u64(u64) "a number",
        visit_f64(f64) "a number", visit_str(&str) "a text";
        unit; seq
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Filter, A::Error> {
        let reader = self.reader;
        let mut children = Vec::new();
        let mut seen = BTreeSet::new();
        while let Some(name) = map.next_key::<String>()? {
            let path = Path::Member(&self.path, &name);
            if !seen.insert(name.clone()) {
                return Err(reader.refuse(path, FilterProblem::RepeatedMember));
            }
            match name.as_str() {
                "$and" | "$or" => {
                    reader.count(path, 1, 0)?;
                    let list = FilterListSeed {
                        reader,
                        path,
                        depth: self.depth + 1,
                    };
                    let filters = map.next_value_seed(list)?;
                    children.push(if name == "$and" {
                        Filter::and(filters)
                    } else {
                        Filter::or(filters)
                    });
                }
                "$not" => {
                    reader.count(path, 1, 0)?;
                    let child = map.next_value_seed(reader.filter(path, self.depth + 1))?;
                    children.push(Filter::negate(child));
                }
                operator if operator.starts_with('$') => {
                    return Err(reader.refuse(path, FilterProblem::UnknownOperator));
                }
                key => {
                    let key = MetadataKey::new(key)
                        .map_err(|e| reader.refuse(path, e.problem().clone()))?;
                    let seed = ConditionSeed {
                        reader,
                        path,
                        key: &key,
                        depth: self.depth,
                    };
                    children.extend(map.next_value_seed(seed)?);
                }
            }
        }
        // An object of one member is that member; any other is an "and" of its own.
        if children.len() != 1 {
            reader.count(self.path, 1, 0)?;
        }
        Ok(Filter::and_or_only(children))
    }
}

/// Reads the list under `$and` or `$or`.
struct FilterListSeed<'a> {
    reader: &'a Reader<'a>,
    path: Path<'a>,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for FilterListSeed<'_> {
    type Value = Vec<Filter>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FilterListSeed<'_> {
    type Value = Vec<Filter>;

    refuse_shapes! {
        "a list of filters";
        visit_bool(bool) "a boolean", visit_i64(i64) "a number", visit_u64(u64) "a number",
        visit_f64(f64) "a number", visit_str(&str) "a text";
        unit; map
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut filters = Vec::new();
        loop {
            let path = Path::At(&self.path, filters.len());
            match seq.next_element_seed(self.reader.filter(path, self.depth))? {
                Some(filter) => filters.push(filter),
                None => return Ok(filters),
            }
        }
    }
}

/// Reads what stands under a key, as one test for each operator.
struct ConditionSeed<'a> {
    reader: &'a Reader<'a>,
    path: Path<'a>,
    key: &'a MetadataKey,
    depth: usize,
}

impl ConditionSeed<'_> {
    fn equals<E: de::Error>(
        self,
        value: Result<Scalar, MetadataProblem>,
    ) -> Result<Vec<Filter>, E> {
        let value = value.map_err(|problem| self.reader.refuse(self.path, problem))?;
        self.reader.count(self.path, 1, 1)?;
        Ok(vec![Filter::test(self.key.clone(), Op::Eq(value))])
    }
}

impl<'de> DeserializeSeed<'de> for ConditionSeed<'_> {
    type Value = Vec<Filter>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        if self.depth > MAX_DEPTH {
            return Err(self
                .reader
                .refuse(self.path, FilterProblem::TooDeep { max: MAX_DEPTH }));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ConditionSeed<'_> {
    type Value = Vec<Filter>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or an object of operators")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Self::Value, E> {
        self.equals(Ok(value.into()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        self.equals(Ok(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        self.equals(value.try_into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        self.equals(value.try_into())
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Self::Value, E> {
        self.equals(value.try_into())
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Err(self.reader.refuse(self.path, FilterProblem::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
        Err(self.reader.shape(
            self.path,
            "a value or an object of operators ($in for any of several)",
            "a list",
        ))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let reader = self.reader;
        let mut tests = Vec::new();
        let mut seen = BTreeSet::new();
        while let Some(name) = map.next_key::<String>()? {
            let path = Path::Member(&self.path, &name);
            if !seen.insert(name.clone()) {
                return Err(reader.refuse(path, FilterProblem::RepeatedMember));
            }
            if name == "$not" {
                reader.count(path, 1, 0)?;
                let seed = ConditionSeed {
                    reader,
                    path,
                    key: self.key,
                    depth: self.depth + 1,
                };
                let negated = map.next_value_seed(seed)?;
                if negated.len() != 1 {
                    reader.count(path, 1, 0)?;
                }
                tests.push(Filter::negate(Filter::and_or_only(negated)));
                continue;
            }
            let op = match name.as_str() {
                "$eq" => Op::Eq(map.next_value_seed(ScalarSeed { reader, path })?),
                "$ne" => Op::Ne(map.next_value_seed(ScalarSeed { reader, path })?),
                "$gt" => Op::Gt(range_operand(reader, path, &mut map)?),
                "$gte" => Op::Gte(range_operand(reader, path, &mut map)?),
                "$lt" => Op::Lt(range_operand(reader, path, &mut map)?),
                "$lte" => Op::Lte(range_operand(reader, path, &mut map)?),
                "$in" => Op::In(map.next_value_seed(ScalarListSeed { reader, path })?),
                "$nin" => Op::Nin(map.next_value_seed(ScalarListSeed { reader, path })?),
                "$all" => Op::All(map.next_value_seed(ScalarListSeed { reader, path })?),
                "$exists" => Op::Exists(map.next_value_seed(BoolSeed { reader, path })?),
                _ => return Err(reader.refuse(path, FilterProblem::UnknownOperator)),
            };
            reader.count(path, 1, 0)?;
            tests.push(Filter::test(self.key.clone(), op));
        }
        if tests.is_empty() {
            return Err(reader.refuse(self.path, FilterProblem::EmptyCondition));
        }
        Ok(tests)
    }
}

fn range_operand<'de, A: MapAccess<'de>>(
    reader: &Reader<'_>,
    path: Path<'_>,
    map: &mut A,
) -> Result<Scalar, A::Error> {
    let operand = map.next_value_seed(ScalarSeed { reader, path })?;
    if operand.kind() == Kind::Bool {
        return Err(reader.refuse(path, FilterProblem::BooleanRange));
    }
    Ok(operand)
}

/// Reads one operand.
struct ScalarSeed<'a> {
    reader: &'a Reader<'a>,
    path: Path<'a>,
}

impl ScalarSeed<'_> {
    fn operand<E: de::Error>(self, value: Result<Scalar, MetadataProblem>) -> Result<Scalar, E> {
        self.reader.count(self.path, 0, 1)?;
        value.map_err(|problem| self.reader.refuse(self.path, problem))
    }
}

impl<'de> DeserializeSeed<'de> for ScalarSeed<'_> {
    type Value = Scalar;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Scalar, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ScalarSeed<'_> {
    type Value = Scalar;

    refuse_shapes! { "a boolean, a number or a text"; ; seq; map }

    fn visit_unit<E: de::Error>(self) -> Result<Scalar, E> {
        Err(self.reader.refuse(self.path, FilterProblem::Null))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Scalar, E> {
        self.operand(Ok(value.into()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Scalar, E> {
        self.operand(Ok(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Scalar, E> {
        self.operand(value.try_into())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Scalar, E> {
        self.operand(value.try_into())
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Scalar, E> {
        self.operand(value.try_into())
    }
}

/// Reads the list under `$in`, `$nin` or `$all`.
struct ScalarListSeed<'a> {
    reader: &'a Reader<'a>,
    path: Path<'a>,
}

impl<'de> DeserializeSeed<'de> for ScalarListSeed<'_> {
    type Value = Vec<Scalar>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ScalarListSeed<'_> {
    type Value = Vec<Scalar>;

    refuse_shapes! {
        "a list of values";
        visit_bool(bool) "a boolean", visit_i64(i64) "a number", visit_u64(u64) "a number",
        visit_f64(f64) "a number", visit_str(&str) "a text";
        unit; map
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        loop {
            let path = Path::At(&self.path, values.len());
            match seq.next_element_seed(ScalarSeed {
                reader: self.reader,
                path,
            })? {
                Some(value) => values.push(value),
                None => return Ok(values),
            }
        }
    }
}

/// Reads the boolean under `$exists`.
struct BoolSeed<'a> {
    reader: &'a Reader<'a>,
    path: Path<'a>,
}

impl<'de> DeserializeSeed<'de> for BoolSeed<'_> {
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for BoolSeed<'_> {
    type Value = bool;

    refuse_shapes! {
        "true or false";
        visit_i64(i64) "a number", visit_u64(u64) "a number", visit_f64(f64) "a number",
        visit_str(&str) "a text";
        unit; seq; map
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<bool, E> {
        Ok(value)
    }
}
