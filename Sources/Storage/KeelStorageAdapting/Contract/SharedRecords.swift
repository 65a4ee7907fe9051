/// Short-lived records that all servers of a store share.
///
/// A server stores in them the data that the next request of a client needs, so that any server can answer it. No read,
/// change, copy or backup of the store contains them. A store can lose all records at once, for example when its
/// database crashes. When they exceed its limits, it removes those that expire first, from the largest groups: keys
/// that are equal up to their last slash are a group, such as the records of one caller. It never returns an outdated
/// record.
public protocol SharedRecords: Sendable {
    /// Returns a record; nil if it is unknown or expired.
    func sharedRecord(_ key: String) async throws(StorageError) -> SharedRecord?

    /// Adds a record, or replaces it if it is still at a version.
    ///
    /// - Parameters:
    ///   - key: The key of the record.
    ///   - version: The version to replace; nil to add a record whose key is unused.
    ///   - content: The new content.
    ///   - duration: The time after which the record expires.
    /// - Returns: Whether the record has the new content. The result is false if the record is at another version or
    ///   gone, or if `version` is nil and the record exists.
    /// - Throws: `StorageError/Code/unavailable` if the store cannot be reached; the record may have the new content.
    func replaceSharedRecord(
        _ key: String,
        at version: Int64?,
        with content: [UInt8],
        keptFor duration: Duration
    ) async throws(StorageError) -> Bool

    /// Removes a record, if it exists.
    func removeSharedRecord(_ key: String) async throws(StorageError)
}

/// A record of ``SharedRecords``.
public struct SharedRecord: Sendable, Hashable {
    /// The content.
    public var content: [UInt8]
    /// A number that each replacement changes.
    public var version: Int64
    /// The time since the record was added.
    public var age: Duration

    /// Creates a record.
    public init(content: [UInt8], version: Int64, age: Duration) {
        self.content = content
        self.version = version
        self.age = age
    }
}
