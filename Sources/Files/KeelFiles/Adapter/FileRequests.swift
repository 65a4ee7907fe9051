/// A precondition on a file for a call that changes it.
public enum FileCondition: Hashable, Sendable {
    /// The call is unconditional; the last write wins.
    case none
    /// The file must not exist.
    case absent
    /// The file must exist, with any version.
    case present
    /// The file must exist with this version.
    case version(FileVersion)

    /// Returns whether a file with the given version, or nil if there is none, meets the condition.
    public func holds(for version: FileVersion?) -> Bool {
        switch self {
        case .none: true
        case .absent: version == nil
        case .present: version != nil
        case .version(let expected): version == expected
        }
    }

    /// Throws `conditionFailed` unless a file meets the condition.
    package func check(_ path: FileStorePath, _ version: FileVersion?) throws(FileStoreError) {
        guard !holds(for: version) else { return }
        let found = version == nil ? "the file does not exist" : "the file has a different version"
        throw FileStoreError(
            .conditionFailed,
            "The condition on “\(path)” does not hold: \(found)."
        )
    }
}

/// A range of a file's bytes.
public enum FileRange: Hashable, Sendable {
    /// The whole file.
    case all
    /// The bytes from an offset to the end; the first byte has offset 0.
    case from(Int)
    /// A number of bytes from an offset, or fewer at the end of the file.
    case bytes(Int, count: Int)
    /// A number of bytes at the end of the file, or the whole file if it is smaller.
    case last(Int)

    /// Returns the range of bytes in a file of a given size.
    ///
    /// - Returns: The bytes; for an empty file, an empty range.
    /// - Throws: ``FileStoreError`` with the code `rangeNotSatisfiable` if the range begins beyond the end, or
    ///   `invalidArgument` for negative numbers.
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
        "A range must not contain negative numbers."
    )
}

/// The options of a write: metadata to store, and checks to make first.
public struct FileWriteOptions: Hashable, Sendable {
    /// The maximum total size of the names and values of attributes, in bytes of UTF-8.
    public static let maximumAttributeByteCount = 2048

    /// The content type, of at most 255 bytes; nil derives it from the path's extension.
    ///
    /// A store without the capability `attributes` refuses a given type with `unsupported`.
    public var contentType: String?
    /// The attributes to store with the file: names of lowercase letters, digits and `-`, with any text as the value.
    ///
    /// A store without the capability `attributes` refuses them with `unsupported`.
    public var attributes: [String: String] = [:]
    /// The condition on the existing file.
    public var condition = FileCondition.none
    /// The expected checksum of the bytes; with any other, the call throws `checksumMismatch` and changes nothing.
    public var checksum: FileChecksum?

    /// Creates options.
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

    package func check() throws(FileStoreError) {
        let count = attributes.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard count <= Self.maximumAttributeByteCount else {
            throw FileStoreError(
                .tooLarge,
                "The attributes have \(count) bytes, more than the limit of \(Self.maximumAttributeByteCount)."
            )
        }
        guard contentType?.utf8.count ?? 0 <= 255 else {
            throw FileStoreError(.invalidArgument, "A content type must not exceed 255 bytes.")
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
                    "“\(name)” is not a valid attribute name: use lowercase letters, digits and “-”."
                )
            }
        }
    }
}

/// A request to copy or move a file.
public struct FileTransferRequest: Hashable, Sendable {
    /// The path of the existing file.
    public var source: FileStorePath
    /// The path of the new file.
    public var target: FileStorePath
    /// Whether the file is removed at its old path.
    public var isMove: Bool
    /// The condition on the file at the target.
    public var condition: FileCondition

    /// Creates a request.
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

/// A request to list files.
public struct FileListRequest: Hashable, Sendable {
    /// The maximum number of files and folders per page.
    public static let maximumLimit = 1000

    /// The folder to list.
    public var folder: FileStoreFolder
    /// Whether to list the files in subfolders, instead of the subfolders themselves.
    public var isRecursive: Bool
    /// The cursor after which the page begins; see ``FilePage/next``.
    public var after: FileCursor?
    /// The maximum number of files and folders in the page, from 1 to ``maximumLimit``.
    public var limit: Int

    /// Creates a request.
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

/// A position in a listing, which remains valid when files are added or removed.
public struct FileCursor: Hashable, Sendable, Codable {
    /// The store's text of the position.
    public let string: String

    /// Creates a cursor.
    public init(_ string: String) { self.string = string }
}

/// A page of a listing, in byte order of the paths.
public struct FilePage: Hashable, Sendable {
    /// The files.
    public var files: [FileSummary]
    /// The subfolders; empty in a recursive listing.
    public var folders: [FileStoreFolder]
    /// The cursor of the next page; nil on the last one.
    public var next: FileCursor?

    /// Creates a page.
    public init(files: [FileSummary], folders: [FileStoreFolder] = [], next: FileCursor? = nil) {
        self.files = files
        self.folders = folders
        self.next = next
    }
}
