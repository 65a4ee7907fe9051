/// One entry of a cache in the form in which tiers keep it.
public struct CacheRecord: Sendable {
    /// What the entry is found by.
    public var key: [UInt8]
    /// What is kept.
    public var body: CacheBody
    /// When the value was made; promotion between tiers does not change it.
    public var created: CacheInstant
    /// When the value begins to be stale, nil for one that stays fresh as long as it is kept.
    public var staleAfter: CacheInstant?
    /// When the entry may no longer be used at all, nil for never.
    public var expires: CacheInstant?
    /// What the entry can be removed by, together with others.
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

/// A value in a tier: bytes, or a file for what is too large to be held in memory.
public enum CacheBody: Sendable {
    /// The value itself.
    case bytes([UInt8])
    /// A value that is read piece by piece.
    case file(any CacheFile)

    /// The length of the value.
    public var count: Int {
        switch self {
        case .bytes(let bytes): bytes.count
        case .file(let file): file.count
        }
    }

    /// The whole value in memory.
    ///
    /// - Throws: ``CacheError`` when the file cannot be read.
    public func bytes() throws(CacheError) -> [UInt8] {
        switch self {
        case .bytes(let bytes): bytes
        case .file(let file): try file.read(from: 0, upTo: file.count)
        }
    }
}

/// A large value that a tier keeps in a file.
///
/// It stays readable as long as somebody holds it, even after its entry was removed.
public protocol CacheFile: AnyObject, Sendable {
    /// The length of the value, in bytes.
    var count: Int { get }

    /// Reads a piece of the value.
    ///
    /// - Parameters:
    ///   - offset: Where the piece begins, 0 to ``count``.
    ///   - length: The most bytes to read.
    /// - Returns: As many bytes as asked for; fewer only at the end of the value.
    /// - Throws: ``CacheError`` when the piece is damaged or cannot be read.
    func read(from offset: Int, upTo length: Int) throws(CacheError) -> [UInt8]
}

/// A large value on its way into a tier.
///
/// It takes no key before it is complete: ``finish()`` gives the body to write with a record. A
/// writer that is let go without it leaves nothing behind.
public protocol CacheFileWriter: AnyObject, Sendable {
    /// Adds a piece to the end.
    func append(_ bytes: [UInt8]) throws(CacheError)

    /// Ends the value, and returns it for a record.
    func finish() throws(CacheError) -> any CacheFile

    /// Drops the value.
    func discard()
}
