/// The format of a file to import.
package enum ImportFormat: String, Sendable, Codable, CaseIterable {
    /// The format that the beginning of the file suggests.
    case auto
    /// A JSON array of objects.
    case json
    /// One object per line.
    case jsonl
    /// Documents in Firestore's typed form, one per line or in an array.
    case typed
}
