/// What has to be true of a file for a call to change it.
public enum FileCondition: Hashable, Sendable {
    /// Nothing: the last one wins.
    case none
    /// There is no file.
    case absent
    /// There is a file, whichever.
    case present
    /// There is a file, with this version.
    case version(FileVersion)

    /// Whether a file is as expected.
    ///
    /// - Parameter version: The version of the file; nil where there is none.
    /// - Returns: Whether the condition holds.
    public func holds(for version: FileVersion?) -> Bool {
        switch self {
        case .none: true
        case .absent: version == nil
        case .present: version != nil
        case .version(let expected): version == expected
        }
    }

    /// Throws unless a file is as expected.
    package func check(_ path: FileStorePath, _ version: FileVersion?) throws(FileStoreError) {
        guard !holds(for: version) else { return }
        let found = version == nil ? "there is no file" : "there is another file"
        throw FileStoreError(.conditionFailed, "The condition for “\(path)” fails: \(found).")
    }
}

/// A part of a file.
public enum FileRange: Hashable, Sendable {
    /// From the first byte to the last.
    case all
    /// From this byte, the first is 0, to the last.
    case from(Int)
    /// So many bytes from this one, or as many as there are.
    case bytes(Int, count: Int)
    /// The last so many bytes, or as many as there are.
    case last(Int)

    /// Which bytes of a file of a size these are.
    ///
    /// - Parameter size: The size of the file.
    /// - Returns: The bytes. The whole of an empty file is an empty range.
    /// - Throws: ``FileStoreError`` with the code `rangeNotSatisfiable` where the range begins
    ///   behind the end, or `invalidArgument` for negative numbers.
    public func resolved(size: Int) throws(FileStoreError) -> Range<Int> {
        switch self {
        case .all: return 0..<size
        case .from(let start): return try Self.resolved(start, size, size)
        case .bytes(let start, let count):
            let (end, isTooLarge) = max(0, start).addingReportingOverflow(count)
            guard count >= 0 else { throw Self.negative }
            return try Self.resolved(start, isTooLarge ? size : end, size)
        case .last(let count):
            guard count >= 0 else { throw Self.negative }
            return max(0, size - count)..<size
        }
    }

    private static func resolved(
        _ start: Int,
        _ end: Int,
        _ size: Int
    ) throws(FileStoreError) -> Range<Int> {
        guard start >= 0 else { throw negative }
        guard start <= size else {
            throw FileStoreError(
                .rangeNotSatisfiable,
                "The range begins at byte \(start) of a file of \(size) bytes."
            )
        }
        return start..<max(start, min(end, size))
    }

    private static let negative = FileStoreError(
        .invalidArgument,
        "A range has no negative numbers."
    )
}

/// What is kept with a file, and what is checked before it is.
public struct FileWriteOptions: Hashable, Sendable {
    /// The most bytes of UTF-8 that all names and values of attributes may have together.
    public static let maximumAttributeByteCount = 2048

    /// What the bytes are; nil is found out by the path's extension.
    public var contentType: String?
    /// What is kept with the file: names of lower-case letters, digits and `-`, and any text.
    ///
    /// A store without the capability `attributes` refuses them.
    public var attributes: [String: String] = [:]
    /// What has to be true of the file that is there.
    public var condition = FileCondition.none
    /// A checksum that the bytes must have; nothing is changed where they have another.
    public var checksum: FileChecksum?

    /// Creates the usual options.
    ///
    /// - Parameters:
    ///   - contentType: What the bytes are; nil is found out by the path's extension.
    ///   - attributes: What is kept with the file.
    ///   - condition: What has to be true of the file that is there.
    ///   - checksum: A checksum that the bytes must have.
    public init(
        contentType: String? = nil,
        attributes: [String: String] = [:],
        condition: FileCondition = .none,
        checksum: FileChecksum? = nil
    ) {
        self.contentType = contentType
        self.attributes = attributes
        self.condition = condition
        self.checksum = checksum
    }

    /// Refuses what no store keeps.
    package func check() throws(FileStoreError) {
        let count = attributes.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard count <= Self.maximumAttributeByteCount else {
            throw FileStoreError(
                .tooLarge,
                "The attributes have \(count) bytes, more than \(Self.maximumAttributeByteCount)."
            )
        }
        guard contentType?.utf8.count ?? 0 <= 255 else {
            throw FileStoreError(.invalidArgument, "A content type has 255 bytes at most.")
        }
        for name in attributes.keys {
            let isName = name.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: "-")
            }
            guard isName, !name.isEmpty else {
                throw FileStoreError(
                    .invalidArgument,
                    "“\(name)” is no name of an attribute: those are lower-case letters, digits, “-”."
                )
            }
        }
    }
}

/// A call that makes a file of another one.
public struct FileTransferRequest: Hashable, Sendable {
    /// The file that is there.
    public var source: FileStorePath
    /// Where it is afterwards.
    public var target: FileStorePath
    /// Whether it leaves its old place.
    public var isMove: Bool
    /// What has to be true of the file at the target.
    public var condition: FileCondition

    /// Creates a call.
    ///
    /// - Parameters:
    ///   - source: The file that is there.
    ///   - target: Where it is afterwards.
    ///   - isMove: Whether it leaves its old place.
    ///   - condition: What has to be true of the file at the target.
    public init(
        from source: FileStorePath,
        to target: FileStorePath,
        isMove: Bool = false,
        if condition: FileCondition = .none
    ) {
        self.source = source
        self.target = target
        self.isMove = isMove
        self.condition = condition
    }
}

/// A call that lists files.
public struct FileListRequest: Hashable, Sendable {
    /// The most files and folders of one page.
    public static let maximumLimit = 1000

    /// The folder whose files are listed.
    public var folder: FileStoreFolder
    /// Whether files in folders inside of it are listed too; otherwise the folders are.
    public var isRecursive: Bool
    /// Only what comes behind this; see ``FilePage/next``.
    public var after: FileCursor?
    /// How many files and folders to list at most, 1 to ``maximumLimit``.
    public var limit: Int

    /// Creates a call.
    ///
    /// - Parameters:
    ///   - folder: The folder whose files are listed.
    ///   - isRecursive: Whether files in folders inside of it are listed too.
    ///   - after: Only what comes behind this.
    ///   - limit: How many files and folders to list at most.
    public init(
        in folder: FileStoreFolder,
        isRecursive: Bool = true,
        after: FileCursor? = nil,
        limit: Int = maximumLimit
    ) {
        self.folder = folder
        self.isRecursive = isRecursive
        self.after = after
        self.limit = limit
    }
}

/// A place in a list of files; it stays good when files come and go.
public struct FileCursor: Hashable, Sendable, Codable {
    /// The store's text for it.
    public let string: String

    /// Creates a cursor.
    ///
    /// - Parameter string: The store's text for it.
    public init(_ string: String) { self.string = string }
}

/// A page of a list, in the order of the paths' bytes.
public struct FilePage: Hashable, Sendable {
    /// The files.
    public var files: [FileSummary]
    /// The folders, of a list that is not recursive.
    public var folders: [FileStoreFolder]
    /// Where the next page begins; nil on the last one.
    public var next: FileCursor?

    /// Creates a page.
    ///
    /// - Parameters:
    ///   - files: The files.
    ///   - folders: The folders.
    ///   - next: Where the next page begins.
    public init(files: [FileSummary], folders: [FileStoreFolder] = [], next: FileCursor? = nil) {
        self.files = files
        self.folders = folders
        self.next = next
    }
}
