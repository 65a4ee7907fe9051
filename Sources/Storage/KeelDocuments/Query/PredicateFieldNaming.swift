/// A type that maps its properties to fields, for predicates.
///
/// A predicate identifies properties by key path. A property whose field has the same name needs no entry. Add an entry
/// if `CodingKeys` rename the property, if it has a wrapper, or if it is the document's id:
///
/// ```swift
/// extension Restaurant: PredicateFieldNaming {
///     static var fieldNames: [PartialKeyPath<Restaurant>: FieldPath] {
///         [\.id: .documentID, \.name: "title"]
///     }
/// }
/// ```
///
/// In a build without reflection metadata (`-disable-reflection-metadata`), key paths do not reveal names. Every
/// property in a predicate then needs an entry; a predicate with any other property throws
/// ``StorageError/Code/unsupported``.
///
/// Foundation's `PredicateCodableKeyPathProviding` has the same purpose but exists only on Apple's platforms.
public protocol PredicateFieldNaming {
    /// The fields of the properties whose names differ from their fields.
    static var fieldNames: [PartialKeyPath<Self>: FieldPath] { get }
}
