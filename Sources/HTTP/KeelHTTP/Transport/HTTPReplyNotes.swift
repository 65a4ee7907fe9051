/// The key of a note that a layer can attach to a reply, with its default value.
///
/// Each layer, including those of other modules, defines the keys that it writes. ``HTTPCallOptionKey`` is the
/// counterpart for calls.
public protocol HTTPReplyNoteKey {
    /// The type of the note's value.
    associatedtype Value: Sendable

    /// The value for replies without the note.
    static var defaultValue: Value { get }
}

/// Notes of the layers that a reply passed, in addition to its head and body.
///
/// Unlike a header field, a note cannot come from a server.
public struct HTTPReplyNotes: Sendable {
    // Nil in nearly all replies, which avoids an allocation.
    private var values: [ObjectIdentifier: any Sendable]?

    /// Creates an empty set of notes.
    public init() {}

    /// The note of a key, or the key's default.
    public subscript<Key: HTTPReplyNoteKey>(key: Key.Type) -> Key.Value {
        get { values?[ObjectIdentifier(key)] as? Key.Value ?? Key.defaultValue }
        set { values = (values ?? [:]).merging([ObjectIdentifier(key): newValue]) { $1 } }
    }
}
