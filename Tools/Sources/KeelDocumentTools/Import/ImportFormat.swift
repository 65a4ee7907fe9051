/// What a file to import is made of.
package enum ImportFormat: String, Sendable, Codable, CaseIterable {
    /// What the beginning of the file shows it to be.
    case auto
    /// One JSON array of objects.
    case json
    /// One object a line.
    case jsonl
    /// Documents in Firestore's typed form, one a line or in one array.
    case typed
}
