/// The path of a file in a store: names separated by `/`, relative to the store's root.
///
/// ```swift
/// let photo: FileStorePath = "photos/2026/\(id).jpg"
/// ```
///
/// A name is not empty, `.` or `..`, contains no `/` and no zero byte, and has at most ``maximumNameByteCount`` bytes
/// of UTF-8; a path has at most ``maximumByteCount``. The first name `.keel-files` is reserved for stores. Therefore no
/// path leads out of a store, whatever its origin. An interpolated value that contains a `/` makes the path invalid.
/// ``FileStore`` refuses invalid paths with `invalidPath`. Paths are compared by their bytes; a store's volume may
/// ignore case.
public struct FileStorePath: Hashable, Sendable {
    /// The maximum size of a path in bytes of UTF-8: that of S3's keys.
    public static let maximumByteCount = 1024
    /// The maximum size of a name in bytes of UTF-8: that of most volumes.
    public static let maximumNameByteCount = 255
    /// A first name that is reserved for stores.
    package static let reservedName = ".keel-files"

    /// The path as text, such as `photos/2026/a.jpg`.
    public let string: String
    /// The reason that the path is invalid; nil for a valid path.
    package let flaw: String?

    /// Creates a path from text, which can be untrusted.
    ///
    /// - Parameter string: The path, without a leading or trailing `/`.
    /// - Throws: ``FileStoreError`` with the code `invalidPath` and the reason.
    public init(_ string: String) throws(FileStoreError) {
        self.init(string, flaw: Self.flaw(of: string))
        try check()
    }

    init(_ string: String, flaw: String?) {
        self.string = string
        self.flaw = flaw
    }

    /// Creates a path from names that a store has provided.
    package init(unchecked string: String) { self.init(string, flaw: nil) }

    package func check() throws(FileStoreError) {
        guard let flaw else { return }
        throw FileStoreError(.invalidPath, "“\(string)” is not a valid file path: \(flaw).")
    }

    /// The folders that contain the file, outermost first.
    package var foldersAbove: [FileStorePath] {
        string.utf8.indices.filter { string.utf8[$0] == UInt8(ascii: "/") }
            .map { FileStorePath(unchecked: String(string[..<$0])) }
    }

    /// The names of the path, starting at the root.
    public var names: [String] {
        // Split by bytes: Swift treats a “/” with a combining accent as one character that is not equal to “/”.
        string.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// The last name.
    public var name: String { names.last ?? string }

    /// The folder that directly contains the file.
    public var folder: FileStoreFolder {
        guard let slash = string.utf8.lastIndex(of: UInt8(ascii: "/")) else { return .root }
        return FileStoreFolder(FileStorePath(String(string[..<slash]), flaw: flaw))
    }

    /// The part of the last name after its last dot, in lowercase; empty if there is none.
    public var fileExtension: String {
        let name = name
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
        return name[name.index(after: dot)...].lowercased()
    }

    static func flaw(of string: String) -> String? {
        if string.isEmpty { return "it is empty" }
        if string.utf8.count > maximumByteCount {
            return "it is longer than \(maximumByteCount) bytes"
        }
        let names = string.utf8.split(
            separator: UInt8(ascii: "/"),
            omittingEmptySubsequences: false
        )
        for name in names {
            if let flaw = flaw(ofName: name) { return flaw }
        }
        if names.first?.elementsEqual(reservedName.utf8) == true {
            return "“\(reservedName)” is reserved for the store"
        }
        return nil
    }

    private static func flaw(ofName name: Substring.UTF8View) -> String? {
        if name.isEmpty { return "one of its names is empty" }
        if name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) {
            return "“.” and “..” are not allowed as names"
        }
        if name.count > maximumNameByteCount {
            return "a name is longer than \(maximumNameByteCount) bytes"
        }
        if name.contains(0) { return "it contains a zero byte" }
        return nil
    }
}

extension FileStorePath: Comparable, CustomStringConvertible, Codable {
    public var description: String { string }

    /// Compared by bytes: canonically equivalent strings are different paths.
    public static func == (left: Self, right: Self) -> Bool {
        left.string.utf8.elementsEqual(right.string.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in string.utf8 { hasher.combine(byte) }
    }

    /// Compared in byte order, in which stores list their files.
    public static func < (left: Self, right: Self) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let string = try container.decode(String.self)
        if let flaw = Self.flaw(of: string) {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: flaw)
        }
        self.init(unchecked: string)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}

extension FileStorePath: ExpressibleByStringInterpolation {
    /// A literal with interpolated values, each of which stays within one name.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        fileprivate var string = ""
        fileprivate var flaw: String?

        public init(literalCapacity: Int, interpolationCount: Int) {
            string.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        public mutating func appendLiteral(_ literal: String) { string += literal }

        /// Appends the description of a value to the current name.
        public mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            let text = value.description
            if text.utf8.contains(UInt8(ascii: "/")) { flaw = "an interpolated value contains “/”" }
            string += text
        }
    }

    public init(stringInterpolation: StringInterpolation) {
        let string = stringInterpolation.string
        self.init(string, flaw: stringInterpolation.flaw ?? Self.flaw(of: string))
    }

    public init(stringLiteral value: String) { self.init(value, flaw: Self.flaw(of: value)) }
}
