/// A cache entry in the form that tiers keep.
public struct CacheRecord: Sendable {
    /// The key of the entry.
    public var key: [UInt8]
    /// The stored value.
    public var body: CacheBody
    /// The time when the value was created, which moves between tiers keep.
    public var created: CacheInstant
    /// The time when the value becomes stale, or nil if it stays fresh until it expires.
    ///
    /// It is later than ``expires`` if the entry expires by its time to idle.
    public var staleAfter: CacheInstant?
    /// The time when the entry expires, or nil if it never does.
    public var expires: CacheInstant?
    /// The tags of the entry.
    public var tags: [String]

    /// Creates a record.
    public init(
        key: [UInt8],
        body: CacheBody,
        created: CacheInstant,
        staleAfter: CacheInstant? = nil,
        expires: CacheInstant? = nil,
        tags: [String] = []
    ) {
        self.key = key
        self.body = body
        self.created = created
        self.staleAfter = staleAfter
        self.expires = expires
        self.tags = tags
    }
}

/// A value in a tier: bytes, or a file for a value too large to hold in memory.
public enum CacheBody: Sendable {
    /// The value itself.
    case bytes([UInt8])
    /// A file from which the value is read in pieces.
    case file(any CacheFile)

    /// The length of the value in bytes.
    public var count: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .file(let file): file.count
        }
    }

    /// Returns the whole value in memory.
    ///
    /// - Throws: ``CacheError`` if the file cannot be read.
    public func bytes() throws(CacheError) -> [UInt8] {
        switch self {
        case .bytes(let bytes): bytes
        case .file(let file): try file.read(from: 0, upTo: file.count)
        }
    }
}

/// A large value that a tier keeps in a file.
///
/// The value remains readable while the file is referenced, even after its entry was removed.
public protocol CacheFile: AnyObject, Sendable {
    /// The length of the value in bytes.
    var count: Int { get }

    /// Reads a piece of the value.
    ///
    /// - Parameters:
    ///   - offset: The start of the piece, from 0 to ``count``.
    ///   - length: The maximum number of bytes to read.
    /// - Returns: As many bytes as requested; fewer only at the end of the value.
    /// - Throws: ``CacheError`` if the piece is damaged or cannot be read.
    func read(from offset: Int, upTo length: Int) throws(CacheError) -> [UInt8]
}

/// A writer for a large value.
///
/// The value gets its key only when complete: ``finish()`` returns the file to write with a record. A writer that is
/// released before that, or a file that no record uses, leaves nothing behind.
public protocol CacheFileWriter: AnyObject, Sendable {
    /// Appends bytes to the value; after an error, the value cannot be finished.
    func append(_ bytes: [UInt8]) throws(CacheError)

    /// Completes the value and returns it for use in a record.
    func finish() throws(CacheError) -> any CacheFile

    /// Discards the value.
    func discard()
}
