/// A type that says in which fields its properties are stored, for predicates.
///
/// A predicate knows properties by key path. Where a field has the name of its property, nothing is
/// needed; where `CodingKeys` rename it, where the property has a wrapper and where it is the
/// document's id, the type says so:
///
/// ```swift
/// extension Restaurant: PredicateFieldNaming {
///     static var fieldNames: [PartialKeyPath<Restaurant>: FieldPath] {
///         [\.id: .documentID, \.name: "title"]
///     }
/// }
/// ```
///
/// In a build without reflection metadata (`-disable-reflection-metadata`) no key path tells a name:
/// there, every property that a predicate uses needs an entry, and one without is refused with
/// ``StorageError/Code/unsupported``.
///
/// Foundation's `PredicateCodableKeyPathProviding` has the same purpose and exists on Apple's
/// platforms only.
public protocol PredicateFieldNaming {
    /// The fields of those properties whose name does not tell them.
    static var fieldNames: [PartialKeyPath<Self>: FieldPath] { get }
}
