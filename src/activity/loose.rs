//! Reading a board that another program may have written: what cannot be used costs itself and nothing beside it.
//!
//! Nothing is buffered on the way: a value of another type than expected is passed over as it comes.

use super::board::{CLAIMS, Claim};
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt::Formatter;
use std::marker::PhantomData;

/// `board.json` as far as it can be used.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Board {
    #[serde(default)]
    pub(super) built_at: Any<Option<String>>,
    #[serde(default)]
    pub(super) cards_mtime_ns: Any<Option<String>>,
    /// `None` when it is not a list: then it is not a board.
    pub(super) claims: Any<Option<Vec<Claim>>>,
    #[serde(default)]
    pub(super) aliases: Any<Pairs>,
}

/// A value of any type, read as far as `T` can use it.
#[derive(Default)]
pub(super) struct Any<T>(pub(super) T);

/// The texts of a list, or one text.
#[derive(Default)]
struct Texts(Vec<String>);

/// The lists of an object, in file order.
#[derive(Default)]
pub(super) struct Pairs(pub(super) Vec<(String, Vec<String>)>);

/// What can be made of a value; of what it says nothing about, nothing.
trait Loose: Default {
    fn of_text(_text: &str) -> Self {
        Self::default()
    }

    fn of_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }

    fn of_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

impl<'de, T: Loose> Deserialize<'de> for Any<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader(PhantomData)).map(Self)
    }
}

struct Reader<T>(PhantomData<T>);

impl<'de, T: Loose> Visitor<'de> for Reader<T> {
    type Value = T;

    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok(T::default())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        Ok(T::of_text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<T, A::Error> {
        T::of_list(list)
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
        T::of_object(object)
    }
}

impl Loose for Option<String> {
    fn of_text(text: &str) -> Self {
        Some(text.to_owned())
    }
}

impl Loose for Texts {
    fn of_text(text: &str) -> Self {
        Self(vec![text.to_owned()])
    }

    fn of_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut texts = Vec::new();
        while let Some(Any(text)) = list.next_element::<Any<Option<String>>>()? {
            texts.extend(text);
        }
        Ok(Self(texts))
    }
}

impl Loose for Option<Vec<Claim>> {
    fn of_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Self, A::Error> {
        let mut claims = Vec::new();
        while let Some(Any(claim)) = list.next_element::<Any<Option<Claim>>>()? {
            if claims.len() < CLAIMS {
                claims.extend(claim);
            }
        }
        Ok(Some(claims))
    }
}

impl Loose for Pairs {
    fn of_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        let mut pairs = Vec::new();
        while let Some((key, Any(Texts(values)))) = object.next_entry::<String, Any<Texts>>()? {
            pairs.push((key, values));
        }
        Ok(Self(pairs))
    }
}

/// The keys of a claim.
#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Key {
    Id,
    Title,
    Status,
    ClaimedBy,
    ClaimedAt,
    Session,
    Scope,
    #[serde(other)]
    Other,
}

impl Loose for Option<Claim> {
    /// A claim needs an id and a holder.
    fn of_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<Self, A::Error> {
        let (mut id, mut title, mut status) = (None, None, None);
        let (mut claimed_by, mut claimed_at, mut session) = (None, None, None);
        let mut scope = Vec::new();
        while let Some(key) = object.next_key()? {
            let place = match key {
                Key::Id => &mut id,
                Key::Title => &mut title,
                Key::Status => &mut status,
                Key::ClaimedBy => &mut claimed_by,
                Key::ClaimedAt => &mut claimed_at,
                Key::Session => &mut session,
                Key::Scope => {
                    scope = object.next_value::<Any<Texts>>()?.0.0;
                    continue;
                }
                Key::Other => {
                    object.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *place = object.next_value::<Any<Option<String>>>()?.0;
        }
        let (Some(id), Some(claimed_by)) = (id, claimed_by) else { return Ok(None) };
        Ok(Some(Claim { id, title, status, claimed_by, claimed_at, session, scope }))
    }
}
