/// Something that a layer can say about a reply, and what holds where no layer said it.
///
/// Each layer defines the keys that it writes, also layers outside of this module; see
/// ``HTTPCallOptionKey`` for the same in the other direction.
public protocol HTTPReplyNoteKey {
    /// The type of the note's value.
    associatedtype Value: Sendable

    /// The value of a reply that no layer has noted anything about.
    static var defaultValue: Value { get }
}

/// Notes of the layers that a reply passed, beside its head and body.
///
/// Unlike a header field, a note cannot come from a server.
public struct HTTPReplyNotes: Sendable {
    // Nil in nearly all replies, which then cost no allocation.
    private var values: [ObjectIdentifier: any Sendable]?

    /// Creates notes that say nothing.
    public init() {}

    /// The note of a key, or the key's default.
    public subscript<Key: HTTPReplyNoteKey>(key: Key.Type) -> Key.Value {
        get { values?[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
        set { values = (values ?? [:]).merging([ObjectIdentifier(key): newValue]) { $1 } }
    }
}
